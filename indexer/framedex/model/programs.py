"""Parsed compiled programs: the source lines of their ops."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class ProgramFrame:
    """A line of Python named in a program; `function` is empty if the program omits it."""

    path: str
    line: int
    function: str


_LineT = TypeVar("_LineT", bound=Hashable)


def compute_share_by_line(ops: Mapping[_LineT | None, int]) -> tuple[tuple[_LineT, float], ...]:
    """Return the share of each line in the ops of one instruction, largest first; `ops` has the number of ops by line.

    Ops without a line do not count.
    """
    known = [(line, count) for line, count in ops.items() if line is not None and count > 0]
    total = sum(count for _, count in known)
    return tuple((line, count / total) for line, count in sorted(known, key=lambda each: -each[1]))


@dataclass(frozen=True, slots=True)
class ProgramOp:
    """Identical ops of a program: `kind` such as `sine`, `name` from JAX (`jit(f)/sin`).

    `frames` are their source lines, innermost first.
    """

    kind: str
    name: str
    frames: tuple[ProgramFrame, ...]


@dataclass(frozen=True, slots=True)
class ProgramBuffer:
    """A temporary of a program; `size` in bytes on one device.

    `instruction` of kind `opcode` defines it, with JAX's name `op` (`jit(f)/sort`; empty if XLA added it). It lives
    from step `first` to step `last` of the schedule, whose instruction is `last_instruction`. `frames` are the lines of
    its op, innermost first. `is_near`: its instruction names no line, and they belong to the nearest one that does.
    `fused` are the ops of a fusion with their lines, last one first; an op occurs as often as the fusion has it.
    """

    instruction: str
    opcode: str
    op: str
    shape: str
    size: int
    first: int
    last: int
    last_instruction: str
    frames: tuple[ProgramFrame, ...]
    fused: tuple[tuple[str, ProgramFrame | None], ...] = ()
    is_near: bool = False


@dataclass(frozen=True, slots=True)
class ProgramCollective:
    """A transfer between the devices of a program, such as an `all-gather`.

    `op` is JAX's name of the op. `shape` and `size` (bytes) are those of the result on each device. `devices` is the
    number of devices in a group (0: unknown). `is_repeated`: in a loop. `is_requested`: the op asks for a collective or
    a sharding; otherwise the compiler inserted it. `frames` are the Python frames of the op, innermost first.
    """

    opcode: str
    op: str
    shape: str
    size: int
    devices: int
    is_repeated: bool
    is_requested: bool
    frames: tuple[ProgramFrame, ...]


@dataclass(frozen=True, slots=True)
class ProgramFusion:
    """Equal fusions of a program, `count` of them: XLA computes ops of several lines in one instruction.

    `instruction` is the first of them, with JAX's name `op` (`jit(f)/add`; empty if XLA added it). `lines` are the
    lines of its ops, each with their number.
    """

    instruction: str
    op: str
    count: int
    lines: tuple[tuple[ProgramFrame, int], ...]


@dataclass(frozen=True, slots=True)
class ProgramMemory:
    """The temporaries of a program on one device: those alive at their peak, largest first; sizes in bytes.

    `is_exact`: the compiler reported sizes and places; otherwise they follow from the shapes. `peak_step` of `steps` is
    the step of the schedule with the peak. `over_time` has points (step, live bytes), including the peak.
    """

    is_exact: bool
    peak: int
    peak_step: int
    steps: int
    over_time: tuple[tuple[int, int], ...]
    buffers: tuple[ProgramBuffer, ...]
    collectives: tuple[ProgramCollective, ...] = ()
    """The transfers between devices, in the order of the schedule."""
    fusions: tuple[ProgramFusion, ...] = ()
    """The fusions with ops of several lines, those with the most ops first."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument or result: `type` such as `float32[3,4]`, `name` from JAX (`params['w']`), empty if unknown.

    `attributes` are JAX's attributes as text: shardings, donation, layouts.
    """

    type: str
    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments and results of a program, and digests that distinguish its content from another program's.

    `constants` are values in readable form if small, otherwise type and digest. `code` is a digest of the ops that
    ignores source lines. `mesh` has the sizes of the axes named in shardings. `object_ids` are the ids of Python
    objects in the ops, which differ in each process; `code` ignores them.
    """

    arguments: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    partitions: str
    replicas: str
    constants: tuple[str, ...]
    code: str
    mesh: Mapping[str, int] = field(default_factory=dict)
    object_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteArgument:
    """An argument of a function, used by its program or not; `name` is empty if unknown."""

    name: str
    type: str
    is_weak: bool


KEY_KINDS = ("function", "parameter", "setting", "static argument", "static data", "structure", "usual setting")
"""The kinds of `CompileNote.keys`, as native/framedex_native/ffi/trace_keys.py writes them."""

REST_OF_ARGUMENTS = ("structure", "all arguments")
"""The kind and the subject of the hash of arguments that are too large to record; it differs between processes."""


@dataclass(frozen=True, slots=True)
class CompileNote:
    """JAX's facts about a program that it compiled.

    `name` is the module's name, such as `jit_f`. `function` is the jitted function (`f`), and `defined` its location
    (`train.py:3`); both are empty if unknown. `statics` are the static arguments, with their values as text. `donated`
    has the indices of the donated arguments. `keys` are the other facts that JAX's tracing cache compares, as (kind,
    subject, value), of the kinds in native/framedex_native/ffi/trace_keys.py; None in older captures and JAX versions.
    `cache_key` has the parts of the key in JAX's persistent cache, with a hash of each; empty if that cache was not
    used. JAX stores programs that take at least `cache_minimum_s` seconds to compile.
    """

    name: str
    function: str
    defined: str
    arguments: tuple[NoteArgument, ...]
    statics: tuple[tuple[str, str], ...]
    donated: tuple[int, ...] = ()
    keys: tuple[tuple[str, str, str], ...] | None = None
    cache_key: tuple[tuple[str, str], ...] = ()
    cache_minimum_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """The ops of a program, with the number of each, and `problem`, a sentence about its unreadable parts."""

    name: str = ""
    ops: Mapping[ProgramOp, int] = field(default_factory=dict)
    problem: str = ""
    signature: Signature | None = None

    @property
    def function(self) -> str:
        """The name of the jitted function; empty if unknown."""
        for op in self.ops:
            root, _, _ = op.name.partition("/")
            _, _, function = root.partition("(")
            if function and to_module_name(root) == to_module_name(self.name):
                return function.removesuffix(")")
        _, _, function = self.name.partition("_")
        return "<lambda>" if function == "_lambda" else function

    @property
    def defined(self) -> str:
        """The definition of the jitted function, to distinguish it from namesakes; empty if no op names it."""
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


def to_module_name(name: str) -> str:
    """Convert a name to a module's form: `jit(f)` becomes `jit_f`."""
    return re.sub(r"[^\w.-]", "_", name).strip("_")
