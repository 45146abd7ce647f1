"""Adding captures with local processes: the store equals that of one process, whatever is killed meanwhile."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.fleet.adding import AddedCapture
from framedex.fleet.cluster.local import local_cluster
from framedex.fleet.cluster.sizes import count_worthwhile_processes
from tests.indexer.fleet import servers
from tests.indexer.fleet.cluster.running import (
    STORE,
    Done,
    RunsAtFirstCall,
    add_on_new_cluster,
    added_flags,
    kill_workers,
    s3,
    writes_calls,
)
from tests.indexer.fleet.fleets import add_to_store, content, copy_capture, job


class Notes(SilentProgress):
    """Records the notes printed while captures are added."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        """Record a note."""
        self.texts.append(text)


def test_local_processes_add_the_same_rows_as_one_process(
    clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    """A capture that cannot be added, and one named twice.

    The working folder has modules of its own; none of them is imported.
    """
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for module in ("json", "multiprocessing", "distributed", "dask", "framedex", "runpy", "asyncio"):
        (hostile / f"{module}.py").write_text("open('imported', 'w').close()")
    torn = torn_capture(tmp_path)
    first, second = job()

    done = add_by_processes(tmp_path / "store", second, first, second, torn, folder=hostile)

    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert [each["path"] for each in document["captures"]] == [str(second), str(first)]
    assert [each["path"] for each in document["left_out"]] == [str(torn)]
    assert [line for line in done.stderr.splitlines() if not line.startswith(("framedex: ", "  "))] == []
    assert content(tmp_path / "store") == clean
    assert not (hostile / "imported").exists()


@pytest.mark.exhaustive
def test_local_processes_replace_a_truncated_capture(clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path) -> None:
    cut = copy_capture(job()[0], tmp_path)
    (stream,) = cut.glob("thread-0.fdx")
    stream.write_bytes(stream.read_bytes()[:8192])

    partly = add_by_processes(tmp_path / "store", torn_capture(tmp_path), cut, folder=tmp_path)
    whole = add_by_processes(tmp_path / "store", *job(), folder=tmp_path)

    assert (partly.returncode, whole.returncode) == (1, 0), whole.stderr
    document = json.loads(partly.stdout)
    assert document["captures"][0]["problems"] and document["captures"][0]["is_new"]
    assert content(tmp_path / "store") == clean


def torn_capture(folder: Path) -> Path:
    """A capture with unreadable metadata."""
    torn = folder / "torn"
    torn.mkdir()
    (torn / "capture.json").write_text('{"format": "framedex-capture", "version": 3')
    return torn


def add_by_processes(store: Path, *captures: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Add captures with two processes, in a working folder."""
    command = ["framedex", "fleet", "add", "--workers", "2", "--store", str(store), "--json", *map(str, captures)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)


def test_a_local_cluster_listens_on_loopback_and_requires_its_key() -> None:
    """Every port is on loopback, and gives no data to other local users without the key."""
    with local_cluster(1, SilentProgress()) as cluster:
        cluster.begin()
        processes = {os.getpid(), *cluster.client.run(os.getpid).values()}
        ports = listening(processes)
        assert len(ports) >= 3 and {host for host, _ in ports} == {"127.0.0.1"}
        answers = [answer(*port) for port in ports]
    # Dask's browser port has no pages; all others close connections without the key.
    assert sorted(answers) == [b""] * (len(ports) - 2) + [b"HTTP/1.1 404 Not Found"] * 2


