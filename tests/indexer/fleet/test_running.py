"""Captures that the workers of a cluster add: the store ends as that of one process, whatever ends meanwhile."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
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
from framedex.fleet.adding import Added
from framedex.fleet.cluster.adding import Cluster, add_by_cluster
from framedex.fleet.cluster.existing import existing_cluster
from framedex.fleet.cluster.local import local_cluster
from framedex.fleet.cluster.sizes import processes_that_pay
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import captures_in
from framedex.fleet.place import Place
from framedex.progress import Silence
from framedex.version import VERSION
from tests.indexer.fleet import clusters, servers
from tests.indexer.fleet.fleets import added, asked, content, copied, job

STORE = f"s3://{servers.BUCKET}/of/mine"
Done = dict[Path, Added | FramedexError]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, ...]]]:
    """What a store has that one process has added both ranks to."""
    store = tmp_path_factory.mktemp("clean") / "store"
    added(store, *job())
    return content(store)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster with one worker of two threads, by the address of its scheduler."""
    folder = tmp_path_factory.mktemp("worker")
    with clusters.scheduler() as address, clusters.worker(address, folder, "--no-nanny", "--nthreads", "2"):
        yield address


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No wait for a scheduler or for workers is longer than some seconds."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT", "2s")
    with dask.config.set({"distributed.comm.timeouts.connect": "2s", "distributed.scheduler.no-workers-timeout": "2s"}):
        yield


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, int]]:
    """A server of S3, by its host and port."""
    with servers.moto() as address:
        yield address


