"""The verdict: outcomes counted, compared with what is required, and decided."""
