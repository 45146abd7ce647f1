"""Clusters as users start them: a Dask scheduler, and workers in separate processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import distributed

_SCHEDULE = "from distributed.cli.dask_scheduler import main; main()"
_WORK = "from distributed.cli.dask_worker import main; main()"


@contextmanager
def scheduler() -> Iterator[str]:
    """A scheduler without workers, as its address: a context manager."""
    options = {"host": "127.0.0.1", "port": 0, "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.SpecCluster(scheduler={"cls": distributed.Scheduler, "options": options}, workers={}) as cluster:
        yield cluster.scheduler_address


@contextmanager
def scheduler_process(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler in its own process, which writes its address to a file: a context manager."""
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with file.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-c", _SCHEDULE, *options], stdout=log, stderr=log, cwd=file.parent)
    with process:
        yield process
        process.kill()


def address_in(file: Path) -> str:
    """The address in a scheduler's file, once it is written."""
    with distributed.Client(scheduler_file=str(file), set_as_default=False) as client:
        return str(client.scheduler.address)


@contextmanager
def worker(address: str, folder: Path, *options: str, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """A `dask worker` in its own folder, ready inside the block: a context manager.

    `before` is code that its process runs first.
    """
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", f"{before}\n{_WORK}", address, "--host", "127.0.0.1", "--no-dashboard"]
    with distributed.Client(address, set_as_default=False) as client:
        there = len(client.nthreads())
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--local-directory", str(folder), "--memory-limit", "0", *options],
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder)},
            )
        try:
            client.wait_for_workers(there + 1, timeout=60)
            yield process
        finally:
            with process:
                process.terminate()