class Notes(Silence):
    """Keeps what is noted while captures are added."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        """Keep it."""
        self.texts.append(text)


def by(cluster: Cluster, store: str | Path, captures: tuple[Path, ...]) -> Done:
    """What came of captures that a cluster added."""
    return dict(add_by_cluster(cluster, Place(str(store)), captures, Silence()))


def by_cluster(address: str, store: str | Path, *captures: Path) -> Done:
    """The same of a cluster that exists."""
    with existing_cluster(address) as cluster:
        return by(cluster, store, captures)


def open_clients() -> set[int]:
    """The ids of the clients of any cluster that this process has, and that are not closed."""
    clients = [each for each in gc.get_objects() if issubclass(type(each), distributed.Client)]
    return {id(client) for client in clients if client.status != "closed"}


def are_added(done: Done) -> list[bool]:
    return [isinstance(each, Added) for each in done.values()]


@contextmanager
def s3(
    bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch, met: Callable[[str, str], int | None]
) -> Iterator[None]:
    """Inside, S3 is at a server that a test sees the requests of; workers that are started there ask it, too."""
    for name, value in servers.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with servers.before(bucket, met) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        yield
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{bucket[0]}:{bucket[1]}")


def writes_calls(method: str, path: str) -> bool:
    """Whether a request comes in the midst of adding a capture: frames, stacks and kinds are there, and no more."""
    return method in ("PUT", "POST") and "/calls/" in path


def test_processes_of_this_machine_add_what_one_process_does(
    clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    """Given captures that cannot be added beside those that can, one cut short and one given twice.

    The folder it is done in has modules of its own: none of them is imported.
    """
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for module in ("json", "multiprocessing", "distributed", "dask", "framedex", "runpy", "asyncio"):
        (hostile / f"{module}.py").write_text("open('imported', 'w').close()")
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / "capture.json").write_text('{"format": "framedex-capture", "version": 3')
    cut = copied(job()[0], tmp_path)
    (stream,) = cut.glob("thread-0.fdx")
    stream.write_bytes(stream.read_bytes()[:8192])
    store = tmp_path / "store"
    first, second = job()
    command = ["framedex", "fleet", "add", "--workers", "2", "--store", str(store), "--json"]

    partly, whole = (
        subprocess.run([*command, *map(str, given)], capture_output=True, text=True, timeout=120, cwd=hostile)
        for given in ((torn, cut), (second, first, second, torn))
    )

    assert partly.returncode == whole.returncode == 1, whole.stderr
    document = json.loads(partly.stdout)
    assert document["captures"][0]["problems"] and document["captures"][0]["is_new"]
    document = json.loads(whole.stdout)
    assert [each["path"] for each in document["captures"]] == [str(second), str(first)]
    assert [each["path"] for each in document["left_out"]] == [str(torn)]
    assert [line for line in whole.stderr.splitlines() if not line.startswith(("framedex: ", "  "))] == []
    assert content(store) == clean
    assert not (hostile / "imported").exists()


def test_nobody_else_speaks_to_the_processes_of_a_cluster_here() -> None:
    """Given who is on the same machine: each port is on loopback and wants the key, or tells nothing."""
    with local_cluster(1, Silence()) as cluster:
        cluster.begin()
        processes = {os.getpid(), *cluster.client.run(os.getpid).values()}
        ports = listening(processes)
        assert len(ports) >= 3 and {host for host, _ in ports} == {"127.0.0.1"}
        answers = [answer(*port) for port in ports]
    # What Dask has for browsers has no pages; all else ends who has not the key.
    assert sorted(answers) == [b""] * (len(ports) - 2) + [b"HTTP/1.1 404 Not Found"] * 2


def answer(host: str, port: int) -> bytes:
    """The first line that a port answers to who asks for a page, in TLS where it wants that."""
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
    """The first line of what comes after this was sent, empty where the other end closes the connection."""
    try:
        connection.sendall(request)
        return connection.recv(1000).partition(b"\r\n")[0]
    except (ssl.SSLError, ConnectionError):
        return b""


def listening(processes: set[int]) -> list[tuple[str, int]]:
    """The addresses and ports that processes listen at."""
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


def test_a_process_that_is_killed_in_the_midst_is_replaced(
    clean: dict[str, list[tuple[Any, ...]]], bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[str] = []
    notes = Notes()

    def met(method: str, path: str) -> int | None:
        if writes_calls(method, path) and not killed:
            killed.append(path)
            kill_workers(cluster.client)
            return servers.DROPPED
        return None

    with s3(bucket, monkeypatch, met), local_cluster(1, notes) as cluster:
        done = by(cluster, f"{STORE}/killed", job())
        while not notes.texts:  # it is told when nothing comes for a second
            cluster.tend()

    assert killed and are_added(done) == [True, True]
    assert "by signal 9; another one goes on" in notes.texts[0]
    assert content(f"{STORE}/killed") == clean


def kill_workers(client: Any) -> None:
    """Kill the processes of all workers."""
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)


def test_a_capture_that_ends_each_process_is_told_and_the_others_are_added(
    clean: dict[str, list[tuple[Any, ...]]], bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = next(row[0] for row in clean["captures"] if str(job()[0]) in row)
    store = f"{STORE}/deadly"

    def met(method: str, path: str) -> int | None:
        if writes_calls(method, path) and deadly in path:
            kill_workers(cluster.client)
            return servers.DROPPED
        return None

    with s3(bucket, monkeypatch, met), local_cluster(1, Silence()) as cluster:
        done = by(cluster, store, job())

    refused = done[job()[0]]
    assert isinstance(refused, FramedexError) and "4 workers ended one after the other" in refused.message
    assert isinstance(done[job()[1]], Added)
    assert are_added(dict(enumerate(added(store, *job())))) == [True, True]  # type: ignore[arg-type]
    assert content(store) == clean


@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
def test_a_worker_of_a_cluster_that_is_killed_in_the_midst(
    nanny: str,
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
) -> None:
    """With a nanny another one goes on. Without, and no other worker, what is left out is told."""
    store = f"{STORE}/{nanny}"
    killed: list[str] = []

    def met(method: str, path: str) -> int | None:
        if writes_calls(method, path) and not killed:
            killed.append(path)
            kill_workers(client)
            return servers.DROPPED
        return None

    with s3(bucket, monkeypatch, met), clusters.scheduler() as address:
        with clusters.worker(address, tmp_path / "worker", nanny), existing_cluster(address) as cluster:
            client = cluster.client
            done = by(cluster, store, job())
        assert killed
        if nanny == "--no-nanny":
            assert are_added(done) == [False, False]
            assert all("has had no workers for" in str(each) for each in done.values())
            with clusters.worker(address, tmp_path / "worker"):
                done = by_cluster(address, store, *job())

    assert are_added(done) == [True, True]
    assert content(store) == clean


def test_a_store_that_is_slow_and_fails_again_and_again_ends_as_one_that_does_not(
    clean: dict[str, list[tuple[Any, ...]]], bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the library's own retries do not get through is told, and the same command goes on.

    Given three runs in which no calls can be written, for another reason each, and one in which each fifth request
    fails, whatever it is.
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
    with s3(bucket, monkeypatch, met), local_cluster(2, Silence()) as cluster:
        for _ in range(5):
            try:
                ran.append(by(cluster, store, job()))
            except FramedexError as error:  # of the client itself
                ran.append({})
                told.append(error)
            told += [each for each in ran[-1].values() if isinstance(each, FramedexError)]

    assert [are_added(done) for done in ran[:3]] == [[False, False]] * 3
    assert all(error.message.startswith(f"The store {store} cannot be") and error.remedy for error in told), told
    assert are_added(ran[-1]) == [True, True]
    assert content(store) == clean


def test_clients_that_have_one_cluster_add_the_same_at_once(
    scheduler: str, clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    """Given a file with the address of the scheduler; and when all is done, nothing of it is left at the worker's."""
    told = tmp_path / "scheduler.json"
    told.write_text(json.dumps({"address": scheduler}))
    with ThreadPoolExecutor() as pool:
        clients = [
            pool.submit(by_cluster, str(told), tmp_path / "store", *captures) for captures in (job(), job()[::-1])
        ]

    assert all(all(are_added(client.result())) for client in clients)
    assert content(tmp_path / "store") == clean
    with distributed.Client(scheduler, set_as_default=False) as client:
        latest = time.monotonic() + 60
        while any(list(Path(folder).glob("framedex-fleet-*")) for folder in client.run(os.getcwd).values()):
            assert time.monotonic() < latest


