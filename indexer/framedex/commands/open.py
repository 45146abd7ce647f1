"""`framedex open`: a place in the user's editor."""

from __future__ import annotations

import os
import subprocess

import click

from framedex.commands.editors import editor_command
from framedex.commands.files import parse_place
from framedex.errors import FramedexError


@click.command(name="open")
@click.argument("place", metavar="FILE[:LINE[:COL]]|URL")
def open_source(place: str) -> None:
    """Open a place in your editor.

    The place may also be a link of a terminal: file://HOST/FILE#LINE.

    The editor is $FRAMEDEX_EDITOR, else the one in whose terminal this runs (Neovim, Emacs, VS Code), else $VISUAL,
    else $EDITOR. Known editors (VS Code and its relatives, JetBrains IDEs, Vim, Emacs, Helix, Sublime Text, nano, less)
    are given the line; FRAMEDEX_EDITOR='nvim --server SOCKET' is a Neovim that runs already.
    """
    wanted = parse_place(place)
    if not os.path.isfile(wanted.path):  # noqa: PTH113 - Path.is_file raises where it may not look
        raise FramedexError(f"There is no file {wanted.path}.", "Give a path as `framedex trace` prints it: FILE:LINE.")
    command = editor_command(wanted, os.environ)
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise FramedexError(
            f"The editor '{command[0]}' cannot be started: {error.strerror or error}.",
            "Set FRAMEDEX_EDITOR to a command that opens files, for example `export FRAMEDEX_EDITOR='code -g'`.",
        ) from error
    if status != 0:
        raise FramedexError(f"The editor '{command[0]}' ended with status {status}.")
