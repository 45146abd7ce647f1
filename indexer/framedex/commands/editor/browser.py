"""The user's browser.

Only environment variables choose it, never a folder or a recording.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from framedex.base.errors import FramedexError
from framedex.base.folders import find_program

_TERMINAL_BROWSERS = ("lynx", "w3m", "links", "links2", "elinks", "www-browser")
_GRAPHICAL_BROWSERS = ("xdg-open", "x-www-browser", "firefox", "google-chrome", "chromium")
_START_TIMEOUT_S = 3.0  # a command that runs longer is the browser itself, not a launcher
_SAFE_CHARACTERS = ":/?#&=%@+~,-._"  # everything else is quoted, because openers are shell scripts


def choose_browser(environment: Mapping[str, str]) -> list[str] | None:
    """The program and first arguments of the user's browser; None if there is none.

    `%s` in an argument is a placeholder for the address. $BROWSER takes precedence. It may list several commands,
    separated by colons. VS Code sets it in its terminals. In an SSH session only $BROWSER counts: a window would open
    on the other machine, or not at all.
    """
    path = environment.get("PATH", "")
    for command in filter(str.strip, environment.get("BROWSER", "").split(os.pathsep)):
        try:
            words = shlex.split(command.rstrip("& "))
        except ValueError as error:
            raise FramedexError(
                f"$BROWSER is not a valid command: {error}.", "Run `unset BROWSER`, or set it to a program."
            ) from error
        if words and find_program(words[0], path):
            return words
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return None
    if sys.platform == "darwin":
        return ["open"]
    if environment.get("WSL_DISTRO_NAME") and find_program("wslview", path):
        return ["wslview"]
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return None
    return next(([name] for name in _GRAPHICAL_BROWSERS if find_program(name, path)), None)


def is_web_address(url: str) -> bool:
    """Whether an address starts with http:// or https://."""
    return url.startswith(("http://", "https://"))


def open_page(url: str, browser: Sequence[str]) -> None:
    """Open a web address in a browser without a shell. Graphical browsers are not waited for.

    Raises FramedexError if the browser cannot be started or fails.
    """
    address = quote(url, safe=_SAFE_CHARACTERS)
    words = [word.replace("%s", address) for word in browser]
    command = words if words != list(browser) else [*words, address]
    program = find_program(command[0])
    remedy = f"The page is {address}"
    try:
        if program is None:
            raise FileNotFoundError(2, "it is not on the PATH")
        if Path(program).name in _TERMINAL_BROWSERS:
            status = subprocess.run([program, *command[1:]], check=False).returncode  # noqa: TID251
        else:
            status = _start_browser([program, *command[1:]])
    except OSError as error:
        raise FramedexError(f"The browser '{browser[0]}' cannot be started: {error.strerror}.", remedy) from error
    if status != 0:
        raise FramedexError(f"The browser '{browser[0]}' ended with status {status}.", remedy)


def _start_browser(command: Sequence[str]) -> int:
    """Start a program, and return its exit status; 0 if it still runs after `_START_TIMEOUT_S`."""
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)  # noqa: TID251
    try:
        return process.wait(_START_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.returncode = 0  # the process continues, so no ResourceWarning is due
        return 0
