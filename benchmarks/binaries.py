"""Binaries and their functions: reading symbols, matching them to definitions, and lines of frames judged by eye."""

from __future__ import annotations

import csv
import json
import linecache
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure
from benchmarks.processes import jaxlib_library
from framedex.binaries import Binary
from framedex.binaries.demangle import demangle
from framedex.binaries.elf import Elf
from framedex.binaries.names import parse_name
from framedex.binaries.symbols import read_symbols
from framedex.model import CallSite, Definition, LocationEvidence, NativeSymbol
from framedex.model.sources import parse_call_sites
from framedex.sources import (
    extract_files,
    find_files,
    find_language,
    find_macros,
    iterate_generated_scopes,
    match_generating_definition,
    match_symbol,
    short_name,
)

# --- symbols ----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("binary", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--rounds", type=int, default=7, show_default=True, help="Number of rounds.")
@click.option("--xz", "level", type=int, default=6, show_default=True, help="Compression level of the moved symbols.")
def symbols(binary: Path | None, rounds: int, level: int) -> list[Figure]:
    """Measure reading the function symbols of a large binary, against nm and xz.

    BINARY is jaxlib's library by default. A copy has its symbols in .gnu_debugdata; xz decompresses that section
    alone. Median processor time, with that of child processes.
    """
    path = binary or jaxlib_library()
    with tempfile.TemporaryDirectory() as folder:
        moved, section = _move_symbols(path, Path(folder), level)
        readers: dict[str, Callable[[], object]] = {
            "nm": lambda: subprocess.run(["nm", path], stdout=subprocess.DEVNULL, check=True),
            "framedex": lambda: read_symbols(Elf.open(path)),
            "xz, decompressing": lambda: subprocess.run(["xz", "-dc", section], stdout=subprocess.DEVNULL, check=True),
            "framedex, .gnu_debugdata": lambda: read_symbols(Elf.open(moved)),
        }
        seconds = _time_readers(readers, rounds)
        size = section.stat().st_size
    functions = len(read_symbols(Elf.open(path)))
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    title = f"{path.name}: {functions:,} functions, {size / 1e6:.1f} MB of .gnu_debugdata (xz -{level})"
    table = Table("reader", "median s", "min s", "ratio to nm", title=title)
    for name, median in medians.items():
        table.add_row(name, f"{median:.3f}", f"{min(seconds[name]):.3f}", f"{median / medians['nm']:.2f}")
    Console().print(table)
    own, moved_s = medians["framedex"], medians["framedex, .gnu_debugdata"]
    unit, xz = "s of a processor", medians["xz, decompressing"]
    return [
        Figure(f"function symbols of {path.name}", own, unit, "nm", own / medians["nm"]),
        Figure("the same symbols in .gnu_debugdata", moved_s, unit, "xz -dc of the section", moved_s / xz),
    ]


def _move_symbols(binary: Path, folder: Path, level: int) -> tuple[Path, Path]:
    """Copy a binary with its symbols in `.gnu_debugdata`; return the copy and the compressed section."""
    symbols, moved = folder / "symbols", folder / binary.name
    subprocess.run(["objcopy", "--only-keep-debug", binary, symbols], check=True)
    subprocess.run(["xz", f"-{level}", "-T1", symbols], check=True)
    section = symbols.with_suffix(".xz")
    subprocess.run(["objcopy", "--strip-all", f"--add-section=.gnu_debugdata={section}", binary, moved], check=True)
    return moved, section


