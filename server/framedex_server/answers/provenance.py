"""The provenance of numbers: the captures counted for a file, and changes of a line since the recording.

Lenses, hints, hovers, hierarchies and graphs share one rule. Numbers are restricted to the selected capture, if any.
Otherwise they count the latest run that executed the file, or all captures if the settings say so. Navigation is not
restricted: it may follow a stack of an older run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from framedex.base.words import format_first_names
from framedex.model import Staleness
from framedex.model.scopes import CaptureScope
from framedex.texts.places import format_stale_labels
from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import AnswerScope

Answer = TypeVar("Answer")

LATEST_RUN_TEXT = "latest run that executed this file"
LATEST_RUN_LABEL = "latest run"
ALL_CAPTURES_TEXT = "all captures"


def format_counted_captures(session: Session, index: Index, path: str) -> str:
    """Return the name of the captures counted for a file: `capture 2`, else the rule that selects them."""
    picked = session.selection.capture_in(index)
    if picked is not None:
        return f"capture {picked}"
    return ALL_CAPTURES_TEXT if session.folder_settings_for(path).captures is CaptureScope.ALL else LATEST_RUN_TEXT


def format_counted_captures_label(session: Session, index: Index, path: str) -> str:
    """Return the short name of the captures counted for a file, for a lens: `capture 2`, `latest run`."""
    name = format_counted_captures(session, index, path)
    return LATEST_RUN_LABEL if name == LATEST_RUN_TEXT else name


def counted_in_answer(session: Session, index: Index, path: str, read_answer: Callable[[], AnswerScope]) -> str:
    """Return the name of the captures counted in an answer about a part of a file.

    Lines that the latest run did not execute have answers from an older run. The text then names its captures.
    `read_answer` is not called for all captures, whose answer lists every one.
    """
    name = format_counted_captures(session, index, path)
    if name != LATEST_RUN_TEXT:
        return name
    answer = read_answer()
    ids = [str(capture.id) for capture in answer.captures]
    if answer.counted is not CaptureScope.LATEST or answer.captures == index.file(path).answer_of().captures:
        return LATEST_RUN_TEXT
    return (
        f"not {LATEST_RUN_TEXT} but {'capture' if len(ids) == 1 else 'captures'} {format_first_names(ids, 'capture')}"
    )


async def query_counted(session: Session, path: str, question: Callable[[Index], Answer]) -> Answer | None:
    """Return the result of a query for numbers, restricted to the selected capture if the file's index contains it.

    Totals of a selected capture are computed once per state of the index, on the thread of `contents`: line queries do
    not wait for them.
    """
    if session.selection.capture is None:
        return await session.query(path, question)

    def query_restricted(index: Index) -> Answer:
        restricted = session.selection.restrict(index)
        with restricted.reading():
            return question(restricted)

    return await session.contents.query(Path(path), query_restricted)


def change_labels(index: Index, path: str, line: int) -> list[str]:
    """Return labels for changes of a line since the recording (`moved from line 14`); empty if it has not changed."""
    return format_stale_labels(index.line(path, line).location_since_recording())


def format_doubt_suffix(index: Index, path: str, line: int) -> str:
    """Return ` [file changed since]`, a suffix for a short text about a line, if the line may have changed.

    The suffix is empty if the line only moved, because such texts appear at its current position.
    """
    is_doubtful = index.line(path, line).location_since_recording().stale is Staleness.UNKNOWN
    return f" [{', '.join(change_labels(index, path, line))}]" if is_doubtful else ""
