"""Options that select the captures and calls of an answer.

Without options, the latest run with an answer counts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.missing_answers import format_suggestion
from framedex.commands.inputs.project_index import HEADING_INDEX_KEY, load_settings_here, open_index
from framedex.commands.output.bars import query_progress
from framedex.commands.output.terminal import Line, Span
from framedex.model import CallFilter
from framedex.model.scopes import CaptureScope
from framedex.texts.captures import answer_heading, format_device_answer_heading

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import AnswerScope


CaptureSelection = CaptureScope | tuple[int, ...]

_CAPTURE_RULES = {rule.value: rule for rule in (CaptureScope.LATEST, CaptureScope.ALL)}


class CaptureChoice(click.ParamType[CaptureSelection]):
    """`latest`, `all`, or ids separated by commas."""

    name = "captures"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> CaptureSelection:
        """Return the rule, or the ids."""
        selection = parse_captures(str(value).strip())
        if selection is None:
            self.fail(f"'{value}' is not a list of captures; write an id, several (3,5), latest or all.", param, ctx)
        return selection


class CaptureIds(click.ParamType[tuple[int | str, ...]]):
    """Capture ids separated by commas, or the name of a capture that is not indexed.

    With `may_be_all`, the word `all` gives an empty tuple.
    """

    name = "ids"

    def __init__(self, *, may_be_all: bool = False) -> None:
        self._may_be_all = may_be_all

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int | str, ...]:
        """Return the ids, or the name."""
        selection = parse_captures(str(value).strip())
        if self._may_be_all and selection is CaptureScope.ALL:
            return ()
        if isinstance(selection, CaptureScope):
            self.fail(f"'{value}' is not a capture id; write an id, or several: 3,5.", param, ctx)
        return selection if selection is not None else (str(value),)


def parse_captures(text: str) -> CaptureSelection | None:
    """Parse `latest`, `all`, or ids separated by commas; None for any other text."""
    if text in _CAPTURE_RULES:
        return _CAPTURE_RULES[text]
    ids = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in ids):
        return None
    return tuple(dict.fromkeys(map(int, ids)))


capture_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--capture",
    "selection",
    type=CaptureChoice(),
    metavar="ID|latest|all",
    help=("Captures: ids of `framedex captures` (3 or 3,5), all, or latest. Default: the latest run with an answer."),
)


@contextmanager
def open_counted_index(
    path: Path | None, selection: CaptureSelection | None, latest_recording: Callable[[Index], float] | None = None
) -> Iterator[Index]:
    """Open the index for queries about lines and functions.

    Each query covers the captures that are selected for its subject. `latest_recording` is passed to `open_index`,
    unless ids choose captures of the nearest index. Raises FramedexError if the index or a named capture is missing.
    """
    scope = selection if selection is not None else load_settings_here().captures
    counted, chooses = (scope, latest_recording) if isinstance(scope, CaptureScope) else (CaptureScope.ALL, None)
    with open_index(path, counted, chooses) as index:
        if isinstance(scope, CaptureScope):
            with index.reading():
                yield index
        else:
            with _restrict_to_captures(index, scope) as narrow, narrow.reading():
                yield narrow


@contextmanager
def open_whole_runs(
    path: Path | None,
    selection: CaptureSelection | None,
    having: Callable[[Index], Collection[int]] | None = None,
) -> Iterator[tuple[Index, AnswerScope]]:
    """Open the index for queries about whole runs, with the captures of the answer: those with calls.

    `having` returns the ids of the captures with an answer; the latest run among them counts. Raises FramedexError if
    the index or a named capture is missing, or if no capture has calls.
    """
    scope = selection if selection is not None else load_settings_here().captures
    with open_index(path) as index:
        captures = [capture for capture in index.captures() if capture.calls]
        if isinstance(scope, tuple):
            with _restrict_to_captures(index, scope) as narrow:
                yield narrow, narrow.answer_of()
            return
        if not captures:
            raise FramedexError(
                "The index contains no calls.",
                "Record a program with `framedex run SCRIPT`, then run `framedex index`.",
            )
        ids = frozenset(having(index)) if having is not None else frozenset()
        latest = ([capture for capture in captures if capture.id in ids] or captures)[-1].run
        of_run = [capture for capture in captures if capture.run == latest]
        if scope is CaptureScope.ALL or len(of_run) == len(captures):
            yield index, replace(index.answer_of(), counted=scope)
            return
        with _restrict_to_captures(index, [capture.id for capture in of_run]) as narrow:
            yield narrow, replace(narrow.answer_of(), counted=scope, has_later=captures[-1].run != latest)


def render_heading_line(answer: AnswerScope, *, has_device_times: bool = False) -> Line:
    """The first line of an answer, with its captures, and with its index if another index could be meant.

    With `has_device_times` it is a `format_device_answer_heading`.
    """
    heading = format_device_answer_heading(answer) if has_device_times else answer_heading(answer)
    context = click.get_current_context(silent=True)
    index = context.meta.get(HEADING_INDEX_KEY) if context is not None else None
    return (Span(heading + (f", in the index {make_printable(index)}" if index else ""), "head"),)


@contextmanager
def _restrict_to_captures(index: Index, captures: Collection[int]) -> Iterator[Index]:
    """The index restricted to these captures. Raises FramedexError if one of them is missing."""
    from framedex.index.opening import find_captures

    find_captures(index, captures)
    with index.restrict_to_captures(captures) as narrow:
        narrow.set_progress_listener(query_progress())
        yield narrow


_NS_PER_UNIT = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "": 1_000_000_000,
    "m": 60_000_000_000,
}


class TimeOffset(click.ParamType[int]):
    """A time as a number with a unit (`250us`, `1.5s`), in seconds without a unit; converted to ns."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the time in nanoseconds."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|)", str(value))
        if match is None:
            self.fail(f"'{value}' is not a time; write it like 250us, 10ms, 1.5s or 2m.", param, ctx)
        return round(float(match[1]) * _NS_PER_UNIT[match[2]])


