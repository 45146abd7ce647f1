"""What the language server costs its user: start-up and hovers, measured at the client.

    python benchmarks/server.py [--index .framedex/index.db] [--starts 9] [--hovers 1000]

Start-up is from spawning the process to the reply to `initialize`, side by side with a bare pygls server in the same
run, started in turn. Hovers go over the lines that the index has most recorded calls on; without an index only start-up
is measured. Prints a table for RESULTS.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lsp_client import Client

BARE_SERVER = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")

@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, "bare"))

server.start_io()
"""

SERVERS = {
    "bare pygls": [sys.executable, "-c", BARE_SERVER],
    "framedex serve": [sys.executable, "-c", "from framedex.commands.main import cli; cli()", "serve"],
}


_MOST_PLACES = 200


def main() -> None:
    options = _options()
    root = options.index.resolve().parent.parent if options.index else Path.cwd()
    starts = measure_starts(root, options.starts)
    bare = statistics.median(starts["bare pygls"])
    print("| what | p50 | p99 | to bare pygls |\n|---|---|---|---|")
    for name, seconds in starts.items():
        p50 = statistics.median(seconds)
        print(f"| start to `initialize` answered, {name} | {p50 * 1e3:.0f} ms | | {p50 / bare:.2f} |")
    if options.index is None:
        return
    hovers = {name: measure_hovers(command, options, root) for name, command in SERVERS.items()}
    bare = statistics.median(hovers["bare pygls"][0])
    for name, (seconds, megabytes) in hovers.items():
        p50, p99 = statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]
        print(f"| hover, {name} ({megabytes:.0f} MB) | {p50 * 1e3:.2f} ms | {p99 * 1e3:.2f} ms | {p50 / bare:.2f} |")


def measure_starts(root: Path, rounds: int) -> dict[str, list[float]]:
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


def measure_hovers(command: Sequence[str], options: argparse.Namespace, root: Path) -> tuple[list[float], float]:
    """Seconds per hover over the busiest lines, in turn, and the server's resident megabytes afterwards."""
    client = Client(command, root)
    places = busiest_lines(options.index)
    seconds = []
    for number in range(options.hovers + len(places)):
        path, line = places[number % len(places)]
        params = {"textDocument": {"uri": Path(path).as_uri()}, "position": {"line": line - 1, "character": 0}}
        begin = time.perf_counter()
        answer = client.ask("textDocument/hover", params)
        if number >= len(places):  # every place once for warmth
            seconds.append(time.perf_counter() - begin)
        assert answer, f"no hover on {path}:{line}, which has recorded calls"
    megabytes = client.resident_megabytes()
    client.leave()
    return seconds, megabytes


def busiest_lines(index: Path) -> list[tuple[str, int]]:
    """The lines of the latest calls' stacks with source, as a reader would meet them."""
    from framedex.index import Index
    from framedex.model import CallFilter

    places: dict[tuple[str, int], None] = {}
    with Index.open(index) as opened:
        for call in opened.calls.find(CallFilter(), limit=_MOST_PLACES):
            trace = opened.calls.trace(call.id)
            for frame in trace.frames if trace else ():
                if frame.location is not None:
                    places[frame.location.path, frame.location.line] = None
    return list(places)[:_MOST_PLACES]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--hovers", type=int, default=1000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