def _time_readers(readers: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, read in readers.items():
            began = _processor_seconds()
            read()
            seconds[name].append(_processor_seconds() - began)
    return seconds


def _processor_seconds() -> float:
    return sum(os.times()[:4])


# --- matching ---------------------------------------------------------------------------------------------------------

Candidate = tuple[str, Definition]


class SourceTrees:
    """C++ definitions below some folders, and the messages and records that generate C++."""

    def __init__(self, roots: Sequence[Path]) -> None:
        paths = [file.path for root in roots for file in find_files(root) if find_language(Path(file.path)) != "python"]
        macros = find_macros([path for path in paths if find_language(Path(path)) == "cpp"])
        self.files = len(paths)
        self._by_name: dict[tuple[bool, str], list[Candidate]] = {}
        self._calling: dict[str, list[Definition]] = {}
        for file in extract_files(paths, macros):
            for name, lookup, kind, parameters, line, end_line, is_const, _, calls in file.definitions:
                sites: tuple[CallSite, ...] = parse_call_sites(calls)
                found = Definition(name, kind, parameters, line, end_line, is_const, sites)
                self._by_name.setdefault((file.language == "cpp", lookup), []).append((file.path, found))
                if sites or kind in ("function", "method"):
                    self._calling.setdefault(file.path, []).append(found)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def definitions(self, short_name: str) -> Sequence[Candidate]:
        """The C++ definitions of a short name."""
        return self._by_name.get((True, short_name), ())

    def classes_named(self, short_name: str) -> set[str]:
        """The qualified names of the classes of a short name."""
        return {found.name for _, found in self.definitions(short_name) if found.kind == "class"}

    def generating(self, short_name: str) -> Sequence[Candidate]:
        """The messages and records of a short name."""
        return self._by_name.get((False, short_name), ())

    def definitions_in(self, path: str) -> Sequence[Definition]:
        """The functions of a file, and its other definitions with calls."""
        return self._calling.get(path, ())


NAMESPACES = ("xla", "tsl", "jax", "pjrt", "jaxlib", "stream_executor")

_Match = tuple[NativeSymbol, LocationEvidence | None, tuple[tuple[str, Definition], ...]]


@click.command()
@click.argument("binary", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--source", "sources", type=click.Path(path_type=Path), multiple=True, required=True, help="Source tree.")
@click.option("--namespace", "namespaces", multiple=True, help=f"Namespace; repeatable. [default: {NAMESPACES}]")
@click.option("--sample", type=int, default=0, help="Print this many matches, to check by eye.")
@click.option("--show", type=int, default=0, help="Print this many functions without a definition.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the samples.")
def matching(
    binary: Path | None, sources: tuple[Path, ...], namespaces: tuple[str, ...], sample: int, show: int, seed: int
) -> list[Figure]:
    """Count the functions of a binary that match one definition in its sources.

    BINARY is jaxlib's library by default; the sources are checkouts of its commits. Functions of generated code
    (protoc, mlir-tblgen) are counted separately. As an independent check, matches in .cc files are compared with the
    translation unit in the symbol table.
    """
    path = binary or jaxlib_library()
    trees = SourceTrees(sources)
    found_symbols = symbols_of(path, namespaces or NAMESPACES)
    began = time.process_time()
    written, generated = _match_symbols(found_symbols, trees)
    microseconds = (time.process_time() - began) / len(found_symbols) * 1e6
    console = Console(soft_wrap=True)
    console.print(f"{path.name}: {len(found_symbols):,} functions; {trees.files:,} files, {len(trees):,} definitions")
    figures = _print_outcome(console, written, generated, microseconds)
    dice = random.Random(seed)
    missed = [found for found in written if found[1] is None]
    for symbol, *_ in dice.sample(missed, min(show, len(missed))):
        console.print(f"none: {symbol.symbol} ({symbol.unit})", markup=False, highlight=False)
    unique = [found for found in written if found[1] in (LocationEvidence.DEFINITION, LocationEvidence.CLASS)]
    for symbol, how, found in dice.sample(unique, min(sample, len(unique))):
        file, definition = found[0]
        line = linecache.getline(file, definition.line).strip()
        text = f"{symbol.symbol} ({symbol.unit})\n    {how} {file}:{definition.line}: {line}"
        console.print(text, markup=False, highlight=False)
    return figures


def symbols_of(path: Path, namespaces: tuple[str, ...]) -> list[NativeSymbol]:
    """The functions of a binary whose qualified name begins with one of the namespaces."""
    found = []
    for symbol in read_symbols(Elf.open(path)):
        if any(namespace in symbol.mangled for namespace in namespaces):
            text = demangle(symbol.mangled)
            parts = parse_name(text).parts
            if len(parts) > 1 and parts[0].text in namespaces:
                found.append(
                    NativeSymbol("", text, symbol.mangled, None, 0, inlined=False, unit=symbol.translation_unit)
                )
    return found


def _match_symbols(symbols: list[NativeSymbol], trees: SourceTrees) -> tuple[list[_Match], list[_Match]]:
    """Match symbols to definitions; return the matches of written and of generated code."""
    written, generated = [], []
    for symbol in symbols:
        how, found = match_symbol(
            symbol, trees.definitions(short_name(symbol.symbol)), classes_named=trees.classes_named
        )
        if how is None:
            scopes = dict.fromkeys(iterate_generated_scopes(symbol))
            by_generator = match_generating_definition(symbol, [c for scope in scopes for c in trees.generating(scope)])
            if by_generator[0] is not None or (symbol.unit or "").endswith(".pb.cc"):
                generated.append((symbol, *by_generator))
                continue
        written.append((symbol, how, found))
    return written, generated


def _print_outcome(
    console: Console, written: list[_Match], generated: list[_Match], microseconds: float
) -> list[Figure]:
    """Print the table and return its figures."""
    counts = Counter(how for _, how, _ in written)
    unique, total = counts[LocationEvidence.DEFINITION] + counts[LocationEvidence.CLASS], max(len(written), 1)
    table = Table("functions", "count", "share", title=f"{microseconds:.0f} µs of CPU each")
    for name, count in (
        ("one definition", unique),
        ("  of these its class: compiler-generated", counts[LocationEvidence.CLASS]),
        ("several candidates", counts[LocationEvidence.CANDIDATES]),
        ("none", counts[None]),
    ):
        table.add_row(name, f"{count:,}", f"{count / total:.2%}")
    found = sum(how is not None for _, how, _ in generated)
    table.add_row("generated code, not counted above", f"{len(generated):,}", "")
    table.add_row("  of these with their message or record", f"{found:,}", f"{found / max(len(generated), 1):.2%}")
    console.print(table)
    units = [
        (symbol.unit, Path(places[0][0]).name)
        for symbol, how, places in written
        if how in (LocationEvidence.DEFINITION, LocationEvidence.CLASS)
        and symbol.unit
        and places[0][0].endswith((".cc", ".cpp", ".c"))
    ]
    right = sum(unit == name for unit, name in units)
    console.print(f"of {len(units):,} matches in .cc files, {right:,} are in the symbol's translation unit")
    return [
        Figure("functions with one definition", 100 * unique / total, "%"),
        Figure("functions without a definition", 100 * counts[None] / total, "%"),
        Figure("matches in .cc files in the symbol's translation unit", right, f"of {len(units):,}"),
    ]


# --- lines by eye -----------------------------------------------------------------------------------------------------

_LIBRARY = "libjax_common.so"
_CONTEXT_LINES = 3  # lines of source to show before and after
_COLUMNS = 110
_INDEX_OPTION = click.option("--index", type=click.Path(exists=True, path_type=Path), required=True, help="The index.")


@dataclass(frozen=True, slots=True)
class Row:
    """A frame with its line. Paths are relative to their repository; `offset` is hexadecimal from the library's base.

    `truth` is the true location, or several joined by `|` if one statement has them; empty if unknown.
    """

    label: str
    offset: str
    function: str
    callees: str
    place: str
    others: str
    verdict: str = ""
    truth: str = ""
    note: str = ""


@click.group()
def lines_by_eye() -> None:
    """Draw, show or judge random recorded frames of jaxlib's library with their lines.

    `draw` writes a table without verdicts. `show` prints each row with its source and the calls around it in the
    machine code. A person writes a verdict (right; among: a candidate is the true location; wrong; undecidable), the
    true location and a note into the last three columns. `judge` compares an index with such a table.
    """


@lines_by_eye.command()
@_INDEX_OPTION
@click.option("--seed", type=int, required=True, help="Seed of the sample.")
@click.option("--of", "counts", multiple=True, metavar="LABEL=COUNT", help="Frames to draw of a label; repeatable.")
@click.option("--but", type=click.Path(path_type=Path), multiple=True, help="Exclude the frames of this list.")
def draw(index: Path, seed: int, counts: tuple[str, ...], but: tuple[Path, ...]) -> None:
    """Write a table of random frames to stdout."""
    drawn_before = {row.offset for path in but for row in _read_rows(path)}
    by_label: dict[str, list[Row]] = defaultdict(list)
    for row in _placed_frames(index):
        if row.offset not in drawn_before:
            by_label[row.label].append(row)
    dice = random.Random(seed)
    out = csv.writer(sys.stdout, dialect="excel-tab", lineterminator="\n")
    out.writerow([field.name for field in fields(Row)])
    for label, count in (text.split("=") for text in counts):
        frames = by_label[label]
        print(f"{label}: {count} of {len(frames)}", file=sys.stderr)
        out.writerows(astuple(row) for row in dice.sample(frames, min(int(count), len(frames))))


@lines_by_eye.command()
@click.argument("rows", metavar="LIST", type=click.Path(exists=True, path_type=Path))
@_INDEX_OPTION
def judge(rows: Path, index: Path) -> list[Figure]:
    """Compare an index with the verdicts of a list, and print the frames that differ."""
    now = {row.offset: row for row in _placed_frames(index)}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in _read_rows(rows):
        today = now.get(row.offset)
        label, verdict = (today.label, _judge_row(today, row)) if today else ("nothing", "missing")
        counts[label][verdict] += 1
        if today is None or (today.place, today.label) != (row.place, row.label):
            before = f"{row.label} {row.place} ({row.verdict})"
            print(f"{row.offset} {row.function}: {before}, now {label} {today.place if today else ''} ({verdict})")
    figures = []
    for label, by_verdict in sorted(counts.items()):
        total = by_verdict.total()
        print(f"{label:12} {total:4}: {', '.join(f'{count} {verdict}' for verdict, count in by_verdict.most_common())}")
        figures.append(Figure(f"right frames of {rows.stem}, {label}", by_verdict["right"], f"of {total}"))
    return figures


@lines_by_eye.command()
@click.argument("rows", metavar="LIST", type=click.Path(exists=True, path_type=Path))
@_INDEX_OPTION
def show(rows: Path, index: Path) -> None:
    """Print each row of a list with its source and the calls of the machine code around it."""
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as database:
        roots = [Path(root) for (root,) in database.execute("SELECT path FROM source_roots")]
        query = "SELECT path FROM modules WHERE path LIKE ?"
        (library,) = database.execute(query, (f"%/{_LIBRARY}",)).fetchone()
    binary = Binary.open(Path(library))
    for number, row in enumerate(_read_rows(rows), 1):
        print(f"\n#{number} {row.label} {row.offset} {row.place}  others: {row.others or '-'}")
        print(f"   in {row.function}\n   to {row.callees}  {row.verdict}")
        path, _, line = row.place.rpartition(":")
        file = next((root / path for root in roots if (root / path).exists()), Path(path))
        for number_shown in range(int(line) - _CONTEXT_LINES, int(line) + _CONTEXT_LINES + 1):
            mark = ">" if number_shown == int(line) else " "
            print(f"{mark}{number_shown:5} {linecache.getline(str(file), number_shown).rstrip()}")
        _show_calls(binary, int(row.offset, 16))


def _judge_row(row: Row, judged: Row) -> str:
    truth = judged.truth.split("|")
    if judged.truth == "":
        return "undecidable"
    return "right" if row.place in truth else "among" if {*row.others.split("|")} & {*truth} else "wrong"


def _read_rows(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file, dialect="excel-tab")]


def _placed_frames(index: Path) -> Iterator[Row]:
    """The frames of the library with a source line, ordered by address."""
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as database:
        roots = [root for (root,) in database.execute("SELECT path FROM source_roots")]
        query = (
            "SELECT fr.id, fr.how, fr.offset, fn.symbol, f.path, fr.line,"
            " (SELECT json_group_array(DISTINCT called.symbol) FROM nodes n JOIN nodes below ON below.parent = n.id"
            "  JOIN frames inward ON inward.id = below.frame JOIN functions called ON called.id = inward.function"
            "  WHERE n.frame = fr.id),"
            " (SELECT json_group_array(json_array(o.path, c.line)) FROM"
            "  (SELECT * FROM candidates c WHERE c.frame = fr.id ORDER BY c.rank) c JOIN files o ON o.id = c.file)"
            " FROM frames fr JOIN modules m ON m.id = fr.module JOIN functions fn ON fn.id = fr.function"
            " JOIN files f ON f.id = fr.file WHERE m.path LIKE ? AND fr.how IS NOT NULL ORDER BY fr.offset"
        )
        for _, how, offset, symbol, path, line, callees, others in database.execute(query, (f"%/{_LIBRARY}",)):
            yield Row(
                how,
                f"{offset:#x}",
                _plain_name(symbol),
                "|".join(sorted({_plain_name(each) for each in json.loads(callees)})),
                f"{_relative_path(path, roots)}:{line}",
                "|".join(
                    f"{_relative_path(other, roots)}:{position}" for other, position in map(tuple, json.loads(others))
                ),
            )


def _plain_name(symbol: str) -> str:
    """A function's name without template arguments and parameters."""
    return "::".join(parse_name(symbol).key) or symbol[:_COLUMNS]


def _relative_path(path: str, roots: Iterable[str]) -> str:
    for root in roots:
        if path.startswith(f"{root}/"):
            return path.removeprefix(f"{root}/")
    return path.partition(":")[2] or path


def _show_calls(binary: Binary, offset: int) -> None:
    """Print the calls before and after a call in the machine code, and the number of equal calls in its function."""
    code = binary.code_around(offset - 1)
    calls = code.calls if code else []
    position = next((i for i, call in enumerate(calls) if call.return_address == offset), None)
    if code is None or position is None:
        print("   no call of the machine code returns here")
        return
    target = calls[position].target
    alike = sum(other[1:] == calls[position][1:] for other in calls)
    for word, targets in (
        ("before", code.calls_before(position)[:5]),
        ("calls", [target]),
        ("after", code.calls_after(position)[:5]),
    ):
        print(f"   {word:6} {'; '.join(_callee_name(binary, each) for each in targets)}")
    print(f"   {alike} of {len(calls)} calls; numbers {code.constants_before(position)}")


def _callee_name(binary: Binary, target: int) -> str:
    name = binary.function_at(target) if target else None
    return _plain_name(name)[-_COLUMNS:] if name else "(pointer)" if not target else "?"
