"""`framedex open`: open a place in the user's editor, or its public page in the browser."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base.errors import FramedexError
from framedex.base.folders import find_program
from framedex.base.plaintext import make_printable
from framedex.base.words import signal_name
from framedex.commands.editor.editors import accepts_line, choose_editor, find_editor_command, is_neovim_request
from framedex.commands.inputs.files import (
    FilePosition,
    PublicPage,
    note_if_too_short,
    parse_file_position,
    resolve_position,
)
from framedex.path_resolution.files import PathMap
from framedex.settings import Settings

if TYPE_CHECKING:
    from framedex.commands.inputs.pasted_text import SourceFinder


_NEOVIM_TIMEOUT_S = 5.0  # limit for the reply of a running Neovim


@click.command(name="open")
@click.argument("place", metavar="FILE[:LINE[:COL]]|URL|FRAME")
@click.option("--in", "around", metavar="TEXT", help="The line of text around FRAME.")
@click.pass_obj
def open_source(index_path: Path | None, place: str, around: str | None) -> None:
    """Open a source line in your editor or browser.

    The browser shows public sources that are not on this machine.

    URL is a terminal link, file://HOST/FILE#LINE, or the address of a line in a public repository. FRAME is a quoted
    frame in any format of `framedex explain`. Paths follow path-map in the settings first. A path from another
    machine is looked up in the index and below the source folders. A symbol is looked up in the index. TEXT of --in
    is used if the argument alone matches nothing, or has a file without a line.

    A line of a public repository opens in your checkout, in a source folder or the current one; git maps it from
    another commit. Without a checkout its page opens in $BROWSER or the desktop's browser. Without a browser, as
    over SSH, the address is printed.

    The editor is $FRAMEDEX_EDITOR, else the editor of this terminal (Neovim, Emacs, VS Code, code-server, Zed,
    JetBrains). Next come $VISUAL, $EDITOR, a running Neovim or Emacs, and an installed editor. Known editors get the
    line number. FRAMEDEX_EDITOR='nvim --server SOCKET' is a running Neovim. For other editors use placeholders:
    FRAMEDEX_EDITOR='my-editor --at {line}:{column} {file}'. No shell is involved.
    """
    named = parse_file_position(place)
    is_complete = named.line is not None or around is None
    here = resolve_position(named, PathMap(Settings.load(Path())[0].path_map)) if is_complete else None
    wanted = _find_position(place, around, index_path) if here is None else note_if_too_short(here)
    if isinstance(wanted, PublicPage):
        _open_page(wanted)
        return
    editor = choose_editor(os.environ)
    if wanted.line is not None and not accepts_line(editor):
        from framedex.commands.output.console import note

        name = make_printable(editor[0])
        note(
            f"'{name}' is started without line {wanted.line}, because its syntax for lines is unknown."
            f" Say where {{file}}, {{line}} and {{column}} go: FRAMEDEX_EDITOR='{name} {{file}}:{{line}}'."
        )
    command = find_editor_command(editor, wanted)
    _run_editor(command, _NEOVIM_TIMEOUT_S if is_neovim_request(command) else None)


def _open_page(page: PublicPage) -> None:
    """Open a page in the user's browser. Raises FramedexError with its address if there is no browser."""
    from framedex.commands.editor.browser import choose_browser, is_web_address, open_page
    from framedex.commands.output.console import note

    browser = choose_browser(os.environ) if is_web_address(page.url) else None
    if browser is None:
        raise FramedexError(
            f"{page.name} is not on this machine, and no browser was found for its public page.",
            f"Follow the link: {make_printable(page.url)}",
        )
    open_page(page.url, browser)
    note(f"{page.name} is not on this machine. Opened its public page: {make_printable(page.url)}")


def _run_editor(command: Sequence[str], timeout_s: float | None) -> None:
    """Run an editor to its end, for at most `patience` seconds.

    Raises FramedexError if it fails or cannot be started.
    """
    try:
        with _ignore_interrupts():
            program = find_program(command[0])
            if program is None:
                raise FileNotFoundError(errno.ENOENT, "it is not on the PATH")
            status = subprocess.run([program, *command[1:]], check=False, timeout=timeout_s).returncode  # noqa: TID251
    except subprocess.TimeoutExpired as error:
        raise FramedexError(
            f"The running Neovim did not answer within {_NEOVIM_TIMEOUT_S:.0f} seconds.",
            "It may be waiting at a prompt. FRAMEDEX_EDITOR selects another editor.",
        ) from error
    except OSError as error:
        raise FramedexError(
            f"The editor '{command[0]}' cannot be started: {error.strerror or error}.",
            "Set FRAMEDEX_EDITOR to a command that opens files, for example `export FRAMEDEX_EDITOR='code -g'`.",
        ) from error
    if status == -signal.SIGINT:
        raise KeyboardInterrupt
    if status < 0:
        raise FramedexError(f"The editor '{command[0]}' was ended by {signal_name(-status)}.")
    if status != 0:
        raise FramedexError(f"The editor '{command[0]}' ended with status {status}.")


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C and SIGQUIT during the block: the editor gets them itself, usually as ordinary keys."""
    numbers = [number for number in (signal.SIGINT, signal.SIGQUIT) if signal.getsignal(number) != signal.SIG_IGN]
    # A handler is reset in the editor when it starts; SIG_IGN would be inherited.
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _find_position(place: str, around: str | None, index_path: Path | None) -> FilePosition | PublicPage:
    from framedex.commands.inputs.pasted_text import SourceFinder

    with SourceFinder.open(index_path) as finder:
        try:
            found = finder.find(place)
        except FramedexError as error:
            if around is None or around.strip() == place:
                raise
            try:
                return finder.find(around)
            except FramedexError:
                raise error from None
        return found if around is None else _add_line_from_text(found, around, finder)


def _add_line_from_text(
    found: FilePosition | PublicPage, around: str, finder: SourceFinder
) -> FilePosition | PublicPage:
    """The place with the line from a text around it: `File "x.py", line 12`, if `x.py` was clicked."""
    if isinstance(found, PublicPage) or found.line is not None:
        return found
    try:
        position = finder.find(around)
    except FramedexError:
        return found
    return position if isinstance(position, FilePosition) and position.path.samefile(found.path) else found