_PATTERN = re.compile(r"[*?[]")
_MAX_THREADS = 20  # number of threads listed in the message about an unknown thread

_FILTER_OPTIONS = (
    click.option(
        "--function",
        metavar="NAME[,NAME...]",
        help="Only calls of these functions: part of a name, or a pattern such as 'PJRT_Buffer_*'.",
    ),
    click.option("--thread", metavar="NAME", help="Only calls on this thread, by name or id; `main`: the main thread."),
    click.option("--object", metavar="NAME", help="Only calls with this object, such as buffer#12."),
    click.option("--errors", "errors_only", is_flag=True, help="Only calls that returned an error."),
    click.option("--slower", "slower_than", type=TimeOffset(), help="Only calls slower than this."),
    click.option("--since", "after", type=TimeOffset(), help="Only calls that started at or after this time."),
    click.option(
        "--until", "before", type=TimeOffset(), help="Only calls that started at or before this time of the recording."
    ),
    click.option(
        "--through", metavar="TEXT", help="Only calls whose stack contains TEXT in a function or file, or FILE:LINE."
    ),
    capture_option,
)


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the filter options to a verb, which gets the parameters `call_filter` and `selection` (captures)."""

    @functools.wraps(command)
    def with_filter(*arguments: Any, **options: Any) -> None:
        filters = {name: options.pop(name) for name in CallFilter.__dataclass_fields__ if name in options}
        command(*arguments, call_filter=CallFilter(**filters), **options)

    return functools.reduce(lambda decorated, option: option(decorated), reversed(_FILTER_OPTIONS), with_filter)


def explain_no_matches(index: Index, call_filter: CallFilter) -> str:
    """The message for a filter without matches: it names the function or thread that has no calls.

    If the selected captures have no calls at all, the message says that instead.
    """
    captures = index.captures()
    if not any(capture.calls for capture in captures):
        ids = [str(capture.id) for capture in captures]
        named = f"Capture {ids[0]} has" if len(ids) == 1 else f"Captures {', '.join(ids[:-1])} and {ids[-1]} have"
        return f"{named} no calls."
    for name in (call_filter.function or "").split(","):
        if name.strip() and not _PATTERN.search(name) and not index.calls.is_called(name.strip()):
            near = format_suggestion(index.calls.suggest_name(name.strip()))
            return f"No called function has {name.strip()} in its name.{near}"
    if call_filter.thread is not None and not index.calls.totals(
        CallFilter(thread=call_filter.thread), by_thread=False
    ):
        threads = {each.thread: None for each in index.calls.totals(CallFilter(), by_thread=True) if each.thread}
        named = ", ".join(map(make_printable, list(threads)[:_MAX_THREADS]))
        rest = f", and {len(threads) - _MAX_THREADS} more" if len(threads) > _MAX_THREADS else ""
        return f"No calls on a thread {make_printable(call_filter.thread)}. There are calls on {named}{rest}."
    return "No call matches the filter."
