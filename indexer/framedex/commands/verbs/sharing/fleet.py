"""`framedex fleet`: captures of many processes and hosts in one store."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.commands.inputs.options import store_option
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import json_option, note, print_error, print_json, print_lines
from framedex.commands.output.terminal import render_text_line

if TYPE_CHECKING:
    from framedex.fleet.compacting import CompactionResult
    from framedex.fleet.dropping import DropExtent


@click.group()
def fleet() -> None:
    """Collect captures of many processes and query them.

    The store is a folder, or an address such as s3://BUCKET/FOLDER. It has Parquet files that other tools read too.
    """


@click.command("compact")
@store_option
@json_option
@click.pass_context
def compact_fleet(ctx: click.Context, store: str, as_json: bool) -> None:
    """Merge the small files of each day and job.

    Answers do not change, and captures may be added meanwhile. Unused files are deleted one hour later, by the next
    compact or drop, so that running readers can finish. You can interrupt it and run it again. A day and job with
    missing files is reported and left alone.
    """
    from framedex.fleet.compacting import compact
    from framedex.fleet.store_root import StoreRoot

    with progress_on_terminal() as progress:
        done = compact(StoreRoot(store), progress)
    for error in done.left:
        print_error(error)
    if as_json:
        left = [{"problem": error.message, "remedy": error.remedy} for error in done.left]
        print_json({"store": store, **asdict(done), "left": left})
    else:
        _print_compacted(done)
    if done.left:
        ctx.exit(1)


def _print_compacted(result: CompactionResult) -> None:
    merged_from = "" if result.parts == result.parts_before else f", merged from {result.parts_before:,}"
    print_lines(
        [
            render_text_line(
                f"{words.count(result.captures, 'capture')} in {words.count(result.parts, 'part')}{merged_from}", "head"
            )
        ]
    )
    swept = result.swept
    if swept.files:
        note(f"Removed {words.count(swept.files, 'file')} with {words.format_size(swept.size)}.")
    if swept.waiting:
        note(f"{words.count(swept.waiting, 'unused file')} can be deleted in an hour: run compact again then.")
    for problem in swept.left_out:
        note(problem)


@click.command("drop")
@store_option
@click.option("--before", metavar="DAY", help="Captures before this day, such as 2026-11-24 (UTC).")
@click.option("--job", help="Captures of this job. With --before: both must match.")
@click.option("--yes", "is_confirmed", is_flag=True, help="Confirm.")
@json_option
def drop_from_fleet(store: str, before: str | None, job: str | None, is_confirmed: bool, as_json: bool) -> None:
    """Drop the captures before a day, or of a job.

    Without --yes the command shows the captures that it would drop. Dropped captures disappear from all answers at
    once; then their files are deleted. Stacks that other captures may share are deleted one hour later, by the next
    drop or compact. You can interrupt it and run it again. A dropped capture can be added again.
    """
    if before is None and job is None:
        raise click.UsageError("Give --before DAY, --job JOB, or both.")
    from framedex.fleet.choosing import check_day
    from framedex.fleet.dropping import drop, find_extent_to_drop
    from framedex.fleet.store_root import StoreRoot
    from framedex.index.file.values import to_storable

    if before is not None:
        check_day(before)
    job = None if job is None else to_storable(job)
    place = StoreRoot(store)
    found = find_extent_to_drop(place, before, job)
    swept = drop(place, before, job) if is_confirmed else None
    if as_json:
        dropped = {"dropped": is_confirmed, "captures": asdict(found) if found else None}
        print_json({"store": store, **dropped, "swept": asdict(swept) if swept else None})
        return
    if found is None:
        note("No captures to drop.")
    else:
        print_lines([render_text_line(_format_dropped(found), "head")])
    if swept is not None and swept.files:
        note(f"Removed {words.count(swept.files, 'file')} with {words.format_size(swept.size)}.")
    if swept is not None and swept.waiting:
        note(f"{words.count(swept.waiting, 'unused file')} can be deleted in an hour: run drop or compact again then.")
    for problem in () if swept is None else swept.left_out:
        note(problem)
    if found is not None and not is_confirmed:
        note("Nothing was dropped: --yes drops them.")


def _format_dropped(found: DropExtent) -> str:
    days = f"of {found.first_day}" if found.first_day == found.last_day else f"{found.first_day} to {found.last_day}"
    totals = f"{words.count(found.captures, 'capture')} of {words.count(found.jobs, 'job')}"
    return f"{totals}, {days}: {words.count(found.calls, 'call')}"
