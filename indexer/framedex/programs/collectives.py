"""The collectives of an optimised program: transfers between the devices that run it.

Users ask for some of them (`jax.lax.psum`). XLA's SPMD partitioner inserts the others where shardings do not match.
Source: the opcodes in xla/hlo/ir/hlo_opcode.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, islice

from framedex.model.programs import ProgramCollective
from framedex.programs.hlo import COLLECTIVE_OPCODES, MAX_DEPTH, Computation, Instruction, Module, Shape

MAX_COLLECTIVES = 2_000
"""The maximum number of reported collectives of one program, in the order of its schedule."""

_CALLING_OPCODES = frozenset({"while", "conditional", "call", "async-start", "fusion"})
_MAX_USERS = 50  # instructions searched for a line
_REQUESTED_OPS = frozenset(
    {
        *("psum", "psum2", "psum_invariant", "pmax", "pmin", "pmean", "ppermute", "pbroadcast", "pgather"),
        *("all_gather", "all_gather_invariant", "all_gather_reduced", "all_to_all", "ragged_all_to_all"),
        *("reduce_scatter", "psum_scatter", "sharding_constraint", "reshard", "mesh_cast", "psend", "precv"),
        *("unreduced_psum", "unreduced_pmax", "unreduced_pmin", "unreduced_reduce_scatter", "pbroadcast_dynamic"),
    }
)
"""The primitives in JAX's op names by which a line asks for a collective. Asynchronous ones have a suffix."""
_ASYNCHRONOUS = re.compile("_(?:start|done)$")


def read_collectives(module: Module) -> tuple[ProgramCollective, ...]:
    """Return the collectives of a program."""
    found: list[ProgramCollective] = []
    for computation, instruction, is_repeated in _iterate(module, module.entry, is_repeated=False, seen=set()):
        if len(found) == MAX_COLLECTIVES:
            break
        result = _result_shape(instruction)
        found.append(
            ProgramCollective(
                opcode=instruction.opcode.removesuffix("-start"),
                op=instruction.op,
                shape=str(result),
                size=result.size,
                devices=instruction.group_size,
                is_repeated=is_repeated,
                is_requested=_ASYNCHRONOUS.sub("", instruction.op.rpartition("/")[2]) in _REQUESTED_OPS,
                frames=module.frames.stack(instruction.frame or _find_user_frame(computation, instruction)),
            )
        )
    return tuple(found)


def _result_shape(collective: Instruction) -> Shape:
    """Return the shape of the result. In these asynchronous opcodes it follows the operand's shape."""
    parts = collective.shape.parts
    is_second = collective.opcode in ("all-gather-start", "collective-permute-start") and len(parts) > 1
    return parts[1] if is_second else collective.shape


def _iterate(
    module: Module, computation: Computation | None, *, is_repeated: bool, seen: set[int]
) -> Iterator[tuple[Computation, Instruction, bool]]:
    """Yield each collective that a computation runs, with its own computation, and whether a loop repeats it."""
    if computation is None or len(seen) >= MAX_DEPTH or id(computation) in seen:
        return
    seen.add(id(computation))
    for instruction in computation.instructions.values():
        if instruction.opcode.removesuffix("-start") in COLLECTIVE_OPCODES:
            yield computation, instruction, is_repeated
        elif instruction.opcode in _CALLING_OPCODES:
            is_loop = is_repeated or instruction.opcode == "while"
            for called in instruction.called:
                yield from _iterate(module, module.computations.get(called), is_repeated=is_loop, seen=seen)


def _find_user_frame(computation: Computation, collective: Instruction) -> int:
    """Return the frame of the first op that uses the result; 0 if none. A collective of an argument has none."""
    needed = {collective.id}
    later = dropwhile(lambda each: each.id != collective.id, computation.instructions.values())
    for instruction in islice(later, 1, _MAX_USERS):
        if not needed.isdisjoint(instruction.operands):
            if instruction.frame:
                return instruction.frame
            needed.add(instruction.id)
    return 0
