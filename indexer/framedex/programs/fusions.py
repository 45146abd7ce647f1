"""The fusions of an optimised program: XLA computes the ops of several lines in one instruction."""

from __future__ import annotations

from collections import Counter

from framedex.model.programs import ProgramFrame, ProgramFusion
from framedex.programs.hlo import Module

MAX_FUSIONS = 2_000
"""The maximum number of reported kinds of fusions of one program: those with the most ops."""

_Kind = tuple[str, frozenset[tuple[ProgramFrame, int]]]  # JAX's name of the op, and the lines with their number of ops


def read_fusions(module: Module) -> tuple[ProgramFusion, ...]:
    """Return the fusions with ops of several lines; equal ones, such as those of each layer, are counted together."""
    first: dict[_Kind, str] = {}
    counts: Counter[_Kind] = Counter()
    known: dict[int, frozenset[tuple[ProgramFrame, int]]] = {}  # in a damaged program, fusions may share a computation
    for _, instruction, _ in module.executed_instructions(with_fused=False):
        if instruction.opcode != "fusion" or len(instruction.called) != 1:
            continue
        (called,) = instruction.called
        if called not in known:
            frames = (frame for _, frame in module.fused_ops(instruction) if frame is not None)
            known[called] = frozenset(Counter(frames).items())
        if len(known[called]) > 1:
            kind = instruction.op, known[called]
            first.setdefault(kind, instruction.name)
            counts[kind] += 1
    found = [
        ProgramFusion(first[kind], kind[0], count, tuple(sorted(kind[1], key=lambda line: (-line[1], line[0].line))))
        for kind, count in counts.items()
    ]
    found.sort(key=lambda fusion: -fusion.count * sum(ops for _, ops in fusion.lines))
    return tuple(found[:MAX_FUSIONS])
