"""The callee of each frame of a text: the next inner frame of the same stack."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from framedex.model import Language
from framedex.text_stacks.model import TextFrame


def inward_frames(frames: Sequence[TextFrame], innermost_first: bool) -> list[TextFrame | None]:
    """Return the callee of each frame of a stack, in text order; None if the text does not prove it."""
    inward = frames if innermost_first else frames[::-1]
    called = [None, *(called_from(outer, inner) for inner, outer in pairwise(inward))] if inward else []
    return called if innermost_first else called[::-1]


def called_from(frame: TextFrame, inner: TextFrame) -> TextFrame | None:
    """Return the next inner frame if `frame` calls it; None if frames may be omitted between them."""
    if frame.language is not Language.NATIVE or inner.language is not Language.NATIVE:
        return None
    is_next = frame.number is None or inner.number is None or abs(frame.number - inner.number) == 1
    return inner if is_next and not frame.is_alternative and not inner.is_alternative else None


def is_inlined_in(inner: TextFrame, frame: TextFrame) -> bool:
    """Whether a frame's code is inlined into another frame: same address, other function (so not a recursion)."""
    return inner.address is not None and inner.address == frame.address and inner.function != frame.function
