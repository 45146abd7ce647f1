"""Captures that have not come to their end: what is told of them is not all there will be."""

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
    """A sentence for each of the captures that is not in the index to its end."""
    unread = index.captures_half_read()
    for capture in captures:
        if capture.id in unread:
            yield f"Capture {capture.id} is not read to its end: it is followed, or `framedex index` goes on with it."
        elif _is_being_written(capture):
            yield f"Capture {capture.id} is still being written: `framedex index` reads the rest once its program ends."


def _is_being_written(capture: CaptureRow) -> bool:
    """Whether its program goes on, as far as can be seen from here."""
    from framedex.captures import is_over  # few questions need it

    with suppress(FramedexError):  # its folder is gone, or of another system
        return not is_over(Path(capture.path))
    return False
