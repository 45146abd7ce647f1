"""Add captures to a store with a Dask cluster. Only this package uses Dask.

Start at `adding.py`, then `worker.py`. `existing.py` connects to a cluster, `local.py` starts one on this machine
with processes of `local_worker.py`, and `sizes.py` decides whether that is faster.
"""
