"""Calls in machine code, and their arguments."""

from __future__ import annotations

import pytest

from framedex.binaries.code import FunctionCode
from framedex.binaries.machines import x86_64

_AT = 0x1000
# mov edi, 7; mov esi, 9; call +0; mov edi, 8; call rax; call +0; ret
_CODE = bytes.fromhex("bf07000000be09000000e800000000bf08000000ffd0e800000000c3")


def test_the_constants_passed_to_a_call_are_those_set_since_the_previous_call() -> None:
    code = FunctionCode(x86_64, _CODE, _AT)

    assert [call.return_address - _AT for call in code.calls] == [15, 22, 27]
    assert [code.constants_before(i) for i in range(3)] == [[7, 9], [8], []]


def test_indirect_calls_have_the_address_of_their_pointer() -> None:
    """A call through memory, one through a loaded register, and one through a register of the caller."""
    # call [rax+0x18]; mov rcx, [rdi+8]; mov esi, 1; call rcx; call rdx; ret
    code = FunctionCode(x86_64, bytes.fromhex("ff5018488b4f08be01000000ffd1ffd2c3"), _AT)

    assert [(call.target, call.slot) for call in code.calls] == [(0, 0x18), (0, 8), (0, None)]


def test_a_jump_to_another_function_is_a_call_that_does_not_return() -> None:
    """A jump within the function, one out of it, and one through a vtable."""
    # jmp +0; jmp +0x100; mov rax, [rdi]; mov rax, [rax+0x10]; jmp rax
    code = FunctionCode(x86_64, bytes.fromhex("eb00e900010000488b07488b4010ffe0"), _AT)

    assert [tuple(call) for call in code.calls] == [(0, _AT + 7 + 0x100, None), (0, 0, 0x10)]


def test_a_switch_jump_is_not_a_call() -> None:
    # movsxd rax, [rdx+rax*4]; add rax, rdx; jmp rax
    code = FunctionCode(x86_64, bytes.fromhex("48630482" + "4801d0" + "ffe0"), _AT)

    assert code.calls == []


def test_the_control_flow_has_execution_order_instead_of_memory_order() -> None:
    """je +7; call; jmp +5; call; call; ret: each of two branches has one call, and both continue to the last."""
    code = FunctionCode(x86_64, bytes.fromhex("7407e800010000eb05e800010000e800010000c3"), _AT)
    control_flow = code.control_flow
    of_call = {call: i for i, (calls, *_) in enumerate(control_flow) for call in calls}
    assert sorted(control_flow[of_call[2]][1]) == sorted([of_call[0], of_call[1]])
    assert control_flow[of_call[0]][1] == control_flow[of_call[1]][1] == [0]


def test_nothing_runs_after_a_call_that_never_returns() -> None:
    """je +5; call; call; ret: the first call never returns, so only the jump leads to the second."""
    code = FunctionCode(
        x86_64, bytes.fromhex("7405e8f9000000e8f9010000c3"), _AT, never_returns=lambda target: target == 0x1100
    )

    of_call = {call: i for i, (calls, *_) in enumerate(code.control_flow) for call in calls}
    assert [call.target for call in code.calls] == [0x1100, 0x1205]
    assert code.endless_calls == {0}
    assert of_call[0] not in code.control_flow[of_call[1]][1]


def test_passed_addresses_and_numbers_are_those_set_since_the_previous_call() -> None:
    """lea rdi,[rip+16]; xor esi,esi; push 3; call; lea rdi,[rsp+8]; call."""
    code = FunctionCode(x86_64, bytes.fromhex("488d3d1000000031f66a03e800010000488d7c2408e800010000c3"), _AT)
    assert (code.addresses_before(0), code.addresses_before(1)) == ([_AT + 23], [])
    assert code.constants_before(0) == [0, 3]


@pytest.mark.exhaustive
def test_the_number_of_followed_jump_tables_is_bounded() -> None:
    """20,000 jumps through a register, each of which could lead after any other."""
    control_flow = FunctionCode(x86_64, b"\xff\xe0" * 20_000, _AT).control_flow

    assert len(control_flow) == 20_000
    assert not any(after for _, after, _ in control_flow)
