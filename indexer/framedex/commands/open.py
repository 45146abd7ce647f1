"""`framedex open`: a place in the user's editor."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import click

from framedex.commands.editors import editor_command
from framedex.commands.files import parse_place
from framedex.errors import FramedexError


@click.command(name="open")
@click.argument("place", metavar="FILE[:LINE[:COL]]|URL")
@click.pass_obj
def open_source(index_path: Path | None, place: str) -> None:
    """Open a place in your editor.

    The place may also be a link of a terminal: file://HOST/FILE#LINE. A path of a build or of another machine is looked
    for by the settings' path-map, and below the source folders.

    The editor is $FRAMEDEX_EDITOR, else the one in whose terminal this runs (Neovim, Emacs, VS Code), else $VISUAL,
    else $EDITOR. Known editors (VS Code and its relatives, JetBrains IDEs, Vim, Emacs, Helix, Sublime Text, nano, less)
    are given the line; FRAMEDEX_EDITOR='nvim --server SOCKET' is a Neovim that runs already.
    """
    wanted = parse_place(place)
    if not os.path.isfile(wanted.path):  # noqa: PTH113 - Path.is_file raises where it may not look
        wanted = replace(wanted, path=_elsewhere(wanted.path, index_path))
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


def _elsewhere(path: Path, index_path: Path | None) -> Path:
    """The file that is meant by a path which is none here. Raises FramedexError, saying where it was looked for."""
    from framedex.commands.console import load_settings
    from framedex.commands.elsewhere import find_elsewhere, source_folders

    settings = load_settings(Path.cwd())
    folders = source_folders(settings, index_path)
    if found := find_elsewhere(str(path), settings, folders):
        return Path(found)
    below = f", nor one with the end of that path below {', '.join(folders)}" if folders else ""
    raise FramedexError(
        f"There is no file {path}{below}.",
        "If it is a path of a build or of another machine: `framedex sources add FOLDER` adds a source folder, and a"
        " path-map in framedex.toml says which folders are which.",
    )
