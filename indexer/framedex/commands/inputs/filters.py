"""The options by which verbs filter calls."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from framedex.commands.inputs.scope import capture_option
from framedex.commands.inputs.unrecorded import did_you_mean
from framedex.model import CallFilter
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.index import Index

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "": 1_000_000_000,
    "m": 60_000_000_000,
}


class Moment(click.ParamType[int]):
    """A time as a number with a unit (`250us`, `1.5s`), in seconds without a unit; converted to ns."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the time in nanoseconds."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|)", str(value))
        if match is None:
            self.fail(f"'{value}' is no time; write it like 250us, 10ms, 1.5s or 2m.", param, ctx)
        return round(float(match[1]) * _UNITS[match[2]])


_PATTERN = re.compile(r"[*?[]")
_MOST_THREADS = 20  # maximum number of threads in the message about an unknown thread

_OPTIONS = (
    click.option(
        "--function",
        metavar="NAME[,NAME...]",
        help="Only calls of these functions: part of a name, or a pattern such as 'PJRT_Buffer_*'.",
    ),
    click.option("--thread", metavar="NAME", help="Only calls on this thread, by name or id; `main`: the main thread."),
    click.option("--object", metavar="NAME", help="Only calls with this object, such as buffer#12."),
    click.option("--errors", "errors_only", is_flag=True, help="Only calls that returned an error."),
    click.option("--slower", "slower_than", type=Moment(), help="Only calls slower than this."),
    click.option("--since", "after", type=Moment(), help="Only calls that started at or after this time."),
    click.option(
        "--until", "before", type=Moment(), help="Only calls that started at or before this time of the recording."
    ),
    click.option(
        "--through", metavar="TEXT", help="Only calls whose stack contains TEXT in a function or file, or FILE:LINE."
    ),
    capture_option,
)


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the filter options to a verb: its parameter `wanted`, a `CallFilter`, and the captures `chosen`."""

    @functools.wraps(command)
    def with_filter(*arguments: Any, **options: Any) -> None:
        filters = {name: options.pop(name) for name in CallFilter.__dataclass_fields__ if name in options}
        command(*arguments, wanted=CallFilter(**filters), **options)

    return functools.reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), with_filter)


def nothing_passes(index: Index, wanted: CallFilter) -> str:
    """The message for a filter without matches, with the function or thread of the filter that has no calls.

    If the chosen captures have no calls at all, the message says so.
    """
    captures = index.captures()
    if not any(capture.calls for capture in captures):
        ids = [str(capture.id) for capture in captures]
        named = f"Capture {ids[0]} has" if len(ids) == 1 else f"Captures {', '.join(ids[:-1])} and {ids[-1]} have"
        return f"{named} no calls."
    for name in (wanted.function or "").split(","):
        if name.strip() and not _PATTERN.search(name) and not index.calls.is_called(name.strip()):
            near = did_you_mean(index.calls.likely(name.strip()))
            return f"No function that was called has {name.strip()} in its name.{near}"
    if wanted.thread is not None and not index.calls.totals(CallFilter(thread=wanted.thread), by_thread=False):
        threads = {each.thread: None for each in index.calls.totals(CallFilter(), by_thread=True) if each.thread}
        named = ", ".join(map(printable, list(threads)[:_MOST_THREADS]))
        rest = f", and {len(threads) - _MOST_THREADS} more" if len(threads) > _MOST_THREADS else ""
        return f"No call was made on a thread {printable(wanted.thread)}. There are calls on {named}{rest}."
    return "No call passes the filter."
