"""Fusions of handmade and damaged programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from framedex.base.nativepart import protobuf
from framedex.model.programs import ProgramFrame, compute_share_by_line
from framedex.programs.fusions import read_fusions
from framedex.programs.hlo import Instruction, Module

FIRST, SECOND = ProgramFrame("/model.py", 3, "f"), ProgramFrame("/model.py", 5, "f")
ENTRY, FUSED, LOOP = 1, 2, 3  # computations

_message, _integer, _packed = protobuf.message_field, protobuf.integer_field, protobuf.packed_field


def _instruction(number: int, opcode: str, op: str = "", frame: int = 0, called: tuple[int, ...] = ()) -> bytes:
    metadata = _message(7, _message(2, op.encode()) + _integer(15, frame))
    names = _message(1, f"{opcode}.{number}".encode()) + _message(2, opcode.encode())
    return names + metadata + _integer(35, number) + _packed(38, called)


def _module(**computations: list[bytes]) -> Module:
    """A module with computations by number, whose frames 1 and 2 are `FIRST` and `SECOND`, and 3 does not exist."""
    content = _integer(6, ENTRY)
    for number, instructions in computations.items():
        inside = b"".join(_message(2, each) for each in instructions)
        content += _message(3, inside + _integer(5, int(number[1:])))
    locations = b"".join(
        _message(3, _integer(1, 1) + _integer(2, 1) + _integer(3, each.line)) for each in (FIRST, SECOND)
    )
    stacks = b"".join(_message(4, _integer(1, number)) for number in (1, 2))
    tables = _message(1, FIRST.path.encode()) + _message(2, FIRST.function.encode()) + locations + stacks
    return Module(content + _message(17, tables))


FUSED_OPS = [_instruction(10, "sine", "jit(f)/sin", 1), _instruction(11, "add", "jit(f)/add", 2)]


def test_equal_fusions_are_counted_together_and_a_loop_is_followed() -> None:
    module = _module(
        c1=[_instruction(1, "fusion", "jit(f)/add", 2, (FUSED,)), _instruction(2, "while", called=(LOOP, LOOP))],
        c2=[*FUSED_OPS, _instruction(12, "add", "jit(f)/add", 2)],
        c3=[_instruction(3, "fusion", "jit(f)/add", 2, (FUSED,)), _instruction(4, "fusion", "jit(f)/mul", 2, (4,))],
        c4=FUSED_OPS,
    )
    found = read_fusions(module)
    assert [(each.instruction, each.op, each.count) for each in found] == [
        ("fusion.1", "jit(f)/add", 2),
        ("fusion.4", "jit(f)/mul", 1),
    ]
    assert [each.lines for each in found] == [((SECOND, 2), (FIRST, 1)), ((FIRST, 1), (SECOND, 1))]


@pytest.mark.parametrize(
    "fused",
    [
        [],
        FUSED_OPS[:1],
        [FUSED_OPS[0], _instruction(12, "add", "jit(f)/add", 3)],  # a frame that the tables lack
        [FUSED_OPS[0], _instruction(12, "bitcast")],  # added by XLA
    ],
)
def test_a_fusion_without_two_known_lines_is_left_out(fused: list[bytes]) -> None:
    assert read_fusions(_module(c1=[_instruction(1, "fusion", "jit(f)/add", 1, (FUSED,))], c2=fused)) == ()


def test_missing_and_recursive_computations_end() -> None:
    missing = _instruction(1, "fusion", "jit(f)/add", 1, (99,))
    recursive = _instruction(2, "fusion", "jit(f)/add", 1, (ENTRY,))
    (found,) = read_fusions(_module(c1=[missing, recursive, *FUSED_OPS]))
    assert found.count == 1
    assert read_fusions(_module(c7=FUSED_OPS)) == ()  # no entry


def test_fusions_of_one_computation_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a damaged program has them."""
    read: list[str] = []
    fused_ops = Module.fused_ops

    def count_and_read(module: Module, instruction: Instruction) -> Iterator[tuple[str, ProgramFrame | None]]:
        read.append(instruction.name)
        return fused_ops(module, instruction)

    monkeypatch.setattr(Module, "fused_ops", count_and_read)
    fusions = [_instruction(number, "fusion", "jit(f)/add", 1, (FUSED,)) for number in range(1, 5000)]
    ops = [_instruction(10_000 + number, "add", "jit(f)/add", 1 + number % 2) for number in range(5000)]
    (found,) = read_fusions(_module(c1=fusions, c2=ops))
    assert (found.count, dict(found.lines)) == (4999, {FIRST: 2500, SECOND: 2500})
    assert read == ["fusion.1"]


def test_fusions_after_thousands_of_computations_are_found() -> None:
    calls = [_instruction(number, "call", called=(number,)) for number in range(2, 3000)]
    inner = {f"c{number}": [_instruction(10_000 + number, "sine", "jit(f)/sin", 1)] for number in range(2, 3000)}
    last = _instruction(20_000, "fusion", "jit(f)/add", 2, (5000,))
    assert len(read_fusions(_module(c1=[*calls, last], **inner, c5000=FUSED_OPS))) == 1


def test_shares_ignore_ops_without_a_line_and_impossible_numbers() -> None:
    assert compute_share_by_line({"a": 1, None: 5, "b": 3}) == (("b", 0.75), ("a", 0.25))
    assert compute_share_by_line({"a": 0, "b": -1}) == ()
    assert compute_share_by_line({"a": 1 << 62, "b": -(1 << 62)}) == (("a", 1.0),)
    assert compute_share_by_line({}) == ()
