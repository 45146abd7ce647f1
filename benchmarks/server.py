"""Cost of the language server at the client: start, hovers, large indexes, and questions while an indexer writes."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import click

from benchmarks.figures import Figure
from benchmarks.indexing import FEW_BATCHES, TRAINING_PROGRAM, record_training
from benchmarks.processes import FRAMEDEX, percentiles, print_header, print_row
from framedex.captures import capture_folders, project_captures_folder
from framedex.index import Index, Store
from framedex.index.file.database import LockTimeout
from framedex.ingest import SilentProgress, find_needed_sources, ingest_captures
from framedex.model import CallFilter
from tests.server.raw_client import RawClient

Location = tuple[str, int]

# --- the client -------------------------------------------------------------------------------------------------------

_CAPABILITIES = {
    "textDocument": {"hover": {"contentFormat": ["markdown"]}, "definition": {"linkSupport": True}},
}


class Client(RawClient):
    """A server process and its pipes; one request at a time. Its messages are those of the tests' client."""

    def __init__(self, command: Sequence[str], root: Path) -> None:
        super().__init__(command=command, stderr=subprocess.DEVNULL)  # an unread pipe would fill up
        self._ids = count(1)
        folder = {"uri": root.as_uri(), "name": root.name}
        self.initialize(root, capabilities=_CAPABILITIES, workspaceFolders=[folder])

    def open(self, path: Path, language: str) -> None:
        """Open a document, for servers that answer only for open documents."""
        text = path.read_text(encoding="utf-8")
        document = {"uri": path.as_uri(), "languageId": language, "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def request_at(self, method: str, path: str | Path, line: int, character: int = 0) -> Any:
        """The result of a request about a position; `line` is 1-based."""
        position = {"line": line - 1, "character": character}
        return self.ask(method, {"textDocument": {"uri": Path(path).as_uri()}, "position": position})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request. Raises RuntimeError if the server returns an error."""
        reply = self.request(method, params, next(self._ids))
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']}")
        return reply["result"]

    def receive(self) -> dict[str, Any]:
        """The next message. A request of the server gets an empty result."""
        message = super().receive()
        if "id" in message and "method" in message:
            self.answer(message, None)
        return message

    def resident_megabytes(self) -> float:
        """Resident memory of the server."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """Processor time that all threads of the server have used."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def leave(self) -> None:
        """End the server as an editor does."""
        self.ask("shutdown", None)
        self.send({"method": "exit"})
        self.process.wait()


# --- start and hovers -------------------------------------------------------------------------------------------------

BARE_SERVER = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")

@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, "bare"))

server.start_io()
"""


BARE = (sys.executable, "-c", BARE_SERVER)
SERVERS = {"bare pygls": BARE, "framedex serve": (*FRAMEDEX, "serve")}
_MAX_LOCATIONS = 200


@click.command()
@click.option("--index", type=click.Path(exists=True, path_type=Path), help="Index; without one, measure starts only.")
@click.option("--starts", type=int, default=9, show_default=True, help="Starts of each server.")
@click.option("--hovers", type=int, default=1000, show_default=True, help="Hovers of each server.")
def server(index: Path | None, starts: int, hovers: int) -> list[Figure]:
    """Measure the start of the language server and its hovers, against a bare pygls server.

    A start ends with the reply to `initialize`. Hovers visit the lines of the latest calls' stacks.
    """
    root = index.resolve().parent.parent if index else Path.cwd()
    measured = _measure_starts(root, starts)
    bare = statistics.median(measured["bare pygls"])
    print_header("step", "p50", "p99", "to bare pygls")
    figures = []
    for name, seconds in measured.items():
        p50 = statistics.median(seconds)
        print_row(f"start to `initialize` answered, {name}", f"{p50 * 1e3:.0f} ms", "", f"{p50 / bare:.2f}")
        figures.append(Figure(f"start of {name}", p50 * 1e3, "ms", "bare pygls", p50 / bare))
    if index is None:
        return figures
    asked = {name: _measure_hovers(command, index, hovers, root) for name, command in SERVERS.items()}
    bare_seconds, bare_megabytes = asked["bare pygls"]
    bare = statistics.median(bare_seconds)
    for name, (seconds, megabytes) in asked.items():
        p50, p99 = percentiles(seconds)
        cells = (f"{p50 * 1e3:.2f} ms", f"{p99 * 1e3:.2f} ms", f"{p50 / bare:.2f}")
        print_row(f"hover, {name} ({megabytes:.0f} MB)", *cells)
        figures.append(Figure(f"hover of {name}, p50", p50 * 1e3, "ms", "bare pygls", p50 / bare))
        figures.append(Figure(f"memory of {name}", megabytes, "MB", "bare pygls", megabytes / bare_megabytes))
    return figures


def _measure_starts(root: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds from spawn to the reply to `initialize`, per server; one unmeasured round warms the file cache."""
    seconds: dict[str, list[float]] = {name: [] for name in SERVERS}
    for measured in [False] + [True] * rounds:
        for name, command in SERVERS.items():
            begin = time.perf_counter()
            client = Client(command, root)
            if measured:
                seconds[name].append(time.perf_counter() - begin)
            client.leave()
    return seconds


