"""The cluster executor: the same trials on the workers of a Dask cluster.

`connection.py` finds a cluster, `executor.py` sends work to it in batches, `members.py` knows which
workers may have some, `remote.py` is what runs there, and `parcels.py` what passes between them.
"""
