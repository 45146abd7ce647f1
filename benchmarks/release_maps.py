"""What the release maps cost, and whether they say what a checkout says.

    python benchmarks/release_maps.py sizes [MAPS]
    python benchmarks/release_maps.py reading INDEX
    python benchmarks/release_maps.py agreement BINARY RELEASE XLA JAXLIB

`sizes`: the bytes of each part. `reading`: processor time to find what an index has recorded, made by `framedex index`
without sources. `agreement`: the functions of a library of a release of jaxlib whose definitions the maps and checkouts
tell; XLA and JAXLIB are trees of the commits that it was built from, or of the nearest release.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from matching import NAMESPACES, symbols_of
from source_trees import SourceTrees

from framedex.binaries.names import parse_name
from framedex.model import GENERATING, Definition, How, NativeSymbol
from framedex.releasemaps import ReleaseMap, ReleaseMaps, open_release_maps
from framedex.releasemaps.format import read_content
from framedex.releasemaps.reader import SHIPPED
from framedex.sources import generated_scopes, match, match_generated, short_name
from framedex.sources.names import key_of

_COMPONENTS = ("xla", "jaxlib")
_TURNS = 7
_MOST_NAMESAKES, _LONGEST = 12, 400  # as in framedex.sources.bodies


def main() -> None:
    """Measure and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("sizes").add_argument("maps", type=Path, nargs="?", default=SHIPPED)
    verbs.add_parser("reading").add_argument("index", type=Path)
    agreement = verbs.add_parser("agreement")
    agreement.add_argument("binary", type=Path)
    agreement.add_argument("release")
    agreement.add_argument("xla", type=Path)
    agreement.add_argument("jaxlib", type=Path)
    arguments = parser.parse_args()
    if arguments.verb == "sizes":
        figures = _sizes(arguments.maps)
    elif arguments.verb == "reading":
        figures = _reading(arguments.index)
    else:
        figures = _agreement(arguments.binary, arguments.release, [arguments.xla, arguments.jaxlib])
    print(json.dumps(figures, indent=2))


def _sizes(maps: Path) -> dict[str, object]:
    data = maps.read_bytes()
    content = read_content(data)
    return {
        "bytes": len(data),
        "releases": len(content.releases),
        "files": len(content.paths),
        "names_bytes": len(content.names),
        "dictionary_bytes": len(content.dictionary),
        "files_bytes": len(content.files),
        "files_decompressed_bytes": sum(len(content.file(number)) for number in range(len(content.paths))),
        "read_all_ms": _milliseconds(lambda: _read_all(open_release_maps(maps)), 1),
    }


def _read_all(maps: ReleaseMaps) -> None:
    for component in _COMPONENTS:
        if found := maps.nearest(component, maps.releases[-1]):
            for path in found.paths():
                found.file(path)


def _reading(index: Path) -> dict[str, object]:
    """The parts of what naming the frames of a capture takes, each with nothing in memory but the opened file.

    The bodies are those of all that the placed functions call, and of what that calls: more than a trace asks for.
    """
    rows = sqlite3.connect(index).execute("SELECT DISTINCT symbol, unit FROM functions WHERE mangled <> ''").fetchall()
    symbols = [_symbol(symbol, unit) for symbol, unit in rows]
    asked = [
        _asked(symbol) for symbol in symbols if parse_name(symbol.symbol).key[:1] in [(each,) for each in NAMESPACES]
    ]
    maps = _opened()
    located = [found for each in asked for found in match(each[0], _candidates(maps, each))[1][:1]]
    files = {path for path, _ in located}
    placed = {(path, definition.line, definition.end_line) for path, definition in located}
    called = {
        call.callee
        for path in files
        for each in maps
        for span, calls in each.written(path).items()
        if (path, *span) in placed
        for call in calls
    }
    names = called.union(*(calls for name in called for calls in _bodies(maps, name)))
    return {
        "functions": len(asked),
        "placed": len(located),
        "files": len(files),
        "names_of_bodies": len(names),
        "open_ms": _milliseconds(_opened),
        "definitions_ms": _from_opened(lambda maps: [_candidates(maps, each) for each in asked]),
        "calls_of_files_ms": _from_opened(lambda maps: [dict(each.written(path)) for path in files for each in maps]),
        "bodies_ms": _from_opened(lambda maps: [_bodies(maps, name) for name in names]),
    }


