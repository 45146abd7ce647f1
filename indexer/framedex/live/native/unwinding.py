"""The native frames of a stack, by the unwind tables of its binaries (`.eh_frame`).

pyelftools parses the tables. DWARF 5, section 6.4, says how a row of them leads to the caller. Signal handlers, stubs
of the PLT and functions with a realigned stack have expressions, which `expressions.py` evaluates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from elftools.dwarf.callframe import CIE, FDE, CallFrameInfo, RegisterRule
from elftools.dwarf.structs import DWARFStructs

from framedex.base.errors import SystemLimitError
from framedex.base.plaintext import make_printable
from framedex.binaries.loaded_tables import UnwindEntry
from framedex.live.native.expressions import evaluate_expression
from framedex.live.native.generated_code import find_caller
from framedex.live.native.modules import Module, Modules

_STACK_POINTER, _RETURN_ADDRESS = 7, 16  # DWARF numbers of registers
_GNU_ARGS_SIZE = 0x2E  # changes no register; pyelftools does not decode it
_MAX_FRAMES = 4096
_WORD = (1 << 64) - 1
_STRUCTS = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)

Registers = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class NativeFrame:
    """A native frame: its address, and its stack pointer, above which its locals are.

    `is_return_address`: the frame waits for a call that returns to `address`. Otherwise `address` is the
    current instruction: in the innermost frame, or in one that a signal interrupted. `module` is the binary, and
    `position` the address in the binary's file; None if unknown.
    """

    address: int
    stack_pointer: int
    is_return_address: bool
    module: Module | None
    position: int | None


@dataclass(frozen=True, slots=True)
class NativeStack:
    """Native frames, innermost first, and the reason if the walk ended before the outermost one."""

    frames: tuple[NativeFrame, ...]
    problem: str = ""


class _UnknownCallerError(Exception):
    """Raised if the caller of a frame is unknown; its text is the reason."""


@dataclass(frozen=True, slots=True)
class _UnwindTable:
    """The rows of a function by start address, and whether the function is the frame of a signal handler."""

    starts: tuple[int, ...]
    rows: tuple[Mapping[Any, Any], ...]
    is_signal_frame: bool


class Unwinder:
    """Walks the stacks of one process. The table of a function is parsed once."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._tables: dict[tuple[Module, int], _UnwindTable] = {}

    def walk(self, registers: Registers) -> NativeStack:
        """The frames of a thread with these registers."""
        frames: list[NativeFrame] = []
        try:
            for frame in self._walk_frames(registers):
                frames.append(frame)
        except _UnknownCallerError as error:
            return NativeStack(tuple(frames), str(error))
        return NativeStack(tuple(frames))

    def _walk_frames(self, registers: Registers) -> Iterator[NativeFrame]:
        is_return_address = False
        for _ in range(_MAX_FRAMES):
            frame = self._make_frame(registers, is_return_address)
            yield frame
            caller, is_return_address = self._caller_registers(frame, registers)
            if caller is None or not caller[_RETURN_ADDRESS]:
                return
            if is_return_address and caller[_STACK_POINTER] <= registers[_STACK_POINTER]:
                raise _UnknownCallerError("the stack is damaged here")
            registers = caller
        raise _UnknownCallerError(f"the stack has more than {_MAX_FRAMES:,} frames")

    def _make_frame(self, registers: Registers, is_return_address: bool) -> NativeFrame:
        address = registers[_RETURN_ADDRESS]
        module, position = self._modules.find(address - is_return_address) or (None, None)
        if is_return_address and module is not None and position is not None:
            is_return_address = not self._is_signal_frame(module, position)
            position += 1
        return NativeFrame(address, registers[_STACK_POINTER], is_return_address, module, position)

    def _is_signal_frame(self, module: Module, position: int) -> bool:
        """Whether a function is the one to which signal handlers return: the kernel "called" them from its start."""
        try:
            return self._unwind_table_at(module, position).is_signal_frame
        except (_UnknownCallerError, ValueError):
            return False

    def _caller_registers(self, frame: NativeFrame, registers: Registers) -> tuple[Registers | None, bool]:
        """The caller's registers (None: the frame is the outermost one), and whether the caller waits for a call."""
        try:
            if frame.module is None and not frame.is_return_address and not self._modules.is_mapped(frame.address):
                # A call to a bad address failed: the return address is on top of the stack.
                top = frame.stack_pointer
                return {**registers, _RETURN_ADDRESS: self._modules.word(top), _STACK_POINTER: top + 8}, True
            if frame.module is None:
                caller = find_caller(self._modules, registers, is_return_address=frame.is_return_address)
                if caller is None:
                    raise _UnknownCallerError(_describe_code(frame))
                return caller, True
            if frame.position is None:
                raise _UnknownCallerError(_describe_code(frame))
            position = frame.position - frame.is_return_address
            table = self._unwind_table_at(frame.module, position)
            row = table.rows[max(bisect_right(table.starts, position) - 1, 0)]
            return self._apply_row(row, registers), not table.is_signal_frame
        except OSError as error:
            raise _UnknownCallerError(str(error)) from error
        except (ValueError, LookupError, TypeError) as error:  # the table has a form that pyelftools does not read
            raise _UnknownCallerError(f"{_describe_code(frame)} that framedex cannot read") from error

    def _apply_row(self, row: Mapping[Any, Any], registers: Registers) -> Registers | None:
        """The registers in the caller, by a row of the table of the function; None for the outermost function.

        Raises ValueError without a stack pointer there.
        """
        rule = row["cfa"]
        cfa = (
            evaluate_expression(rule.expr, registers, self._modules) if rule.expr else registers[rule.reg] + rule.offset
        )
        caller = {**registers, _STACK_POINTER: cfa & _WORD}
        del caller[_RETURN_ADDRESS]
        for number, rule in row.items():
            if isinstance(rule, RegisterRule) and rule.type != RegisterRule.SAME_VALUE:
                value = self._apply_rule(rule, cfa, registers)
                caller.pop(number, None)
                if value is not None:
                    caller[number] = value & _WORD
        if _RETURN_ADDRESS not in caller:
            return None
        if _STACK_POINTER not in caller:
            raise ValueError("the table calls the stack pointer unknown")
        return caller

    def _apply_rule(self, rule: Any, cfa: int, registers: Registers) -> int | None:
        """The value of a register in the caller; None if the table calls it unknown."""
        if rule.type == RegisterRule.OFFSET:
            return self._modules.word(cfa + rule.arg)
        if rule.type == RegisterRule.VAL_OFFSET:
            return cfa + int(rule.arg)
        if rule.type == RegisterRule.REGISTER:
            return registers[rule.arg]
        if rule.type == RegisterRule.EXPRESSION:
            return self._modules.word(evaluate_expression(rule.arg, registers, self._modules, cfa))
        if rule.type == RegisterRule.VAL_EXPRESSION:
            return evaluate_expression(rule.arg, registers, self._modules, cfa)
        return None

    def _unwind_table_at(self, module: Module, position: int) -> _UnwindTable:
        entry = module.extents.unwind_entry(position) if module.extents is not None else None
        if entry is None:
            raise _UnknownCallerError(f"{make_printable(module.path)} has no unwind table for this function")
        key = module, entry.address
        if key not in self._tables:
            self._tables[key] = _parse_entry(entry)
        return self._tables[key]


