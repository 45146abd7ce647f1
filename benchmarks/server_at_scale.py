"""What a question costs in a large index, measured at the client, beside other servers on the same files.

    python benchmarks/server_at_scale.py FOLDER [--questions 1000] [--runs 3]

FOLDER is what large_index.py made. Hover, definition and a step of the call hierarchy (incoming or outgoing calls) go
over the lines of real stacks of many programs: lines of the programs, which few stacks pass, and of JAX and XLA, which
many do. In the same run: a bare pygls server that answers at once; pyright on the same Python files; clangd on the same
C++ files, where they are installed. Processor time is the server's own, a question on average (of the hierarchy: with
the request that prepares it). Prints a table for RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lsp_client import Client

from framedex.index import Index
from server import BARE_SERVER

FRAMEDEX = [sys.executable, "-m", "framedex_server"]
BARE = [sys.executable, "-c", BARE_SERVER]
PYRIGHT = ["pyright-langserver", "--stdio"]
CLANGD = ["clangd", "--log=error"]
STACKS = 50
OPENED = 20
"""Files that a peer has open: as many as a person may."""

Place = tuple[str, int]


def main() -> None:
    options = _options()
    places = places_in(options.folder / ".framedex" / "index.db")
    python = [place for place in places if place[0].endswith(".py")]
    native = [place for place in places if not place[0].endswith(".py")]
    print("| what | p50 | p99 | the worst | processor time | memory |\n|---|---|---|---|---|---|")
    for run in range(options.runs):
        print(f"| run {run + 1}, load {os.getloadavg()[0]:.1f} | | | | | |")
        bare = Session("bare pygls", BARE, options)
        bare.measure("hover", places, bare.hover)
        ours = Session("framedex", FRAMEDEX, options)
        for what, ask in (("hover", ours.hover), ("definition", ours.definition), ("hierarchy step", ours.hierarchy)):
            ours.measure(what, places, ask)
        for name, command, theirs in (("pyright", PYRIGHT, python), ("clangd", CLANGD, native)):
            if shutil.which(command[0]) and theirs:
                peer = Session(name, command, options, theirs)
                peer.measure("hover", peer.places, peer.hover)
                peer.measure("definition", peer.places, peer.definition)
                peer.leave()
        ours.leave()
        bare.leave()


class Session:
    """A server and a client of it."""

    def __init__(
        self, name: str, command: Sequence[str], options: argparse.Namespace, opens: Sequence[Place] = ()
    ) -> None:
        self._name = name
        self._questions = options.questions
        self._client = Client(command, options.folder)
        files = list(dict.fromkeys(path for path, _ in opens))[:OPENED]
        for path in files:
            self._client.open(Path(path), "python" if path.endswith(".py") else "cpp")
        self.places = [(path, line) for path, line in opens if path in files]
        self._columns: dict[Place, int] = {}

    def measure(self, what: str, places: Sequence[Place], ask: Callable[[Place], float]) -> None:
        """Print what one kind of question costs where it was not asked before, and where it was."""
        again = [places[number % len(places)] for number in range(self._questions)]
        for when, asked in (("first", places), ("again", again)):
            before = self._client.processor_seconds()
            seconds = [ask(place) for place in asked]
            processor = (self._client.processor_seconds() - before) / len(asked)
            p50, p99 = statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]
            times = " | ".join(f"{value * 1e3:.2f} ms" for value in (p50, p99, max(seconds), processor))
            memory = self._client.resident_megabytes()
            print(f"| {what}, {self._name}, {when} | {times} | {memory:.0f} MB |", flush=True)

    def hover(self, place: Place) -> float:
        """Seconds of a hover."""
        return self._timed("textDocument/hover", place)[0]

    def definition(self, place: Place) -> float:
        """Seconds of going to the definition."""
        return self._timed("textDocument/definition", place)[0]

    def hierarchy(self, place: Place) -> float:
        """Seconds of a step in the call hierarchy: inward and outward in turn."""
        _, items = self._timed("textDocument/prepareCallHierarchy", place)
        if not items:
            return 0.0
        direction = ("incomingCalls", "outgoingCalls")[place[1] % 2]
        began = time.perf_counter()
        self._client.ask(f"callHierarchy/{direction}", {"item": items[0]})
        return time.perf_counter() - began

    def leave(self) -> None:
        """End the server."""
        self._client.leave()

    def _timed(self, method: str, place: Place) -> tuple[float, Any]:
        path, line = place
        column = self._columns.setdefault(place, _column(path, line))
        began = time.perf_counter()
        answer = self._client.at(method, path, line, column)
        return time.perf_counter() - began, answer


def places_in(index: Path) -> list[Place]:
    """The lines, with source here, that stacks spread over the index pass through."""
    places: dict[Place, None] = {}
    with Index.open(index) as opened:
        calls = sum(capture.calls for capture in opened.captures())
        for number in range(STACKS):
            trace = opened.calls.trace(1 + number * calls // STACKS)
            for frame in trace.frames if trace else ():
                if frame.location is not None and Path(frame.location.path).is_file():
                    places[frame.location.path, frame.location.line] = None
    return list(places)


def _column(path: str, line: int) -> int:
    """Where the first call on a line is, as a person would point at it."""
    text = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")[line - 1]
    before, bracket, _ = text.partition("(")
    return len(before) - 1 if bracket and before.strip() else len(text) - len(text.lstrip())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
