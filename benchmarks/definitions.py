"""Which definition the functions of a library are given, with debug information as the truth.

    python benchmarks/definitions.py --cache FOLDER [--library NAME...] [--compiler clang|gcc]

The libraries are those that `library_lines.py` has built in that folder. Every function whose declaration is in the
library's sources counts once: framedex gets its name and translation unit from the library without debug information,
and the sources. The truth is the file and line of the function's declaration (`DW_AT_decl_file`, `DW_AT_decl_line`) as
llvm-symbolizer reads them; a place is right where the definition's lines hold that line.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from source_trees import SourceTrees

from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols
from framedex.model import Definition, How, NativeSymbol
from framedex.sources import match, short_name

_OUTCOMES = ("one, right", "one, wrong", "class, right", "class, other", "several, among", "several, wrong", "none")


@dataclass(frozen=True, slots=True)
class Placed:
    """A function with what was found for it, and the file and line of its declaration."""

    symbol: NativeSymbol
    how: How | None
    found: Sequence[tuple[str, Definition]]
    truth: tuple[str, int]

    @property
    def has_truth(self) -> bool:
        """Whether one of the places holds the declaration."""
        path, line = self.truth
        return any(path == where and found.line <= line <= found.end_line for where, found in self.found)

    @property
    def outcome(self) -> str:
        """One of `_OUTCOMES`."""
        if self.how is None:
            return "none"
        if self.how is How.CLASS:  # an explicit instantiation is declared elsewhere, too
            return "class, right" if self.has_truth else "class, other"
        if self.how is How.CANDIDATES:
            return "several, among" if self.has_truth else "several, wrong"
        return "one, right" if self.has_truth else "one, wrong"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="where libraries and builds are kept")
    parser.add_argument("--library", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--compiler", choices=("clang", "gcc"), help="only this one's builds")
    parser.add_argument("--show", choices=[*_OUTCOMES, "shared"], help="print single functions")
    parser.add_argument("--limit", type=int, default=20, help="of functions to show")
    arguments = parser.parse_args()
    table = Table("build", "functions", *_OUTCOMES, "of one place with others", "µs of CPU each")
    shown: list[Placed] = []
    together: list[Placed] = []
    for library, builds in _builds(arguments.cache, arguments.library, arguments.compiler):
        trees = SourceTrees([(arguments.cache / library / "source").resolve()])
        for described in builds:
            symbols = list(_functions(described, arguments.cache / library / "source"))
            began = time.process_time()
            placed = [Placed(symbol, *_matched(symbol, trees), truth) for symbol, truth in symbols]
            microseconds = (time.process_time() - began) / max(len(placed), 1) * 1e6
            _add(table, f"{library} {described.parent.name}", placed, f"{microseconds:.0f}")
            together += placed
            shared = _shared(placed)
            shown += shared if arguments.show == "shared" else [p for p in placed if p.outcome == arguments.show]
    _add(table, "together", together, "")
    if not arguments.show:
        Console().print(table)
    for each in random.Random(1).sample(shown, min(arguments.limit, len(shown))):
        _show(each)


def _builds(cache: Path, names: Sequence[str], compiler: str | None) -> Iterator[tuple[str, list[Path]]]:
    """The libraries with debug information that are built, by the library's name."""
    for folder in sorted(cache.iterdir()):
        found = sorted(folder.glob(f"{compiler or '*'}-*/lib{folder.name}.so"))
        if found and (folder.name in names or not names):
            yield folder.name, [path for path in found if (path.parent / "stripped" / path.name).exists()]


def _functions(described: Path, sources: Path) -> Iterator[tuple[NativeSymbol, tuple[str, int]]]:
    """The functions that are declared below `sources`, as a library without debug information names them."""
    below = f"{sources.resolve()}/"
    starts = [symbol.start for symbol in read_symbols(Elf.open(described)) if symbol.end > symbol.start]
    named = Binary.open(described.parent / "stripped" / described.name).resolve(starts)
    for frames, (path, line) in zip(named, _declarations(described, starts), strict=True):
        if frames and path.startswith(below) and line > 0:
            yield frames[-1], (path, line)


def _declarations(binary: Path, addresses: Sequence[int]) -> Iterator[tuple[str, int]]:
    """The file and line in which the function that begins at each address is declared."""
    tool = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
    if tool is None:
        raise SystemExit("No llvm-symbolizer is installed: apt install llvm-19.")
    command = [tool, f"--obj={binary}", "--output-style=JSON", "--inlines", "--no-demangle"]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        frames = json.loads(line)["Symbol"]
        path, number = (frames[-1].get("StartFileName", ""), frames[-1].get("StartLine", 0)) if frames else ("", 0)
        yield (str(Path(path).resolve()) if path.startswith("/") else path), number


def _matched(symbol: NativeSymbol, trees: SourceTrees) -> tuple[How | None, Sequence[tuple[str, Definition]]]:
    return match(symbol, trees.definitions(short_name(symbol.symbol)), classes_named=trees.classes_named)


def _shared(placed: Sequence[Placed]) -> list[Placed]:
    """The functions of one place that other functions of another declaration are given too."""
    by_place: dict[tuple[str, int], list[Placed]] = defaultdict(list)
    for each in placed:
        if each.how is How.DEFINITION:
            by_place[each.found[0][0], each.found[0][1].line].append(each)
    return [each for group in by_place.values() if len({one.truth for one in group}) > 1 for each in group]


def _add(table: Table, title: str, placed: Sequence[Placed], microseconds: str) -> None:
    counts = Counter(each.outcome for each in placed)
    shares = [f"{counts[outcome]:,} ({counts[outcome] / max(len(placed), 1):.1%})" for outcome in _OUTCOMES]
    table.add_row(title, f"{len(placed):,}", *shares, f"{len(_shared(placed)):,}", microseconds)


def _show(each: Placed) -> None:
    print(f"{each.outcome}: {each.symbol.symbol[:300]} ({each.symbol.unit})")
    path, line = each.truth
    print(f"    truth {path}:{line}: {_line(path, line)}")
    for where, found in each.found[:4]:
        print(f"    found {where}:{found.line}: {_line(where, found.line)}")


def _line(path: str, number: int) -> str:
    lines = Path(path).read_text(errors="replace").splitlines() if Path(path).is_file() else []
    return lines[number - 1].strip()[:140] if 0 < number <= len(lines) else ""


if __name__ == "__main__":
    main()
