"""How many frames of the corpus of crash texts are recognised, and how many of those lead to a place.

    python benchmarks/crash_texts.py [--index INDEX]

INDEX is one of XLA's and JAX's sources (`framedex index --source ~/xla --source ~/jax`): frames that only have a
symbol are looked up there. The corpus is `tests/fixtures/crash_texts`, its frames counted by hand. `wrong` are frames
that no person counted: other words, doubles, prose.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from framedex.index import Index
from framedex.interchange import TextFrame, read
from framedex.interchange.placing.binaries import Binaries
from framedex.interchange.placing.resolve import Resolver
from tests.crash_corpus import CrashText, corpus, judge

COLUMNS = (
    *("texts", "frames", "recognised", "wrong", "placed"),
    *("by path", "of", "by symbol", "of ", "by binary", "of  "),
)


def main() -> None:
    """Read the corpus and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path)
    arguments = parser.parse_args()
    with Index.open(arguments.index) if arguments.index else nullcontext() as index:
        resolver = Resolver(index, binaries=Binaries())
        counts: dict[str, Counter[str]] = {}
        for text in corpus():
            counts.setdefault(text.producer, Counter()).update(_counted(text, resolver))
    table = Table("producer", *COLUMNS, title="crash texts")
    for producer, count in counts.items():
        table.add_row(producer, *(str(count[column]) for column in COLUMNS))
    total = sum(counts.values(), Counter())
    table.add_section()
    table.add_row("all", *(str(total[column]) for column in COLUMNS))
    console = Console(width=140)
    console.print(table)
    for column, of in (("recognised", "frames"), ("by symbol", "of ")):
        console.print(f"{column}: {100 * total[column] / max(total[of], 1):.1f} %")


def _counted(text: CrashText, resolver: Resolver) -> Counter[str]:
    judged = judge(read(text.text).frames(), text.frames)
    count = Counter(
        {
            "texts": 1,
            "frames": len(text.frames),
            "recognised": len(judged.recognised),
            "wrong": len(judged.wrong),
        }
    )
    for column, of, kind in (
        ("by path", "of", "path"),
        ("by symbol", "of ", "symbol"),
        ("by binary", "of  ", "binary"),
    ):
        count[of] = sum(frame.placeable == kind for frame in text.frames)
        count[column] = sum(
            _is_placed(found, resolver.find) for frame, found in judged.recognised if frame.placeable == kind
        )
        count["placed"] += count[column]
    return count


def _is_placed(frame: TextFrame, find: Callable[[TextFrame], object]) -> bool:
    return getattr(find(frame), "location", None) is not None


if __name__ == "__main__":
    main()
