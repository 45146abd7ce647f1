"""Verdicts on budgets as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.budgets.model import Subject
from framedex.commands.output.tables import column_widths
from framedex.commands.output.terminal import Line, Span
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.budgets.model import Verdict

_NOUNS = {Subject.COMPILES: "function", Subject.IMPLICIT_TRANSFERS: "way", Subject.MEMORY: "device"}
_NOTHING = {
    Subject.COMPILES: "nothing was compiled",
    Subject.IMPLICIT_TRANSFERS: "nothing was moved",
    Subject.MEMORY: "no memory of a device is known",
}


def verdict_lines(verdicts: Sequence[Verdict]) -> Iterator[Line]:
    """One line per budget: whether it is kept, and the largest value found."""
    yield ()
    yield (Span("budgets", "head"),)
    cells = [(_state(each), each.budget.subject.value, printable(each.budget.text)) for each in verdicts]
    widths = column_widths(*cells)
    for verdict, of_verdict in zip(verdicts, cells, strict=True):
        state, *others = (cell.ljust(width) for cell, width in zip(of_verdict, widths, strict=True))
        told = f"  {'  '.join(others)}  {printable(_told(verdict))}"
        yield (Span(f"  {state}", "" if verdict.is_kept else "error"), Span(told))


def _state(verdict: Verdict) -> str:
    if verdict.problem:
        return "not judged"
    return "kept" if verdict.is_kept else "broken"


def _told(verdict: Verdict) -> str:
    if verdict.problem:
        return verdict.problem
    subject = verdict.budget.subject
    if not verdict.fits:
        return verdict.doubt or _NOTHING[subject]
    most = words.size(verdict.most) if subject is Subject.MEMORY else f"{verdict.most:,}"
    told = f"{most} at most, of {words.count(verdict.fits, _NOUNS[subject])}"
    return f"{told}; {verdict.doubt}" if verdict.doubt else told
