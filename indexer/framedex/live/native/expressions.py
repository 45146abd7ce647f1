"""DWARF expressions in unwind tables (DWARF 5, section 2.5): the operations that compilers and libraries use there."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from elftools.dwarf.dwarf_expr import DWARFExprOp, DWARFExprParser
from elftools.dwarf.structs import DWARFStructs

from framedex.live.memory import Memory

_WORD = (1 << 64) - 1
_PARSER = DWARFExprParser(DWARFStructs(little_endian=True, dwarf_format=32, address_size=8))


def _to_signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "plus": operator.add,
    "minus": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "mul": operator.mul,
    "shl": lambda left, right: left << min(right, 64),
    "shr": lambda left, right: left >> min(right, 64),
    "eq": operator.eq,
    "ne": operator.ne,
    "ge": lambda left, right: _to_signed(left) >= _to_signed(right),
    "gt": lambda left, right: _to_signed(left) > _to_signed(right),
    "le": lambda left, right: _to_signed(left) <= _to_signed(right),
    "lt": lambda left, right: _to_signed(left) < _to_signed(right),
}


def evaluate_expression(expression: Sequence[int], registers: Mapping[int, int], memory: Memory, *initial: int) -> int:
    """The value of an expression. `initial` is on its stack at the start.

    Raises ValueError for another operation or a malformed expression, LookupError for an unknown register or an empty
    stack, and OSError for memory that is not mapped.
    """
    stack = list(initial)
    for operation in _parse_operations(expression):
        name, arguments = operation.op_name.removeprefix("DW_OP_"), operation.args
        if name.startswith("breg") and name != "bregx":
            value = registers[int(name.removeprefix("breg"))] + arguments[0]
        elif name.startswith("lit"):
            value = int(name.removeprefix("lit"))
        elif name.startswith("const"):
            value = arguments[0]
        elif name == "plus_uconst":
            value = stack.pop() + arguments[0]
        elif name == "deref":
            value = memory.word(stack.pop())
        elif name in _BINARY:
            right, left = stack.pop(), stack.pop()
            value = int(_BINARY[name](left, right))
        else:
            raise ValueError(f"the expression has {operation.op_name}")
        stack.append(value & _WORD)
    return stack[-1]


def _parse_operations(expression: Sequence[int]) -> Sequence[DWARFExprOp]:
    """The operations of an expression. Raises ValueError if it is malformed."""
    try:
        operations: Sequence[DWARFExprOp] = _PARSER.parse_expr(list(expression))
    except MemoryError:
        raise
    except Exception as error:  # pyelftools raises many types of errors on malformed expressions
        raise ValueError(str(error)) from error
    return operations
