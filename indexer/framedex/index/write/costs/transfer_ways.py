"""The causes of transfers by the Python frames above them, and whether JAX's transfer guard counts them as explicit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from framedex.index.file.conventions import PYTHON_LEAF
from framedex.model import Direction

OPERAND = "operand of a call"
"""The cause of a transfer to the device of an argument of a jitted function or an op."""


@dataclass(frozen=True, slots=True)
class Way:
    """The cause of a transfer in terms of the program (empty: unknown), and whether JAX counts it as implicit."""

    how: str
    is_implicit: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """A Python function by its qualified name."""

    name: str
    path: str
    is_inside: bool  # called by the line of the program

    @property
    def is_of_jax(self) -> bool:
        return any(folder in self.path for folder in _FOLDERS)


_FOLDERS = ("/jax/_src/", "/jax/experimental/", "/jax/interpreters/")

# The functions in which jax._src.api makes a transfer explicit for the guard (`explicit_device_put_scope`).
_ASKS = {
    Direction.HOST_TO_DEVICE: frozenset({"device_put", "device_put_sharded", "device_put_replicated"}),
    Direction.DEVICE_TO_HOST: frozenset({"device_get"}),
}
_ASKS[Direction.DEVICE_TO_DEVICE] = _ASKS[Direction.HOST_TO_DEVICE]

# Frames between the program and the function that it called.
_WRAPPERS = frozenset({"api_boundary", "annotate_function", "concrete_or_error", "profiler_annotate"})

# Functions that call jitted functions and ops.
_CALLS = frozenset({"_cpp_pjit", "_cpp_pmap", "ufunc.__call__", "_defer_to_unrecognized_arg"})
_CALLING_FILES = ("/jax/_src/pjit.py", "/jax/_src/stages.py", "/jax/_src/interpreters/pxla.py", "/jax/_src/dispatch.py")

# Array methods called by Python and NumPy, by the expression in the program.
_WRITTEN = {
    "__float__": "float",
    "__int__": "int",
    "__index__": "int",
    "__bool__": "bool",
    "__complex__": "complex",
    "__repr__": "repr",
    "__str__": "str",
    "__format__": "format",
    "__array__": "NumPy",
    "__reduce__": "pickle",
    "_reconstruct_array": "pickle",
    "__deepcopy__": "deepcopy",
    "__iter__": "iteration",
    "__getitem__": "indexing",
    "__dlpack__": "dlpack",
    "_item": "item",
    "_contains": "in",
}


def way_of(connection: sqlite3.Connection, stack: int, direction: Direction) -> Way:
    """Return the cause of the transfers with this stack.

    Frames outside the line count, too: the guard is per thread.
    """
    frames = list(_python_frames(connection, stack))
    is_asked_for = any(frame.name in _ASKS[direction] and frame.is_of_jax for frame in frames)
    return Way(_how(frames, direction), bool(frames) and not is_asked_for)


def _python_frames(connection: sqlite3.Connection, stack: int) -> Iterator[_Frame]:
    """Return the Python frames of a stack, outermost first."""
    rows = connection.execute(
        "WITH RECURSIVE up(node, depth, is_inside) AS ("
        " SELECT n.id, n.depth, n.id <> n.user_node FROM stacks s"
        f" JOIN nodes n ON n.id = {PYTHON_LEAF} WHERE s.id = ?"
        " UNION ALL SELECT p.id, p.depth, up.is_inside AND p.id <> p.user_node"
        " FROM up JOIN nodes n ON n.id = up.node JOIN nodes p ON p.id = n.parent"
        ") SELECT fn.name, fn.module, up.is_inside FROM up JOIN nodes n ON n.id = up.node"
        " JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function"
        " WHERE fn.language = 'python' ORDER BY up.depth",
        (stack,),
    )
    return (_Frame(name, path, bool(is_inside)) for name, path, is_inside in rows)


def _how(frames: list[_Frame], direction: Direction) -> str:
    """Return the cause: the function of JAX that the line called, itself or through installed packages.

    If no frame is the program's own, the line is the innermost Python line, and JAX's own frames are around it.
    """
    if not frames:
        return ""
    of_jax = [frame for frame in frames if frame.is_of_jax and (frame.is_inside or frames[-1].is_of_jax)]
    for frame in of_jax:
        called = frame.name.partition(".<locals>")[0]
        if called not in _WRAPPERS:
            if called in _CALLS or called.startswith("_operator_") or frame.path.endswith(_CALLING_FILES):
                return OPERAND
            of_class, _, name = called.rpartition(".")
            return f"at[].{name}" if of_class == "_IndexUpdateRef" else _WRITTEN.get(name, name)
    return "" if direction is Direction.DEVICE_TO_HOST else OPERAND
