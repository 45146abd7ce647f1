"""Of how many functions a stack's spelling of the name leads to the definition that the mangled name is of.

    python benchmarks/symbol_spellings.py --index INDEX [BINARY] [--sample 300] [--seed N] [--show N]
    python benchmarks/symbol_spellings.py --release 0.10.2 [BINARY] ...

INDEX is one of the sources that BINARY (default: jaxlib's libjax_common.so) was made from, such as `framedex index
--source XLA --source JAX` makes; with a release of jaxlib, the maps that framedex ships are asked instead. A sample of
the functions whose mangled name leads to a definition is printed as failure handlers and debuggers print it. A spelling
is *placed* if it leads anywhere, *right* if the definition is among the places, *single* if it is the only one, and
*wrong* if all places are others.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from jaxlib_library import jaxlib_library
from rich.console import Console
from rich.table import Table

from framedex.binaries import demangle as demanglers
from framedex.binaries.elf import Elf
from framedex.binaries.names import parse_name
from framedex.binaries.symbols import read_symbols
from framedex.index import Index
from framedex.interchange import Format, TextFrame
from framedex.interchange.placing.resolve import Found, Resolver
from framedex.model import Language
from framedex.releases.stated import StatedReleases

NAMESPACES = ("xla", "tsl", "jax", "pjrt", "jaxlib", "stream_executor", "ifrt")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("binary", type=Path, nargs="?", default=None)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--index", type=Path)
    asked.add_argument("--release")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="spellings that are not right to print, of each kind")
    parser.add_argument("--wrong", action="store_true", help="print only those that lead elsewhere")
    arguments = parser.parse_args()
    with Index.open(arguments.index) if arguments.index else nullcontext() as index:
        resolver = Resolver(index, releases=StatedReleases(f"jaxlib=={arguments.release}"))
        truth = dict(_sample(arguments.binary or jaxlib_library(), resolver, arguments.sample, arguments.seed))
        table = Table("spelling", "placed", "right", "single", "wrong", title=f"{len(truth)} functions")
        for name, spell in SPELLINGS.items():
            counts, missed = _counted(resolver, truth, spell, arguments.wrong)
            table.add_row(name, *(f"{counts[each]}" for each in ("placed", "right", "single", "wrong")))
            for line in missed[: arguments.show]:
                print(f"{name}: {line}")
    Console().print(table)


def _sample(binary: Path, resolver: Resolver, size: int, seed: int) -> Iterator[tuple[str, frozenset[tuple[str, int]]]]:
    """Mangled names of functions with the places that these lead to."""
    names = sorted({symbol.mangled for symbol in read_symbols(Elf.open(binary)) if symbol.mangled.startswith("_Z")})
    random.Random(seed).shuffle(names)
    found = 0
    for name in names:
        parts = parse_name(demanglers.demangle(name)).parts
        if not parts or parts[0].text not in NAMESPACES:
            continue
        places = _places(resolver.find(_frame(name)))
        if places:
            found += 1
            yield name, places
        if found == size:
            return


def _counted(
    resolver: Resolver,
    truth: Mapping[str, frozenset[tuple[str, int]]],
    spell: Callable[[str], str],
    only_wrong: bool,
) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    missed = []
    for mangled, wanted in truth.items():
        spelling = spell(mangled)
        places = _places(resolver.find(_frame(spelling)))
        counts["placed"] += bool(places)
        counts["right"] += bool(places & wanted)
        counts["single"] += len(places) == 1 and places <= wanted
        counts["wrong"] += bool(places) and not places & wanted
        if not places & wanted and (places or not only_wrong):
            missed.append(f"{spelling}\n    {mangled}\n    {sorted(wanted)[:2]}\n    {sorted(places)[:2]}")
    return counts, missed


def _frame(function: str) -> TextFrame:
    return TextFrame(Format.ABSL, 0, 0, 0, 0, function=function, language=Language.NATIVE)


def _places(found: Found) -> frozenset[tuple[str, int]]:
    return frozenset((place.path, place.line) for place in (found.location, *found.candidates) if place is not None)


def _llvm(mangled: str) -> str:
    return demanglers.demangle(mangled)


def _gnu(mangled: str) -> str:
    """As libstdc++ prints it: what gdb, c10 and glibc's tools do."""
    demangler = demanglers._libstdcxx()
    return (demangler and demangler(demanglers.without_suffix(mangled))) or mangled


def _absl(mangled: str) -> str:
    """As absl prints it: `f<>()` for whatever template arguments and parameters, without a return type."""
    parts: list[str] = []
    plain = _llvm(mangled)
    if plain.startswith("_Z"):
        return plain
    for part in parse_name(plain).parts:
        text = re.sub(r"^\{lambda.*?(#\d+)?\}$", r"{lambda()\1}", part.text)
        listed = part.parameters is not None and not part.is_lambda
        text = f"~{parts[-1]}" if text == "~" and parts else text
        parts.append(text + "<>" * (part.arguments is not None) + "()" * listed)
    return "::".join(parts).removesuffix("()") + "()"


def _without_parameters(mangled: str) -> str:
    return _absl(mangled).removesuffix("()").replace("<>", "")


SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "mangled": lambda name: name,
    "mangled, with a clone's suffix": lambda name: f"{name}.cold",
    "LLVM (ASan, lldb)": _llvm,
    "GNU (gdb, c10)": _gnu,
    "GNU, a clone": lambda name: f"{_gnu(name)} [clone .cold]",
    "GNU, + 0x1a": lambda name: f"{_gnu(name)} + 0x1a",
    "LLVM, + 26": lambda name: f"{_llvm(name)} + 26",
    "GNU, arguments (gdb)": lambda name: f"{_gnu(name)} (this=0x7ffc0a1b, n=3)",
    "absl": _absl,
    "absl, cut after 100": lambda name: _absl(name)[:100],
    "GNU, cut after 120": lambda name: _gnu(name)[:120],
    "LLVM, f(...)": lambda name: f"{_absl(name).removesuffix('()')}(...)",
    "name alone": _without_parameters,
    "std::__1::": lambda name: _llvm(name).replace("std::", "std::__1::"),
}


if __name__ == "__main__":
    main()
