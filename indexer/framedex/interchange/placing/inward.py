"""Which frame of a text a frame calls: the next one inward of the same stack."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from framedex.interchange.model import TextFrame
from framedex.model import Language


def inward_frames(frames: Sequence[TextFrame], innermost_first: bool) -> list[TextFrame | None]:
    """For each frame of a stack, in the order of the text, the one that it calls; None where the text does not tell."""
    inward = frames if innermost_first else frames[::-1]
    called = [None, *(called_from(outer, inner) for inner, outer in pairwise(inward))] if inward else []
    return called if innermost_first else called[::-1]


def called_from(frame: TextFrame, inner: TextFrame) -> TextFrame | None:
    """The frame that stands before another, innermost first, if that calls it; None where frames may be left out."""
    if frame.language is not Language.NATIVE or inner.language is not Language.NATIVE:
        return None
    is_next = frame.number is None or inner.number is None or abs(frame.number - inner.number) == 1
    return inner if is_next and not frame.is_alternative and not inner.is_alternative else None


def is_inlined_in(inner: TextFrame, frame: TextFrame) -> bool:
    """Whether a frame is of code that was inlined into another: they have one address, and it is no recursion."""
    return inner.address is not None and inner.address == frame.address and inner.function != frame.function
