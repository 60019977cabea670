"""What sections of a report are made of: figures, tables, pieces of HTML. It knows no results."""
