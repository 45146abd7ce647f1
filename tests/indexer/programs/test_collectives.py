"""Collectives in programs of other compilers than the CPU's: asynchronous forms, and every form of device groups."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from framedex.base.nativepart import protobuf
from framedex.programs.collectives import read_collectives
from framedex.programs.hlo import Module

F32, TUPLE = 11, 13  # of xla.PrimitiveType

_message, _integer, _packed = protobuf.message_field, protobuf.integer_field, protobuf.packed_field


def _array(*dimensions: int) -> bytes:
    return _integer(2, F32) + _packed(3, dimensions)


def _tuple(*parts: bytes) -> bytes:
    return _integer(2, TUPLE) + b"".join(_message(4, part) for part in parts)


def _instruction(number: int, opcode: str, shape: bytes, more: bytes = b"", called: Sequence[int] = ()) -> bytes:
    fields = _message(1, f"{opcode}.{number}".encode()) + _message(2, opcode.encode()) + _message(3, shape)
    return fields + _integer(35, number) + _packed(38, called) + more


def _module(*computations: Sequence[bytes]) -> Module:
    """A module whose first computation, with the id 1, is the entry."""
    content = _integer(6, 1)
    for number, instructions in enumerate(computations, start=1):
        inside = b"".join(_message(2, each) for each in instructions)
        content += _message(3, inside + _integer(5, number))
    return Module(content)


def _groups(*groups: Sequence[int]) -> list[bytes]:
    return [_packed(1, group) for group in groups]


@pytest.mark.parametrize(
    ("opcode", "shape", "expected"),
    [
        ("all-reduce", _array(4), ("all-reduce", "f32[4]", 16)),
        ("all-reduce-start", _tuple(_array(4), _array(2)), ("all-reduce", "(f32[4], f32[2])", 24)),
        ("all-gather-start", _tuple(_array(4), _array(32)), ("all-gather", "f32[32]", 128)),
        (
            "collective-permute-start",
            _tuple(_array(4), _array(4), _array(), _array()),
            ("collective-permute", "f32[4]", 16),
        ),
        ("reduce-scatter", _array(2), ("reduce-scatter", "f32[2]", 8)),
    ],
)
def test_the_shape_is_that_of_the_result(opcode: str, shape: bytes, expected: tuple[str, str, int]) -> None:
    (found,) = read_collectives(_module([_instruction(1, opcode, shape)]))
    assert (found.opcode, found.shape, found.size) == expected


@pytest.mark.parametrize(
    ("groups", "devices"),
    [
        (b"", 0),
        (b"".join(_message(49, each) for each in _groups([0, 1, 2], [3, 4, 5])), 3),
        (_message(87, b"".join(_message(1, each) for each in _groups([0, 1], [2, 3]))), 2),
        (_message(87, _message(2, _integer(1, 2) + _integer(2, 4))), 4),
        (_message(92, _integer(1, 2) + _integer(2, 4)), 4),
        # The axes x (4 devices) and half of y (4 devices) of a mesh.
        (
            _message(
                93,
                _message(
                    1, _message(1, _message(1, b"x") + _integer(2, 4)) + _message(1, _message(1, b"y") + _integer(2, 4))
                )
                + _message(2, b"")
                + _message(2, _integer(1, 1) + _message(2, _integer(1, 1) + _integer(2, 2))),
            ),
            8,
        ),
        (_message(93, _message(2, _integer(1, 9))), 1),  # a damaged mesh
    ],
)
def test_the_devices_of_a_group_are_counted(groups: bytes, devices: int) -> None:
    (found,) = read_collectives(_module([_instruction(1, "all-gather", _array(8), groups)]))
    assert found.devices == devices


def test_the_body_of_a_loop_and_asynchronous_computations_are_followed() -> None:
    module = _module(
        [_instruction(1, "while", _array(), called=[2]), _instruction(2, "async-start", _array(), called=[3])],
        [_instruction(3, "all-reduce", _array(4)), _instruction(4, "while", _array(), called=[1, 2])],
        [_instruction(5, "reduce-scatter", _array(4))],
    )
    found = [(each.opcode, each.is_repeated) for each in read_collectives(module)]
    assert found == [("all-reduce", True), ("reduce-scatter", False)]
