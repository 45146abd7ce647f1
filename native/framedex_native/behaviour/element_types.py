"""The element types of arrays, by the names of `PJRT_Buffer_Type` without the prefix: `F32`, `BF16`, `PRED`."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

_NUMBERS = {"S": "int", "U": "uint", "F": "float", "C": "complex"}
_NAMED = {"PRED": "bool", "BF16": "bfloat16"}


def array_bytes(element: str, dims: Sequence[int]) -> int:
    """The bytes of a dense array. Elements smaller than a byte count as one byte, as in recordings."""
    return math.prod(dims) * element_bits(element) // 8


def element_bits(element: str) -> int:
    """The bits of a single element, at least 8; 0 for types without elements, such as tokens."""
    return max(_digits(element), 8) if _digits(element) else 8 * (element == "PRED")


def is_smaller_than_a_byte(element: str) -> bool:
    """Whether devices may pack several elements into a byte."""
    return 0 < _digits(element) < 8


def _digits(element: str) -> int:
    found = re.search(r"\d+", element)
    return int(found[0]) if found else 0


@functools.cache
def dtype_of(element: str) -> numpy.dtype[Any]:
    """NumPy's type for an element type, from ml_dtypes if NumPy has none.

    Raises TypeError if neither has one.
    """
    import ml_dtypes
    import numpy

    name = _dtype_name(element)
    try:
        return numpy.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        raise TypeError(f"NumPy has no dtype for the element type {element}") from None


def _dtype_name(element: str) -> str:
    if plain := re.fullmatch(r"([SUFC])(\d+)", element):
        return _NUMBERS[plain[1]] + plain[2]
    if small := re.fullmatch(r"F(\d)(E\w+)", element):
        return f"float{small[1]}_{small[2].lower()}"
    return _NAMED.get(element, element)
