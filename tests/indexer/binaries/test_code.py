"""Calls in machine code, and what is passed to them."""

from __future__ import annotations

from framedex.binaries.code import FunctionCode

_AT = 0x1000
# mov edi, 7; mov esi, 9; call +0; mov edi, 8; call rax; call +0; ret
_CODE = bytes.fromhex("bf07000000be09000000e800000000bf08000000ffd0e800000000c3")


def test_the_numbers_passed_to_a_call_are_those_set_since_the_one_before() -> None:
    code = FunctionCode(_CODE, _AT)

    assert [returns_to - _AT for returns_to, _ in code.calls] == [15, 22, 27]
    assert [code.numbers(i) for i in range(3)] == [[7, 9], [8], []]
