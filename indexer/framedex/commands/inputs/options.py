"""Options of several verbs: one of a few words, the store of a fleet, and budgets with their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from framedex.base.errors import FramedexError
from framedex.base.words import find_nearest_name
from framedex.commands.inputs.project_index import read_settings_here

if TYPE_CHECKING:
    from framedex.budgets.model import Budget, BudgetVerdict
    from framedex.index import Index
    from framedex.model import AnswerScope
    from framedex.settings import Settings


class Choice(click.Choice[str]):
    """One of a few words; an error suggests the most similar one."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word. Raises BadParameter with the most similar word if it is not allowed."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = find_nearest_name(str(value), self.choices)
            if near is None:
                raise
            raise click.BadParameter(f"{error.message} Did you mean '{near}'?", ctx, param) from None


store_option = click.option(
    "--store",
    metavar="ADDRESS",
    required=True,
    envvar="FRAMEDEX_STORE",
    help="The store: a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER. Default: $FRAMEDEX_STORE.",
)


class CountBudget(click.ParamType["Budget"]):
    """A budget of a subject: `N`, or `PATTERN=N`."""

    name = "budget"

    def __init__(self, subject: str) -> None:
        self._subject = subject

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Budget:
        """Return the budget."""
        from framedex.budgets.model import BudgetSubject, parse_budget

        try:
            return parse_budget(BudgetSubject(self._subject), str(value))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


def collect_budgets(
    compiles: Sequence[Budget],
    implicit_transfers: Sequence[Budget],
    no_implicit: bool,
    memory: int | None,
    trace_seconds: float | None,
) -> list[Budget]:
    """The budgets of the settings, then those of the command line; later budgets take precedence.

    Raises FramedexError if the settings have a malformed budget.
    """
    settings, _ = read_settings_here()
    is_limited = no_implicit or memory is not None or trace_seconds is not None
    if not (settings.budgets or compiles or implicit_transfers or is_limited):
        return []
    from framedex.budgets.model import parse_budgets

    return [
        *_read_settings_budgets(settings),
        *compiles,
        *parse_budgets({"implicit_transfers": 0 if no_implicit else None}),
        *implicit_transfers,
        *parse_budgets(
            {"memory": memory, "startup": None if trace_seconds is None else {"trace_seconds": trace_seconds}}
        ),
    ]


def _read_settings_budgets(settings: Settings) -> tuple[Budget, ...]:
    from framedex.budgets.model import parse_budgets

    try:
        return parse_budgets(settings.budgets)
    except FramedexError as error:
        raise FramedexError(f"{settings.file}: {error.message}", error.remedy) from None


def judge_budgets(index: Index, answer: AnswerScope, budgets: Sequence[Budget]) -> list[BudgetVerdict]:
    """Judge budgets by the captures of an answer, separately for each process."""
    from framedex.budgets.verdicts import judge

    return judge(_restrict_to_processes(index, answer), budgets)


def _restrict_to_processes(index: Index, answer: AnswerScope) -> Iterator[Index]:
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
        with index.restrict_to_captures(captures) as of_process:
            yield of_process