def _measure_hovers(command: Sequence[str], index: Path, hovers: int, root: Path) -> tuple[list[float], float]:
    """Seconds of each hover over the busiest lines, in turn, and the server's resident megabytes afterwards."""
    client = Client(command, root)
    locations = _busiest_lines(index)
    seconds = []
    for number in range(hovers + len(locations)):
        path, line = locations[number % len(locations)]
        began = time.perf_counter()
        answer = client.request_at("textDocument/hover", path, line)
        if number >= len(locations):  # the first pass warms up
            seconds.append(time.perf_counter() - began)
        assert answer, f"no hover on {path}:{line}, which has recorded calls"
    megabytes = client.resident_megabytes()
    client.leave()
    return seconds, megabytes


def _busiest_lines(index: Path) -> list[Location]:
    """The existing source lines of the latest calls' stacks."""
    locations: dict[Location, None] = {}
    with Index.open(index) as opened:
        for call in opened.calls.find(CallFilter(), limit=_MAX_LOCATIONS):
            trace = opened.calls.trace(call.id)
            for frame in trace.frames if trace else ():
                if frame.location is not None and Path(frame.location.path).is_file():
                    locations[frame.location.path, frame.location.line] = None
    return list(locations)[:_MAX_LOCATIONS]


# --- a large index ----------------------------------------------------------------------------------------------------

SERVE = (sys.executable, "-m", "framedex_server")
PEERS = {"pyright": ("pyright-langserver", "--stdio"), "clangd": ("clangd", "--log=error")}
STACKS = 50
OPEN_FILES = 20  # that a peer has open, as many as a person may


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option("--questions", type=int, default=1000, show_default=True, help="Number of requests of each kind.")
@click.option("--runs", type=int, default=3, show_default=True, help="Number of runs.")
def server_at_scale(folder: Path, questions: int, runs: int) -> list[Figure]:
    """Measure the server in a large index, against pygls, pyright and clangd.

    `large-index` created FOLDER. Hovers, definitions and steps of the call hierarchy visit the lines of stacks of many
    programs. The peers answer about the same files, where they are installed. Processor time is an average per
    question.
    """
    folder = folder.resolve()
    locations = locations_in(folder / ".framedex" / "index.db")
    python = [location for location in locations if location[0].endswith(".py")]
    native = [location for location in locations if not location[0].endswith(".py")]
    print_header("question", "p50", "p99", "slowest", "processor time", "memory")
    figures: list[Figure] = []
    for run in range(runs):
        print_row(f"run {run + 1}, load {os.getloadavg()[0]:.1f}", "", "", "", "", "")
        bare = Session("bare pygls", BARE, folder, questions)
        peer_p50 = bare.measure("hover", locations, bare.hover)
        ours = Session("framedex", SERVE, folder, questions)
        asks = (("hover", ours.hover), ("definition", ours.definition), ("hierarchy step", ours.hierarchy))
        figures = []  # of the last run
        for kind, ask in asks:
            p50 = ours.measure(kind, locations, ask)
            ratio = p50 / peer_p50
            figures.append(Figure(f"{kind}, repeated, p50", p50 * 1e3, "ms", "a hover of bare pygls", ratio))
        for name, own in (("pyright", python), ("clangd", native)):
            if shutil.which(PEERS[name][0]) and own:
                peer = Session(name, PEERS[name], folder, questions, own)
                peer.measure("hover", peer.locations, peer.hover)
                peer.measure("definition", peer.locations, peer.definition)
                peer.leave()
        ours.leave()
        bare.leave()
    return figures


