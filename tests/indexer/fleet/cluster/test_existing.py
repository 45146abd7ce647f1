"""Adding captures on an existing cluster: the store equals that of one process, whatever is killed meanwhile."""

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

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.base.version import VERSION
from framedex.captures import read_metadata
from framedex.commands.main import cli
from framedex.fleet.adding import AddedCapture
from framedex.fleet.cluster.adding import add_by_cluster
from framedex.fleet.cluster.existing import existing_cluster
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import build_captures_folder
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet import clusters, servers
from tests.indexer.fleet.cluster.running import (
    STORE,
    RunsAtFirstCall,
    add_on_cluster,
    add_on_new_cluster,
    added_flags,
    kill_workers,
    s3,
    writes_calls,
)
from tests.indexer.fleet.fleets import add_to_store, content, job, run_query


def folders_of_workers(scheduler: str) -> set[Path]:
    """The temporary folders in which a cluster's workers add captures."""
    with distributed.Client(scheduler, set_as_default=False) as client:
        return {each for folder in client.run(os.getcwd).values() for each in Path(folder).glob("framedex-fleet-*")}


def open_clients() -> set[int]:
    """The ids of this process's open clients of any cluster."""
    return {id(client) for client in distributed.Client._instances if client.status != "closed"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
def test_a_killed_cluster_worker_is_replaced_or_its_captures_are_reported(
    nanny: str,
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """With a nanny, another worker continues. Without one and without other workers, skipped captures are reported."""
    if nanny == "--no-nanny":
        request.getfixturevalue("patience")  # a replacement may take longer to arrive
    store = f"{STORE}/{nanny}"
    met = RunsAtFirstCall(lambda: kill_workers(client))
    with s3(bucket, monkeypatch, met), clusters.scheduler() as address:
        with clusters.worker(address, tmp_path / "worker", nanny), existing_cluster(address) as cluster:
            client = cluster.client
            done = add_on_new_cluster(cluster, store, job())
        assert met.acted
        if nanny == "--no-nanny":
            assert added_flags(done) == [False, False]
            assert all("has had no workers for" in str(each) for each in done.values())
            with clusters.worker(address, tmp_path / "worker"):
                done = add_on_cluster(address, store, *job())

    assert added_flags(done) == [True, True]
    assert content(store) == clean


def test_clients_of_one_cluster_add_the_same_captures_concurrently(
    scheduler: str, clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    """With the scheduler's address in a file; at the end, the worker has no files left."""
    told = tmp_path / "scheduler.json"
    told.write_text(json.dumps({"address": scheduler}))
    of_other_tests = folders_of_workers(scheduler)
    with ThreadPoolExecutor() as pool:
        clients = [
            pool.submit(add_on_cluster, str(told), tmp_path / "store", *captures) for captures in (job(), job()[::-1])
        ]

    assert all(all(added_flags(client.result())) for client in clients)
    assert content(tmp_path / "store") == clean
    latest = time.monotonic() + 60
    while left := folders_of_workers(scheduler) - of_other_tests:
        assert time.monotonic() < latest, left


@pytest.mark.exhaustive
def test_a_foreign_file_among_the_rows_blocks_no_capture(
    scheduler: str, clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    folder = tmp_path / "store" / build_captures_folder(Origin.from_metadata(read_metadata(job()[0])).day)
    StoreRoot(str(tmp_path / "store")).begin()
    folder.mkdir(parents=True)
    parquet.write_table(pa.table({"x": [1]}), folder / "foreign.parquet")

    done = add_on_cluster(scheduler, tmp_path / "store", *job())

    assert added_flags(done) == [True, True]
    assert content(tmp_path / "store") == clean


def test_a_worker_that_cannot_see_a_capture_reports_it(scheduler: str, tmp_path: Path) -> None:
    """A path that is a different folder in each process; in one of them, it holds another capture."""
    here = Path("/proc/self/cwd") / os.path.relpath(job()[0], Path.cwd())

    done = add_on_cluster(scheduler, tmp_path / "store", here, job()[1])

    error = done[here]
    assert isinstance(error, FramedexError) and error.message.startswith("A worker cannot read it: ")
    assert isinstance(done[job()[1]], AddedCapture)


def test_a_worker_with_another_store_is_reported(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store address that is a different folder in the worker: not a store, or another one."""
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
        done = add_on_cluster(scheduler, address, *job())
        assert len(done) == 2 and all(
            isinstance(each, FramedexError) and told in each.message for each in done.values()
        )
    assert run_query("store", "SELECT * FROM captures") == []


@pytest.mark.exhaustive(keep=["another"])
@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("import sys; sys.modules['framedex'] = None", f"has no framedex {VERSION}"),
        ("import framedex.base.version as v; v.VERSION = '0.0.1'", f"has framedex 0.0.1, not {VERSION}"),
        ("import sys; sys.modules['duckdb'] = None", "need duckdb"),
    ],
    ids=["none", "another", "without duckdb"],
)
def test_workers_with_another_framedex_are_reported_before_any_work(before: str, expected: str, tmp_path: Path) -> None:
    with (
        clusters.scheduler() as address,
        clusters.worker(address, tmp_path / "other", "--no-nanny", before=before),
        pytest.raises(FramedexError) as caught,
    ):
        add_on_cluster(address, tmp_path / "store", *job())

    assert expected in caught.value.message and f"framedex[fleet-dask]=={VERSION}" in caught.value.remedy


@pytest.mark.exhaustive
def test_a_late_worker_without_framedex_adds_nothing(
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
) -> None:
    """A replacement worker starts during a capture, and Dask ends the old one."""
    store = f"{STORE}/later"

    def exchange() -> None:
        before = "import sys; sys.modules['framedex'] = None"
        stack.enter_context(clusters.worker(address, tmp_path / "other", "--no-nanny", before=before))
        first.kill()

    met = RunsAtFirstCall(exchange)
    with (
        ExitStack() as stack,
        s3(bucket, monkeypatch, met),
        clusters.scheduler() as address,
        clusters.worker(address, tmp_path / "worker", "--no-nanny") as first,
    ):
        done = add_on_cluster(address, store, *job())

    assert met.acted and added_flags(done) == [False, False]
    assert all("has had no workers for" in str(each) for each in done.values())
    assert all(isinstance(each, AddedCapture) for each in add_to_store(store, *job()))
    assert content(store) == clean


@pytest.mark.exhaustive(keep=["tcp://127.0.0.1:1-cannot be reached", "list.json-is not a scheduler file"])
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("tcp://127.0.0.1:1", "cannot be reached"),
        ("nowhere://127.0.0.1:1", "cannot be reached"),
        ("nowhere.json", "neither an address nor a readable file"),
        ("list.json", "is not a scheduler file"),
    ],
)
def test_unreachable_schedulers_are_reported(
    address: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    of_others = open_clients()
    refusing = pytest.raises(FramedexError, match=expected)
    with dask.config.set({"distributed.comm.timeouts.connect": "300ms"}), refusing as caught:
        add_on_cluster(address, tmp_path / "store", *job())
    assert caught.value.remedy
    assert open_clients() <= of_others  # the garbage collector closes open objects at any moment


def test_a_scheduler_without_workers_is_reported(tmp_path: Path) -> None:
    refusing = pytest.raises(FramedexError, match="has had no workers for 300 ms")
    patience = dask.config.set({"distributed.scheduler.no-workers-timeout": "300ms"})
    with clusters.scheduler() as address, patience, refusing:
        add_on_cluster(address, tmp_path / "store", *job())


@pytest.mark.exhaustive
def test_a_scheduler_that_dies_midway_is_reported(
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
) -> None:
    """A scheduler named by its file."""
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
        done = add_on_cluster(str(file), store, *job())

    told = [each for each in done.values() if isinstance(each, FramedexError)]
    assert told and all("is lost" in each.message and "Run the same command again" in each.remedy for each in told)
    assert all(isinstance(each, AddedCapture) for each in add_to_store(store, *job()))
    assert content(store) == clean


@pytest.mark.exhaustive
def test_a_connection_lost_during_diagnosis_is_reported(
    bucket: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler that suspects all tasks of a worker as soon as it ends."""

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


def test_without_dask_the_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process still adds the captures."""
    for module in ("adding", "existing", "libraries", "local", "worker"):
        monkeypatch.delitem(sys.modules, f"framedex.fleet.cluster.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    command = ["fleet", "add", str(job()[1]), "--store", str(tmp_path / "store")]

    for option in (["--workers", "2"], ["--scheduler", "tcp://127.0.0.1:1"]):
        done = CliRunner().invoke(cli, [*command, *option])
        assert done.exit_code == 1 and "pip install 'framedex[fleet-dask]'" in done.stderr

    assert CliRunner().invoke(cli, command).exit_code == 0


def test_workers_are_refused_with_an_existing_cluster(tmp_path: Path) -> None:
    options = ["--workers", "2", "--scheduler", "tcp://127.0.0.1:1"]
    done = CliRunner().invoke(cli, ["fleet", "add", str(job()[1]), "--store", str(tmp_path / "store"), *options])
    assert done.exit_code == 2 and "Leave it out with --scheduler" in done.stderr
