"""Compiled programs, as they are read: which lines their ops come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProgramFrame:
    """A line of Python that a program names: `function` is empty where the program does not say it."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class ProgramOp:
    """Ops of a program that are alike: `kind` as in `sine`, `name` as JAX has it (`jit(f)/sin`).

    `frames` are the lines by which they came, the innermost first.
    """

    kind: str
    name: str
    frames: tuple[ProgramFrame, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What a program says of its lines: how many ops of each sort it has, and what of it was not read, in words."""

    name: str = ""
    ops: Mapping[ProgramOp, int] = field(default_factory=dict)
    problem: str = ""