class Session:
    """A server with its client."""

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, questions: int, opens: Sequence[Location] = ()
    ) -> None:
        self._name = name
        self._questions = questions
        self._client = Client(command, folder)
        files = list(dict.fromkeys(path for path, _ in opens))[:OPEN_FILES]
        for path in files:
            self._client.open(Path(path), "python" if path.endswith(".py") else "cpp")
        self.locations = [(path, line) for path, line in opens if path in files]
        self._columns: dict[Location, int] = {}

    def measure(self, kind: str, locations: Sequence[Location], ask: Callable[[Location], float]) -> float:
        """Print the cost of one kind of question, first and repeated; return the repeated median in seconds."""
        repeated = [locations[number % len(locations)] for number in range(self._questions)]
        p50 = 0.0
        for order, asked in (("first", locations), ("repeated", repeated)):
            before = self._client.processor_seconds()
            seconds = [ask(location) for location in asked]
            processor = (self._client.processor_seconds() - before) / len(asked)
            p50, p99 = percentiles(seconds)
            times = [f"{value * 1e3:.2f} ms" for value in (p50, p99, max(seconds), processor)]
            print_row(f"{kind}, {self._name}, {order}", *times, f"{self._client.resident_megabytes():.0f} MB")
        return p50

    def hover(self, location: Location) -> float:
        """Seconds of a hover."""
        return self._timed("textDocument/hover", location)[0]

    def definition(self, location: Location) -> float:
        """Seconds of going to the definition."""
        return self._timed("textDocument/definition", location)[0]

    def hierarchy(self, location: Location) -> float:
        """Seconds of a step in the call hierarchy: incoming and outgoing calls in turn."""
        _, items = self._timed("textDocument/prepareCallHierarchy", location)
        if not items:
            return 0.0
        direction = ("incomingCalls", "outgoingCalls")[location[1] % 2]
        began = time.perf_counter()
        self._client.ask(f"callHierarchy/{direction}", {"item": items[0]})
        return time.perf_counter() - began

    def leave(self) -> None:
        """End the server."""
        self._client.leave()

    def _timed(self, method: str, location: Location) -> tuple[float, Any]:
        path, line = location
        column = self._columns.setdefault(location, _column(path, line))
        began = time.perf_counter()
        answer = self._client.request_at(method, path, line, column)
        return time.perf_counter() - began, answer


def locations_in(index: Path) -> list[Location]:
    """The existing source lines of stacks spread over the index."""
    locations: dict[Location, None] = {}
    with Index.open(index) as opened:
        calls = sum(capture.calls for capture in opened.captures())
        for number in range(STACKS):
            trace = opened.calls.trace(1 + number * calls // STACKS)
            for frame in trace.frames if trace else ():
                if frame.location is not None and Path(frame.location.path).is_file():
                    locations[frame.location.path, frame.location.line] = None
    return list(locations)


def _column(path: str, line: int) -> int:
    """The column of the first call on a line, where a person would point."""
    text = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")[line - 1]
    before, bracket, _ = text.partition("(")
    return len(before) - 1 if bracket and before.strip() else len(text) - len(text.lstrip())


# --- while an indexer writes ------------------------------------------------------------------------------------------

METHODS = ("textDocument/hover", "textDocument/definition", "textDocument/prepareCallHierarchy")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--seconds", "duration_s", type=int, default=600, show_default=True, help="Duration.")
@click.option("--rate", type=int, default=100, show_default=True, help="Questions a second.")
def server_while_indexing(folder: Path, duration_s: int, rate: int) -> list[Figure]:
    """Count failed replies while another process keeps adding captures to the index.

    Makes a small index in FOLDER. An error, or no hover on a line with recorded calls, is a failed reply; the exit
    status is 1 then.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True)
    _add_programs(folder, range(3))
    locations = locations_in(folder / ".framedex" / "index.db")
    writer = multiprocessing.Process(target=_add_programs, args=(folder, count(3)))
    writer.start()
    client = Client(SERVE, folder)
    seconds, failed = [], 0
    began = time.perf_counter()
    for number in range(duration_s * rate):
        time.sleep(max(0.0, began + number / rate - time.perf_counter()))
        asked = time.perf_counter()
        answer = client.request_at(METHODS[number % len(METHODS)], *locations[number % len(locations)])
        seconds.append(time.perf_counter() - asked)
        failed += answer is None and number % len(METHODS) == 0
    took = time.perf_counter() - began
    assert writer.is_alive(), "the writer ended before the client"
    writer.terminate()
    p50, p99 = (1e3 * value for value in percentiles(seconds))
    programs = len(list(folder.glob("program_*.py"))) - 3
    print_header("replies", "failed", "a second", "p50", "p99", "slowest", "programs added")
    times = (f"{p50:.2f} ms", f"{p99:.2f} ms", f"{max(seconds) * 1e3:.0f} ms")
    print_row(f"{len(seconds):,}", failed, f"{len(seconds) / took:.0f}", *times, programs)
    client.leave()
    if failed:
        sys.exit(1)
    return [
        Figure("failed replies", failed, f"of {len(seconds):,}"),
        Figure("reply while indexing, p50", p50, "ms"),
        Figure("reply while indexing, p99", p99, "ms"),
    ]


def _add_programs(folder: Path, numbers: range | count[int]) -> None:
    """Record programs, and add their captures to the index."""
    with Store(folder / ".framedex" / "index.db", LockTimeout(3600)) as store:
        for number in numbers:
            program = folder / f"program_{number}.py"
            program.write_text(TRAINING_PROGRAM)
            record_training(program, FEW_BATCHES)
            ingest_captures(
                store, capture_folders(project_captures_folder(folder)), [], SilentProgress(), find_needed_sources
            )
