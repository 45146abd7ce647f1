"""`framedex where`: what passes a file or a line."""

from __future__ import annotations

import os
from pathlib import Path

import click

from framedex.commands.console import json_option, note, open_index, print_json, print_lines
from framedex.commands.documents import where_document
from framedex.commands.files import parse_place
from framedex.commands.render import where_lines
from framedex.errors import FramedexError
from framedex.index import Index


@click.command()
@click.argument("place", metavar="FILE[:LINE]")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most N stacks.")
@json_option
@click.pass_obj
def where(index_path: Path | None, place: str, limit: int, as_json: bool) -> None:
    """Show which calls pass a file, or one line of it.

    FILE is a path, or the end of the path of a recorded file (`pxla.py`, `jax/_src/api.py`).
    """
    wanted = parse_place(place)
    with open_index(index_path) as index:
        path = _recorded_path(index, wanted.path)
        counts = index.recorded_lines(path) if wanted.line is None else {}
        summary = None if wanted.line is None else index.line_summary(path, wanted.line)
        hits = index.stacks_through(path, wanted.line, limit)
    if as_json:
        print_json(where_document(path, wanted.line, counts, summary, hits))
        return
    print_lines(where_lines(counts=counts, path=path, summary=summary, hits=hits))
    if not hits:
        note(f"No recorded call passes {place}.")


def _recorded_path(index: Index, path: Path) -> str:
    """The indexed path that the user means. Raises FramedexError where several recorded files fit."""
    absolute = os.path.realpath(path)
    if index.recorded_lines(absolute):
        return absolute
    found = index.recorded_files(str(path).lstrip("./"))
    if len(found) > 1:
        raise FramedexError(
            f"Several recorded files end with {path}:\n" + "\n".join(found[:20]), "Give more of the path you mean."
        )
    return found[0] if found else absolute