def _agreement(binary: Path, release: str, trees: list[Path]) -> dict[str, object]:
    checkout = SourceTrees(trees)
    maps = _opened(release)
    counts = Counter[str]()
    differing = []
    began = time.process_time()
    for symbol in symbols_of(binary, NAMESPACES):
        asked = _asked(symbol)
        how, found = match(symbol, _candidates(maps, asked))
        there_how, there = match(symbol, _inside(checkout.definitions(asked[1]), trees))
        if how is None and there_how is None:
            how, found = match_generated(symbol, _generating(maps, symbol))
            scopes = dict.fromkeys(generated_scopes(symbol))
            there_candidates = [each for scope in scopes for each in checkout.generating(scope)]
            there_how, there = match_generated(symbol, _inside(there_candidates, trees))
            if how or there_how or (symbol.unit or "").endswith(".pb.cc"):
                counts["generated code"] += 1
        counts["functions"] += 1
        counts[f"map: {_outcome(how)}"] += 1
        counts[f"checkout: {_outcome(there_how)}"] += 1
        if (how, _places(found)) == (there_how, _places(there)):
            counts["the same"] += 1
        else:
            differing.append(f"{symbol.symbol} ({symbol.unit}): {how} {_places(found)} / {there_how} {_places(there)}")
    return {
        "release": maps[0].release,
        "is_nearest": maps[0].is_nearest,
        **dict(sorted(counts.items())),
        "processor_s": round(time.process_time() - began, 1),
        "differing": differing[:20],
    }


_Asked = tuple[NativeSymbol, str, tuple[str, ...]]  # a symbol with what it is looked up by


def _asked(symbol: NativeSymbol) -> _Asked:
    return symbol, short_name(symbol.symbol), key_of(parse_name(symbol.symbol))


def _symbol(symbol: str, unit: str) -> NativeSymbol:
    return NativeSymbol("", symbol, "", None, 0, inlined=False, unit=unit or None)


def _opened(release: str = "0.10.2") -> list[ReleaseMap]:
    maps = open_release_maps()
    return [found for component in _COMPONENTS if (found := maps.nearest(component, release))]


def _candidates(maps: list[ReleaseMap], asked: _Asked) -> list[tuple[str, Definition]]:
    _, short, key = asked
    return [found for each in maps for found in each.definitions(short, key)]


def _generating(maps: list[ReleaseMap], symbol: NativeSymbol) -> list[tuple[str, Definition]]:
    scopes = dict.fromkeys(generated_scopes(symbol))
    return [
        found
        for scope in scopes
        for each in maps
        for language in GENERATING
        for found in each.definitions(scope, language=language)
    ]


def _bodies(maps: list[ReleaseMap], name: str) -> list[Counter[str]]:
    return [calls for each in maps for calls in each.calls_in_bodies(name, False, _MOST_NAMESAKES, _LONGEST)]


def _inside(candidates: Sequence[tuple[str, Definition]], trees: list[Path]) -> list[tuple[str, Definition]]:
    """With paths relative to the trees. What is only declared is in no map."""
    tops = tuple(f"{tree.resolve()}/" for tree in trees)
    return [
        (path.removeprefix(next(top for top in tops if path.startswith(top))), definition)
        for path, definition in candidates
        if definition.kind != "declaration"
    ]


def _outcome(how: How | None) -> str:
    return "none" if how is None else "several" if how is How.CANDIDATES else "one"


def _places(found: Sequence[tuple[str, Definition]]) -> list[str]:
    return [f"{path}:{definition.line}" for path, definition in found]


def _from_opened(work: Callable[[list[ReleaseMap]], object]) -> float:
    """Milliseconds of processor time, with maps that were opened before each turn."""
    return statistics.median(_once(work, _opened()) for _ in range(_TURNS))


def _milliseconds(work: Callable[[], object], turns: int = _TURNS) -> float:
    return statistics.median(_once(lambda _: work(), []) for _ in range(turns))


def _once(work: Callable[[list[ReleaseMap]], object], maps: list[ReleaseMap]) -> float:
    began = time.process_time()
    work(maps)
    return round((time.process_time() - began) * 1000, 1)


if __name__ == "__main__":
    main()
