"""Whether every question is answered while an indexer writes without a pause: 100 a second, for ten minutes.

    python benchmarks/server_while_indexing.py FOLDER [--seconds 600] [--rate 100]

Makes an index in FOLDER as large_index.py does, but small, and keeps adding programs to it from another process while a
client asks for hovers, definitions and call hierarchies at a steady rate. A reply that is an error, or empty on a line
with recorded calls, counts as failed. Prints a row for RESULTS.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from itertools import count
from pathlib import Path

from large_index import FEW, PROGRAM, record
from lsp_client import Client
from server_at_scale import FRAMEDEX, places_in

from framedex.captures import capture_folders, captures_below
from framedex.index import Store
from framedex.index.file.database import Patience
from framedex.ingest import Silence, find_needed_sources, ingest_captures

METHODS = ("textDocument/hover", "textDocument/definition", "textDocument/prepareCallHierarchy")


def main() -> None:
    options = _options()
    folder: Path = options.folder
    folder.mkdir(parents=True)
    write(folder, range(3))
    places = places_in(folder / ".framedex" / "index.db")
    writer = multiprocessing.Process(target=write, args=(folder, count(3)))
    writer.start()
    client = Client(FRAMEDEX, folder)
    seconds, failed = [], 0
    began = time.perf_counter()
    for number in range(options.seconds * options.rate):
        time.sleep(max(0.0, began + number / options.rate - time.perf_counter()))
        asked = time.perf_counter()
        answer = client.at(METHODS[number % len(METHODS)], *places[number % len(places)])
        seconds.append(time.perf_counter() - asked)
        failed += answer is None and number % len(METHODS) == 0
    took = time.perf_counter() - began
    assert writer.is_alive(), "the writer has ended before the client"
    writer.terminate()
    p50, p99 = (1e3 * value for value in (statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]))
    programs = len(list(folder.glob("program_*.py")))
    print("| replies | failed | a second | p50 | p99 | the worst | programs added meanwhile |")
    print("|---|---|---|---|---|---|---|")
    cells = f"{len(seconds):,} | {failed} | {len(seconds) / took:.0f} | {p50:.2f} ms | {p99:.2f} ms"
    print(f"| {cells} | {max(seconds) * 1e3:.0f} ms | {programs - 3} |")
    client.leave()
    sys.exit(1 if failed else 0)


def write(folder: Path, numbers: range | count[int]) -> None:
    """Record programs, and add what each of them did."""
    with Store(folder / ".framedex" / "index.db", Patience(3600)) as store:
        for number in numbers:
            program = folder / f"program_{number}.py"
            program.write_text(PROGRAM)
            record(program, FEW)
            ingest_captures(store, capture_folders(captures_below(folder)), [], Silence(), find_needed_sources)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda text: Path(text).resolve())
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--rate", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
