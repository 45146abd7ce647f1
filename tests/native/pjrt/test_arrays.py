"""Arrays of every dtype, shape and layout reach the mock's memory and return bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.native.recorded import recorded
from tests.reading import Call, calls_of

# NumPy's name -> PJRT's. JAX's complex types are C64 and C128; a bool is a predicate.
PJRT_TYPES = {"bool": "PRED", "bfloat16": "BF16", "complex64": "C64", "complex128": "C128"}


@pytest.fixture(scope="module")
def sent() -> tuple[dict[str, Any], list[Call]]:
    """The result of `arrays.py`, and the transfers recorded."""
    done = recorded("arrays.py")
    return done.result, calls_of(done.capture, "PJRT_Client_BufferFromHostBuffer")


def test_every_array_comes_back_bit_for_bit(sent: tuple[dict[str, Any], list[Call]]) -> None:
    result, _ = sent
    assert result["problems"] == []


def test_every_jax_dtype_is_tested(sent: tuple[dict[str, Any], list[Call]]) -> None:
    result, _ = sent
    wanted = {"bool", "bfloat16", "complex64", "complex128", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2"}
    wanted |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)}
    wanted |= {"float16", "float32", "float64"}
    assert wanted <= {dtype for dtype, _, _ in result["sent"].values()}


def test_every_transfer_is_recorded_with_type_shape_and_size(sent: tuple[dict[str, Any], list[Call]]) -> None:
    result, calls = sent
    found = [(call.arguments["type"], call.arguments["dims"], call.arguments["bytes"]) for call in calls]
    for name, (dtype, shape, size) in result["sent"].items():
        assert (pjrt_type(dtype), shape, size) in found, name
    assert {call.error for call in calls} == {0}


def pjrt_type(dtype: str) -> str:
    """PJRT's name of a dtype: `F8E4M3FN` for `float8_e4m3fn`, `S32` for `int32`."""
    short = dtype.replace("_", "").upper()
    for letter, word in (("U", "UINT"), ("S", "INT"), ("F", "FLOAT")):
        if short.startswith(word):
            short = letter + short.removeprefix(word)
    return PJRT_TYPES.get(dtype, short)
