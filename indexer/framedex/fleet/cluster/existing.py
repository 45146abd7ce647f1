"""Connect to an existing Dask cluster by the address of its scheduler, or by its scheduler file."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import read_regular
from framedex.base.version import VERSION
from framedex.fleet.cluster.libraries import dask, distributed, silence_dask_logs
from framedex.fleet.cluster.worker import version

_NO_WORKERS = "distributed.scheduler.no-workers-timeout"
_DEFAULT_TIMEOUT = "60s"  # default for that setting of Dask
_RETRY_REMEDY = "When the cluster is back, run the same command again: it continues."


class ExistingCluster:
    """A cluster that framedex did not start. `client` is its Dask client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._address = client.scheduler.address
        self._timeout_s = dask.utils.parse_timedelta(dask.config.get(_NO_WORKERS, None) or _DEFAULT_TIMEOUT)
        self._seen = time.monotonic()

    def begin(self) -> None:
        """Wait for workers. Raises FramedexError if none appears, or one has another version of framedex."""
        try:
            self.client.wait_for_workers(1, timeout=self._timeout_s)
        except TimeoutError as error:
            raise self._without_workers() from error
        versions = self.client.run(version, on_error="return")
        unfit = {worker: _worker_problem(each) for worker, each in sorted(versions.items()) if each != VERSION}
        if unfit:
            worker, why = next(iter(unfit.items()))
            raise FramedexError(
                f"{len(unfit)} of {words.count(len(versions), 'worker')} of {self._address} cannot add captures:"
                f" {worker} {why}.",
                f"Install it on all of them: `pip install 'framedex[fleet-dask]=={VERSION}'`",
            )

    def check_workers(self) -> None:
        """Raise FramedexError if the cluster has had no workers for a while, or the connection is lost."""
        now = time.monotonic()
        if self.client.status not in ("running", "connecting"):
            raise FramedexError(f"The connection to {self._address} is lost.", _RETRY_REMEDY)
        try:
            workers = self.client.nthreads()
        except (OSError, RuntimeError):  # the client reconnects; cancelled futures report the loss
            return
        if workers:
            self._seen = now
        elif now - self._seen > self._timeout_s:
            raise self._without_workers()

    def on_capture_done(self) -> None:
        """Record that a capture is done, so there are workers."""
        self._seen = time.monotonic()

    def _without_workers(self) -> FramedexError:
        waited = words.format_duration(round(self._timeout_s * 1e9))
        return FramedexError(f"The cluster at {self._address} has had no workers for {waited}.", _RETRY_REMEDY)


class _Client(distributed.Client):
    """A Dask client that is closed at once if it cannot start.

    Dask leaves that to the garbage collector. If it runs while another client starts, both deadlock.
    """

    def start(self, **options: object) -> None:
        try:
            super().start(**options)  # type: ignore[no-untyped-call]
        except BaseException:
            self.close()  # type: ignore[no-untyped-call]
            raise


@contextmanager
def existing_cluster(scheduler: str) -> Iterator[ExistingCluster]:
    """Connect to a cluster: a context manager. `scheduler` is an address, or a file of Dask's `--scheduler-file`.

    Raises FramedexError if the scheduler cannot be reached.
    """
    silence_dask_logs()
    address = _address(scheduler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions, which `begin` checks
        try:
            client = _Client(address, set_as_default=False)  # type: ignore[no-untyped-call]
        except Exception as error:  # its type depends on the protocol
            reason = make_printable(str(error).partition("\n")[0] or type(error).__name__).rstrip(".")
            raise FramedexError(
                f"The scheduler {make_printable(address)} cannot be reached: {reason}.",
                "Check that it runs and is reachable from here. For tls://, set the certificates in Dask's settings.",
            ) from error
        with client:
            yield ExistingCluster(client)


def _address(scheduler: str) -> str:
    if "://" in scheduler:
        return scheduler
    try:
        document = json.loads(read_regular(Path(scheduler)))
        address = document["address"]
        if not isinstance(address, str):
            raise TypeError("its address is not a string")
        return address
    except OSError as error:
        raise FramedexError(
            f"{make_printable(scheduler)} is neither an address nor a readable file: {error.strerror or error}.",
            "Name the scheduler as tcp://HOST:PORT, or the file that `dask scheduler --scheduler-file FILE` writes.",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise FramedexError(
            f"{make_printable(scheduler)} is not a scheduler file.",
            "Name the file that `dask scheduler --scheduler-file FILE` writes.",
        ) from error


def _worker_problem(worker_info: object) -> str:
    """Return why a worker cannot add captures, as the end of a sentence."""
    if isinstance(worker_info, FramedexError):
        return f"reports: {make_printable(worker_info.message).rstrip('.')}"
    if "No module named 'framedex" in str(worker_info):  # Dask transmits some errors only as text
        return f"has no framedex {VERSION}"
    if isinstance(worker_info, BaseException):
        return f"reports: {make_printable(str(worker_info)).rstrip('.')}"
    return f"has framedex {make_printable(str(worker_info))}, not {VERSION}"
