"""How many functions of a binary are matched to one definition in its sources, and a sample to check by eye.

    python benchmarks/matching.py --source XLA --source JAX [BINARY] [--sample 200]

BINARY defaults to jaxlib's libjax_common.so; the sources are checkouts of the commits that it was built from. Functions
that only generated code defines (protoc, mlir-tblgen) are counted apart. As an independent check, every match in a
.cc file is compared with the translation unit that the symbol table names for the symbol: matching does use it between
namesakes, but never when a single definition has the name.
"""

from __future__ import annotations

import argparse
import linecache
import random
import time
from collections import Counter
from pathlib import Path

from jaxlib_library import jaxlib_library
from rich.console import Console
from rich.table import Table
from source_trees import SourceTrees

from framedex.binaries.demangle import demangle
from framedex.binaries.elf import Elf
from framedex.binaries.names import parse_name
from framedex.binaries.symbols import read_symbols
from framedex.model import Definition, How, NativeSymbol
from framedex.sources import generated_scopes, match, match_generated, short_name

NAMESPACES = ("xla", "tsl", "jax", "pjrt", "jaxlib", "stream_executor")

_Match = tuple[NativeSymbol, How | None, tuple[tuple[str, Definition], ...]]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("binary", type=Path, nargs="?", default=None)
    parser.add_argument("--source", type=Path, action="append", required=True)
    parser.add_argument("--namespace", action="append", default=[], help=f"default: {', '.join(NAMESPACES)}")
    parser.add_argument("--sample", type=int, default=0, help="matches to print for checking by eye")
    parser.add_argument("--show", type=int, default=0, help="functions without a definition to print")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    path = arguments.binary or jaxlib_library()
    trees = SourceTrees(arguments.source)
    symbols = symbols_of(path, tuple(arguments.namespace) or NAMESPACES)
    began = time.process_time()
    written, generated = _match(symbols, trees)
    microseconds = (time.process_time() - began) / len(symbols) * 1e6
    console = Console(soft_wrap=True)
    console.print(f"{path.name}: {len(symbols):,} functions; {trees.files:,} files, {len(trees):,} definitions")
    _print_outcome(console, written, generated, microseconds)
    dice = random.Random(arguments.seed)
    missed = [found for found in written if found[1] is None]
    for symbol, *_ in dice.sample(missed, min(arguments.show, len(missed))):
        console.print(f"none: {symbol.symbol} ({symbol.unit})", markup=False, highlight=False)
    unique = [found for found in written if found[1] in (How.DEFINITION, How.CLASS)]
    for symbol, how, found in dice.sample(unique, min(arguments.sample, len(unique))):
        file, definition = found[0]
        line = linecache.getline(file, definition.line).strip()
        text = f"{symbol.symbol} ({symbol.unit})\n    {how} {file}:{definition.line}: {line}"
        console.print(text, markup=False, highlight=False)


def symbols_of(path: Path, namespaces: tuple[str, ...]) -> list[NativeSymbol]:
    """The functions whose own name, behind a return type, is in one of the namespaces."""
    found = []
    for symbol in read_symbols(Elf.open(path)):
        if any(namespace in symbol.mangled for namespace in namespaces):
            text = demangle(symbol.mangled)
            parts = parse_name(text).parts
            if len(parts) > 1 and parts[0].text in namespaces:
                found.append(NativeSymbol("", text, symbol.mangled, None, 0, inlined=False, unit=symbol.unit))
    return found


def _match(symbols: list[NativeSymbol], trees: SourceTrees) -> tuple[list[_Match], list[_Match]]:
    """The outcome for functions that somebody wrote, and for those of generated code."""
    written, generated = [], []
    for symbol in symbols:
        how, found = match(symbol, trees.definitions(short_name(symbol.symbol)), classes_named=trees.classes_named)
        if how is None:
            scopes = dict.fromkeys(generated_scopes(symbol))
            by_generator = match_generated(symbol, [c for scope in scopes for c in trees.generating(scope)])
            if by_generator[0] is not None or (symbol.unit or "").endswith(".pb.cc"):
                generated.append((symbol, *by_generator))
                continue
        written.append((symbol, how, found))
    return written, generated


def _print_outcome(console: Console, written: list[_Match], generated: list[_Match], microseconds: float) -> None:
    counts = Counter(how for _, how, _ in written)
    unique = counts[How.DEFINITION] + counts[How.CLASS]
    table = Table("functions", "count", "share", title=f"{microseconds:.0f} µs of CPU each")
    for name, count in (
        ("one place", unique),
        ("  of that its class: made by the compiler", counts[How.CLASS]),
        ("several candidates", counts[How.CANDIDATES]),
        ("none", counts[None]),
    ):
        table.add_row(name, f"{count:,}", f"{count / max(len(written), 1):.2%}")
    found = sum(how is not None for _, how, _ in generated)
    table.add_row("generated code, left out above", f"{len(generated):,}", "")
    table.add_row("  of that with its message or record", f"{found:,}", f"{found / max(len(generated), 1):.2%}")
    console.print(table)
    units = [
        (symbol.unit, Path(places[0][0]).name)
        for symbol, how, places in written
        if how in (How.DEFINITION, How.CLASS) and symbol.unit and places[0][0].endswith((".cc", ".cpp", ".c"))
    ]
    right = sum(unit == name for unit, name in units)
    console.print(f"of {len(units):,} places in .cc files, {right:,} are in the symbol's translation unit")


if __name__ == "__main__":
    main()
