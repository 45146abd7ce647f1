"""How often a crash text leads to the line of a call, in the libraries of `library_lines.py`, and a capture does.

    python benchmarks/text_lines.py --cache FOLDER [--library NAME...]

Every call of the stacks that the libraries' workloads had is written as a text of two frames: with an offset in the
stripped library as AddressSanitizer prints it without a symbolizer, and by names alone as absl does. The sources are
indexed, nothing was recorded. "As recorded" is what `FrameLines` says of the same call when it is asked directly.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lines.answers import Answer, Library
from lines.building import Build, build
from lines.corpus import BUILDS, read_libraries
from lines.truth import Call, calls_of
from rich.console import Console
from rich.table import Table

from framedex.index import Index, Store
from framedex.ingest import Silence, find_sources
from framedex.interchange import read
from framedex.interchange.placing.binaries import Binaries
from framedex.interchange.placing.inward import inward_frames
from framedex.interchange.placing.resolve import Found, Resolver
from framedex.model import How

_MOST_PLACES = 8  # of a frame that are told
_NOT_DEFINED = ("no definition", "several definitions", "class only")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="that of `library_lines.py`, with its builds")
    parser.add_argument("--library", nargs="+", default=[], metavar="NAME", help="only these")
    arguments = parser.parse_args()
    table = Table(
        "library", "build", "text", "calls", "with a line", "right", "among them", "single", "as recorded", "ms"
    )
    for builds in _builds(arguments.cache.resolve(), arguments.library):
        library = Library(builds[0].sources)
        with tempfile.TemporaryDirectory() as folder, _indexed(Path(folder) / "index.db", builds[0].sources) as index:
            for each in builds:
                calls = [call for call in calls_of(each, 500, 250) if call.is_of_stack]
                recorded = list(library.answers(each, calls))
                for form in ("offset", "names"):
                    _measure(table, each, form, calls, recorded, index)
    Console(width=160).print(table)


def _builds(cache: Path, wanted: list[str]) -> Iterator[list[Build]]:
    libraries = read_libraries()
    for library in libraries.values():
        if library.kept_out or (wanted and library.name not in wanted):
            continue
        folder = cache / library.name
        there = [each for each in BUILDS if any((folder / each.name).glob("calls-3-500-250.json"))]  # with its truth
        if made := [build(library, each, libraries, cache, 1) for each in there]:
            yield made


def _indexed(path: Path, sources: Path) -> Index:
    with Store(path) as store:
        with store.transaction():
            store.sources.add_root(str(sources))
        find_sources(store, Silence())
    return Index.open(path)


def _measure(table: Table, built: Build, form: str, calls: list[Call], recorded: list[Answer], index: Index) -> None:
    resolver = Resolver(index, binaries=Binaries())
    counts: Counter[str] = Counter()
    began = time.process_time()
    found = [_explained(_text(built, *each, form), resolver) for each in zip(calls, recorded, strict=True)]
    seconds = time.process_time() - began
    for call, answer, each in zip(calls, recorded, found, strict=True):
        places = [place for place in (each.location, *each.candidates) if place is not None]
        # Of several definitions the first is a candidate as well, and no line of a call.
        is_line = bool(places) and places[0].how not in (How.DEFINITION, How.CLASS)
        lines = [place.line for place in places] if is_line and answer.label not in _NOT_DEFINED else []
        is_right = [(Path(place.path).resolve(), place.line) == (Path(call.path), call.line) for place in places]
        counts["line"] += bool(lines)
        counts["right"] += bool(lines) and is_right[0]
        counts["among"] += bool(lines) and any(is_right)
        counts["single"] += bool(lines) and places[0].how is How.SINGLE
        counts["single, right"] += bool(lines) and places[0].how is How.SINGLE and is_right[0]
        is_labelled_so = not lines or str(places[0].how) == answer.label
        counts["same"] += is_labelled_so and lines == list(answer.lines[:_MOST_PLACES])
    total = len(calls)
    if total:
        shares = [f"{counts[key] / total:.1%}" for key in ("line", "right", "among")]
        single = f"{counts['single, right']} of {counts['single']}"
        same = f"{counts['same'] / total:.1%}" if form == "offset" else "-"
        name = built.library.name, built.options.name, form
        table.add_row(*name, str(total), *shares, single, same, f"{seconds / total * 1e3:.1f}")


def _text(built: Build, call: Call, answer: Answer, form: str) -> str:
    caller = answer.caller or "(unknown)"
    if form == "names":
        return f"    @     0x7f0000000001  16  {call.callee}\n    @     0x7f0000000002  16  {caller}\n"
    at = call.returns_to - 1
    inner = f"    #0 0x7f0000000001 in {call.callee} (/none/lib.so+0x1)\n"
    return f"{inner}    #1 {0x7F0000000000 + at:#x}  ({built.stripped}+{at:#x})\n"


def _explained(text: str, resolver: Resolver) -> Found:
    stack = read(text).stacks[0]
    called = inward_frames(stack.frames, stack.innermost_first)
    return resolver.find(stack.frames[-1], inward=called[-1])


if __name__ == "__main__":
    main()
