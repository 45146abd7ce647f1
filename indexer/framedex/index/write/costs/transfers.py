"""Write the transfers between host and devices of a capture's calls, with their causes.

The cause is the function of JAX that the program line called. It also decides whether JAX's transfer guard counts the
transfer as explicit.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, build_json_list
from framedex.index.write.bulk_rows import NULL, Integers
from framedex.index.write.calls import CallWriter
from framedex.index.write.costs.pieces import MAX_BYTES
from framedex.index.write.records import CaptureRecord
from framedex.index.write.tree import StackTree
from framedex.model import CallBatch, TransferDirection
from framedex.programs.objects.moves import MOVES, FunctionTransfer

_ALLOCATE = "DeviceMemory::Allocate"  # of the mock TPU
_SIZE_QUERY = '"dst": null'  # the arguments of a `PJRT_Buffer_ToHostBuffer` that only queries the size
_ADD_TO_TRANSFER = (
    "UPDATE transfers SET calls = calls + ?2, duration = duration + ?3, sized = sized + ?4, bytes = bytes + ?5,"
    " first_call = min(first_call, ?6), latest_call = max(latest_call, ?7) WHERE kind = ?1"
)


class TransferWriter:
    """Writes the transfers of one capture. Its calls begin at the id `first`."""

    def __init__(
        self, connection: sqlite3.Connection, tree: StackTree, capture: int, first: int, record: CaptureRecord
    ) -> None:
        self._connection = connection
        self._causes = _TransferCauses(connection, tree)
        self._capture = capture
        self._first = first
        self._record = record
        self._moves: list[FunctionTransfer | None] = []  # of each kind of the stream; None: not a transfer
        self._allocates: list[bool] = []  # of each kind of the stream
        # For the mock TPU's allocations in the last two batches: the enclosing call, and the arguments.
        self._allocations = [np.empty((2, 0), np.int64)] * 2
        query = "SELECT kind FROM transfers WHERE capture = ?"
        self._known_kinds = {kind for (kind,) in connection.execute(query, (capture,))}

    def register_batch(self, batch: CallBatch) -> None:
        """Remember the kinds of a batch, because later batches refer to them."""
        for kind in batch.kinds:
            name = self._record.capture.functions[kind.function].name
            self._moves.append(MOVES.get(name) if kind.error == 0 else None)
            self._allocates.append(name == _ALLOCATE and kind.error == 0)

    def extend(self, record: CaptureRecord) -> None:
        """Continue with a capture that has more functions."""
        self._record = record

    def add(self, batch: CallBatch, kinds: Integers, calls: CallWriter) -> None:
        """Write the transfers of a batch, whose calls and objects must be written.

        `kinds` are the kinds of its calls.
        """
        self.register_batch(batch)
        moves = np.array([move is not None for move in self._moves], bool)
        rows = np.flatnonzero(moves[batch.kind])
        changed = batch.changed.reshape(-1, 4)
        changed = changed[moves[changed[:, 1]]]  # calls that returned after they were written
        self._add_calls(
            _CallColumns(
                row=np.concatenate([batch.first + rows, changed[:, 0]]),
                stream_kind=np.concatenate([batch.kind[rows], changed[:, 1]]),
                kind=np.concatenate([kinds[rows], [calls.find_kind_id(kind) for kind in changed[:, 1].tolist()]]),
                duration=np.concatenate([np.maximum(batch.duration[rows], 0), changed[:, 2]]),
                argument=np.concatenate([batch.argument[rows], changed[:, 3]]),
            ),
            calls,
        )
        self._add_sizes_of_copies(batch, calls)

    def _add_calls(self, found: _CallColumns, calls: CallWriter) -> None:
        if not len(found.row):
            return
        numbers, of_call = np.unique(found.argument, return_inverse=True)
        texts = calls.read_argument_texts(numbers)
        is_wanted = np.array([_SIZE_QUERY not in text for text in texts], bool)[of_call]
        wanted = np.flatnonzero(is_wanted)
        order = wanted[np.argsort(found.stream_kind[wanted], kind="stable")]
        ends = np.flatnonzero(np.diff(found.stream_kind[order], append=-1)) + 1
        for of_kind in np.split(order, ends)[:-1]:
            move = self._moves[found.stream_kind[of_kind[0]]]
            assert move is not None
            used, of_used = np.unique(of_call[of_kind], return_inverse=True)
            size = _parse_sizes([texts[number] for number in used.tolist()], move.size)[of_used]
            row = found.row[of_kind]
            self._add_to_kind(
                int(found.kind[of_kind[0]]),
                move,
                (len(of_kind), int(found.duration[of_kind].sum()), int((size >= 0).sum()), int(size[size >= 0].sum())),
                (self._first + int(np.min(row)), self._first + int(np.max(row))),
            )

    def _add_to_kind(
        self, kind: int, move: FunctionTransfer, sums: tuple[int, int, int, int], first_and_latest: tuple[int, int]
    ) -> None:
        if kind not in self._known_kinds:
            self._known_kinds.add(kind)
            query = "SELECT stack FROM call_kinds WHERE id = ?"
            (stack,) = self._connection.execute(query, (kind,)).fetchone()
            way = self._causes.find(stack, move.direction)
            self._connection.execute(
                "INSERT INTO transfers(kind, capture, direction, how, is_implicit, calls, duration, sized, bytes,"
                " first_call, latest_call) VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, ?, ?)",
                (kind, self._capture, move.direction.value, way.description, way.is_implicit, *first_and_latest),
            )
        self._connection.execute(_ADD_TO_TRANSFER, (kind, *sums, *first_and_latest))

    # A copy between devices has the size of the new buffer

    def _add_sizes_of_copies(self, batch: CallBatch, calls: CallWriter) -> None:
        made = np.flatnonzero(np.array(self._allocates, bool)[batch.kind] & (batch.inside > 0) & (batch.argument >= 0))
        allocated = np.stack([batch.first + made - batch.inside[made], batch.argument[made]])
        self._allocations = [self._allocations[-1], allocated]
        objects = batch.objects
        if "buffer" not in batch.types or not len(objects.place):
            return
        copies = np.array([move is not None and not move.size for move in self._moves], bool)
        is_new = (objects.type == batch.types.index("buffer")) & (objects.created_kind >= 0)
        is_copy = np.flatnonzero(is_new & copies[np.maximum(objects.created_kind, 0)])
        allocation_sizes = self._read_allocation_sizes(objects.created_call[is_copy[objects.size[is_copy] < 0]], calls)
        sizes: dict[int, list[int]] = {}
        for position in is_copy.tolist():
            size = int(objects.size[position])
            size = size if size >= 0 else allocation_sizes.get(int(objects.created_call[position]), -1)
            if 0 <= size <= MAX_BYTES:
                sizes.setdefault(calls.find_kind_id(int(objects.created_kind[position])), []).append(size)
        self._connection.executemany(
            "UPDATE transfers SET sized = sized + ?, bytes = bytes + ? WHERE kind = ?",
            [(len(of_kind), sum(of_kind), kind) for kind, of_kind in sizes.items()],
        )

    def _read_allocation_sizes(self, rows: Integers, calls: CallWriter) -> Mapping[int, int]:
        """Return the size of the mock TPU's first allocation in each of these calls, in bytes, if there is one."""
        call, argument = np.concatenate(self._allocations, axis=1)
        found = np.flatnonzero(np.isin(call, rows))[::-1]
        return dict(
            zip(
                call[found].tolist(),
                _parse_sizes(calls.read_argument_texts(argument[found]), "bytes").tolist(),
                strict=True,
            )
        )


