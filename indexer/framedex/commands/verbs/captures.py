"""`framedex captures`: the runs in the index."""

from __future__ import annotations

import click

from framedex import words
from framedex.capturefolder import folder_now
from framedex.commands.inputs.known import open_index
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import captures_document
from framedex.commands.output.render_answers import capture_lines


@click.group(invoke_without_command=True)
@click.option("--all", "show_all", is_flag=True, help="Include captures whose folders are gone.")
@json_option
@click.pass_context
def captures(ctx: click.Context, show_all: bool, as_json: bool) -> None:
    """List the captures in the index.

    Each row shows the id for --capture, the size on disk and the number of calls. A capture whose folder is gone
    keeps its calls in the index until it is removed.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_index(ctx.obj) as index:
        found = index.captures()
    folders = {capture.id: folder_now(capture.path) for capture in found}
    shown = [capture for capture in found if show_all or folders[capture.id].is_here]
    if as_json:
        print_json(captures_document(shown, folders))
        return
    print_lines(capture_lines(shown, folders))
    if not found:
        note("The index contains no captures. Record one with `framedex run SCRIPT`, then run `framedex index`.")
    elif len(shown) < len(found):
        gone = words.count(len(found) - len(shown), "more capture")
        note(f"The folder of {gone} is gone, but the index keeps the calls: `framedex captures --all` lists them.")
