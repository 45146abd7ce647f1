"""A cluster of Dask's that exists, wherever its workers are: by its scheduler's address, or a file that has that."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from framedex import words
from framedex.errors import FramedexError
from framedex.fleet.cluster.libraries import dask, distributed, silence
from framedex.fleet.cluster.worker import version
from framedex.plaintext import printable
from framedex.regularfile import read_regular
from framedex.version import VERSION

_NO_WORKERS = "distributed.scheduler.no-workers-timeout"
_PATIENCE = "60s"  # without workers, where that setting of Dask's says nothing
_AGAIN = "When it has, run the same command again: it goes on."


class ExistingCluster:
    """A cluster that others started, and look after. `client` speaks to it."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._address = client.scheduler.address
        self._patience = dask.utils.parse_timedelta(dask.config.get(_NO_WORKERS, None) or _PATIENCE)
        self._seen = time.monotonic()

    def begin(self) -> None:
        """Wait for workers. Raises FramedexError where none comes, or one has not this framedex."""
        try:
            self.client.wait_for_workers(1, timeout=self._patience)
        except TimeoutError as error:
            raise self._without_workers() from error
        told = self.client.run(version, on_error="return")
        unfit = {worker: _unfit(each) for worker, each in sorted(told.items()) if each != VERSION}
        if unfit:
            worker, why = next(iter(unfit.items()))
            raise FramedexError(
                f"{len(unfit)} of {words.count(len(told), 'worker')} of {self._address} cannot add captures:"
                f" {worker} {why}.",
                f"Install it on all of them: `pip install 'framedex[fleet-dask]=={VERSION}'`",
            )

    def tend(self) -> None:
        """Raises FramedexError where there have been no workers for a while, or the scheduler does not answer."""
        now = time.monotonic()
        if self.client.status not in ("running", "connecting"):
            raise FramedexError(f"The connection to {self._address} is lost.", _AGAIN)
        try:
            workers = self.client.nthreads()
        except (OSError, RuntimeError):  # it is connecting again; its futures are cancelled, which tells of them
            return
        if workers:
            self._seen = now
        elif now - self._seen > self._patience:
            raise self._without_workers()

    def came(self) -> None:
        """A capture is done, so there are workers."""
        self._seen = time.monotonic()

    def _without_workers(self) -> FramedexError:
        waited = words.duration(round(self._patience * 1e9))
        return FramedexError(f"The cluster at {self._address} has had no workers for {waited}.", _AGAIN)


class _Client(distributed.Client):
    """One that is closed at once where it cannot start.

    The library leaves that to the collector of garbage, which may come while another client starts: both wait for ever.
    """

    def start(self, **options: object) -> None:
        try:
            super().start(**options)  # type: ignore[no-untyped-call]
        except BaseException:
            self.close()  # type: ignore[no-untyped-call]
            raise


@contextmanager
def existing_cluster(scheduler: str) -> Iterator[ExistingCluster]:
    """The cluster whose scheduler is at an address, or at that in a file as Dask's `--scheduler-file` writes it.

    Raises FramedexError where there is none, or it does not answer.
    """
    silence()
    address = _address(scheduler)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions that differ: what matters is looked at
        try:
            client = _Client(address, set_as_default=False)  # type: ignore[no-untyped-call]
        except Exception as error:  # of kinds that depend on the kind of address
            said = printable(str(error).partition("\n")[0] or type(error).__name__).rstrip(".")
            raise FramedexError(
                f"The scheduler {printable(address)} cannot be reached: {said}.",
                "Check that it runs and can be reached from here; for tls:// Dask's settings name the certificates.",
            ) from error
        with client:
            yield ExistingCluster(client)


def _address(scheduler: str) -> str:
    if "://" in scheduler:
        return scheduler
    try:
        told = json.loads(read_regular(Path(scheduler)))
        address = told["address"]
        if not isinstance(address, str):
            raise TypeError("its address is no text")
        return address
    except OSError as error:
        raise FramedexError(
            f"{printable(scheduler)} is neither an address nor a file that can be read: {error.strerror or error}.",
            "Name the scheduler as tcp://HOST:PORT, or the file that `dask scheduler --scheduler-file FILE` writes.",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise FramedexError(
            f"{printable(scheduler)} is no file of a scheduler's.",
            "Name the file that `dask scheduler --scheduler-file FILE` writes.",
        ) from error


def _unfit(told: object) -> str:
    """Why a worker cannot add captures, after its address."""
    if isinstance(told, FramedexError):
        return f"says: {printable(told.message).rstrip('.')}"
    if "No module named 'framedex" in str(told):  # Dask hands on the texts of some errors only
        return f"has no framedex {VERSION}"
    if isinstance(told, BaseException):
        return f"says: {printable(str(told)).rstrip('.')}"
    return f"has framedex {printable(str(told))}, not {VERSION}"
