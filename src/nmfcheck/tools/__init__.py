"""Tools beside a run: a first look at a subject, one trial again, problems in files."""
