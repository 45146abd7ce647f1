"""A worker process of a cluster on this machine. `local.py` starts it, and it ends when its parent process ends.

It reads its options from stdin as a line of JSON, with the TLS key of the cluster.
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
    """Run the worker until the parent closes stdin, or the scheduler ends."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as stdin:
        options = json.loads(stdin.readline())
        Thread(target=_exit_at_eof, args=(stdin.fileno(),), daemon=True).start()
        dask.config.set({"distributed.worker.http.routes": [], "distributed.worker.profile.enabled": False})
        asyncio.run(_run_worker(**options))


async def _run_worker(scheduler: str, name: int, folder: str, key: str, certificate: str) -> None:
    security = distributed.Security(
        tls_ca_file=certificate, tls_worker_cert=certificate, tls_worker_key=key, require_encryption=True
    )
    options: dict[str, Any] = {"host": "127.0.0.1", "protocol": "tls://", "dashboard_address": "127.0.0.1:0"}
    async with distributed.Worker(
        scheduler, name=name, nthreads=1, memory_limit=0, local_directory=folder, security=security, **options
    ) as worker:
        await worker.finished()


def _exit_at_eof(descriptor: int) -> None:
    while os.read(descriptor, 1):
        pass
    os._exit(0)  # adding is atomic: an unfinished capture does not count


if __name__ == "__main__":
    main()