def test_a_file_of_others_among_the_rows_keeps_no_capture_out(
    scheduler: str, clean: dict[str, list[tuple[Any, ...]]], tmp_path: Path
) -> None:
    folder = tmp_path / "store" / captures_in(Origin.of(read_metadata(job()[0])).day)
    Place(str(tmp_path / "store")).begin()
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
    assert isinstance(error, FramedexError) and error.message.startswith("A worker does not see it: ")
    assert isinstance(done[job()[1]], Added)


def test_a_worker_that_writes_elsewhere_is_told(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an address that is another folder in each process: that of the worker is no store, or another one."""
    monkeypatch.chdir(tmp_path)
    address = "/proc/self/cwd/store"
    with distributed.Client(scheduler, set_as_default=False) as client:
        ((_, folder),) = client.run(os.getcwd).items()

    for store, told in ((None, "/proc/self/cwd/store is no store"), (f"{folder}/store", "but not to the store")):
        if store is not None:
            Place(store).begin()
        done = by_cluster(scheduler, address, *job())
        assert len(done) == 2 and all(
            isinstance(each, FramedexError) and told in each.message for each in done.values()
        )
    assert asked("store", "SELECT * FROM captures") == []


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("import sys; sys.modules['framedex'] = None", f"has no framedex {VERSION}"),
        ("import framedex.version as v; v.VERSION = '0.0.1'", f"has framedex 0.0.1, not {VERSION}"),
        ("import sys; sys.modules['duckdb'] = None", "needs duckdb"),
    ],
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


def test_a_worker_without_framedex_that_comes_later_adds_nothing(
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: None,
) -> None:
    """Given one that takes the place of one that has it, in the midst of a capture. Dask has it end."""
    store = f"{STORE}/later"
    came: list[Any] = []

    def met(method: str, path: str) -> int | None:
        if writes_calls(method, path) and not came:
            before = "import sys; sys.modules['framedex'] = None"
            came.append(clusters.worker(address, tmp_path / "other", "--no-nanny", before=before))
            stack.enter_context(came[0])
            first.kill()
            return servers.DROPPED
        return None

    with (
        ExitStack() as stack,
        s3(bucket, monkeypatch, met),
        clusters.scheduler() as address,
        clusters.worker(address, tmp_path / "worker", "--no-nanny") as first,
    ):
        done = by_cluster(address, store, *job())

    assert came and are_added(done) == [False, False]
    assert all("has had no workers for" in str(each) for each in done.values())
    assert all(isinstance(each, Added) for each in added(store, *job()))
    assert content(store) == clean


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("tcp://127.0.0.1:1", "cannot be reached"),
        ("nowhere://127.0.0.1:1", "cannot be reached"),
        ("nowhere.json", "neither an address nor a file"),
        ("list.json", "is no file of a scheduler's"),
    ],
)
def test_schedulers_that_are_not_there_are_told(
    address: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text("[]")
    of_others = open_clients()
    with pytest.raises(FramedexError, match=told) as caught:
        by_cluster(address, tmp_path / "store", *job())
    assert caught.value.remedy
    assert open_clients() <= of_others  # the collector closes what is open, at any moment


def test_a_scheduler_without_workers_is_told(tmp_path: Path, patience: None) -> None:
    with clusters.scheduler() as address, pytest.raises(FramedexError, match="has had no workers for 2"):
        by_cluster(address, tmp_path / "store", *job())


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
    assert all(isinstance(each, Added) for each in added(store, *job()))
    assert content(store) == clean


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
        for path, came in add_by_cluster(cluster, Place(f"{STORE}/suspects"), job(), Silence()):
            done[path] = came
            cluster.client.close()

    killing, lost = done.values()
    assert "1 worker ended" in str(killing) and "is lost" in str(lost)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_processes_go_with_the_command(
    ending: signal.Signals,
    clean: dict[str, list[tuple[Any, ...]]],
    bucket: tuple[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given Ctrl-C, or a kill, in the midst of captures: running the same command again goes on."""
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
    assert all(isinstance(done, Added) for done in added(store, *job()))
    assert content(store) == clean


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


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


def test_processes_are_started_where_that_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given captures of some size, and so many processors."""
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
        assert processes_that_pay(captures) == processes
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 1 << 30)
    assert processes_that_pay([large, other]) == 0


def test_a_cluster_that_exists_has_its_workers(tmp_path: Path) -> None:
    options = ["--workers", "2", "--scheduler", "tcp://127.0.0.1:1"]
    done = CliRunner().invoke(cli, ["fleet", "add", str(job()[1]), "--store", str(tmp_path / "store"), *options])
    assert done.exit_code == 2 and "leave out --workers" in done.stderr