def answer(host: str, port: int) -> bytes:
    """The first line that a port answers to a page request, in TLS if required."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = b"GET /info/main/workers.html HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection((host, port), timeout=60) as plain:
        if told := first_line(plain, request):
            return told
    with (
        socket.create_connection((host, port), timeout=60) as connection,
        context.wrap_socket(connection) as encrypted,
    ):
        return first_line(encrypted, request)


def first_line(connection: socket.socket, request: bytes) -> bytes:
    """The first line of the answer to this request; empty if the connection is closed."""
    try:
        connection.sendall(request)
        return connection.recv(1000).partition(b"\r\n")[0]
    except (ssl.SSLError, ConnectionError):
        return b""


def listening(processes: set[int]) -> list[tuple[str, int]]:
    """The addresses and ports on which processes listen."""
    sockets = set()
    for process in processes:
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            try:
                sockets.add(str(descriptor.readlink()))
            except OSError:
                continue
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                host, port = fields[1].split(":")
                found.append((socket.inet_ntoa(bytes.fromhex(host)[::-1]) if table == "tcp" else host, int(port, 16)))
    return found


@pytest.mark.exhaustive
def test_a_process_killed_midway_is_replaced(
    clean: dict[str, list[tuple[Any, ...]]], bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes()
    met = RunsAtFirstCall(lambda: kill_workers(cluster.client))
    with s3(bucket, monkeypatch, met), local_cluster(1, notes) as cluster:
        done = add_on_new_cluster(cluster, f"{STORE}/killed", job())
        while not notes.texts:  # printed after a second without data
            cluster.check_workers()

    assert met.acted and added_flags(done) == [True, True]
    assert "by signal 9; a new one replaces it" in notes.texts[0]
    assert content(f"{STORE}/killed") == clean


@pytest.mark.exhaustive
def test_a_capture_that_kills_each_process_is_reported_and_the_others_are_added(
    clean: dict[str, list[tuple[Any, ...]]], bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = next(row[0] for row in clean["captures"] if str(job()[0]) in row)
    store = f"{STORE}/deadly"

    def met(method: str, path: str) -> int | None:
        if writes_calls(method, path) and deadly in path:
            kill_workers(cluster.client)
            return servers.DROPPED
        return None

    with s3(bucket, monkeypatch, met), local_cluster(1, SilentProgress()) as cluster:
        done = add_on_new_cluster(cluster, store, job())

    refused = done[job()[0]]
    assert isinstance(refused, FramedexError) and "4 workers died one after the other" in refused.message
    assert isinstance(done[job()[1]], AddedCapture)
    assert added_flags(dict(enumerate(add_to_store(store, *job())))) == [True, True]  # type: ignore[arg-type]
    assert content(store) == clean


@pytest.mark.exhaustive
def test_a_slow_and_failing_store_ends_in_the_same_state(
    clean: dict[str, list[tuple[Any, ...]]], bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failures beyond the library's own retries are reported, and the same command continues.

    Three runs cannot write calls, each for another reason; in a fourth, every fifth request fails.
    """
    kinds = (500, 503, servers.DROPPED)
    store = f"{STORE}/slow"
    requests = count(1)
    ran: list[Done] = []
    told: list[FramedexError] = []

    def met(method: str, path: str) -> int | None:
        time.sleep(0.01)
        if len(ran) < 3:
            return kinds[len(ran)] if writes_calls(method, path) else None
        number = next(requests)
        return kinds[number // 5 % 3] if len(ran) == 3 and number % 5 == 0 else None

    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    with s3(bucket, monkeypatch, met), local_cluster(2, SilentProgress()) as cluster:
        for _ in range(5):
            try:
                ran.append(add_on_new_cluster(cluster, store, job()))
            except FramedexError as error:  # of the client itself
                ran.append({})
                told.append(error)
            told += [each for each in ran[-1].values() if isinstance(each, FramedexError)]

    assert [added_flags(done) for done in ran[:3]] == [[False, False]] * 3
    assert all(error.message.startswith(f"The store {store} cannot be") and error.remedy for error in told), told
    assert added_flags(ran[-1]) == [True, True]
    assert content(store) == clean


@pytest.mark.exhaustive
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_command(
    ending: signal.Signals,
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After Ctrl-C or a kill during captures, the same command continues."""
    store = f"{STORE}/{ending.name}"
    workers: list[int] = []

    def met(method: str, path: str) -> int | None:
        if not writes_calls(method, path):
            return None
        if not workers:
            workers.extend(os.pidfd_open(child) for child in children(process.pid))
            os.killpg(process.pid, ending)
        return 503

    command = [sys.executable, "-m", "framedex", "fleet", "add", "--workers", "2", "--store", store]
    with s3(bucket, monkeypatch, met):
        process = subprocess.Popen(
            [*command, *map(str, job())],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        _, said = process.communicate(timeout=120)
        assert len(workers) == 2
        for worker in workers:
            assert select.select([worker], [], [], 60)[0], "it has ended"
            os.close(worker)

    if ending is signal.SIGINT:
        assert process.returncode not in (0, -signal.SIGINT), said
        assert list(tmp_path.iterdir()) == [] and "Traceback" not in said
    assert all(isinstance(done, AddedCapture) for done in add_to_store(store, *job()))
    assert content(store) == clean


def children(process: int) -> list[int]:
    """The child processes of a process."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def test_processes_start_only_if_worthwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Captures of various sizes, and numbers of processors."""
    for name, size in (("small", 1 << 20), ("large", 200 << 20), ("other", 200 << 20)):
        (tmp_path / name).mkdir()
        with (tmp_path / name / "thread-0.fdx").open("wb") as stream:
            stream.truncate(size)
    small, large, other, gone = (tmp_path / name for name in ("small", "large", "other", "gone"))

    for processors, captures, processes in (
        (8, [large, other], 2),
        (8, [large, other, small, gone], 4),
        (2, [large, other, small], 2),
        (1, [large, other], 0),
        (8, [small, large], 0),
        (8, [large], 0),
    ):
        monkeypatch.setattr("dask.system.CPU_COUNT", processors)
        monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 64 << 30)
        assert count_worthwhile_processes(captures) == processes
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 1 << 30)
    assert count_worthwhile_processes([large, other]) == 0
