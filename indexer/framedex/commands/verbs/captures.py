"""`framedex captures`: the runs in the index."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import captures_document
from framedex.commands.output.render_answers import capture_lines
from framedex.commands.reading.known import open_index


@click.command()
@json_option
@click.pass_obj
def captures(index_path: Path | None, as_json: bool) -> None:
    """List the captures in the index."""
    with open_index(index_path) as index:
        found = index.captures()
    if as_json:
        print_json(captures_document(found))
        return
    print_lines(capture_lines(found))
    if not found:
        note("The index holds no captures. Record one with `framedex run SCRIPT`, then run `framedex index`.")
