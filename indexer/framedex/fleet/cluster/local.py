"""A cluster on this machine: Dask's scheduler in this process, and worker processes that nobody else can speak to.

Dask runs whatever it is sent, so all connections are TLS with a key that is made for this cluster and kept in memory:
who does not have it is refused before a message of his is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from framedex.errors import FramedexError
from framedex.fleet.cluster.libraries import dask, distributed, silence
from framedex.interpreters import own_module_command
from framedex.plaintext import printable
from framedex.progress import Progress

# No pages for browsers. A worker has no capture but the one that it adds: those that it has when it ends are suspected.
_SETTINGS = {"distributed.scheduler.http.routes": [], "distributed.scheduler.worker-saturation": 1.0}
_PATIENCE = 60.0  # seconds for processes to start
_BETWEEN = 0.05  # seconds between two looks at whether they have
_MOST_SAID = 200  # characters of what a process says that fails


class LocalCluster:
    """A cluster of processes of our own, those that end are replaced. `client` speaks to it."""

    def __init__(self, client: Any, processes: list[_Process], progress: Progress) -> None:
        self.client = client
        self._processes = processes
        self._progress = progress
        self._ended = 0

    def begin(self) -> None:
        """Wait until all workers are there. Raises FramedexError where they cannot be started."""
        latest = time.monotonic() + _PATIENCE
        while len(self.client.nthreads()) < len(self._processes):
            self.tend()
            if time.monotonic() > latest:
                raise FramedexError("The worker processes do not come up.", _FEWER)
            time.sleep(_BETWEEN)

    def tend(self) -> None:
        """Replace processes that have ended. Raises FramedexError where they do so again and again."""
        for process in self._processes:
            if (ending := process.ending()) is None:
                continue
            self._ended += 1
            # Dask gives up a capture whose fourth worker ends, and each worker may have such a one.
            if self._ended > 4 * len(self._processes):
                raise FramedexError(f"The worker processes end again and again, the last one {ending}.", _FEWER)
            self._progress.note(f"A worker process has ended {ending}; another one goes on.")
            process.start()

    def came(self) -> None:
        """A capture is done: processes that ended before do not matter any more."""
        self._ended = 0


_FEWER = "Try with fewer: `--workers 1`. Captures that are in the store stay there."


@contextmanager
def local_cluster(many: int, progress: Progress) -> Iterator[LocalCluster]:
    """A cluster of so many processes, which are gone after the block."""
    silence()
    security = distributed.Security.temporary()
    options = {"host": "127.0.0.1", "port": 0, "protocol": "tls://", "security": security}
    options |= {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    with (
        tempfile.TemporaryDirectory(prefix="framedex-fleet-", ignore_cleanup_errors=True) as folder,
        dask.config.set({**_SETTINGS, "temporary-directory": folder}),
        distributed.SpecCluster(
            workers={}, scheduler={"cls": distributed.Scheduler, "options": options}, security=security
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        told = {
            "scheduler": cluster.scheduler_address,
            "key": security.tls_worker_key,
            "certificate": security.tls_worker_cert,
        }
        processes: list[_Process] = []
        try:
            for number in range(many):
                processes.append(_Process(Path(folder) / str(number), {**told, "name": number}))
                processes[-1].start()
            yield LocalCluster(client, processes, progress)
        finally:
            for process in processes:
                process.end()


class _Process:
    """A worker process, and those that took its place. Its temporary files are in a folder of its own."""

    def __init__(self, folder: Path, told: dict[str, Any]) -> None:
        folder.mkdir()
        self._folder = folder
        self._told = told
        self._said = folder / "stderr"
        self._process: subprocess.Popen[bytes] | None = None  # noqa: TID251

    def start(self) -> None:
        """Start it. In a group of its own, it has no Ctrl-C of the terminal's: it ends with this process."""
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(  # noqa: TID251
                own_module_command("framedex.fleet.cluster.local_worker", ()),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env={**os.environ, "TMPDIR": str(self._folder)},
                process_group=0,
            )
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({**self._told, "folder": str(self._folder)}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it has ended, which `ending` tells
            pass

    def ending(self) -> str | None:
        """How it ended, as the end of a sentence; None while it runs."""
        status = None if self._process is None else self._process.poll()
        if status is None:
            return None
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        said = self._said.read_text("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{how} ({printable(said[:_MOST_SAID])})" if said and status > 0 else how

    def end(self) -> None:
        """End it, at once: what it is adding does not count then."""
        if self._process is not None:
            with self._process:  # which closes its stdin, and waits
                self._process.kill()
