"""`framedex summary`: how many calls of each function there were, and how long they took."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.commands.output.console import json_option, nothing_found, print_json, print_lines
from framedex.commands.output.documents import summary_document
from framedex.commands.output.render_calls import totals_lines
from framedex.commands.reading.choices import Choice
from framedex.commands.reading.filters import filter_options, nothing_passes
from framedex.commands.reading.known import note_what_is_missing
from framedex.commands.reading.scope import Chosen, heading, index_of_whole_runs

if TYPE_CHECKING:
    from framedex.model import CallFilter, FunctionTotals

_ORDERS: dict[str, Callable[[FunctionTotals], Any]] = {
    "self": lambda totals: -totals.self_time,
    "total": lambda totals: -totals.total,
    "calls": lambda totals: -totals.calls,
    "errors": lambda totals: -totals.errors,
    "mean": lambda totals: -totals.mean,
    "median": lambda totals: -totals.median,
    "p90": lambda totals: -totals.p90,
    "p99": lambda totals: -totals.p99,
    "max": lambda totals: -totals.longest,
    "name": lambda totals: totals.function,
}


@click.command()
@filter_options
@click.option("--sort", type=Choice(list(_ORDERS)), default="self", show_default=True, help="Sort by this column.")
@click.option("--by-thread", is_flag=True, help="Show each thread separately.")
@json_option
@click.pass_obj
def summary(
    index_path: Path | None, wanted: CallFilter, chosen: Chosen | None, sort: str, by_thread: bool, as_json: bool
) -> None:
    """Count calls, errors and times by function.

    `self` excludes recorded calls inside the function. Above 100,000 calls, median, p90 and p99 are within 0.8
    percent; everything else is exact.
    """
    with index_of_whole_runs(index_path, chosen) as (index, answer):
        found = sorted(index.calls.totals(wanted, by_thread=by_thread), key=_ORDERS[sort])
        why = nothing_passes(index, wanted) if not found else ""
    if as_json:
        print_json(summary_document(answer, found))
    else:
        note_what_is_missing(*answer.captures)
        print_lines([heading(answer), *(totals_lines(found, by_thread=by_thread) if found else ())])
    if not found:
        nothing_found(why)
