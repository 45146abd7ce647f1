"""The captures of an answer: the latest run with an answer, all captures, or the named ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.commands.inputs.known import load_settings_here, open_index
from framedex.commands.output.terminal import Line, Span
from framedex.errors import FramedexError
from framedex.model.scopes import Counted
from framedex.scopetext import answer_heading

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import AnswerOf

Chosen = Counted | tuple[int, ...]

_BY_RULE = {rule.value: rule for rule in (Counted.LATEST, Counted.ALL)}


class CaptureChoice(click.ParamType[Chosen]):
    """`latest`, `all`, or ids separated by commas."""

    name = "captures"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Chosen:
        """Return the rule, or the ids."""
        chosen = captures_named(str(value).strip())
        if chosen is None:
            self.fail(f"'{value}' names no captures; write an id, several (3,5), latest or all.", param, ctx)
        return chosen


class CaptureIds(click.ParamType[tuple[int, ...]]):
    """Capture ids separated by commas.

    With `may_be_all`, the word `all` gives an empty tuple.
    """

    name = "ids"

    def __init__(self, *, may_be_all: bool = False) -> None:
        self._may_be_all = may_be_all

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the ids."""
        chosen = captures_named(str(value).strip())
        if self._may_be_all and chosen is Counted.ALL:
            return ()
        if not isinstance(chosen, tuple):
            self.fail(f"'{value}' is no id of a capture; write an id, or several: 3,5.", param, ctx)
        return chosen


def captures_named(text: str) -> Chosen | None:
    """Parse `latest`, `all`, or ids separated by commas; None for any other text."""
    if text in _BY_RULE:
        return _BY_RULE[text]
    ids = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in ids):
        return None
    return tuple(dict.fromkeys(map(int, ids)))


capture_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--capture",
    "chosen",
    type=CaptureChoice(),
    metavar="ID|latest|all",
    help=("Captures: ids of `framedex captures` (3 or 3,5), all, or latest. Default: the latest run with an answer."),
)


@contextmanager
def asked_index(path: Path | None, chosen: Chosen | None) -> Iterator[Index]:
    """The known index, for queries about lines and functions.

    Each query is answered from the captures that count for it. Raises FramedexError if the index or a named capture is
    missing.
    """
    wanted = chosen if chosen is not None else load_settings_here().captures
    with open_index(path, wanted if isinstance(wanted, Counted) else Counted.ALL) as index:
        if isinstance(wanted, Counted):
            with index.reading():
                yield index
        else:
            with _within(index, wanted) as narrow, narrow.reading():
                yield narrow


@contextmanager
def index_of_whole_runs(
    path: Path | None,
    chosen: Chosen | None,
    having: Callable[[Index], Collection[int]] | None = None,
) -> Iterator[tuple[Index, AnswerOf]]:
    """The known index, for queries about whole runs, and the captures of the answer: those with calls.

    `having` returns the ids of captures that have an answer; the latest run among them counts. Raises FramedexError if
    the index or a named capture is missing, or if no capture has calls.
    """
    from dataclasses import replace

    wanted = chosen if chosen is not None else load_settings_here().captures
    with open_index(path) as index:
        captures = [capture for capture in index.captures() if capture.calls]
        if isinstance(wanted, tuple):
            with _within(index, wanted) as narrow:
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
        if wanted is Counted.ALL or len(of_run) == len(captures):
            yield index, replace(index.answer_of(), counted=wanted)
            return
        with _within(index, [capture.id for capture in of_run]) as narrow:
            yield narrow, replace(narrow.answer_of(), counted=wanted, has_later=captures[-1].run != latest)


def heading(answer: AnswerOf) -> Line:
    """The first line of an answer, with its captures."""
    return (Span(answer_heading(answer), "head"),)


@contextmanager
def _within(index: Index, captures: Collection[int]) -> Iterator[Index]:
    """The index restricted to these captures. Raises FramedexError if one of them is missing."""
    from framedex.index.opening import known_captures

    known_captures(index, captures)
    with index.within(captures) as narrow:
        from framedex.commands.output.bars import progress_of_questions

        narrow.tell(progress_of_questions())
        yield narrow
