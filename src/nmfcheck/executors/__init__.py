"""Executors: where a subject runs.

`protocol.py` says what one is, `inline.py` runs a subject in this process, `local.py` in workers.
"""
