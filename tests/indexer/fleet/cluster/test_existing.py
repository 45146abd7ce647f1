"""Captures that a cluster adds which exists: the store ends as that of one process, whatever ends meanwhile."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import distributed
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from framedex.captures import read_metadata
from framedex.commands.main import cli
from framedex.errors import FramedexError
from framedex.fleet.adding import AddedCapture
from framedex.fleet.cluster.adding import add_by_cluster
from framedex.fleet.cluster.existing import existing_cluster
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import captures_in
from framedex.fleet.place import StoreRoot
from framedex.progress import SilentProgress
from framedex.version import VERSION
from tests.indexer.fleet import clusters, servers
from tests.indexer.fleet.cluster.running import (
    STORE,
    AtFirstCalls,
    are_added,
    by,
    by_cluster,
    kill_workers,
    s3,
    writes_calls,
)
from tests.indexer.fleet.fleets import added, asked, content, job


def folders_of_workers(scheduler: str) -> set[Path]:
    """The temporary folders in which the workers of a cluster add captures."""
    with distributed.Client(scheduler, set_as_default=False) as client:
        return {each for folder in client.run(os.getcwd).values() for each in Path(folder).glob("framedex-fleet-*")}


def open_clients() -> set[int]:
    """The ids of the clients of any cluster that this process has, and that are not closed."""
    return {id(client) for client in distributed.Client._instances if client.status != "closed"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
def test_a_worker_of_a_cluster_that_is_killed_in_the_midst(
    nanny: str,
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """With a nanny another one goes on. Without, and no other worker, what is left out is told."""
    if nanny == "--no-nanny":
        request.getfixturevalue("patience")  # where one comes, it may take longer
    store = f"{STORE}/{nanny}"
    met = AtFirstCalls(lambda: kill_workers(client))
    with s3(bucket, monkeypatch, met), clusters.scheduler() as address:
        with clusters.worker(address, tmp_path / "worker", nanny), existing_cluster(address) as cluster:
            client = cluster.client
            done = by(cluster, store, job())
        assert met.acted
        if nanny == "--no-nanny":
            assert are_added(done) == [False, False]
            assert all("has had no workers for" in str(each) for each in done.values())
            with clusters.worker(address, tmp_path / "worker"):
                done = by_cluster(address, store, *job())

    assert are_added(done) == [True, True]
    assert content(store) == clean


def test_clients_that_have_one_cluster_add_the_same_at_once(
    scheduler: str, clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    """Given a file with the address of the scheduler; and when all is done, nothing of it is left at the worker's."""
    told = tmp_path / "scheduler.json"
    told.write_text(json.dumps({"address": scheduler}))
    of_other_tests = folders_of_workers(scheduler)
    with ThreadPoolExecutor() as pool:
        clients = [
            pool.submit(by_cluster, str(told), tmp_path / "store", *captures) for captures in (job(), job()[::-1])
        ]

    assert all(all(are_added(client.result())) for client in clients)
    assert content(tmp_path / "store") == clean
    latest = time.monotonic() + 60
    while left := folders_of_workers(scheduler) - of_other_tests:
        assert time.monotonic() < latest, left


