"""`framedex summary`: the number and duration of calls by function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.commands.inputs.options import Choice
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import (
    CaptureSelection,
    explain_no_matches,
    filter_options,
    open_whole_runs,
    render_heading_line,
)
from framedex.commands.output.console import exit_nothing_found, json_option, print_json, print_lines
from framedex.commands.output.documents import build_summary_document
from framedex.commands.output.render_calls import render_profile_lines, render_totals_lines
from framedex.model.totals import PROFILE_BOUNDARY

if TYPE_CHECKING:
    from framedex.model import CallFilter, FunctionTotals
    from framedex.model.totals import SampledFunction

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
    index_path: Path | None,
    call_filter: CallFilter,
    selection: CaptureSelection | None,
    sort: str,
    by_thread: bool,
    as_json: bool,
) -> None:
    """Count calls, errors and times by function.

    `self` excludes recorded calls inside the function. Above 100,000 calls, median, p90 and p99 are within 0.8
    percent; everything else is exact.

    Imported profiles: weight of samples by function, in the unit of the profile. `self` is the weight that ended in
    the function, `total` includes its callees.
    """
    with open_whole_runs(index_path, selection) as (index, answer):
        found = sorted(index.calls.totals(call_filter, by_thread=by_thread), key=_ORDERS[sort])
        is_sampled = any(each.boundary == PROFILE_BOUNDARY for each in found)
        profiles = index.calls.profile_totals(call_filter, by_thread=by_thread) if is_sampled else []
        profiles = [replace(each, functions=_sort_functions(each.functions, sort)) for each in profiles]
        empty_reason = explain_no_matches(index, call_filter) if not found else ""
    if as_json:
        print_json(build_summary_document(answer, found, profiles))
    else:
        note_incomplete_captures(*answer.captures)
        called = [each for each in found if each.boundary != PROFILE_BOUNDARY]
        print_lines(
            [
                render_heading_line(answer, has_device_times=True),
                *(render_totals_lines(called, by_thread=by_thread) if called else ()),
            ]
        )
        for each in profiles:
            print_lines([(), *render_profile_lines(each)])
    if not found:
        exit_nothing_found(empty_reason)


def _sort_functions(functions: Sequence[SampledFunction], sort: str) -> tuple[SampledFunction, ...]:
    """The functions by total or name, otherwise in the given order, by self weight."""
    if sort == "total":
        return tuple(sorted(functions, key=lambda each: -each.total))
    return tuple(sorted(functions, key=lambda each: each.function.name)) if sort == "name" else tuple(functions)
