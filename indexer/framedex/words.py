"""Quantities, commands and argument objects in the words that people read."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterator
from typing import Any

from framedex.plaintext import printable

_SHOWN = 3
_LONGEST = 40


def duration(nanoseconds: int) -> str:
    """A duration with a fitting unit; a negative one stands for a call that never returned."""
    if nanoseconds < 0:
        return "never returned"
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)):
        value = nanoseconds / size
        if value >= 0.9995:  # three digits of the smaller unit would round up to 1000
            return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"
    return f"{nanoseconds} ns"


def size(count: int) -> str:
    """A number of bytes with a fitting unit."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B"


def seconds(nanoseconds: int) -> str:
    """A time since the recording began, in seconds to the microsecond."""
    return f"{nanoseconds / 1e9:.6f}"


def clock(unix_seconds: float) -> str:
    """A date and time in the local zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_seconds))


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it has to be."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def command_short(command: str) -> str:
    """A command by what tells it from others: its script without the folder, or a program that is no Python."""
    program, *given = _split(command) or ["(no command)"]
    program = _without_folder(program)
    if given and re.fullmatch(r"python[\d.]*", program) and not given[0].startswith("-"):
        program, *given = _without_folder(given[0]), *given[1:]
    return f"{program} {shlex.join(given)}" if given else program


def arguments_short(arguments: dict[str, Any]) -> str:
    """Arguments in a few words: shape and bytes of an array (`F32[2,3] 24 B`), else the first few plain values."""
    kind, dims, size_in_bytes = arguments.get("type"), arguments.get("dims"), arguments.get("bytes")
    if isinstance(kind, str) and isinstance(dims, list):
        shape = f"{kind.removeprefix('PJRT_Buffer_Type_')}[{','.join(map(str, dims))}]"
        return printable(f"{shape} {size(size_in_bytes)}" if isinstance(size_in_bytes, int) else shape)
    given, results = arguments.get("arguments"), arguments.get("results")
    if isinstance(given, str) and isinstance(results, str):  # of an FFI handler
        return printable(f"({given}) -> ({results})")
    plain = [f"{name}={_short(value)}" for name, value in _telling(arguments)]
    return printable(", ".join(plain[:_SHOWN]) + (", …" if len(plain) > _SHOWN else ""))


def arguments_long(arguments: dict[str, Any]) -> str:
    """Every argument that says something by itself, as `name=value`."""
    return printable(
        ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in _telling(arguments))
    )


def tells(value: Any) -> bool:
    """Whether a value says something by itself: addresses and absent values do not."""
    values = value if isinstance(value, list) else [value]
    return not all(element in (None, "") or _is_address(element) for element in values)


def _split(command: str) -> list[str]:
    """The words of a command line; a text that was cut off may leave a quote open."""
    for closed in (command, f"{command}'", f'{command}"'):
        try:
            return shlex.split(closed)
        except ValueError:
            continue
    return command.split()


def _without_folder(path: str) -> str:
    return path.rpartition("/")[2] if path.startswith("/") else path


def _telling(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments without addresses and absent values; errors are shown elsewhere."""
    for name, value in arguments.items():
        if name != "error_message" and tells(value):
            yield name, value


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("0x")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
