"""The start of a process as text, for the command line and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.base import words

if TYPE_CHECKING:
    from framedex.model import Startup, TracedLine


def format_startup_title(startup: Startup) -> str:
    """The time of the start, and the step that ends it: `3.84 s until the first step of train_step returned`."""
    if startup.call:
        return f"{words.format_duration(startup.duration)} until the first step of {startup.function} returned"
    if startup.function:
        return f"{words.format_duration(startup.duration)} until {startup.function} was compiled; it never ran"
    return f"{words.format_duration(startup.duration)} until the last recorded phase; no program was compiled"


def format_traced_line(line: TracedLine) -> str:
    """The number of ops of a line: `2,640 ops`. For an unrolled loop, advice follows.

    An iteration can add an op more than once, for example in a gradient, so `repeats` can exceed their number.
    """
    if line.repeats > 1:
        unrolled = f"{words.count(line.repeated_ops, 'op')} of an unrolled loop, in at least {line.repeats:,} copies"
        return f"{unrolled}: if all have the same shapes, jax.lax.scan traces one"
    return words.count(line.ops, "op")
