"""Captures into a store by a cluster of Dask's: `adding.py` has it add them, `worker.py` is what each worker does.

`existing.py` is a cluster that others started. `local.py` starts one on this machine, whose processes are those of
`local_worker.py`; `sizes.py` says whether that pays. Only these files know Dask.
"""
