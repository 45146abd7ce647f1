"""`framedex fleet drop`: drop old captures from a store."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.inputs.fleet import store_option
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.terminal import text_line

if TYPE_CHECKING:
    from framedex.fleet.dropping import Dropping


@click.command("drop")
@store_option
@click.option("--before", metavar="DAY", help="Captures before this day, such as 2026-11-24 (UTC).")
@click.option("--job", help="Captures of this job. With --before: both must match.")
@click.option("--yes", "is_meant", is_flag=True, help="Confirm.")
@json_option
def drop_of_fleet(store: str, before: str | None, job: str | None, is_meant: bool, as_json: bool) -> None:
    """Drop the captures before a day, or of a job.

    Without --yes the command shows the captures that it would drop. Dropped captures disappear from all answers at
    once; then their files are deleted. Stacks that other captures may share are deleted one hour later, by the next
    drop or compact. You can interrupt it and run it again. A dropped capture can be added again.
    """
    if before is None and job is None:
        raise click.UsageError("Give --before DAY, --job JOB, or both.")
    from framedex.fleet.choosing import check_day
    from framedex.fleet.dropping import drop, to_drop
    from framedex.fleet.place import Place
    from framedex.index.file.values import storable

    if before is not None:
        check_day(before)
    job = None if job is None else storable(job)
    place = Place(store)
    found = to_drop(place, before, job)
    swept = drop(place, before, job) if is_meant else None
    if as_json:
        told = {"dropped": is_meant, "captures": asdict(found) if found else None}
        print_json({"store": store, **told, "swept": asdict(swept) if swept else None})
        return
    if found is None:
        note("There is nothing to drop.")
    else:
        print_lines([text_line(_told(found), "head")])
    if swept is not None and swept.files:
        note(f"Removed {words.count(swept.files, 'file')} with {words.size(swept.size)}.")
    if swept is not None and swept.waiting:
        note(f"{words.count(swept.waiting, 'file')} may go in an hour: drop or compact again then.")
    for said in () if swept is None else swept.left_out:
        note(said)
    if found is not None and not is_meant:
        note("Nothing was dropped: --yes drops them.")


def _told(found: Dropping) -> str:
    days = f"of {found.first_day}" if found.first_day == found.last_day else f"{found.first_day} to {found.last_day}"
    held = f"{words.count(found.captures, 'capture')} of {words.count(found.jobs, 'job')}"
    return f"{held}, {days}: {words.count(found.calls, 'call')}"
