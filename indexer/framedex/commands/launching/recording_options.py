"""The options that limit a recording, and the variables that pass them to the recorder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from framedex.commands.launching.quantities import Bytes

_OPTIONS = (
    click.option(
        "--include", multiple=True, metavar="PATTERN", help="Record only matching functions: 'PJRT_Buffer_*'."
    ),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Do not record matching functions."),
    click.option("--sample", type=click.IntRange(1), metavar="N", help="Record every Nth call of each thread."),
    click.option(
        "--limit",
        type=Bytes(),
        metavar="BYTES",
        help="Stop recording at this size, such as 1GiB. Counts blocks of 256 KiB, at least one per thread.",
    ),
    click.option("--ring", is_flag=True, help="At the limit, overwrite the oldest calls."),
)
RECORDING = ("include", "exclude", "sample", "limit", "ring")
"""The parameter names of these options."""


def recording_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the recording options to a command; `recording_variables` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def recording_variables(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables of the given recording options.

    Raises click.UsageError for --ring without --limit.
    """
    if chosen["ring"] and chosen["limit"] is None:
        raise click.UsageError("--ring needs a size: --limit BYTES.")
    texts = {
        "FRAMEDEX_INCLUDE": ",".join(chosen["include"]),
        "FRAMEDEX_EXCLUDE": ",".join(chosen["exclude"]),
        "FRAMEDEX_SAMPLE": _number(chosen["sample"]),
        "FRAMEDEX_LIMIT": _number(chosen["limit"]),
        "FRAMEDEX_RING": "1" if chosen["ring"] else "",
    }
    return {name: text for name, text in texts.items() if text}


def _number(value: int | None) -> str:
    """A number as text for an environment variable; empty for None."""
    return "" if value is None else str(value)
