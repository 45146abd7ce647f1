"""A worker of a cluster on this machine: `local.py` starts it, and it ends with that process, however that ends.

It is told on stdin what it is, in a line of JSON, with the key by which members of the cluster know one another.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from threading import Thread
from typing import Any

from framedex.fleet.cluster.libraries import dask, distributed


def main() -> None:
    """Work until whoever started this closes our stdin, or the scheduler is gone."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as told:
        options = json.loads(told.readline())
        Thread(target=_end_with, args=(told.fileno(),), daemon=True).start()
        dask.config.set({"distributed.worker.http.routes": [], "distributed.worker.profile.enabled": False})
        asyncio.run(_work(**options))


async def _work(scheduler: str, name: int, folder: str, key: str, certificate: str) -> None:
    security = distributed.Security(
        tls_ca_file=certificate, tls_worker_cert=certificate, tls_worker_key=key, require_encryption=True
    )
    options: dict[str, Any] = {"host": "127.0.0.1", "protocol": "tls://", "dashboard_address": "127.0.0.1:0"}
    async with distributed.Worker(
        scheduler, name=name, nthreads=1, memory_limit=0, local_directory=folder, security=security, **options
    ) as worker:
        await worker.finished()


def _end_with(descriptor: int) -> None:
    while os.read(descriptor, 1):
        pass
    os._exit(0)  # what is being added is whole in the store, or does not count


if __name__ == "__main__":
    main()