def _parse_entry(entry: UnwindEntry) -> _UnwindTable:
    """The table of an entry. Raises ValueError if it is malformed."""
    distance = (len(entry.common) + 4).to_bytes(4, "little")  # from this field back to the common entry
    content = entry.common + entry.function[:4] + distance + entry.function[8:]
    start = entry.address - len(entry.common)  # so that relative addresses in the function's entry are right
    try:
        parsed = CallFrameInfo(BytesIO(content), len(content), start, _STRUCTS, for_eh_frame=True).get_entries()
        common, function = parsed
        assert isinstance(common, CIE) and isinstance(function, FDE)
        for each in (common, function):
            each.instructions = [step for step in each.instructions if step.opcode != _GNU_ARGS_SIZE]
        rows = tuple(function.get_decoded().table)
        return _UnwindTable(tuple(row["pc"] for row in rows), rows, b"S" in common["augmentation"])
    except (SystemLimitError, MemoryError):
        raise
    except Exception as error:  # pyelftools raises many types of errors on malformed tables
        raise ValueError(str(error)) from error


def _describe_code(frame: NativeFrame) -> str:
    """The reason why the caller of a frame is unknown."""
    if frame.module is None:
        return "it is in generated code, or in no mapped file"
    if frame.position is None:
        missing = "is missing" if frame.module.problem else "has no code at this address"
        return f"{make_printable(frame.module.path)} {missing}"
    return f"{make_printable(frame.module.path)} has an unwind table"
