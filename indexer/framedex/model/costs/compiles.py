"""What compiles, by the lines of the program that had it compiled."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine


class Cause(enum.Enum):
    """What is other than in the compilation of the same function before."""

    SHAPE = "shape"
    DTYPE = "dtype"
    WEAK_TYPE = "weak type"
    STATIC = "static argument"
    ARGUMENTS = "arguments"  # another number of them, or another tree
    SHARDING = "sharding"
    DONATION = "donation"
    LAYOUT = "layout"
    OPTIONS = "compile options"
    CONSTANTS = "constants"
    CODE = "code"  # the program's ops are others, and nothing above says why
    SAME = "same program"  # nothing is other in what was compiled: `jax.jit` was made anew, or its cache was cleared


@dataclass(frozen=True, slots=True)
class Change:
    """Something that compilations of a function differ in.

    `what` names it (`argument 0 (x)`, `n`, `xla_cpu_enable_fast_math`), `values` are what it was, as people write it
    (`float32[3]`), in the order in which they came, each once; empty where they are not known. Of other code and of the
    same program `what` is empty unless JAX was asked about the arguments, and weak types and static ones are as before.
    """

    cause: Cause
    what: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compiles:
    """The compilations of one function that a line of the program had made; durations in ns.

    `line` is the innermost of the program itself that led to them (None: no Python is known), `outward` those from
    which it was called, nearest first. `function` is the jitted function's name (`f`, `<lambda>`); empty: not known.
    `compiles` counts what was compiled, `loads` what came out of a compilation cache instead, `failed` those of both
    that ended with an error. `changes` are between one compilation of this function and the next, wherever each was
    made from, most first.
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
    """What is not known of the programs, as a sentence."""
