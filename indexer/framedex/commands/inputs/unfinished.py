"""Captures that are still being written or not yet completely indexed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.errors import FramedexError

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CaptureRow


def why_unfinished(index: Index, captures: Iterable[CaptureRow]) -> Iterator[str]:
    """A sentence for each capture that is not completely indexed."""
    unread = index.captures_half_read()
    for capture in captures:
        if capture.id in unread:
            yield f"Capture {capture.id} is not read to its end: it is followed, or `framedex index` goes on with it."
        elif _is_being_written(capture):
            yield f"Capture {capture.id} is still being written: `framedex index` reads the rest once its program ends."


def _is_being_written(capture: CaptureRow) -> bool:
    """Whether the program of a capture is still running, if that is visible from here."""
    from framedex.captures import is_over  # imported late: few queries need it

    with suppress(FramedexError):  # its folder is missing, or comes from another system
        return not is_over(Path(capture.path))
    return False
