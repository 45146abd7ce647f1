"""Compare two arrays: bitwise, by units in the last place, by relative difference, and by their NaN pattern."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_Bits = npt.NDArray[Any]
_Reals = npt.NDArray[np.float64]
ElementMask = npt.NDArray[np.bool_]
"""A truth value for each element of an array."""


class _Float(NamedTuple):
    """A format of reals: bits of exponent and significand, and the exponent's bias.

    `has_infinities` as in IEEE 754. Otherwise at most one magnitude is NaN: all ones, or the sign alone
    (`is_unsigned_zero`).
    """

    exponent: int
    significand: int
    bias: int
    has_infinities: bool = True
    is_unsigned_zero: bool = False
    has_nan: bool = True


_SMALL_FLOATS = {
    "F8E5M2": _Float(5, 2, 15),
    "F8E4M3": _Float(4, 3, 7),
    "F8E3M4": _Float(3, 4, 3),
    "F8E4M3FN": _Float(4, 3, 7, has_infinities=False),
    "F8E4M3B11FNUZ": _Float(4, 3, 11, has_infinities=False, is_unsigned_zero=True),
    "F8E5M2FNUZ": _Float(5, 2, 16, has_infinities=False, is_unsigned_zero=True),
    "F8E4M3FNUZ": _Float(4, 3, 8, has_infinities=False, is_unsigned_zero=True),
    "F4E2M1FN": _Float(2, 1, 1, has_infinities=False, has_nan=False),
}
_FLOATS: dict[str, npt.DTypeLike] = {"F16": np.float16, "F32": np.float32, "F64": np.float64}
_COMPLEX = {"C64": "F32", "C128": "F64"}
_INTEGERS: dict[str, npt.DTypeLike] = {
    "PRED": np.uint8,
    **{f"S{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"S{bits}": np.int8 for bits in (1, 2, 4)},
    **{f"U{bits}": np.uint8 for bits in (1, 2, 4)},
}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Accepted differences of reals: in units in the last place, and relative to the larger value. 0: equal bits."""

    ulps: int = 0
    relative: float = 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two arrays of one type and shape.

    `differing` of the `elements` are beyond the tolerance. `first` is the flat index of the first one, with both
    values. `largest_ulps` and `largest_relative` are over the reals that are finite in both arrays; None if there are
    none, and for integers. `nan_differs` counts reals that are NaN in one array only.
    """

    elements: int
    differing: int
    first: int | None = None
    expected: str = ""
    actual: str = ""
    largest_ulps: int | None = None
    largest_relative: float | None = None
    nan_differs: int = 0


def compare(kind: str, expected: bytes, actual: bytes, tolerance: Tolerance) -> Comparison:
    """Compare two contents of the type `kind`, the name of a `PJRT_Buffer_Type`."""
    kind, parts = _split_element_type(kind)
    if len(expected) != len(actual):
        return Comparison(1, 1, None, f"{len(expected)} bytes", f"{len(actual)} bytes")
    if expected == actual:
        return Comparison(len(_read_bits(kind, expected)) // parts, 0)
    if not _is_real(kind):
        return _compare_exactly(_view_integers(kind, expected), _view_integers(kind, actual))
    return _compare_reals(kind, expected, actual, tolerance, parts)


def count_non_finite(kind: str, content: bytes) -> tuple[int, int]:
    """Return the numbers of NaNs and infinities in a content."""
    values = _decode(_split_element_type(kind)[0], content)
    return (0, 0) if values is None else (int(np.isnan(values).sum()), int(np.isinf(values).sum()))


def compute_nan_mask(kind: str, content: bytes) -> ElementMask:
    """Return for each element of a content whether it is NaN."""
    return _map_elements(kind, content, np.isnan)


def compute_infinity_mask(kind: str, content: bytes) -> ElementMask:
    """Return for each element of a content whether it is infinite."""
    return _map_elements(kind, content, np.isinf)


def compute_difference_mask(kind: str, expected: bytes, actual: bytes, tolerance: Tolerance) -> ElementMask:
    """Return for each element whether two contents of one type and size differ there."""
    kind, parts = _split_element_type(kind)
    if not _is_real(kind):
        return np.asarray(_view_integers(kind, expected) != _view_integers(kind, actual))
    return ~_close_reals(kind, expected, actual, tolerance).is_equal.reshape(-1, parts).all(axis=1)


def format_element(kind: str, content: bytes, place: int) -> str:
    """Return an element of a content as text."""
    kind, parts = _split_element_type(kind)
    values = _decode(kind, content)
    if values is None:
        return str(_view_integers(kind, content)[place])
    shown = [repr(float(each)) for each in values[place * parts : (place + 1) * parts]]
    return shown[0] if parts == 1 else f"({', '.join(shown)})"


def _map_elements(kind: str, content: bytes, has_property: Callable[[_Reals], ElementMask]) -> ElementMask:
    kind, parts = _split_element_type(kind)
    values = _decode(kind, content)
    if values is None:
        return np.zeros(len(_view_integers(kind, content)), np.bool_)
    return has_property(values).reshape(-1, parts).any(axis=1)


def _split_element_type(kind: str) -> tuple[str, int]:
    """The type of the parts of an element, and their number: a complex number has two."""
    return (_COMPLEX[kind], 2) if kind in _COMPLEX else (kind, 1)


def _is_real(kind: str) -> bool:
    return kind in _FLOATS or kind in _SMALL_FLOATS or kind in ("BF16", "F8E8M0FNU")


def _view_integers(kind: str, content: bytes) -> _Bits:
    return np.frombuffer(content, _INTEGERS.get(kind, np.uint8))


def _compare_exactly(expected: _Bits, actual: _Bits) -> Comparison:
    places = np.flatnonzero(expected != actual)
    first = int(places[0])
    return Comparison(len(expected), len(places), first, str(expected[first]), str(actual[first]))


class _CloseReals(NamedTuple):
    """The reals of two contents, and their distances."""

    expected: _Reals
    actual: _Reals
    ulps: npt.NDArray[np.uint64]
    relative: _Reals
    is_number: ElementMask
    is_equal: ElementMask


def _close_reals(kind: str, expected: bytes, actual: bytes, tolerance: Tolerance) -> _CloseReals:
    bits = _read_bits(kind, expected), _read_bits(kind, actual)
    values = _decode(kind, expected), _decode(kind, actual)
    assert values[0] is not None
    assert values[1] is not None
    ulps = _measure_distance(kind, *bits)
    with np.errstate(all="ignore"):
        scale = np.maximum(np.abs(values[0]), np.abs(values[1]))
        relative = np.where(values[0] == values[1], 0.0, np.abs(values[0] - values[1]) / scale)
    is_number = np.isfinite(values[0]) & np.isfinite(values[1])
    is_equal = bits[0] == bits[1]
    if tolerance != Tolerance():
        is_equal |= np.isnan(values[0]) & np.isnan(values[1])
        is_equal |= is_number & ((ulps <= tolerance.ulps) | (relative <= tolerance.relative))
    return _CloseReals(values[0], values[1], ulps, relative, is_number, is_equal)


def _compare_reals(kind: str, expected: bytes, actual: bytes, tolerance: Tolerance, parts: int) -> Comparison:
    """Compare reals, or complex numbers by their `parts`."""
    close = _close_reals(kind, expected, actual, tolerance)
    places = np.flatnonzero(~close.is_equal)
    first = int(places[0]) if len(places) else None
    return Comparison(
        elements=len(close.is_equal) // parts,
        differing=len(np.unique(places // parts)),
        first=None if first is None else first // parts,
        expected="" if first is None else repr(float(close.expected[first])),
        actual="" if first is None else repr(float(close.actual[first])),
        largest_ulps=int(np.max(close.ulps[close.is_number])) if close.is_number.any() else None,
        largest_relative=float(np.max(close.relative[close.is_number])) if close.is_number.any() else None,
        nan_differs=int((np.isnan(close.expected) != np.isnan(close.actual)).sum()),
    )


def _read_bits(kind: str, content: bytes) -> _Bits:
    sizes = {"F16": "u2", "BF16": "u2", "F32": "u4", "F64": "u8"}
    return np.frombuffer(content, _INTEGERS.get(kind, sizes.get(kind, "u1")))


def _measure_distance(kind: str, first: _Bits, second: _Bits) -> npt.NDArray[np.uint64]:
    """The number of representable values between two arrays of reals."""
    width = 8 * first.itemsize
    if kind == "F8E8M0FNU":  # no sign
        return np.abs(first.astype(np.int64) - second.astype(np.int64)).astype(np.uint64)
    sign = 4 if kind == "F4E2M1FN" else width
    mask = np.uint64((1 << (sign - 1)) - 1)
    wide = first.astype(np.uint64), second.astype(np.uint64)
    magnitudes = wide[0] & mask, wide[1] & mask
    has_same_sign = (wide[0] & ~mask) == (wide[1] & ~mask)
    larger, smaller = np.maximum(*magnitudes), np.minimum(*magnitudes)
    distance: npt.NDArray[np.uint64] = np.where(has_same_sign, larger - smaller, larger + smaller)
    return distance


def _decode(kind: str, content: bytes) -> _Reals | None:
    """The values of reals; None for another type."""
    if kind == "BF16":
        kind, content = "F32", (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).tobytes()
    if kind in _FLOATS:
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return np.frombuffer(content, _FLOATS[kind]).astype(np.float64)
    if kind == "F8E8M0FNU":
        raw = np.frombuffer(content, np.uint8)
        return np.where(raw == 0xFF, np.nan, np.exp2(raw.astype(np.float64) - 127))
    if kind in _SMALL_FLOATS:
        return _build_value_table(kind)[np.frombuffer(content, np.uint8)]
    return None


@cache
def _build_value_table(kind: str) -> _Reals:
    """The value of each byte."""
    form = _SMALL_FLOATS[kind]
    width = 1 + form.exponent + form.significand
    return np.array([_decode_value(form, byte & ((1 << width) - 1), width) for byte in range(256)])


def _decode_value(form: _Float, bits: int, width: int) -> float:
    sign = -1.0 if bits >> (width - 1) else 1.0
    magnitude = bits & ((1 << (width - 1)) - 1)
    exponent, fraction = magnitude >> form.significand, magnitude & ((1 << form.significand) - 1)
    is_largest = exponent == (1 << form.exponent) - 1
    if form.has_infinities and is_largest:
        return float("nan") if fraction else sign * float("inf")
    if form.is_unsigned_zero and bits == 1 << (width - 1):
        return float("nan")
    is_all_ones = magnitude == (1 << (width - 1)) - 1
    if form.has_nan and not form.has_infinities and not form.is_unsigned_zero and is_all_ones:
        return float("nan")
    scale = 1 << form.significand
    if exponent == 0:
        return sign * (fraction / scale) * 2.0 ** (1 - form.bias)
    return sign * (1 + fraction / scale) * 2.0 ** (exponent - form.bias)