@pytest.mark.exhaustive
def test_a_file_of_others_among_the_rows_keeps_no_capture_out(
    scheduler: str, clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    folder = tmp_path / "store" / captures_in(Origin.from_metadata(read_metadata(job()[0])).day)
    StoreRoot(str(tmp_path / "store")).begin()
    folder.mkdir(parents=True)
    parquet.write_table(pa.table({"x": [1]}), folder / "foreign.parquet")

    done = by_cluster(scheduler, tmp_path / "store", *job())

    assert are_added(done) == [True, True]
    assert content(tmp_path / "store") == clean


def test_a_worker_that_does_not_see_a_capture_tells_it(scheduler: str, tmp_path: Path) -> None:
    """Given a path that is another folder in each process, of which one holds another capture."""
    here = Path("/proc/self/cwd") / os.path.relpath(job()[0], Path.cwd())

    done = by_cluster(scheduler, tmp_path / "store", here, job()[1])

    error = done[here]
    assert isinstance(error, FramedexError) and error.message.startswith("A worker cannot read it: ")
    assert isinstance(done[job()[1]], AddedCapture)


def test_a_worker_that_writes_elsewhere_is_told(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an address that is another folder in each process: that of the worker is no store, or another one."""
    monkeypatch.chdir(tmp_path)
    address = "/proc/self/cwd/store"
    with distributed.Client(scheduler, set_as_default=False) as client:
        ((_, folder),) = client.run(os.getcwd).items()

    for store, told in (
        (None, "/proc/self/cwd/store is not a framedex store"),
        (f"{folder}/store", "to a different store, not to"),
    ):
        if store is not None:
            StoreRoot(store).begin()
        done = by_cluster(scheduler, address, *job())
        assert len(done) == 2 and all(
            isinstance(each, FramedexError) and told in each.message for each in done.values()
        )
    assert asked("store", "SELECT * FROM captures") == []


@pytest.mark.exhaustive(keep=["another"])
@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("import sys; sys.modules['framedex'] = None", f"has no framedex {VERSION}"),
        ("import framedex.version as v; v.VERSION = '0.0.1'", f"has framedex 0.0.1, not {VERSION}"),
        ("import sys; sys.modules['duckdb'] = None", "need duckdb"),
    ],
    ids=["none", "another", "without duckdb"],
)
def test_workers_without_this_framedex_are_told_before_they_get_anything(
    before: str, told: str, tmp_path: Path
) -> None:
    with (
        clusters.scheduler() as address,
        clusters.worker(address, tmp_path / "other", "--no-nanny", before=before),
        pytest.raises(FramedexError) as caught,
    ):
        by_cluster(address, tmp_path / "store", *job())

    assert told in caught.value.message and f"framedex[fleet-dask]=={VERSION}" in caught.value.remedy


@pytest.mark.exhaustive
def test_a_worker_without_framedex_that_comes_later_adds_nothing(
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
) -> None:
    """Given one that replaces one that has it, in the midst of a capture. Dask has it end."""
    store = f"{STORE}/later"

    def exchange() -> None:
        before = "import sys; sys.modules['framedex'] = None"
        stack.enter_context(clusters.worker(address, tmp_path / "other", "--no-nanny", before=before))
        first.kill()

    met = AtFirstCalls(exchange)
    with (
        ExitStack() as stack,
        s3(bucket, monkeypatch, met),
        clusters.scheduler() as address,
        clusters.worker(address, tmp_path / "worker", "--no-nanny") as first,
    ):
        done = by_cluster(address, store, *job())

    assert met.acted and are_added(done) == [False, False]
    assert all("has had no workers for" in str(each) for each in done.values())
    assert all(isinstance(each, AddedCapture) for each in added(store, *job()))
    assert content(store) == clean


@pytest.mark.exhaustive(keep=["tcp://127.0.0.1:1-cannot be reached", "list.json-is not a scheduler file"])
@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("tcp://127.0.0.1:1", "cannot be reached"),
        ("nowhere://127.0.0.1:1", "cannot be reached"),
        ("nowhere.json", "neither an address nor a readable file"),
        ("list.json", "is not a scheduler file"),
    ],
)
def test_schedulers_that_are_not_there_are_told(
    address: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    of_others = open_clients()
    refusing = pytest.raises(FramedexError, match=told)
    with dask.config.set({"distributed.comm.timeouts.connect": "300ms"}), refusing as caught:
        by_cluster(address, tmp_path / "store", *job())
    assert caught.value.remedy
    assert open_clients() <= of_others  # the collector closes what is open, at any moment


def test_a_scheduler_without_workers_is_told(tmp_path: Path) -> None:
    refusing = pytest.raises(FramedexError, match="has had no workers for 300 ms")
    patience = dask.config.set({"distributed.scheduler.no-workers-timeout": "300ms"})
    with clusters.scheduler() as address, patience, refusing:
        by_cluster(address, tmp_path / "store", *job())


@pytest.mark.exhaustive
def test_a_scheduler_that_ends_in_the_midst_is_told(
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
) -> None:
    """Given one that is named by its file."""
    store = f"{STORE}/scheduler"
    file = tmp_path / "scheduler.json"

    def met(method: str, path: str) -> int | None:
        if writes_calls(method, path):
            process.kill()
        return None

    with (
        s3(bucket, monkeypatch, met),
        clusters.scheduler_process(file) as process,
        clusters.worker(clusters.address_in(file), tmp_path / "worker", "--no-nanny"),
    ):
        done = by_cluster(str(file), store, *job())

    told = [each for each in done.values() if isinstance(each, FramedexError)]
    assert told and all("is lost" in each.message and "Run the same command again" in each.remedy for each in told)
    assert all(isinstance(each, AddedCapture) for each in added(store, *job()))
    assert content(store) == clean


@pytest.mark.exhaustive
def test_a_connection_that_is_lost_while_it_is_found_out_which_capture_ends_workers_is_told(
    bucket: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a scheduler that suspects all that a worker had as soon as one has ended."""

    def met(method: str, path: str) -> int | None:
        if not writes_calls(method, path):
            return None
        kill_workers(cluster.client)
        return servers.DROPPED

    done = {}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        s3(bucket, monkeypatch, met),
        clusters.scheduler() as address,
        clusters.worker(address, tmp_path / "worker", "--nanny", "--nthreads", "2"),
        existing_cluster(address) as cluster,
    ):
        for path, came in add_by_cluster(cluster, StoreRoot(f"{STORE}/suspects"), job(), SilentProgress()):
            done[path] = came
            cluster.client.close()

    killing, lost = done.values()
    assert "1 worker died" in str(killing) and "is lost" in str(lost)


def test_without_dask_it_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process adds captures nevertheless."""
    for module in ("adding", "existing", "libraries", "local", "worker"):
        monkeypatch.delitem(sys.modules, f"framedex.fleet.cluster.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    command = ["fleet", "add", str(job()[1]), "--store", str(tmp_path / "store")]

    for option in (["--workers", "2"], ["--scheduler", "tcp://127.0.0.1:1"]):
        done = CliRunner().invoke(cli, [*command, *option])
        assert done.exit_code == 1 and "pip install 'framedex[fleet-dask]'" in done.stderr

    assert CliRunner().invoke(cli, command).exit_code == 0


def test_a_cluster_that_exists_has_its_workers(tmp_path: Path) -> None:
    options = ["--workers", "2", "--scheduler", "tcp://127.0.0.1:1"]
    done = CliRunner().invoke(cli, ["fleet", "add", str(job()[1]), "--store", str(tmp_path / "store"), *options])
    assert done.exit_code == 2 and "Leave it out with --scheduler" in done.stderr
