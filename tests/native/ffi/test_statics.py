"""Static arguments as text: in the user's notation where that needs no code of the program."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
from typing import Any

import numpy as np
import pytest

from framedex_native.ffi.statics import static_arguments, text


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    inner: Any = None


@dataclasses.dataclass(frozen=True)
class Caching:
    width: int
    cache: Any = dataclasses.field(compare=False)


class Hostile:
    """Runs code whenever it is inspected."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __repr__(self) -> str:
        raise AssertionError("repr")

    def __hash__(self) -> int:
        return 5


def outer() -> Any:
    return lambda: None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, "3"),
        (1.5, "1.5"),
        (True, "True"),
        (None, "None"),
        ("a'b", '"a\'b"'),
        (b"\0", "b'\\x00'"),
        ((1, "x", (2.5,)), "(1, 'x', (2.5,))"),
        (frozenset({1}), "frozenset(1)"),
        (tuple(range(20)), f"(0, 1, 2, 3, 4, 5, 6, 7, ...) #{hash(tuple(range(20))) & 0xFFFFFF:06x}"),
        (Color.RED, "Color.RED"),
        (Config(2, Config(3)), "Config(width=2, inner=Config(width=3, inner=None))"),
        (np.float32(2), "2.0"),
        (np.dtype("int8"), "int8"),
        (np.float32, "float32"),
        (Config, "Config"),
        (outer, "outer"),
        (len, "len"),
        (slice(1, None, (2,)), "slice(1, None, (2,))"),
        (Caching(2, {}), "Caching(width=2, cache=dict)"),
    ],
)
def test_values_are_formatted_as_written(value: Any, expected: str) -> None:
    assert text(value) == expected


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (outer(), r"outer\.<locals>\.<lambda> #[0-9a-f]{6}"),
        (functools.partial(len, ()), r"partial\(len, \(\)\) #[0-9a-f]{6}"),
    ],
)
def test_unknown_values_are_distinguished_by_hash(value: Any, pattern: str) -> None:
    assert re.fullmatch(pattern, text(value))


def test_only_the_hash_of_a_value_is_run() -> None:
    assert text(Hostile()) == "Hostile #000005"
    assert text(slice(Hostile(), 2)) == "slice(Hostile #000005, 2, None)"


def test_long_values_are_truncated() -> None:
    assert len(text("x" * 10_000)) == 80 and len(text(Config(1, "x" * 100))) <= 80


def test_static_arguments_have_parameter_names() -> None:
    def function(x: int, n: int, *, mode: str = "") -> None: ...

    signature = inspect.signature(function)
    assert static_arguments((1, 2), {"mode": "a"}, (1,), ("mode",), signature) == {"n": 2, "mode": "a"}
    assert static_arguments((1, 2), {}, (-1,), ("mode", "n"), signature) == {"n": 2}
    assert static_arguments((1, 2), {}, (0, 7), (), None) == {"argument 0": 1}
