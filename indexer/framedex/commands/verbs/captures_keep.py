"""`framedex captures keep`: protect captures from removal by age or number."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from framedex import words
from framedex.capturefolder import folder_now, mark_kept
from framedex.commands.inputs.known import open_index
from framedex.commands.inputs.scope import CaptureIds
from framedex.commands.output.console import note
from framedex.errors import FramedexError


@click.command("keep")
@click.argument("named", metavar="ID...", nargs=-1, required=True, type=CaptureIds())
@click.option("--not", "is_over", is_flag=True, help="Remove the protection.")
@click.pass_obj
def keep_captures(index_path: Path | None, named: tuple[tuple[int, ...], ...], is_over: bool) -> None:
    """Protect captures from `framedex captures rm`.

    Removal by id still works. The mark is a file in the capture's folder.
    """
    from framedex.index.opening import known_captures

    with open_index(index_path) as index:
        chosen = known_captures(index, tuple(chain.from_iterable(named)))
    for capture in chosen:
        if not folder_now(capture.path).is_here:
            raise FramedexError(
                f"The folder of capture {capture.id} is gone: {capture.path}.",
                "`framedex captures --all` lists which are; only a folder can be marked.",
            )
    for capture in chosen:
        try:
            mark_kept(Path(capture.path), is_kept=not is_over)
        except OSError as error:
            raise FramedexError(
                f"Capture {capture.id} cannot be marked: {error.strerror or error}: {error.filename}.",
                "Check the permissions of its folder.",
            ) from error
    note(f"{'No longer keeps' if is_over else 'Keeps'} {words.count(len(chosen), 'capture')}.")
