"""A cluster on this machine: Dask's scheduler in this process, and worker processes closed to other users.

Dask executes any code that it receives. All connections therefore use TLS with a key that exists only in memory, for
this cluster. A client without the key is refused before any message is read.
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

from framedex.base.errors import FramedexError
from framedex.base.interpreters import build_own_module_command
from framedex.base.plaintext import make_printable
from framedex.base.progress import Progress
from framedex.fleet.cluster.libraries import dask, distributed, silence_dask_logs

# No web pages. A worker holds only the capture that it adds, so its death makes only that one a suspect.
_SETTINGS = {"distributed.scheduler.http.routes": [], "distributed.scheduler.worker-saturation": 1.0}
_START_TIMEOUT_S = 60.0  # seconds for processes to start
_CHECK_INTERVAL_S = 0.05  # seconds between two checks of that
_MAX_ERROR_CHARACTERS = 200  # characters of a failed process's error message


class LocalCluster:
    """A cluster of our own processes. A process that ends is replaced. `client` is its Dask client."""

    def __init__(self, client: Any, processes: list[_Process], progress: Progress) -> None:
        self.client = client
        self._processes = processes
        self._progress = progress
        self._ended = 0

    def begin(self) -> None:
        """Wait until all workers are connected. Raises FramedexError if they cannot be started."""
        latest = time.monotonic() + _START_TIMEOUT_S
        while len(self.client.nthreads()) < len(self._processes):
            self.check_workers()
            if time.monotonic() > latest:
                raise FramedexError(
                    f"The worker processes did not start within {_START_TIMEOUT_S:.0f} s.", _FEWER_WORKERS_REMEDY
                )
            time.sleep(_CHECK_INTERVAL_S)

    def check_workers(self) -> None:
        """Replace processes that have ended. Raises FramedexError if processes keep ending."""
        for process in self._processes:
            if (ending := process.ending()) is None:
                continue
            self._ended += 1
            # Dask gives up on a capture after four dead workers, and each worker may hold such a capture.
            if self._ended > 4 * len(self._processes):
                raise FramedexError(f"The worker processes keep ending, the last one {ending}.", _FEWER_WORKERS_REMEDY)
            self._progress.note(f"A worker process ended {ending}; a new one replaces it.")
            process.start()

    def on_capture_done(self) -> None:
        """Record that a capture is done, and reset the count of ended processes."""
        self._ended = 0


_FEWER_WORKERS_REMEDY = "Try fewer workers: `--workers 1`. Captures that were added stay in the store."


@contextmanager
def local_cluster(many: int, progress: Progress) -> Iterator[LocalCluster]:
    """Start a cluster of `many` processes: a context manager, which ends the processes."""
    silence_dask_logs()
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
        worker_options = {
            "scheduler": cluster.scheduler_address,
            "key": security.tls_worker_key,
            "certificate": security.tls_worker_cert,
        }
        processes: list[_Process] = []
        try:
            for number in range(many):
                processes.append(_Process(Path(folder) / str(number), {**worker_options, "name": number}))
                processes[-1].start()
            yield LocalCluster(client, processes, progress)
        finally:
            for process in processes:
                process.end()


class _Process:
    """A worker process, and its replacements. Its temporary files are in a folder of its own."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        folder.mkdir()
        self._folder = folder
        self._options = options
        self._stderr_file = folder / "stderr"
        self._process: subprocess.Popen[bytes] | None = None  # noqa: TID251

    def start(self) -> None:
        """Start the process in a group of its own, out of reach of Ctrl-C. It ends with this process."""
        with self._stderr_file.open("wb") as stderr:
            self._process = subprocess.Popen(  # noqa: TID251
                build_own_module_command("framedex.fleet.cluster.local_worker", ()),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env={**os.environ, "TMPDIR": str(self._folder)},
                process_group=0,
            )
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({**self._options, "folder": str(self._folder)}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it has ended; `ending` reports that
            pass

    def ending(self) -> str | None:
        """Return how the process ended, as the end of a sentence; None while it runs."""
        status = None if self._process is None else self._process.poll()
        if status is None:
            return None
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        last_line = self._stderr_file.read_text("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{how} ({make_printable(last_line[:_MAX_ERROR_CHARACTERS])})" if last_line and status > 0 else how

    def end(self) -> None:
        """Kill the process. A capture that it was adding does not count."""
        if self._process is not None:
            with self._process:  # closes its stdin, and waits
                self._process.kill()
