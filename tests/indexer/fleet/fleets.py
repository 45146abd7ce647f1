"""A synthetic job of two ranks, and stores with it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.fleet.adding import AddedCapture, add_captures
from framedex.fleet.naming import FrameNamer
from framedex.fleet.store_queries import StoreConnection
from framedex.fleet.store_root import StoreRoot
from tests.once import made_once
from tests.running import mock_environment, run

JOB = "train/../step 1"
TABLES = ("captures", "calls", "call_kinds", "stacks", "frames")


def job() -> tuple[Path, Path]:
    """The captures of the two ranks, the second of which ended at once. They must not be changed."""
    return made_once("fleet-job", _record)


def _record(folder: Path) -> tuple[Path, Path]:
    prepare_equal_stacks(folder)
    ranks = []
    for rank, ending in enumerate(("returns", "aborts")):
        (folder / str(rank)).mkdir()
        variables = {"FRAMEDEX_JOB": JOB, "SLURM_PROCID": str(rank), "FRAMEDEX_UNRELATED": "secret"}
        ranks.append(run("endings.py", ending, folder=folder / str(rank), **variables).capture)
    return ranks[0], ranks[1]


def prepare_equal_stacks(folder: Path) -> None:
    """Start a program, so that all later ones have the same outermost frames.

    With fork servers, pytest executes its first program of JAX and forks the others.
    """
    subprocess.run([sys.executable, "-c", "import jax"], env=mock_environment(folder), check=True)


@cache
def names() -> FrameNamer:
    """One naming cache for all tests of a process: naming takes nearly all of the time to add a small capture."""
    return FrameNamer()


def add_to_store(store: str | Path, *captures: Path) -> list[AddedCapture | FramedexError]:
    """The outcomes of adding captures to a store."""
    place = StoreRoot(str(store))
    return [done for _, done in add_captures(place, captures, names(), SilentProgress())]


def run_query(store: str | Path, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with StoreConnection(StoreRoot(str(store))) as connection:
        return connection.query(sql).rows


def content(store: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of a store in a defined order."""
    with StoreConnection(StoreRoot(str(store))) as connection:
        return {table: sorted(connection.query(f"SELECT * FROM {table}").rows, key=repr) for table in TABLES}


def files(store: Path) -> dict[str, str]:
    """The files of a store in a folder, with hashes of their contents."""
    found = (path for path in sorted(store.rglob("*")) if path.is_file())
    return {str(path.relative_to(store)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def copy_capture(capture: Path, folder: Path) -> Path:
    """A copy of a capture that may be changed."""
    return Path(shutil.copytree(capture, folder / capture.name))


@contextmanager
def start_adding_process(store: str | Path, captures: Sequence[Path]) -> Iterator[subprocess.Popen[str]]:
    """A process that adds captures: a context manager."""
    command = [sys.executable, "-m", "framedex", "fleet", "add", "--store", str(store), *map(str, captures)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process
