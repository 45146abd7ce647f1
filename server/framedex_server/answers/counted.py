"""Which captures the numbers on a file are of: one rule for lenses, hints, hovers, hierarchies and graphs.

They are of the picked capture. Without one they are of the latest run that executed the file, or of all captures where
the settings say so. Navigation is not restricted: it may follow a stack of an older run.
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
    """The name of the captures that count for a file: `capture 2`, else the rule by which they are chosen."""
    picked = session.chosen.capture_in(index)
    if picked is not None:
        return f"capture {picked}"
    return ALL if session.folder_settings_at(path).captures is Counted.ALL else LATEST


def answer_text(session: Session, index: Index, path: str, answer: AnswerOf) -> str:
    """The name of the captures that an answer about a part of a file is of.

    What the latest run did not pass has answers of an older run, which is named as such.
    """
    name = counted_text(session, index, path)
    if name != LATEST:
        return name
    ids = [capture.id for capture in answer.captures]
    if answer.counted is not Counted.LATEST or ids == [each.id for each in index.file(path).answer_of().captures]:
        return LATEST
    return f"not {LATEST} but {'capture' if len(ids) == 1 else 'captures'} {', '.join(map(str, ids))}"


async def ask_counted(session: Session, path: str, question: Callable[[Index], Answer]) -> Answer | None:
    """The result of a question about numbers: asked of the picked capture alone, if its index answers for the file.

    Totals of a picked capture are summed up once for a state of the index. No question about a line waits for that.
    """
    if session.chosen.capture is None:
        return await session.ask(path, question)

    def ask_narrowed(index: Index) -> Answer:
        narrowed = session.chosen.narrowed(index)
        with narrowed.reading():
            return question(narrowed)

    return await session.contents.ask(Path(path), ask_narrowed)
