"""What nmfcheck shows: tables and sentences on the terminal, JSON for programs."""
