"""Trials: which there are, and carrying them through a subject.

`suites.py` says which trials, `driver.py` carries them through an executor, and `stage.py` has the
one shape in which what came of them goes to the store, the verdict and the report.
"""
