"""Options that set budgets, and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from framedex.commands.inputs.known import settings_here
from framedex.errors import FramedexError

if TYPE_CHECKING:
    from framedex.budgets.model import Budget, Verdict
    from framedex.index import Index
    from framedex.model import AnswerOf
    from framedex.settings import Settings


class CountBudget(click.ParamType["Budget"]):
    """A budget of a subject: `N`, or `PATTERN=N`."""

    name = "budget"

    def __init__(self, subject: str) -> None:
        self._subject = subject

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Budget:
        """Return the budget."""
        from framedex.budgets.model import Subject
        from framedex.budgets.reading import budget_of_text

        try:
            return budget_of_text(Subject(self._subject), str(value))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


def chosen_budgets(
    compiles: Sequence[Budget], implicit_transfers: Sequence[Budget], no_implicit: bool, memory: int | None
) -> list[Budget]:
    """The budgets of the settings here, then of the command line; later budgets take precedence.

    Raises FramedexError if the settings have a malformed budget.
    """
    settings, _ = settings_here()
    if not (settings.budgets or compiles or implicit_transfers or no_implicit or memory is not None):
        return []
    from framedex.budgets.reading import budgets_named

    return [
        *_of_settings(settings),
        *compiles,
        *budgets_named({"implicit_transfers": 0 if no_implicit else None}),
        *implicit_transfers,
        *budgets_named({"memory": memory}),
    ]


def _of_settings(settings: Settings) -> tuple[Budget, ...]:
    from framedex.budgets.reading import budgets_named

    try:
        return budgets_named(settings.budgets)
    except FramedexError as error:
        raise FramedexError(f"{settings.file}: {error.message}", error.remedy) from None


def judged(index: Index, answer: AnswerOf, budgets: Sequence[Budget]) -> list[Verdict]:
    """Judge budgets by the captures of an answer, each process separately."""
    from framedex.budgets.judging import judge

    return judge(_of_each_process(index, answer), budgets)


def _of_each_process(index: Index, answer: AnswerOf) -> Iterator[Index]:
    from framedex.model import Metadata

    processes: dict[tuple[object, ...], list[int]] = {}
    for capture in answer.captures:
        metadata = Metadata.parse(capture.metadata_text)
        process = (capture.run, metadata.host, metadata.pid) if metadata.pid else (capture.id,)
        processes.setdefault(process, []).append(capture.id)
    if len(processes) == 1:
        yield index
        return
    for captures in processes.values():
        with index.within(captures) as of_process:
            yield of_process
