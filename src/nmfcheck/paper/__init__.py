"""The paper's experiments again, at full scale, and what they say of its claims.

`plan.py` says which runs are needed, `runs.py` makes and keeps them. Then there is a file for each
experiment, with its numbers, its claims, the rule of each, and its figure; `reproduce.py` lists
them. `page.py` and `files.py` write it all down.
"""
