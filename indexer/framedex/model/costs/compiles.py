"""Compilations, by the program lines that caused them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


class Cause(enum.Enum):
    """A change since the previous compilation of the same function."""

    SHAPE = "shape"
    DTYPE = "dtype"
    WEAK_TYPE = "weak type"
    STATIC = "static argument"
    ARGUMENTS = "arguments"  # a different number or tree structure
    SHARDING = "sharding"
    DONATION = "donation"
    LAYOUT = "layout"
    OPTIONS = "compile options"
    CONSTANTS = "constants"
    CODE = "code"  # the program's ops differ, and nothing above explains it
    SAME = "same program"  # recompiled an identical program: a new `jax.jit` wrapper or a cleared cache


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between compilations of a function.

    `what` names it (`argument 0 (x)`, `n`, `xla_cpu_enable_fast_math`). `values` has its values in readable form
    (`float32[3]`), in order of appearance, without duplicates; empty if unknown. For changed code and for an identical
    program, `what` is empty unless JAX reported the arguments and weak types and static arguments are unchanged.
    `parameter` is the name of an array argument in the program (`x`, `params['w']`). An argument without a name is
    counted from 1 (`array argument 1`). It is empty if `what` is not an argument.
    """

    cause: Cause
    what: str
    values: tuple[str, ...] = ()
    parameter: str = field(default="", compare=False)  # follows from `what`


@dataclass(frozen=True, slots=True)
class Compiles:
    """The compilations of one function that a line of the program caused; durations in ns.

    `line` is the innermost line of the program itself that led to them (None: no Python is known). `outward` has its
    callers, nearest first. `function` is the name of the jitted function (`f`, `<lambda>`), empty if unknown.
    `compiles` counts compilations, `loads` counts executables loaded from a compilation cache, `failed` counts errors
    of both. `changes` are between consecutive compilations of this function, from any line, most frequent first.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    function: str
    compiles: int
    failed: int
    total_duration: int
    longest_duration: int
    loads: int
    load_duration: int
    changes: tuple[Change, ...]
    first_call: int
    latest_call: int
    problem: str = ""
    """A sentence about missing facts of the programs."""
