"""Random recorded frames of libjax_common.so with the lines that an index gives them, to be judged by eye.

    python benchmarks/lines_by_eye.py draw --index INDEX --seed 18 --of single=124 --of ranked=24 > LIST
    python benchmarks/lines_by_eye.py show LIST --index INDEX
    python benchmarks/lines_by_eye.py judge LIST --index OTHER_INDEX

A frame is a return address, a callee what was seen below it. `draw` writes a table without verdicts, `show` prints each
row with its source and the machine code's calls around it. Whoever has judged writes a verdict (`right`; `among`: the
true place is a candidate; `wrong`; `undecidable`), the true place and a note into the last three columns. `judge` tells
what an index says today of the frames of such a list, and prints those of which it says something else. The index may
be made of other sources, such as a source map of the same commit.
"""

from __future__ import annotations

import argparse
import csv
import json
import linecache
import random
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from framedex.binaries import Binary
from framedex.binaries.names import parse_name

_LIBRARY = "libjax_common.so"
_AROUND = 3  # lines of source to show before and after
_COLUMNS = 110


@dataclass(frozen=True, slots=True)
class Row:
    """A frame with its line. Paths count from the top of their repository; `offset` in hex from the library's base.

    `truth`: the true place, several joined by `|` where one statement has them; empty where it is not known.
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


def main() -> None:
    """Draw, show or judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    draw = actions.add_parser("draw")
    draw.add_argument("--seed", type=int, required=True)
    draw.add_argument("--of", action="append", default=[], metavar="LABEL=COUNT", help="how many frames of a label")
    draw.add_argument("--but", type=Path, action="append", default=[], metavar="LIST", help="leave out what these have")
    draw.set_defaults(act=_draw)
    for name, act in (("show", _show), ("judge", _judge)):
        with_list = actions.add_parser(name)
        with_list.add_argument("list", type=Path)
        with_list.set_defaults(act=act)
    for action in actions.choices.values():
        action.add_argument("--index", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.act(arguments)


def _draw(arguments: argparse.Namespace) -> None:
    drawn_before = {row.offset for path in arguments.but for row in _read(path)}
    by_label: dict[str, list[Row]] = defaultdict(list)
    for row in _placed(arguments.index):
        if row.offset not in drawn_before:
            by_label[row.label].append(row)
    dice = random.Random(arguments.seed)
    out = csv.writer(sys.stdout, dialect="excel-tab", lineterminator="\n")
    out.writerow([field.name for field in fields(Row)])
    for label, count in (text.split("=") for text in arguments.of):
        frames = by_label[label]
        print(f"{label}: {count} of {len(frames)}", file=sys.stderr)
        out.writerows(astuple(row) for row in dice.sample(frames, min(int(count), len(frames))))


def _judge(arguments: argparse.Namespace) -> None:
    now = {row.offset: row for row in _placed(arguments.index)}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in _read(arguments.list):
        today = now.get(row.offset)
        label, verdict = (today.label, _verdict(today, row)) if today else ("nothing", "missing")
        counts[label][verdict] += 1
        if today is None or (today.place, today.label) != (row.place, row.label):
            was = f"{row.label} {row.place} ({row.verdict})"
            print(f"{row.offset} {row.function}: {was}, now {label} {today.place if today else ''} ({verdict})")
    for label, by_verdict in sorted(counts.items()):
        total = by_verdict.total()
        print(f"{label:12} {total:4}: {', '.join(f'{count} {verdict}' for verdict, count in by_verdict.most_common())}")


def _verdict(row: Row, judged: Row) -> str:
    truth = judged.truth.split("|")
    if judged.truth == "":
        return "undecidable"
    return "right" if row.place in truth else "among" if {*row.others.split("|")} & {*truth} else "wrong"


def _read(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [Row(**row) for row in csv.DictReader(file, dialect="excel-tab")]


def _placed(index: Path) -> Iterator[Row]:
    """The frames of the library that have a place, ordered by address."""
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
                _plain(symbol),
                "|".join(sorted({_plain(each) for each in json.loads(callees)})),
                f"{_inside(path, roots)}:{line}",
                "|".join(f"{_inside(other, roots)}:{at}" for other, at in map(tuple, json.loads(others))),
            )


def _plain(symbol: str) -> str:
    """A function's name without arguments of any kind."""
    return "::".join(parse_name(symbol).key) or symbol[:_COLUMNS]


def _inside(path: str, roots: Iterable[str]) -> str:
    for root in roots:
        if path.startswith(f"{root}/"):
            return path.removeprefix(f"{root}/")
    return path.partition(":")[2] or path


def _show(arguments: argparse.Namespace) -> None:
    with closing(sqlite3.connect(f"file:{arguments.index}?mode=ro", uri=True)) as database:
        roots = [Path(root) for (root,) in database.execute("SELECT path FROM source_roots")]
        query = "SELECT path FROM modules WHERE path LIKE ?"
        (library,) = database.execute(query, (f"%/{_LIBRARY}",)).fetchone()
    binary = Binary.open(Path(library))
    for number, row in enumerate(_read(arguments.list), 1):
        print(f"\n#{number} {row.label} {row.offset} {row.place}  others: {row.others or '-'}")
        print(f"   in {row.function}\n   to {row.callees}  {row.verdict}")
        path, _, line = row.place.rpartition(":")
        file = next((root / path for root in roots if (root / path).exists()), Path(path))
        for at in range(int(line) - _AROUND, int(line) + _AROUND + 1):
            print(f"{'>' if at == int(line) else ' '}{at:5} {linecache.getline(str(file), at).rstrip()}")
        _show_calls(binary, int(row.offset, 16))


def _show_calls(binary: Binary, offset: int) -> None:
    """The calls before and after this one in the machine code, and others of the same function."""
    code = binary.code_around(offset - 1)
    calls = code.calls if code else []
    at = next((i for i, call in enumerate(calls) if call.returns_to == offset), None)
    if code is None or at is None:
        print("   no call of the machine code returns here")
        return
    target = calls[at].target
    alike = sum(other[1:] == calls[at][1:] for other in calls)
    for word, targets in (("before", code.before(at)[:5]), ("calls", [target]), ("after", code.after(at)[:5])):
        print(f"   {word:6} {'; '.join(_called(binary, each) for each in targets)}")
    print(f"   {alike} of {len(calls)} calls; numbers {code.numbers(at)}")


def _called(binary: Binary, target: int) -> str:
    name = binary.function_at(target) if target else None
    return _plain(name)[-_COLUMNS:] if name else "(pointer)" if not target else "?"


if __name__ == "__main__":
    main()
