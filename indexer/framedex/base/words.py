"""Readable quantities and commands, byte counts typed by people, and suggestions for misspelled names."""

from __future__ import annotations

import re
import shlex
import signal
import time
from collections.abc import Iterable, Sequence

_MAX_NAMES = 3
_MAX_RANGES = 8

SHARED_MARK = "shared"
"""The first word of a shared capture's command."""


def format_duration(nanoseconds: int) -> str:
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


def format_size(count: int) -> str:
    """A number of bytes in a suitable unit."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            units = count / scale
            return f"{units:,.0f} {unit}" if units >= 999.5 else f"{units:.3g} {unit}"
    return f"{count} B"


def format_seconds(nanoseconds: int) -> str:
    """A time in nanoseconds since the recording began, in seconds with six decimals."""
    return f"{nanoseconds / 1e9:.6f}"


def format_local_time(unix_seconds: float) -> str:
    """A date and time in the local zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_seconds))


def format_age(seconds: float) -> str:
    """An age in days, hours or minutes: `2 days ago`, `just now`."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{count(int(seconds // length), unit)} ago"
    return "just now"


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def add_article(noun: str) -> str:
    """The noun with its indefinite article: `an event`."""
    return f"{'an' if noun[:1] in tuple('aeiou') else 'a'} {noun}"


def format_first_names(names: Sequence[str], noun: str) -> str:
    """The first names and the number of the others: `a.py, b.py, c.py and 2 other files`."""
    more = f" and {count(len(names) - _MAX_NAMES, f'other {noun}')}" if len(names) > _MAX_NAMES else ""
    return f"{', '.join(names[:_MAX_NAMES])}{more}"


def format_times(number: int) -> str:
    """A number of times: `once`, `3 times`."""
    return "once" if number == 1 else f"{number:,} times"


def join_names(names: Iterable[str]) -> str:
    """The first two distinct names, and the number of the others: `x, y and 3 more`."""
    several = [name for name in dict.fromkeys(names) if name]
    hidden = len(several) - 2
    return f"{', '.join(several[:2])} and {hidden:,} more" if hidden > 0 else " and ".join(several)


def format_ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, with consecutive ones as a range: `0-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    texts = ["-".join(map(str, run)) for run in runs]
    more = f" and {count(len(texts) - _MAX_RANGES, 'other')}" if len(texts) > _MAX_RANGES else ""
    return ", ".join(texts[:_MAX_RANGES]) + more


def shorten_command(command: str) -> str:
    """The distinctive part of a command: its Python script without the folder, or its program, and the arguments."""
    program, *given = _split(command) or ["(no command)"]
    if program == SHARED_MARK and given:
        return f"{program} {shorten_command(shlex.join(given))}"
    program = _remove_folder(program)
    if given and re.fullmatch(r"python[\d.]*", program) and not given[0].startswith("-"):
        program, *given = _remove_folder(given[0]), *given[1:]
    return f"{program} {shlex.join(given)}" if given else program


def _split(command: str) -> list[str]:
    """The words of a command line; a truncated text may have an unclosed quote."""
    for closed in (command, f"{command}'", f'{command}"'):
        try:
            return shlex.split(closed)
        except ValueError:
            continue
    return command.split()


def _remove_folder(path: str) -> str:
    return path.rpartition("/")[2] if path.startswith("/") else path


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

# More digits exceed any memory, and hundreds of digits overflow a float.
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([kmgt]i?)?b?", re.IGNORECASE | re.ASCII)

BYTE_COUNT_REMEDY = "write it like 1048576, 512MiB or 16GiB"


def parse_byte_count(text: str) -> int | None:
    """The positive number of bytes in a text, such as `1048576`, `512MiB` or `16GB`; None if malformed or 0."""
    match = _NUMBER.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
    return size or None


_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|s|min|m|h|)", re.ASCII)
_UNIT_NS = {"ms": 10**6, "s": 10**9, "": 10**9, "min": 60 * 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def parse_duration(text: str) -> int | None:
    """The positive number of nanoseconds in a text, such as `90`, `60s` or `10min`; None if malformed or 0."""
    match = _TIME.fullmatch(text.strip())
    return round(float(match[1]) * _UNIT_NS[match[2]]) or None if match else None


_MIN_SIMILARITY = 0.5  # difflib ratio: two of three letters, in their order


def find_nearest_name(name: str, known: Iterable[str], likeness: float = _MIN_SIMILARITY) -> str | None:
    """The known name most similar to this one, ignoring case; None if no difflib ratio reaches `likeness`."""
    import difflib

    spelled = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), spelled, 1, likeness)
    return spelled[found[0]] if found else None
