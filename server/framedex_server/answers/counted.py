"""The captures that a file's numbers count: one rule for lenses, hints, hovers, hierarchies and graphs.

Numbers are restricted to the selected capture, if there is one. Otherwise they count the latest run that executed the
file, or all captures if the settings say so. Navigation is not restricted: it may follow a stack of an older run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from framedex.model.scopes import Counted
from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import AnswerOf

Answer = TypeVar("Answer")

LATEST = "latest run that executed this file"
ALL = "all captures"


def counted_text(session: Session, index: Index, path: str) -> str:
    """Return the name of the captures counted for a file: `capture 2`, else the rule that selects them."""
    picked = session.chosen.capture_in(index)
    if picked is not None:
        return f"capture {picked}"
    return ALL if session.folder_settings_at(path).captures is Counted.ALL else LATEST


def answer_text(session: Session, index: Index, path: str, answer: AnswerOf) -> str:
    """Return the name of the captures counted in an answer about a part of a file.

    Lines that the latest run did not execute have answers from an older run, whose captures are named.
    """
    name = counted_text(session, index, path)
    if name != LATEST:
        return name
    ids = [capture.id for capture in answer.captures]
    if answer.counted is not Counted.LATEST or ids == [each.id for each in index.file(path).answer_of().captures]:
        return LATEST
    return f"not {LATEST} but {'capture' if len(ids) == 1 else 'captures'} {', '.join(map(str, ids))}"


async def ask_counted(session: Session, path: str, question: Callable[[Index], Answer]) -> Answer | None:
    """Return the result of a query for numbers, restricted to the selected capture if its index answers for the file.

    Totals of a selected capture are computed once per state of the index. Line queries do not wait for that.
    """
    if session.chosen.capture is None:
        return await session.ask(path, question)

    def ask_narrowed(index: Index) -> Answer:
        narrowed = session.chosen.narrowed(index)
        with narrowed.reading():
            return question(narrowed)

    return await session.contents.ask(Path(path), ask_narrowed)
