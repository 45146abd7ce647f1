"""Readable quantities and commands."""

from __future__ import annotations

import re
import shlex
import signal
import time
from collections.abc import Sequence

_FEW = 3

SHARED_MARK = "shared"
"""The first word of the command of a shared capture."""


def duration(nanoseconds: int) -> str:
    """A duration in a suitable unit; a negative one means a call that never returned."""
    if nanoseconds < 0:
        return "never returned"
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)):
        value = nanoseconds / size
        if value >= 0.9995:  # three digits of the smaller unit would round up to 1000
            return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"
    return f"{nanoseconds} ns"


def signal_name(number: int) -> str:
    """The name of a signal: `SIGTERM`, or `signal 37` for a real-time signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def size(count: int) -> str:
    """A number of bytes in a suitable unit."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            units = count / scale
            return f"{units:,.0f} {unit}" if units >= 999.5 else f"{units:.3g} {unit}"
    return f"{count} B"


def seconds(nanoseconds: int) -> str:
    """A time in nanoseconds since the recording began, in seconds with six decimals."""
    return f"{nanoseconds / 1e9:.6f}"


def clock(unix_seconds: float) -> str:
    """A date and time in the local zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_seconds))


def age(seconds: float) -> str:
    """An age in days, hours or minutes: `2 days ago`, `just now`."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{count(int(seconds // length), unit)} ago"
    return "just now"


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def few_of(names: Sequence[str], noun: str) -> str:
    """The first names and the number of the others: `a.py, b.py, c.py and 2 other files`."""
    more = f" and {count(len(names) - _FEW, f'other {noun}')}" if len(names) > _FEW else ""
    return f"{', '.join(names[:_FEW])}{more}"


def command_short(command: str) -> str:
    """The distinctive part of a command: its Python script without the folder, or its program, and the arguments."""
    program, *given = _split(command) or ["(no command)"]
    if program == SHARED_MARK and given:
        return f"{program} {command_short(shlex.join(given))}"
    program = _without_folder(program)
    if given and re.fullmatch(r"python[\d.]*", program) and not given[0].startswith("-"):
        program, *given = _without_folder(given[0]), *given[1:]
    return f"{program} {shlex.join(given)}" if given else program


def _split(command: str) -> list[str]:
    """The words of a command line; a truncated text may have an unclosed quote."""
    for closed in (command, f"{command}'", f'{command}"'):
        try:
            return shlex.split(closed)
        except ValueError:
            continue
    return command.split()


def _without_folder(path: str) -> str:
    return path.rpartition("/")[2] if path.startswith("/") else path
