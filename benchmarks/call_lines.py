"""How often the line of a call is found without debug information, with debug information as the truth.

    python benchmarks/call_lines.py --program BINARY SOURCE [SOURCE...] [--program ...]

Each BINARY is a program compiled with optimisation and DWARF from the C++ below the SOURCE folders. Every direct call
in it counts once. The truth is the line that DWARF gives for the call in the function that was compiled, which, where
the call came from an inlined function, is the line on which that one was called.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from source_trees import SourceTrees

from framedex.binaries import Binary
from framedex.binaries.code import CallInstruction
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols
from framedex.model import How, NativeSymbol
from framedex.sources import match, short_name
from framedex.sources.bodies import Bodies, calls_written_in
from framedex.sources.callline import Called, Caller, Unnamed, call_line, called


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call: what was said of it, and the truth. `is_named`: of a function with a name; `is_inlined`: from one."""

    how: How | None
    lines: tuple[int, ...]
    truth: int
    is_named: bool
    is_inlined: bool


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--program", nargs="+", type=Path, action="append", required=True, metavar="PATH")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    for binary, *sources in arguments.program:
        began = time.process_time()
        found = list(_outcomes(binary, sources))
        seconds = time.process_time() - began
        _print(f"{binary.name}: {len(found):,} calls, {seconds / max(len(found), 1) * 1e3:.1f} ms of CPU each", found)
        outcomes += found
    if len(arguments.program) > 1:
        _print("together", outcomes)


def _outcomes(path: Path, sources: Sequence[Path]) -> Iterator[Outcome]:
    trees = SourceTrees(sources)
    bodies = Bodies(trees.definitions, lambda path: calls_written_in(path, trees.definitions_in(path)))
    binary = Binary.open(path)
    names: dict[int, Called | None] = {}

    def name(target: int) -> Called | None:
        if target not in names:
            symbol = binary.function_at(target)
            names[target] = called(symbol) if symbol else None
        return names[target]

    for symbol in read_symbols(Elf.open(path)):
        code = binary.code_around(symbol.start)
        if code is None or not code.calls:
            continue
        (own,) = binary.resolve([symbol.start])
        truths = binary.resolve([call.returns_to - 1 for call in code.calls])
        for i, (call, truth) in enumerate(zip(code.calls, truths, strict=True)):
            callee = binary.function_at(call.target)
            if not call.returns_to or not truth or not truth[-1].path or truth[-1].line <= 0:
                continue
            span = _span(own[-1], truth[-1], trees)
            if not callee or callee.startswith("__") or span is None:
                continue
            calls = [name(each.target) or _unnamed(each) for each in code.calls]
            neighbours = lambda k, code=code: (  # noqa: E731 - of this function
                [name(t) for t in code.before(k)],
                [name(t) for t in code.after(k)],
            )
            wanted = name(call.target)
            how: How | None = None
            lines: tuple[int, ...] = ()
            if wanted is not None:
                jumps = frozenset(k for k, each in enumerate(code.calls) if each.returns_to == 0)
                caller = Caller(span[1], bodies.written(span[0]), calls, neighbours, code.numbers, jumps)
                how, lines = call_line(caller, wanted, i, bodies.reaches)
            is_named = wanted is not None and wanted.kind == "call" and not callee.startswith("std::")
            yield Outcome(how, lines, truth[-1].line, is_named, len(truth) > 1)


def _unnamed(call: CallInstruction) -> Unnamed | None:
    return Unnamed(call.target, call.slot) if call.target or call.slot is not None else None


def _span(symbol: NativeSymbol, truth: NativeSymbol, trees: SourceTrees) -> tuple[str, tuple[int, int]] | None:
    """The file and the lines of the caller, if its definition is certain and holds the true line."""
    how, found = match(symbol, trees.definitions(short_name(symbol.symbol)))
    if how is not How.DEFINITION:
        return None
    path, definition = found[0]
    is_right = Path(path).name == Path(truth.path or "").name and definition.line <= truth.line <= definition.end_line
    return (path, (definition.line, definition.end_line)) if is_right else None


def _print(title: str, outcomes: Sequence[Outcome]) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        is_first = bool(outcome.lines) and outcome.lines[0] == outcome.truth
        kind = (
            "first" if is_first else "among" if outcome.truth in outcome.lines else "wrong" if outcome.lines else "no"
        )
        counts[f"labelled {outcome.how or 'not at all'}"][kind] += 1
        counts["all"][kind] += 1
        if outcome.is_named and not outcome.is_inlined:
            counts["named functions, not inlined"][kind] += 1
    table = Table("calls", "count", "first line is right", "among the lines", "wrong", "no answer", title=title)
    for name, count in sorted(counts.items()):
        total = count.total()
        table.add_row(name, f"{total:,}", *(f"{count[kind] / total:.1%}" for kind in ("first", "among", "wrong", "no")))
    Console().print(table)


if __name__ == "__main__":
    main()
