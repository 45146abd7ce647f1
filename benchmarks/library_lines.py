"""Lines of calls in libraries without debug information, against debug information as the truth."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

import click
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.binaries import SourceTrees
from benchmarks.figures import Figure
from benchmarks.lines.answers import NO_LINE, Answer, LibrarySources, SymbolizerComparison, compare_exact
from benchmarks.lines.calls import Call, draw_calls
from benchmarks.lines.libraries import BUILDS, COMPILERS, Build, build, read_libraries
from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources
from framedex.model import Definition, LocationEvidence, NativeSymbol
from framedex.sources import match_symbol, short_name
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.frame_context import FoundFrame, find_callees
from framedex.text_stacks.source_lookup.resolve import Resolver

_CACHE_OPTION = click.option(
    "--cache", type=click.Path(path_type=Path), required=True, help="Folder of libraries, builds and drawn calls."
)
_LIBRARY_OPTION = click.option(
    "--library", "names", multiple=True, metavar="NAME", help="Measure only this library; repeatable."
)
_COMPILER_OPTION = click.option("--compiler", type=click.Choice(list(COMPILERS)), help="Measure only its builds.")

# --- lines of calls ---------------------------------------------------------------------------------------------------

_ALL_LABELS = {
    str(how): str(how)
    for how in (
        LocationEvidence.SINGLE,
        LocationEvidence.RANKED,
        LocationEvidence.INLINED_HOP,
        LocationEvidence.CANDIDATES,
    )
}
_CHOICES = {
    **{f"{label}-wrong": (label, ("wrong", "among")) for label in _ALL_LABELS},
    **{f"{label}-right": (label, ("right",)) for label in _ALL_LABELS},
    "wrong": (None, ("wrong", "among")),
    "no-line": (None, NO_LINE),
    "range-misses": (None, ("misses",)),
    **{reason.replace(" ", "-"): (None, (reason,)) for reason in NO_LINE},
}
"""Choices of `--show` and `--cause`: a label, and outcomes."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Options that select builds."""

    cache: Path
    names: tuple[str, ...]
    compiler: str | None
    level: str | None
    held_out: bool
    processes: int
    only_built: bool


@click.command()
@_CACHE_OPTION
@_LIBRARY_OPTION
@_COMPILER_OPTION
@click.option("--level", type=click.Choice(sorted({options.level for options in BUILDS})), help="Only these builds.")
@click.option("--calls", type=int, default=500, show_default=True, help="Calls in the machine code of a build.")
@click.option("--stacks", type=int, default=250, show_default=True, help="Calls in recorded stacks of a build.")
@click.option("--exact", "with_exact", is_flag=True, help="Also compare answers with debug information (slow).")
@click.option("--held-out", is_flag=True, help="Also measure the libraries that nobody tunes by.")
@click.option("--show", type=click.Choice(list(_CHOICES)), help="Print single calls.")
@click.option("--cause", type=click.Choice(list(_CHOICES)), help="Count callees by kind.")
@click.option("--limit", type=int, default=20, show_default=True, help="Number of calls to show.")
@click.option("--processes", type=int, default=os.cpu_count() or 1, help="Number of parallel compilers.")
@click.option("--only-built", is_flag=True, help="Skip libraries that are not built yet.")
def library_lines(
    cache: Path,
    names: tuple[str, ...],
    compiler: str | None,
    level: str | None,
    calls: int,
    stacks: int,
    with_exact: bool,
    held_out: bool,
    show: str | None,
    cause: str | None,
    limit: int,
    processes: int,
    only_built: bool,
) -> list[Figure]:
    """Count the calls in libraries whose line is found without debug information.

    Fetches the libraries of lines/libraries.toml and builds them with clang and gcc (an hour, once). Every call counts,
    with or without a known definition of its caller. The calls are direct calls and PLT calls in the machine code, and
    calls in stacks recorded at allocations of a workload.
    """
    selection = Selection(cache, names, compiler, level, held_out, processes, only_built)
    answers: list[Answer] = []
    exact: dict[tuple[str, str], SymbolizerComparison] = {}
    for builds in _select_builds(selection):
        began = time.process_time()
        library = LibrarySources(builds[0].sources)
        for each in builds:
            drawn = draw_calls(each, calls, stacks)
            answers += library.answers(each, drawn)
            if with_exact:
                exact[each.library.name, each.options.name] = compare_exact(each, drawn)
        seconds = time.process_time() - began
        print(f"{builds[0].library.name}: {seconds:.1f} s of a processor", file=sys.stderr, flush=True)
    tuned = [answer for answer in answers if not answer.build.library.held_out]
    if chosen := show or cause:
        label, outcomes = _CHOICES[chosen]
        if show:
            _show_answers([a for a in tuned if (label is None or a.label == label) and a.outcome in outcomes], limit)
        else:
            _print_causes(tuned, outcomes, label)
        return []
    _print_stacks(answers)
    _print_builds(tuned, exact)
    _print_totals("together", tuned, exact)
    if untuned := [answer for answer in answers if answer.build.library.held_out]:
        _print_totals("held-out libraries", untuned, exact)
    return [*_line_figures("", tuned), *_line_figures(", held-out libraries", untuned)]


