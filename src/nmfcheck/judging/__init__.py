"""Judging: outcomes, measures and sentences that do not depend on the family."""
