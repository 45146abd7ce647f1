"""How often the line of a call is found without debug information, in libraries that are fetched and built for it.

    python benchmarks/library_lines.py --cache FOLDER [--library NAME...] [--compiler clang|gcc]
    python benchmarks/library_lines.py --cache FOLDER --show single-wrong --limit 20 --library fmt

Every call counts, whether or not its caller's definition is found. Each library of `lines/libraries.toml` is built by
clang and gcc, to a shared library with default visibility (-O2) and with hidden (-O3). What is drawn: call instructions
of its machine code, direct and through the PLT, and the calls of stacks that its workload had where it took or returned
memory, the callee being the frame below. The truth is the line in the function that was compiled, by the debug
information as llvm-symbolizer reads it; framedex gets the library without that, and the sources.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lines.answers import NO_LINE, Answer, Exact, Library, compare_exact
from lines.building import Build, build
from lines.corpus import BUILDS, COMPILERS, read_libraries
from lines.showing import show
from lines.tables import print_builds, print_causes, print_totals
from lines.truth import calls_of

from framedex.model import How

_LABELS = {str(how): str(how) for how in (How.SINGLE, How.RANKED, How.INLINED_HOP, How.CANDIDATES)}
_SHOWN = {
    **{f"{label}-wrong": (label, ("wrong", "among")) for label in _LABELS},
    **{f"{label}-right": (label, ("right",)) for label in _LABELS},
    "wrong": (None, ("wrong", "among")),
    "no-line": (None, NO_LINE),
    **{reason.replace(" ", "-"): (None, (reason,)) for reason in NO_LINE},
}
"""What `--show` and `--cause` choose: a label, and outcomes."""


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="where libraries, builds and truths are kept")
    parser.add_argument("--library", nargs="+", default=[], metavar="NAME", help="only these")
    parser.add_argument("--compiler", choices=COMPILERS, help="only this one's builds")
    parser.add_argument("--level", choices=sorted({options.level for options in BUILDS}), help="only these builds")
    parser.add_argument("--calls", type=int, default=500, help="of the machine code of each build")
    parser.add_argument("--stacks", type=int, default=250, help="calls of stacks of each build")
    parser.add_argument("--exact", action="store_true", help="also compare answers with debug information (slow)")
    parser.add_argument("--kept-out", action="store_true", help="also measure the libraries that nobody tunes by")
    parser.add_argument("--show", choices=_SHOWN, help="print single calls")
    parser.add_argument("--cause", choices=_SHOWN, help="count callees by kind")
    parser.add_argument("--limit", type=int, default=20, help="of calls to show")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of compilers")
    parser.add_argument("--only-built", action="store_true", help="pass over what is not built yet")
    arguments = parser.parse_args()
    answers: list[Answer] = []
    exact: dict[tuple[str, str], Exact] = {}
    for builds in _builds(arguments):
        began = time.process_time()
        library = Library(builds[0].sources)
        for each in builds:
            calls = calls_of(each, arguments.calls, arguments.stacks)
            answers += library.answers(each, calls)
            if arguments.exact:
                exact[each.library.name, each.options.name] = compare_exact(each, calls)
        seconds = time.process_time() - began
        print(f"{builds[0].library.name}: {seconds:.1f} s of a processor", file=sys.stderr, flush=True)
    seen = [answer for answer in answers if not answer.build.library.kept_out]
    if chosen := arguments.show or arguments.cause:
        label, outcomes = _SHOWN[chosen]
        if arguments.show:
            show([a for a in seen if (label is None or a.label == label) and a.outcome in outcomes], arguments.limit)
        else:
            print_causes(seen, outcomes, label)
        return
    print_builds(seen, exact)
    print_totals("together", seen, exact)
    if kept_out := [answer for answer in answers if answer.build.library.kept_out]:
        print_totals("libraries that are kept out", kept_out, exact)


def _builds(arguments: argparse.Namespace) -> Iterator[list[Build]]:
    """The builds of each library that was asked for."""
    libraries = read_libraries()
    if unknown := set(arguments.library) - set(libraries):
        sys.exit(f"No library is called {', '.join(sorted(unknown))}. There are {', '.join(libraries)}.")
    for library in libraries.values():
        wanted = library.name in arguments.library if arguments.library else not library.kept_out or arguments.kept_out
        if not wanted or not library.compile:
            continue
        made = []
        for options in BUILDS:
            if arguments.compiler not in (None, options.compiler) or arguments.level not in (None, options.level):
                continue
            if arguments.only_built and not (arguments.cache / library.name / options.name / "stripped").exists():
                continue
            made.append(build(library, options, libraries, arguments.cache.resolve(), arguments.processes))
        if made:
            yield made


if __name__ == "__main__":
    main()