@dataclass(frozen=True, slots=True)
class _CallColumns:
    """Calls in columns: rows of the capture's calls, their kinds in the stream and in the index, durations in ns."""

    row: Integers
    stream_kind: Integers
    kind: Integers
    duration: Integers
    argument: Integers


def _parse_sizes(texts: Iterable[str], name: str) -> Integers:
    """Return the bytes in arguments under this name; NULL if missing."""
    pattern = re.compile(rf'"{re.escape(name)}": (\d{{1,14}})[,}}]') if name else None
    matches = [pattern.search(text) if pattern else None for text in texts]
    sizes = np.array([int(each[1]) if each else NULL for each in matches], np.int64)
    return np.where(sizes <= MAX_BYTES, sizes, NULL)


def delete_transfers(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the transfers of a capture."""
    connection.execute("DELETE FROM transfers WHERE capture = ?", (capture,))


OPERAND = "operand of a call"
"""The cause of a transfer to the device if an argument of a jitted function or an op is transferred."""


@dataclass(frozen=True, slots=True)
class TransferCause:
    """The cause of a transfer in terms of the program (empty: unknown), and whether JAX counts it as implicit."""

    description: str
    is_implicit: bool


@dataclass(frozen=True, slots=True)
class _PythonFunction:
    """A Python function by its qualified name."""

    name: str
    path: str
    is_inside: bool  # called by the line of the program

    @property
    def is_of_jax(self) -> bool:
        return any(folder in self.path for folder in _FOLDERS)


_FOLDERS = ("/jax/_src/", "/jax/experimental/", "/jax/interpreters/")

# The functions in which jax._src.api makes a transfer explicit for the guard (`explicit_device_put_scope`).
_EXPLICIT_FUNCTIONS = {
    TransferDirection.HOST_TO_DEVICE: frozenset({"device_put", "device_put_sharded", "device_put_replicated"}),
    TransferDirection.DEVICE_TO_HOST: frozenset({"device_get"}),
}
_EXPLICIT_FUNCTIONS[TransferDirection.DEVICE_TO_DEVICE] = _EXPLICIT_FUNCTIONS[TransferDirection.HOST_TO_DEVICE]

# Wrappers between the program and the JAX function that it called.
_WRAPPERS = frozenset({"api_boundary", "annotate_function", "concrete_or_error", "profiler_annotate"})

# Functions and files of JAX that call jitted functions and ops.
_JIT_CALLERS = frozenset({"_cpp_pjit", "_cpp_pmap", "ufunc.__call__", "_defer_to_unrecognized_arg"})
_JIT_CALLER_FILES = (
    "/jax/_src/pjit.py",
    "/jax/_src/stages.py",
    "/jax/_src/interpreters/pxla.py",
    "/jax/_src/dispatch.py",
)

# The expressions in the program that make Python or NumPy call a method of an array.
_EXPRESSIONS = {
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


class _TransferCauses:
    """Finds the causes of transfers by their stacks."""

    def __init__(self, connection: sqlite3.Connection, tree: StackTree) -> None:
        self._connection = connection
        self._tree = tree
        self._functions: dict[int, tuple[str, str] | None] = {}  # name and module by frame; None: not Python

    def find(self, stack: int, direction: TransferDirection) -> TransferCause:
        """Return the cause of the transfers with this stack.

        The guard is per thread, so frames outside of the line matter too.
        """
        frames = self._read_python_frames(stack)
        is_asked_for = any(frame.name in _EXPLICIT_FUNCTIONS[direction] and frame.is_of_jax for frame in frames)
        return TransferCause(_describe_cause(frames, direction), bool(frames) and not is_asked_for)

    def _read_python_frames(self, stack: int) -> list[_PythonFunction]:
        """Return the Python frames of a stack, outermost first."""
        query = f"SELECT n.id, n.user_node FROM stacks s JOIN nodes n ON n.id = {PYTHON_LEAF} WHERE s.id = ?"
        leaf, user = self._connection.execute(query, (stack,)).fetchone() or (0, 0)
        path = self._tree.nodes.path_to(leaf)
        line = path.index(user) if user else -1
        frames = self._tree.nodes.frame[path].tolist()
        self._read_functions({*frames} - self._functions.keys())
        found = enumerate(map(self._functions.__getitem__, frames))
        return [_PythonFunction(*function, position > line) for position, function in found if function is not None]

    def _read_functions(self, frames: set[int]) -> None:
        if not frames:
            return
        query = (
            "SELECT fr.id, fn.name, fn.module FROM frames fr JOIN functions fn ON fn.id = fr.function"
            f" WHERE fn.language = 'python' AND fr.id {IN_JSON}"
        )
        self._functions |= dict.fromkeys(frames)
        for frame, *function in self._connection.execute(query, (build_json_list(frames),)):
            self._functions[frame] = (function[0], function[1])


def _describe_cause(frames: list[_PythonFunction], direction: TransferDirection) -> str:
    """Return the function of JAX that the line called, directly or through installed packages.

    If no frame belongs to the program itself, the line is the innermost Python line, inside JAX's own frames.
    """
    if not frames:
        return ""
    of_jax = [frame for frame in frames if frame.is_of_jax and (frame.is_inside or frames[-1].is_of_jax)]
    for frame in of_jax:
        called = frame.name.partition(".<locals>")[0]
        if called not in _WRAPPERS:
            if called in _JIT_CALLERS or called.startswith("_operator_") or frame.path.endswith(_JIT_CALLER_FILES):
                return OPERAND
            of_class, _, name = called.rpartition(".")
            return f"at[].{name}" if of_class == "_IndexUpdateRef" else _EXPRESSIONS.get(name, name)
    return "" if direction is TransferDirection.DEVICE_TO_HOST else OPERAND
