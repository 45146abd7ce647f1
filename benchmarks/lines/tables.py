"""The tables of the benchmark in Markdown: each row whole, with what there is no line of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from lines.answers import NO_LINE, Answer, Exact
from rich import box
from rich.console import Console
from rich.table import Table

from framedex.model import How

Key = TypeVar("Key")

_LABELS = (How.SINGLE, How.RANKED, How.INLINED_HOP)
_HEAD = (
    *("calls", "exact wrong", *_LABELS, "best", "among", "wrong"),
    *("no line", *NO_LINE),
)


def print_builds(answers: Sequence[Answer], exact: dict[tuple[str, str], Exact]) -> None:
    """A row for each library and build: machine code and stacks together."""
    table = _table("by library and build", "library", "build")
    for key in _keys(answers, lambda answer: (answer.build.library.name, answer.build.options.name)):
        mine = [a for a in answers if (a.build.library.name, a.build.options.name) == key]
        table.add_row(*key, *row(mine, exact.get(key)))
    _print(table)


def print_totals(title: str, answers: Sequence[Answer], exact: dict[tuple[str, str], Exact]) -> None:
    """Rows for each compiler, apart: where the callee is in the project, where it is not, of stacks, and all."""
    table = _table(title, "compiler", "calls of")
    for compiler in _keys(answers, lambda answer: answer.build.options.compiler):
        of_compiler = [a for a in answers if a.build.options.compiler == compiler]
        code = [a for a in of_compiler if not a.call.is_of_stack]
        parts = {
            "code, callee in the project": [a for a in code if a.call.is_callee_in_project],
            "code, callee elsewhere": [a for a in code if not a.call.is_callee_in_project],
            "stacks": [a for a in of_compiler if a.call.is_of_stack],
            "stacks, indirect": [a for a in of_compiler if a.call.kind == "indirect"],
            "stacks, tail": [a for a in of_compiler if a.call.kind == "tail"],
            "all": of_compiler,
        }
        names = {answer.build.library.name for answer in of_compiler}
        asked = [of for (name, options), of in exact.items() if name in names and options.startswith(compiler)]
        for name, part in parts.items():
            table.add_row(compiler, name, *row(part, sum(asked, Exact()) if asked and name == "all" else None))
        for library in _keys(of_compiler, lambda answer: answer.build.library.name):
            table.add_row(compiler, library, *row([a for a in of_compiler if a.build.library.name == library], None))
    _print(table)


def row(answers: Sequence[Answer], exact: Exact | None) -> list[str]:
    """The cells of `_HEAD` for these answers."""
    total = len(answers)
    with_line = [answer for answer in answers if answer.has_line]
    why = Counter(answer.label for answer in answers if not answer.has_line)
    cells = [f"{total:,}", str(exact) if exact else "-"]
    for label in _LABELS:
        labelled = [answer for answer in with_line if answer.label == label]
        cells.append(_share(sum(answer.is_right for answer in labelled), len(labelled), counted=True))
    cells.append(_share(sum(answer.is_right for answer in with_line), len(with_line), counted=True))
    cells.append(_share(sum(answer.has_truth for answer in with_line), len(with_line)))
    cells.append(_share(sum(answer.outcome == "wrong" for answer in with_line), total))
    cells.append(_share(total - len(with_line), total))
    cells += [_share(why[label], total) for label in NO_LINE]
    return cells


def print_causes(answers: Sequence[Answer], outcomes: Sequence[str], label: str | None) -> None:
    """How often each kind of callee has these outcomes, of answers with this label or of all."""
    chosen = [a for a in answers if (label is None or a.label == label) and a.outcome in outcomes]
    asked = Counter(a.cause for a in answers if label is None or a.label == label)
    table = Table("callee", "count", "of", title=f"{label or 'all'}: {', '.join(outcomes)}")
    for cause, count in Counter(answer.cause for answer in chosen).most_common():
        table.add_row(cause, f"{count:,}", f"{asked[cause]:,}")
    _print(table)


def _share(part: int, whole: int, counted: bool = False) -> str:
    if not whole:
        return "-"
    return f"{part / whole:.1%}" + (f" of {whole:,}" if counted else "")


def _keys(answers: Sequence[Answer], key: Callable[[Answer], Key]) -> list[Key]:
    return list(dict.fromkeys(map(key, answers)))


def _table(title: str, *first: str) -> Table:
    return Table(*first, *map(str, _HEAD), title=title, box=box.MARKDOWN)


def _print(table: Table) -> None:
    Console(width=300).print(table)
