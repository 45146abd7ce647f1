"""Compiled programs, as they are read: which lines their ops come from."""

from __future__ import annotations

import re
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
class Parameter:
    """An argument or a result: `type` as in `float32[3,4]`, `name` as JAX has it (`params['w']`), empty where unknown.

    `attributes` are what JAX wrote onto it, as text: shardings, donation, layouts.
    """

    type: str
    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a program takes and gives, and what tells its content from another's.

    `constants` are written as people do where they are small, else as type and digest; `code` is a digest of the ops,
    whatever lines they come from. `mesh` has the sizes of the axes that shardings name.
    """

    arguments: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    partitions: str
    replicas: str
    constants: tuple[str, ...]
    code: str
    mesh: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotedArgument:
    """An argument of a function, whether or not its program uses it; `name` is empty where it is not known."""

    name: str
    type: str
    is_weak: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """What JAX knew of a program that it had compiled.

    `name` is that of its module, such as `jit_f`, `function` the jitted function (`f`), and `defined` where that is
    (`train.py:3`); both empty where not known. `statics` are the static arguments that were given, with their values as
    text. `donated` are the places of the program's arguments that were donated.
    """

    name: str
    function: str
    defined: str
    arguments: tuple[NotedArgument, ...]
    statics: tuple[tuple[str, str], ...]
    donated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """What a program says of its lines: how many ops of each sort it has, and what of it was not read, in words."""

    name: str = ""
    ops: Mapping[ProgramOp, int] = field(default_factory=dict)
    problem: str = ""
    signature: Signature | None = None

    @property
    def function(self) -> str:
        """The name of the function that was jitted; empty: not known."""
        for op in self.ops:
            root, _, _ = op.name.partition("/")
            _, _, function = root.partition("(")
            if function and plain_name(root) == plain_name(self.name):
                return function.removesuffix(")")
        _, _, function = self.name.partition("_")
        return "<lambda>" if function == "_lambda" else function

    @property
    def defined(self) -> str:
        """Where the function is that was jitted, to tell it from others of its name; empty where no op says it."""
        name = self.function
        places = {
            (frame.path, frame.line)
            for op in self.ops
            for frame in op.frames
            if name and frame.function.rpartition(".")[2] == name
        }
        if not places:
            return ""
        path, line = min(places)
        return f"{path}:{line}" if name == "<lambda>" else path


def plain_name(name: str) -> str:
    """A name as modules have it: `jit_f` of `jit(f)`."""
    return re.sub(r"[^\w.-]", "_", name).strip("_")
