"""Arrays are compared as their element types define: values as in ml_dtypes, distances in representable values."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from framedex.plugins.replay.comparison import Comparison, Tolerance, compare, count_non_finite
from framedex.plugins.replay.comparison import _decode as decode

SMALL = {
    "F8E5M2": ml_dtypes.float8_e5m2,
    "F8E4M3": ml_dtypes.float8_e4m3,
    "F8E3M4": ml_dtypes.float8_e3m4,
    "F8E4M3FN": ml_dtypes.float8_e4m3fn,
    "F8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "F8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "F8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "F8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "F4E2M1FN": ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("kind", SMALL)
def test_every_small_real_has_its_value(kind: str) -> None:
    patterns = np.arange(16 if kind == "F4E2M1FN" else 256, dtype=np.uint8)
    expected = patterns.view(SMALL[kind]).astype(np.float64)
    np.testing.assert_array_equal(decode(kind, patterns.tobytes()), expected)
    assert count_non_finite(kind, patterns.tobytes()) == (np.isnan(expected).sum(), np.isinf(expected).sum())


def test_every_bfloat16_has_its_value() -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        expected = patterns.view(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(decode("BF16", patterns.tobytes()), expected)


def compared(
    kind: str, expected: object, actual: object, dtype: type, tolerance: Tolerance | None = None
) -> Comparison:
    first, second = (np.array(each, dtype).tobytes() for each in (expected, actual))
    return compare(kind, first, second, tolerance or Tolerance())


def test_reals_differ_by_bits_unless_a_tolerance_accepts_them() -> None:
    near = np.nextafter(np.float32(1), np.float32(2))
    found = compared("F32", [0, 1, 5], [0, near, 5], np.float32)
    assert (found.elements, found.differing, found.first) == (3, 1, 1)
    assert (found.expected, found.actual, found.largest_ulps) == ("1.0", repr(float(near)), 1)
    assert compared("F32", [1], [near], np.float32, Tolerance(ulps=1)).differing == 0
    assert compared("F32", [1], [near], np.float32, Tolerance(relative=1e-6)).differing == 0
    assert compared("F32", [1], [1.1], np.float32, Tolerance(1, 1e-6)).differing == 1
    assert compared("F32", [0.0], [-0.0], np.float32).differing == 1
    assert compared("F32", [0.0], [-0.0], np.float32, Tolerance(ulps=1)).differing == 0


def test_values_of_both_signs_are_counted_across_zero() -> None:
    smallest = float(np.nextafter(0, 1))
    assert compared("F64", [-smallest], [smallest], np.float64).largest_ulps == 2
    assert compared("F64", [-1.7e308], [1.7e308], np.float64).differing == 1


def test_nan_and_infinity_match_only_themselves() -> None:
    nan, infinity = np.nan, np.inf
    loose = Tolerance(1 << 40, 1e9)
    found = compared("F32", [nan, 1, infinity, 2], [1, nan, 3, 2], np.float32, loose)
    assert (found.differing, found.nan_differs) == (3, 2)
    payload = np.array([0x7FC00001], np.uint32).view(np.float32)
    assert compared("F32", [nan], payload, np.float32).differing == 1
    assert compared("F32", [nan], payload, np.float32, loose).differing == 0
    assert compared("F32", [infinity], [-infinity], np.float32, loose).differing == 1


def test_complex_numbers_and_integers_count_as_elements() -> None:
    found = compared("C64", [1 + 2j, 3 + 4j], [1 + 2j, 5 + 6j], np.complex64)
    assert (found.elements, found.differing, found.first, found.expected) == (2, 1, 1, "3.0")
    found = compared("S32", [1, 2, 3], [1, -2, 4], np.int32, Tolerance(100, 1.0))
    assert (found.elements, found.differing, found.first, found.actual) == (3, 2, 1, "-2")
    assert compared("PRED", [True], [False], np.bool_).differing == 1
    assert compare("F32", b"1234", b"12345678", Tolerance()).expected == "4 bytes"