def _line_figures(title: str, answers: Sequence[Answer]) -> list[Figure]:
    """Figures of each compiler: right lines by label, calls without a line, and times."""
    figures = []
    for compiler in _distinct_keys(answers, lambda answer: answer.build.options.compiler):
        own = [answer for answer in answers if answer.build.options.compiler == compiler]
        single = [answer for answer in own if answer.label == LocationEvidence.SINGLE]
        with_line = [answer for answer in own if answer.has_line]
        inside = [answer for answer in own if answer.call.is_callee_in_project and not answer.call.is_of_stack]
        frames = [answer for answer in own if answer.call.is_of_stack]
        ranges = [answer for answer in own if answer.is_range]
        for name, part, chosen in (
            ("frames of recorded stacks on the right line", sum(answer.is_right for answer in frames), frames),
            ("ranges that hold the line", sum(answer.is_holding for answer in ranges), ranges),
            ("`single` lines that are right", sum(answer.is_right for answer in single), single),
            ("first lines that are right", sum(answer.is_right for answer in with_line), with_line),
            ("calls in the project without a line", sum(not answer.lines for answer in inside), inside),
        ):
            share = 100 * part / max(len(chosen), 1)
            figures.append(Figure(f"{compiler}: {name}{title}", share, f"% of {len(chosen):,}"))
        *_, p99, worst = answer_times_ms(own)
        figures.append(Figure(f"{compiler}: time of one answer{title}, p99", p99, "ms of a processor"))
        figures.append(Figure(f"{compiler}: time of one answer{title}, worst", worst, "ms of a processor"))
    return figures


