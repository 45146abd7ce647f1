"""Calls in AArch64 machine code, their arguments, and the functions behind stubs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from framedex.binaries.binary import Binary
from framedex.binaries.code import FunctionCode
from framedex.binaries.machines import aarch64, x86_64
from framedex.binaries.machines.control_flow import ControlFlow
from framedex.binaries.machines.linkage import find_relative_targets, find_stub_pointer

_AT = 0x1000
_COMPILER = "aarch64-linux-gnu-gcc"
_SOURCE = """
typedef struct { long unused; void (*first)(int); void (*second)(int, const char*); } Table;
void outside(int, const char*);
int number(int);
void abort(void);
__attribute__((noinline)) static int inside(int x) { return x * 3 + number(x); }
int calls(Table* table, int n) {
  table->second(4711, "text");
  if (n > 3) outside(70000, "hello");
  table->first(0);
  return inside(n);
}
int cases(int n) {
  switch (n) {
    case 0: outside(11, "a"); break;
    case 1: outside(12, "b"); break;
    case 2: outside(13, "c"); break;
    case 3: number(14); break;
    case 4: outside(15, "d"); break;
    case 5: number(16); break;
    default: abort();
  }
  return n;
}
"""


def code(*words: int) -> FunctionCode:
    """A function of these instructions."""
    return FunctionCode(aarch64, _bytes(*words), _AT)


def _bytes(*words: int) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def test_the_kinds_of_control_flow_are_those_of_iced() -> None:
    names = {"nop": "90", "call": "e800000000", "jump": "eb00", "branch": "7400", "return": "c3", "indirect": "ffd0"}
    found = {name: next(iter(x86_64.decode(bytes.fromhex(code), 0))).flow_control for name, code in names.items()}

    assert found == {
        "nop": ControlFlow.NEXT,
        "call": ControlFlow.CALL,
        "jump": ControlFlow.UNCONDITIONAL_BRANCH,
        "branch": ControlFlow.CONDITIONAL_BRANCH,
        "return": ControlFlow.RETURN,
        "indirect": ControlFlow.INDIRECT_CALL,
    }


def test_direct_and_indirect_calls() -> None:
    """bl; ldr x8, [x0]; ldr x8, [x8, #16]; blr x8; blr x3; b, out of the function."""
    found = code(0x94000040, 0xF9400008, 0xF9400908, 0xD63F0100, 0xD63F0060, 0x14000100)

    assert [tuple(call) for call in found.calls] == [
        (_AT + 4, _AT + 0x100, None),
        (_AT + 16, 0, 16),
        (_AT + 20, 0, None),
        (0, _AT + 20 + 0x400, None),
    ]


def test_a_pointer_loaded_before_a_call_that_overwrites_it_is_unknown() -> None:
    """ldr x8, [x0, #8]; bl; blr x8."""
    assert [call.slot for call in code(0xF9400408, 0x94000040, 0xD63F0100).calls] == [None, None]


def test_an_offset_in_a_page_is_not_a_slot() -> None:
    """adrp x19, +0x2000; ldr x8, [x19, #8]; blr x8; then, with an unknown x20: ldr x8, [x20, #8]; blr x8."""
    found = code(0xD0000013, 0xF9400668, 0xD63F0100, 0xF9400688, 0xD63F0100)

    assert [(call.target, call.slot) for call in found.calls] == [(0, None), (0, None)]


def test_constants_and_addresses_of_a_call() -> None:
    """mov w0, #4464; movk w0, #1, lsl #16; mov w1, #-1; adrp x2, +0x1000; add x2, x2, #0x10; str wzr, [sp]; bl."""
    found = code(0x52822E00, 0x72A00020, 0x12800001, 0xB0000002, 0x91004042, 0xB90003FF, 0x94000040)

    assert found.constants_before(0) == [70000, 0xFFFFFFFF, 0]
    assert found.addresses_before(0) == [0x2010]


def test_constants_with_a_pattern_of_ones() -> None:
    """mov w1, #0x10001; mov x2, #0x5555555555555555; bl."""
    assert code(0x320083E1, 0xB200F3E2, 0x94000040).constants_before(0) == [0x10001, 0x55555555]


def test_a_store_keeps_a_pointer() -> None:
    """ldr x8, [x0, #16]; stlur x8, [x1]; blr x8."""
    assert [call.slot for call in code(0xF9400808, 0xD9000028, 0xD63F0100).calls] == [16]


def test_nothing_runs_after_a_trap() -> None:
    """cbz w0, +8; brk; bl; ret."""
    assert [calls for calls, *_ in code(0x34000040, 0xD4200020, 0x94000040, 0xD65F03C0).control_flow if calls] == [
        range(1)
    ]


@pytest.mark.parametrize("landing", [(), (0xD503245F,)])
def test_a_stub_leads_to_its_pointer(landing: tuple[int, ...]) -> None:
    """With and without `bti c`: adrp x16, +0x1f000; ldr x17, [x16, #0xfa0]; add x16, x16, #0xfa0; br x17."""
    stub = _bytes(*landing, 0xF00000F0, 0xF947D211, 0x913E8210, 0xD61F0220)

    assert find_stub_pointer("aarch64", stub, _AT) == 0x20FA0
    assert find_stub_pointer("aarch64", _bytes(0xD65F03C0), _AT) is None
    assert 0x20FA0 in find_relative_targets("aarch64", stub, _AT)


@pytest.mark.skipif(not shutil.which(_COMPILER), reason="no cross compiler: apt-get install g++-aarch64-linux-gnu")
@pytest.mark.parametrize("options", [(), ("-fno-plt", "-mbranch-protection=standard")])
def test_calls_of_a_real_library(tmp_path: Path, options: tuple[str, ...]) -> None:
    source, library = tmp_path / "calls.c", tmp_path / "libcalls.so"
    source.write_text(_SOURCE)
    subprocess.run([_COMPILER, "-O2", "-shared", "-fPIC", *options, str(source), "-o", str(library)], check=True)
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True
    ).stdout
    starts = {name: int(address, 16) for address, kind, name in map(str.split, listed.splitlines()) if kind == "T"}
    binary = Binary.open(library)

    def described(name: str) -> list[tuple[str, int | None, list[int], list[bytes]]]:
        found = binary.code_around(starts[name])
        assert found is not None
        return [
            (
                binary.function_at(call.target),
                call.slot,
                found.constants_before(i),
                [binary.text_at(each) for each in found.addresses_before(i)],
            )
            for i, call in enumerate(found.calls)
        ]

    calls = described("calls")
    assert calls[0] == ("", 16, [4711], [b"text"])
    assert ("outside", None, [70000], [b"hello"]) in calls
    assert {(name, slot) for name, slot, *_ in calls[1:]} == {("outside", None), ("", 8), ("inside", None)}
    cases = described("cases")
    assert {(numbers[0], texts[0]) for name, _, numbers, texts in cases if name == "outside"} == {
        *((11, b"a"), (12, b"b"), (13, b"c"), (15, b"d"))
    }
    assert sorted(numbers for name, _, numbers, _ in cases if name == "number") == [[14], [16]]
    assert "abort" in {name for name, *_ in cases}