def answer_times_ms(answers: Sequence[Answer]) -> tuple[float, float, float]:
    """The median, the 99th percentile and the maximum of the answers' processor times, in milliseconds."""
    times = sorted(1e3 * answer.seconds for answer in answers)
    return times[len(times) // 2], times[len(times) * 99 // 100], times[-1]


def _print_stacks(answers: Sequence[Answer]) -> None:
    """Print what a reader of recorded stacks sees: every frame counts, with or without a line."""
    shares = ("right line", "wrong first line", "range", "ranges that hold", "no line")
    times = ("ms p50", "p99", "worst")
    head = ("libraries", "compiler", "frames", *shares, *times)
    table = Table(*head, title="frames of recorded stacks", box=box.MARKDOWN)
    for is_held_out, title in ((False, "tuned"), (True, "held out")):
        frames = [a for a in answers if a.call.is_of_stack and a.build.library.held_out == is_held_out]
        for compiler in _distinct_keys(frames, lambda answer: answer.build.options.compiler):
            own = [answer for answer in frames if answer.build.options.compiler == compiler]
            times_ms = [f"{each:.1f}" for each in answer_times_ms(own)]
            table.add_row(title, compiler, f"{len(own):,}", *_stack_cells(own), *times_ms)
    _print_wide_table(table)


def _stack_cells(frames: Sequence[Answer]) -> list[str]:
    with_line = sum(answer.has_line for answer in frames)
    right = sum(answer.is_right for answer in frames)
    ranges = [answer for answer in frames if answer.is_range]
    shares = [_format_share(count, len(frames)) for count in (right, with_line - right, len(ranges))]
    holding = _format_share(sum(answer.is_holding for answer in ranges), len(ranges), counted=True)
    return [*shares, holding, _format_share(len(frames) - with_line - len(ranges), len(frames))]


def _select_builds(selection: Selection) -> Iterator[list[Build]]:
    """The selected builds of each library."""
    libraries = read_libraries()
    if unknown := set(selection.names) - set(libraries):
        sys.exit(f"No library is named {', '.join(sorted(unknown))}. The libraries are {', '.join(libraries)}.")
    for library in libraries.values():
        is_selected = library.name in selection.names if selection.names else not library.held_out or selection.held_out
        if not is_selected or not library.compile:
            continue
        builds = []
        for options in BUILDS:
            if selection.compiler not in (None, options.compiler) or selection.level not in (None, options.level):
                continue
            if selection.only_built and not (selection.cache / library.name / options.name / "stripped").exists():
                continue
            builds.append(build(library, options, libraries, selection.cache.resolve(), selection.processes))
        if builds:
            yield builds


_Key = TypeVar("_Key")
_LABELS = (LocationEvidence.SINGLE, LocationEvidence.RANKED, LocationEvidence.INLINED_HOP)
_HEAD = (
    *("calls", "exact wrong", *_LABELS, "best", "among", "wrong", "ranges that hold"),
    *("no line", *NO_LINE),
)


def _print_builds(answers: Sequence[Answer], exact: dict[tuple[str, str], SymbolizerComparison]) -> None:
    """Print a row for each library and build: machine code and stacks together."""
    table = _table("by library and build", "library", "build")
    for key in _distinct_keys(answers, lambda answer: (answer.build.library.name, answer.build.options.name)):
        mine = [a for a in answers if (a.build.library.name, a.build.options.name) == key]
        table.add_row(*key, *table_cells(mine, exact.get(key)))
    _print_wide_table(table)


def _print_totals(title: str, answers: Sequence[Answer], exact: dict[tuple[str, str], SymbolizerComparison]) -> None:
    """Print rows for each compiler: callees in the project, other callees, stacks, and all calls."""
    table = _table(title, "compiler", "calls of")
    for compiler in _distinct_keys(answers, lambda answer: answer.build.options.compiler):
        own = [a for a in answers if a.build.options.compiler == compiler]
        code = [a for a in own if not a.call.is_of_stack]
        parts = {
            "code, callee in the project": [a for a in code if a.call.is_callee_in_project],
            "code, callee elsewhere": [a for a in code if not a.call.is_callee_in_project],
            "stacks": [a for a in own if a.call.is_of_stack],
            "stacks, indirect": [a for a in own if a.call.kind == "indirect"],
            "stacks, tail": [a for a in own if a.call.kind == "tail"],
            "all": own,
        }
        names = {answer.build.library.name for answer in own}
        compared = [found for (name, options), found in exact.items() if name in names and options.startswith(compiler)]
        for name, part in parts.items():
            table.add_row(
                compiler,
                name,
                *table_cells(part, sum(compared, SymbolizerComparison()) if compared and name == "all" else None),
            )
        for library in _distinct_keys(own, lambda answer: answer.build.library.name):
            table.add_row(compiler, library, *table_cells([a for a in own if a.build.library.name == library], None))
    _print_wide_table(table)


def table_cells(answers: Sequence[Answer], exact: SymbolizerComparison | None) -> list[str]:
    """The cells of `_HEAD` for these answers."""
    total = len(answers)
    with_line = [answer for answer in answers if answer.has_line]
    ranges = [answer for answer in answers if answer.is_range]
    why = Counter(answer.label for answer in answers if not answer.has_line)
    cells = [f"{total:,}", str(exact) if exact else "-"]
    for label in _LABELS:
        labelled = [answer for answer in with_line if answer.label == label]
        cells.append(_format_share(sum(answer.is_right for answer in labelled), len(labelled), counted=True))
    cells.append(_format_share(sum(answer.is_right for answer in with_line), len(with_line), counted=True))
    cells.append(_format_share(sum(answer.has_truth for answer in with_line), len(with_line)))
    cells.append(_format_share(sum(answer.outcome == "wrong" for answer in with_line), total))
    cells.append(_format_share(sum(answer.is_holding for answer in ranges), len(ranges), counted=True))
    cells.append(_format_share(total - len(with_line) - len(ranges), total))
    cells += [_format_share(why[label], total) for label in NO_LINE]
    return cells


def _print_causes(answers: Sequence[Answer], outcomes: Sequence[str], label: str | None) -> None:
    """Print the number of callees of each kind with these outcomes, among answers with this label or all answers."""
    chosen = [a for a in answers if (label is None or a.label == label) and a.outcome in outcomes]
    totals = Counter(a.cause for a in answers if label is None or a.label == label)
    table = Table("callee", "count", "of", title=f"{label or 'all'}: {', '.join(outcomes)}")
    for cause, count in Counter(answer.cause for answer in chosen).most_common():
        table.add_row(cause, f"{count:,}", f"{totals[cause]:,}")
    _print_wide_table(table)


def _format_share(part: int, whole: int, counted: bool = False) -> str:
    if not whole:
        return "-"
    return f"{part / whole:.1%}" + (f" of {whole:,}" if counted else "")


def _distinct_keys(answers: Sequence[Answer], key: Callable[[Answer], _Key]) -> list[_Key]:
    return list(dict.fromkeys(map(key, answers)))


def _table(title: str, *first: str) -> Table:
    return Table(*first, *map(str, _HEAD), title=title, box=box.MARKDOWN)


def _print_wide_table(table: Table) -> None:
    Console(width=300).print(table)


def _show_answers(answers: Sequence[Answer], limit: int) -> None:
    """Print a random sample of the answers, always in the same order."""
    shown = [answer for answer in answers if not answer.build.library.held_out]
    drawn = random.Random(1).sample(shown, min(limit, len(shown)))
    for answer in drawn:
        _show_answer(answer)
    print(f"{len(drawn)} of {len(shown)}")


def _show_answer(answer: Answer) -> None:
    call, build = answer.call, answer.build
    print(f"\n{build.library.name} {build.options.name} {call.returns_to:#x}: {answer.label}, {answer.outcome}")
    print(f"  caller {answer.caller[:400]}")
    print(f"  callee {call.callee[:400]}")
    print(f"  {answer.cause}{', of a stack' if call.is_of_stack else ''}")
    print(f"  truth  {_format_location(answer, call.path, call.line)}")
    if call.is_inlined:
        print(f"         from inside {', '.join(f'{Path(path).name}:{line}' for _, path, line, _ in call.frames[:-1])}")
    for line in answer.lines[:4]:
        print(f"  answer {_format_location(answer, answer.path, line)}")
    if not answer.lines and answer.path:
        print(f"  answer in {Path(answer.path).relative_to(answer.build.sources.resolve())}, no line")


def _format_location(answer: Answer, path: str, line: int) -> str:
    sources = answer.build.sources.resolve()
    where = Path(path).relative_to(sources) if Path(path).is_relative_to(sources) else Path(path)
    lines = _source_lines(path)
    return f"{where}:{line}: {lines[line - 1].strip()[:160] if 0 < line <= len(lines) else '?'}"


@lru_cache(maxsize=64)
def _source_lines(path: str) -> list[str]:
    return Path(path).read_text(errors="replace").split("\n") if Path(path).is_file() else []


# --- lines of calls in crash texts ------------------------------------------------------------------------------------

_MAX_LOCATIONS = 8  # of a frame in an explanation
_NOT_A_LINE = (LocationEvidence.DEFINITION, LocationEvidence.CLASS, LocationEvidence.BETWEEN)
_NOT_DEFINED = ("no definition", "several definitions", "class only")


@click.command()
@_CACHE_OPTION
@_LIBRARY_OPTION
def text_lines(cache: Path, names: tuple[str, ...]) -> list[Figure]:
    """Count the calls in crash texts that lead to the right line, in the builds of `library-lines`.

    Every call of the recorded stacks becomes two texts with two frames each. One has offsets in the stripped library,
    as AddressSanitizer prints them without a symbolizer. The other has only names, as absl prints them. Only the
    sources are indexed. "As recorded" counts the lines that a capture of the same call would have.
    """
    table = Table(
        "library", "build", "text", "calls", "with a line", "right", "among them", "single", "as recorded", "ms"
    )
    totals: Counter[str] = Counter()
    for builds in _sampled_builds(cache.resolve(), names):
        library = LibrarySources(builds[0].sources)
        with tempfile.TemporaryDirectory() as folder, _index_sources(Path(folder) / "i.db", builds[0].sources) as index:
            for each in builds:
                calls = [call for call in draw_calls(each, 500, 250) if call.is_of_stack]
                recorded = list(library.answers(each, calls))
                for form in ("offset", "names"):
                    totals += _measure_texts(table, each, form, calls, recorded, index)
    Console(width=160).print(table)
    return [
        Figure(
            f"right lines of texts by {form}", totals[f"right by {form}"], f"of {totals[f'calls by {form}']:,} calls"
        )
        for form in ("offset", "names")
    ]


def _sampled_builds(cache: Path, names: tuple[str, ...]) -> Iterator[list[Build]]:
    libraries = read_libraries()
    for library in libraries.values():
        if library.held_out or (names and library.name not in names):
            continue
        folder = cache / library.name
        there = [each for each in BUILDS if any((folder / each.name).glob("calls-3-500-250.json"))]  # with its truth
        if made := [build(library, each, libraries, cache, 1) for each in there]:
            yield made


def _index_sources(path: Path, sources: Path) -> Index:
    with Store(path) as store:
        with store.transaction():
            store.sources.add_root(str(sources))
        find_sources(store, SilentProgress())
    return Index.open(path)


def _measure_texts(
    table: Table, built: Build, form: str, calls: list[Call], recorded: list[Answer], index: Index
) -> Counter[str]:
    """Add the row of a build and form to the table; return its counts, by form."""
    resolver = Resolver(index, binaries=Binaries())
    counts: Counter[str] = Counter()
    began = time.process_time()
    found = [_explain_text(_write_text(built, *each, form), resolver) for each in zip(calls, recorded, strict=True)]
    seconds = time.process_time() - began
    for call, answer, each in zip(calls, recorded, found, strict=True):
        places = [place for place in (each.location, *each.candidates) if place is not None]
        # The first of several definitions is also a candidate, but not the line of a call.
        is_line = bool(places) and places[0].how not in _NOT_A_LINE
        lines = [place.line for place in places] if is_line and answer.label not in _NOT_DEFINED else []
        is_right = [(Path(place.path).resolve(), place.line) == (Path(call.path), call.line) for place in places]
        counts["line"] += bool(lines)
        counts["right"] += bool(lines) and is_right[0]
        counts["among"] += bool(lines) and any(is_right)
        counts["single"] += bool(lines) and places[0].how is LocationEvidence.SINGLE
        counts["single, right"] += bool(lines) and places[0].how is LocationEvidence.SINGLE and is_right[0]
        is_labelled_so = not lines or str(places[0].how) == answer.label
        counts["same"] += is_labelled_so and lines == list(answer.lines[:_MAX_LOCATIONS])
    total = len(calls)
    if total:
        shares = [f"{counts[key] / total:.1%}" for key in ("line", "right", "among")]
        single = f"{counts['single, right']} of {counts['single']}"
        same = f"{counts['same'] / total:.1%}" if form == "offset" else "-"
        name = built.library.name, built.options.name, form
        table.add_row(*name, str(total), *shares, single, same, f"{seconds / total * 1e3:.1f}")
    return Counter({f"calls by {form}": total, f"right by {form}": counts["right"]})


def _write_text(built: Build, call: Call, answer: Answer, form: str) -> str:
    caller = answer.caller or "(unknown)"
    if form == "names":
        return f"    @     0x7f0000000001  16  {call.callee}\n    @     0x7f0000000002  16  {caller}\n"
    at = call.returns_to - 1
    inner = f"    #0 0x7f0000000001 in {call.callee} (/none/lib.so+0x1)\n"
    identity = f" (BuildId: {build_id})" if (build_id := _build_id(built.stripped)) else ""
    return f"{inner}    #1 {0x7F0000000000 + at:#x}  ({built.stripped}+{at:#x}){identity}\n"


@cache
def _build_id(library: Path) -> str | None:
    return Binary.open(library).build_id


def _explain_text(text: str, resolver: Resolver) -> FoundFrame:
    stack = read(text).stacks[0]
    called = find_callees(stack.frames, stack.innermost_first)
    return resolver.find(stack.frames[-1], callee_frame=called[-1])


# --- definitions of functions -----------------------------------------------------------------------------------------

_OUTCOMES = ("one, right", "one, wrong", "class, right", "class, other", "several, among", "several, wrong", "none")


@dataclass(frozen=True, slots=True)
class PlacedFunction:
    """A function with its matched definitions, and the file and line of its declaration."""

    symbol: NativeSymbol
    how: LocationEvidence | None
    found: Sequence[tuple[str, Definition]]
    truth: tuple[str, int]

    @property
    def has_truth(self) -> bool:
        """Whether one of the definitions contains the line of the declaration."""
        path, line = self.truth
        return any(path == where and found.line <= line <= found.end_line for where, found in self.found)

    @property
    def outcome(self) -> str:
        """One of `_OUTCOMES`."""
        if self.how is None:
            return "none"
        if self.how is LocationEvidence.CLASS:  # an explicit instantiation also has a declaration elsewhere
            return "class, right" if self.has_truth else "class, other"
        if self.how is LocationEvidence.CANDIDATES:
            return "several, among" if self.has_truth else "several, wrong"
        return "one, right" if self.has_truth else "one, wrong"


@click.command()
@_CACHE_OPTION
@_LIBRARY_OPTION
@_COMPILER_OPTION
@click.option("--show", type=click.Choice([*_OUTCOMES, "shared"]), help="Print single functions.")
@click.option("--limit", type=int, default=20, show_default=True, help="Number of functions to show.")
def definitions(
    cache: Path, names: tuple[str, ...], compiler: str | None, show: str | None, limit: int
) -> list[Figure]:
    """Count the functions of libraries with the right definition, in the builds of `library-lines`.

    Every function with a declaration in the library's sources counts once. The truth is the declaration in the debug
    information, as llvm-symbolizer reads it; a definition that contains this line is right.
    """
    table = Table("build", "functions", *_OUTCOMES, "one definition with others", "µs of CPU each")
    shown: list[PlacedFunction] = []
    together: list[PlacedFunction] = []
    for library, builds in _library_builds(cache, names, compiler):
        trees = SourceTrees([(cache / library / "source").resolve()])
        for described in builds:
            symbols = list(_read_functions(described, cache / library / "source"))
            began = time.process_time()
            placed = [PlacedFunction(symbol, *_match_definitions(symbol, trees), truth) for symbol, truth in symbols]
            microseconds = (time.process_time() - began) / max(len(placed), 1) * 1e6
            _add_placed_row(table, f"{library} {described.parent.name}", placed, f"{microseconds:.0f}")
            together += placed
            sharing = _sharing_functions(placed)
            shown += sharing if show == "shared" else [each for each in placed if each.outcome == show]
    _add_placed_row(table, "together", together, "")
    if not show:
        Console().print(table)
    for each in random.Random(1).sample(shown, min(limit, len(shown))):
        _show_function(each)
    counts = Counter(each.outcome for each in together)
    one = counts["one, right"] + counts["one, wrong"]
    return [
        Figure("functions with one definition, the right one", counts["one, right"], f"of {one:,}"),
        Figure("functions without a definition", counts["none"], f"of {len(together):,}"),
    ]


def _library_builds(cache: Path, names: Sequence[str], compiler: str | None) -> Iterator[tuple[str, list[Path]]]:
    """The built libraries with debug information, by name."""
    for folder in sorted(cache.iterdir()):
        found = sorted(folder.glob(f"{compiler or '*'}-*/lib{folder.name}.so"))
        if found and (folder.name in names or not names):
            yield folder.name, [path for path in found if (path.parent / "stripped" / path.name).exists()]


def _read_functions(described: Path, sources: Path) -> Iterator[tuple[NativeSymbol, tuple[str, int]]]:
    """The functions with a declaration below `sources`, with the name in the stripped library."""
    below = f"{sources.resolve()}/"
    starts = [symbol.start for symbol in read_symbols(Elf.open(described)) if symbol.end > symbol.start]
    named = Binary.open(described.parent / "stripped" / described.name).resolve(starts)
    for frames, (path, line) in zip(named, _read_declarations(described, starts), strict=True):
        if frames and path.startswith(below) and line > 0:
            yield frames[-1], (path, line)


def _read_declarations(binary: Path, addresses: Sequence[int]) -> Iterator[tuple[str, int]]:
    """The file and line of the declaration of the function at each address."""
    tool = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
    if tool is None:
        raise SystemExit("No llvm-symbolizer is installed: apt install llvm-19.")
    command = [tool, f"--obj={binary}", "--output-style=JSON", "--inlines", "--no-demangle"]
    addresses_text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=addresses_text, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        frames = json.loads(line)["Symbol"]
        path, number = (frames[-1].get("StartFileName", ""), frames[-1].get("StartLine", 0)) if frames else ("", 0)
        yield (str(Path(path).resolve()) if path.startswith("/") else path), number


def _match_definitions(
    symbol: NativeSymbol, trees: SourceTrees
) -> tuple[LocationEvidence | None, Sequence[tuple[str, Definition]]]:
    return match_symbol(symbol, trees.definitions(short_name(symbol.symbol)), classes_named=trees.classes_named)


def _sharing_functions(placed: Sequence[PlacedFunction]) -> list[PlacedFunction]:
    """The functions whose definition also matches functions of another declaration."""
    by_place: dict[tuple[str, int], list[PlacedFunction]] = defaultdict(list)
    for each in placed:
        if each.how is LocationEvidence.DEFINITION:
            by_place[each.found[0][0], each.found[0][1].line].append(each)
    return [each for group in by_place.values() if len({one.truth for one in group}) > 1 for each in group]


def _add_placed_row(table: Table, title: str, placed: Sequence[PlacedFunction], microseconds: str) -> None:
    counts = Counter(each.outcome for each in placed)
    shares = [f"{counts[outcome]:,} ({counts[outcome] / max(len(placed), 1):.1%})" for outcome in _OUTCOMES]
    table.add_row(title, f"{len(placed):,}", *shares, f"{len(_sharing_functions(placed)):,}", microseconds)


def _show_function(each: PlacedFunction) -> None:
    print(f"{each.outcome}: {each.symbol.symbol[:300]} ({each.symbol.unit})")
    path, line = each.truth
    print(f"    truth {path}:{line}: {_source_line(path, line)}")
    for where, found in each.found[:4]:
        print(f"    found {where}:{found.line}: {_source_line(where, found.line)}")


def _source_line(path: str, number: int) -> str:
    lines = Path(path).read_text(errors="replace").splitlines() if Path(path).is_file() else []
    return lines[number - 1].strip()[:140] if 0 < number <= len(lines) else ""
