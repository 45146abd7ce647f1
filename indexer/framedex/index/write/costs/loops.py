"""Find the iterations of the `for` and `while` loops in a program's own functions, from the calls made in them.

A capture does not record jumps, so the order of a thread's calls decides. Within one iteration the statements of a
loop's body run in the order of their lines. So a call begins a new iteration if its statement is before the previous
call's. A repeated call from the same statement is ambiguous if a frame on its stack can repeat it within an iteration.
A comprehension and `jax.tree.map` are such frames. A loop is omitted if ambiguous calls hide its iterations, or if its
local source differs from the recorded source.
"""

from __future__ import annotations

import enum
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.program_code import CodeFrame, ProgramCode, PythonPath
from framedex.index.write.costs.timeline import KindColumns
from framedex.index.write.programs import COMPILE_FUNCTIONS, EXECUTE_FUNCTION, LOAD_FUNCTIONS
from framedex.model import TransferDirection
from framedex.programs.objects.moves import MOVES
from framedex.sources.python_syntax import SourceLoop, StatementBlock

MIN_ROUNDS = 4
"""The minimum number of iterations of a stored loop."""

_MAX_AMBIGUOUS_ROUNDS = 2  # the maximum number of iterations with calls that may begin one, as during a compilation
_MIN_REGULAR_SHARE = 0.9  # the minimum fraction of the iterations with equal counts
_MAX_LOOPS = 500  # the maximum number of loops examined per thread: those with the most calls
_TRANSFER_FIELDS = re.compile(r'"(?:type|dims|device|memory|bytes|transfer_size)": (?:"[^"]*"|\[[^\]]*\]|[^,}]*)')
_SEND_FUNCTIONS = frozenset(name for name, move in MOVES.items() if move.direction is TransferDirection.HOST_TO_DEVICE)
_FETCH_FUNCTIONS = frozenset(name for name, move in MOVES.items() if move.direction is TransferDirection.DEVICE_TO_HOST)
_Booleans = npt.NDArray[np.bool_]
LoopKey = tuple[tuple[int, ...], int, int]  # the frames outside the loop's function, the function, and the loop's line


@dataclass(frozen=True, slots=True)
class LoopRounds:
    """The iterations of a loop on a thread, in order: the first call of each, its start and its end (ns).

    `node` is the loop's frame in the tree, at the first statement that most iterations pass. A statement that is not
    itself a loop is preferred. `key` is the same on each thread.
    """

    key: LoopKey
    thread: int
    node: int
    call: Integers
    start: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.call)

    @property
    def duration(self) -> int:
        """Return the total duration of all iterations, ns."""
        return int((self.end - self.start).sum())


@dataclass(frozen=True, slots=True)
class ThreadEvents:
    """The calls and waits of a thread, in order of start: their kinds, their start and end (ns), and their arguments.

    Events with `is_gap` are waits after a call. They never begin an iteration.
    """

    kind: Integers
    start: Integers
    end: Integers
    call: Integers
    arguments: Integers
    is_gap: _Booleans

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, rows: Integers) -> ThreadEvents:
        return ThreadEvents(*(getattr(self, name)[rows] for name in self.__slots__))


class _StepRelation(enum.Enum):
    """The relation of a call to the previous call of the same loop."""

    SAME = "the same iteration"
    NEXT = "the next iteration"
    AMBIGUOUS = "either"
    SENT = "the next iteration, if the same array was sent to the same device before"


@dataclass(slots=True)
class _LoopCandidate:
    """A loop of the program: the kinds of calls in it, and the index of its frame on their paths."""

    position: int
    loop: SourceLoop
    kinds: list[int] = field(default_factory=list)
    calls: int = 0


class LoopFinder:
    """Finds the loops of the threads of a capture."""

    def __init__(self, connection: sqlite3.Connection, kinds: KindColumns, code: ProgramCode) -> None:
        self._connection = connection
        self._kinds = kinds
        self._code = code
        self._paths: dict[int, PythonPath] = {}
        self._is_run = {*kinds.find_kinds({EXECUTE_FUNCTION}).tolist()}
        self._is_compile = {*kinds.find_kinds({*COMPILE_FUNCTIONS, *LOAD_FUNCTIONS, *_FETCH_FUNCTIONS}).tolist()}
        self._is_send = {*kinds.find_kinds(_SEND_FUNCTIONS).tolist()}

    def loops(self, thread: int, marks: ThreadEvents) -> Iterator[LoopRounds]:
        """Yield the loops of a thread with at least `LEAST_ROUNDS` iterations."""
        counts = np.bincount(marks.kind)
        kinds = np.flatnonzero(counts)
        leaves = self._kinds.leaf[kinds]
        paths = self._code.find_node_paths(leaves.tolist())
        self._paths = {
            kind: paths[leaf] for kind, leaf in zip(kinds.tolist(), leaves.tolist(), strict=True) if leaf in paths
        }
        candidates: dict[LoopKey, _LoopCandidate] = {}
        for kind, path in self._paths.items():
            for position, loop in path.loops():
                candidate = candidates.setdefault(_build_key(path, position, loop), _LoopCandidate(position, loop))
                candidate.kinds.append(kind)
                candidate.calls += int(counts[kind])
        longest = sorted(candidates.items(), key=lambda item: -item[1].calls)[:_MAX_LOOPS]
        for key, candidate in longest:
            if candidate.calls >= MIN_ROUNDS and (rounds := self._find_rounds(key, thread, marks, candidate)):
                yield rounds

    def _find_rounds(
        self, key: LoopKey, thread: int, marks: ThreadEvents, candidate: _LoopCandidate
    ) -> LoopRounds | None:
        is_inside = np.zeros(int(np.max(marks.kind)) + 1, np.bool_)
        is_inside[candidate.kinds] = True
        inside = np.flatnonzero(is_inside[marks.kind])
        calls = inside[~marks.is_gap[inside]]
        if len(calls) < MIN_ROUNDS:
            return None
        kind = marks.kind[calls]
        outside = np.cumsum(~is_inside[marks.kind])[calls]
        has_left = np.append(True, np.diff(outside) > 0)
        unit = np.zeros(len(is_inside), np.int64)
        unit[candidate.kinds] = [self._find_statement(candidate, each) for each in candidate.kinds]
        begins, is_ambiguous = self._find_beginnings(candidate, kind, has_left, marks.arguments[calls])
        if candidate.loop.is_in_generator:
            begins |= has_left & (np.append(0, unit[kind][:-1]) >= unit[kind])
        else:
            begins |= has_left
        first = np.flatnonzero(begins)
        of_round = np.cumsum(begins) - 1
        is_hidden = len(np.unique(of_round[is_ambiguous])) > _MAX_AMBIGUOUS_ROUNDS
        if is_hidden and not self._is_anchored(candidate, kind, len(first)):
            return None
        is_kept = _find_rounds_with_body(unit[kind], of_round, len(first), has_left, candidate.loop)
        if is_kept.sum() < MIN_ROUNDS:
            return None
        start, end = _compute_iteration_times(marks, inside, calls[first])
        node = self._find_node(candidate, kind, unit[kind], of_round)
        return LoopRounds(key, thread, node, marks.call[calls[first]][is_kept], start[is_kept], end[is_kept])

    def _find_statement(self, candidate: _LoopCandidate, kind: int) -> int:
        return candidate.loop.body.place(self._paths[kind].frames[candidate.position].line)

    def _find_beginnings(
        self, candidate: _LoopCandidate, kind: Integers, has_left: _Booleans, arguments: Integers
    ) -> tuple[_Booleans, _Booleans]:
        """Return which calls begin an iteration, compared with the previous call, and which calls are ambiguous."""
        pair = kind[:-1] * (int(np.max(kind)) + 1) + kind[1:]
        _, first, position = np.unique(pair, return_index=True, return_inverse=True)
        steps = [
            self._compare_calls(candidate, before, after)
            for before, after in zip(kind[first].tolist(), kind[first + 1].tolist(), strict=True)
        ]
        begins = np.append(True, np.array([step is _StepRelation.NEXT for step in steps], np.bool_)[position])
        is_ambiguous = np.append(
            False, np.array([step is _StepRelation.AMBIGUOUS for step in steps], np.bool_)[position]
        )
        is_sent = np.append(False, np.array([step is _StepRelation.SENT for step in steps], np.bool_)[position])
        is_sent &= ~has_left
        if not _is_regular(is_sent, begins):
            begins |= self._is_sent_again(is_sent, arguments)
        return begins, is_ambiguous & ~has_left

    def _is_sent_again(self, is_sent: _Booleans, arguments: Integers) -> _Booleans:
        """Return which of these transfers repeat the first one of their sequence: same type, shape and device."""
        found = np.zeros(len(is_sent), np.bool_)
        if not is_sent.any():
            return found
        is_of_row = is_sent | np.append(is_sent[1:], False)
        known = np.unique(arguments[is_of_row])
        query = f"SELECT id, json FROM arguments WHERE id {IN_JSON}"
        texts = {
            number: tuple(_TRANSFER_FIELDS.findall(text))
            for number, text in self._connection.execute(query, (build_json_list(known.tolist()),))
        }
        first: tuple[str, ...] = ()
        for position in np.flatnonzero(is_of_row).tolist():
            sent = texts.get(int(arguments[position]), ())
            if is_sent[position]:
                found[position] = sent == first
            else:
                first = sent
        return found

    def _is_anchored(self, candidate: _LoopCandidate, kind: Integers, rounds: int) -> bool:
        """Return whether some call is made exactly once in each iteration, and so separates the iterations."""
        counts = Counter(kind.tolist())
        usual = range(int(0.9 * rounds) - 1, rounds + 1)
        return any(self._runs_once(self._paths[each], candidate) for each, count in counts.items() if count in usual)

    def _runs_once(self, path: PythonPath, candidate: _LoopCandidate) -> bool:
        """Return whether the program's statements on a path run exactly once in an iteration."""
        position, body = candidate.position, candidate.loop.body
        parts = [body.part(body.place(path.frames[position].line))]
        for own, _ in path.program_frames:
            if own > position and (block := path.frames[own].block):
                parts.append(block.part(block.place(path.frames[own].line)))
        is_certain = all(part and part.is_certain and not part.is_loop and not part.repeats for part in parts)
        return is_certain and _find_repetition(path, position + 1, len(path.frames)) is _StepRelation.NEXT

    def _compare_calls(self, candidate: _LoopCandidate, before: int, after: int) -> _StepRelation:
        """Return the relation of a call of kind `after` to a previous call of kind `before`, both in the loop."""
        paths, position, body = (self._paths[before], self._paths[after]), candidate.position, candidate.loop.body
        step = _compare_positions(paths[0].frames[position], paths[1].frames[position], body)
        if step is not None:
            return step
        common = position + 1
        while common < min(len(path.frames) for path in paths) and len({p.frames[common].id for p in paths}) == 1:
            common += 1
        repeated = _find_repetition(paths[1], position + 1, common)
        if repeated is _StepRelation.AMBIGUOUS:
            return repeated
        if common < min(len(path.frames) for path in paths):
            first, second = (path.frames[common] for path in paths)
            if first.function == second.function:
                inner = _compare_positions(first, second, second.block) if second.block else _StepRelation.AMBIGUOUS
                return (
                    _StepRelation.AMBIGUOUS
                    if inner is _StepRelation.NEXT and repeated is _StepRelation.SENT
                    else inner or _StepRelation.SAME
                )
            return (
                _StepRelation.AMBIGUOUS if before in self._is_run else _StepRelation.SAME
            )  # the same instruction made both calls
        if before in self._is_run:
            return repeated if repeated is _StepRelation.NEXT else _StepRelation.AMBIGUOUS
        if before != after:
            return _StepRelation.SAME
        if before in self._is_send:
            return _StepRelation.SENT
        return (
            _StepRelation.NEXT
            if before in self._is_compile and repeated is _StepRelation.NEXT
            else _StepRelation.AMBIGUOUS
        )

    def _find_node(self, candidate: _LoopCandidate, kind: Integers, unit: Integers, of_round: Integers) -> int:
        """Return the node of the loop's frame at the first statement that is in the most iterations."""
        rounds_of: Counter[int] = Counter(each for each, _ in {*zip(unit.tolist(), of_round.tolist(), strict=True)})
        is_loop = {each: bool((part := candidate.loop.body.part(each)) and part.is_loop) for each in rounds_of}
        chosen = max(rounds_of, key=lambda each: (each > 0, rounds_of[each], not is_loop[each], -each))
        of_unit = kind[np.flatnonzero(unit == chosen)[0]]
        return self._paths[int(of_unit)].node(candidate.position)


def find_loop_keys(code: ProgramCode, nodes: Iterable[int]) -> dict[int, list[LoopKey]]:
    """Return the keys of the loops around each node that has Python frames, innermost first."""
    paths = code.find_node_paths(nodes)
    return {node: [_build_key(path, position, loop) for position, loop in path.loops()] for node, path in paths.items()}


def _build_key(path: PythonPath, position: int, loop: SourceLoop) -> LoopKey:
    return tuple(frame.id for frame in path.frames[:position]), path.frames[position].function, loop.line


def _compare_positions(before: CodeFrame, after: CodeFrame, block: StatementBlock) -> _StepRelation | None:
    """Return the relation of two calls by their positions in one block; None if the same instruction made both."""
    first, second = block.place(before.line), block.place(after.line)
    if first != second:
        is_back = second < first and (after.offset < before.offset or second == 0)
        return _StepRelation.NEXT if is_back else _StepRelation.SAME
    part = block.part(first)
    if after.offset > before.offset:
        return _StepRelation.SAME
    if part and (part.is_loop or part.repeats):
        return _StepRelation.AMBIGUOUS
    return None if after.offset == before.offset else _StepRelation.NEXT


def _find_repetition(path: PythonPath, first: int, end: int) -> _StepRelation:
    """Return whether frames can repeat a call: NEXT if not, SENT in a loop of a library, else AMBIGUOUS."""
    found = _StepRelation.NEXT
    own = {position for position, _ in path.program_frames}
    for position in range(first, end):
        frame = path.frames[position]
        if frame.block is None or frame.is_generator_expression:
            return _StepRelation.AMBIGUOUS
        part = frame.block.part(frame.block.place(frame.line))
        if part and (part.repeats or (part.is_loop and position in own)):
            return _StepRelation.AMBIGUOUS
        if part and part.is_loop:
            found = _StepRelation.SENT
    return found


def _is_regular(is_repeated: _Booleans, begins: _Booleans) -> bool:
    """Return whether most of these iterations have equal numbers of repeated calls, as for the leaves of a tree."""
    counts = np.bincount(np.cumsum(begins) - 1, is_repeated)
    _, rounds = np.unique(counts, return_counts=True)
    return len(counts) >= MIN_ROUNDS and int(np.max(rounds)) >= _MIN_REGULAR_SHARE * len(counts)


def _find_rounds_with_body(
    unit: Integers, of_round: Integers, count: int, has_left: _Booleans, loop: SourceLoop
) -> _Booleans:
    """Return which iterations execute the body, rather than the final evaluation of the loop's header."""
    has_body = np.bincount(of_round, unit > 0, count) > 0
    is_last = np.append(np.bincount(of_round, has_left, count)[1:] > 0, True)
    if has_body.any() or loop.is_while:
        is_round: _Booleans = has_body | ~is_last
        return is_round
    return np.ones(count, np.bool_)


def _compute_iteration_times(marks: ThreadEvents, inside: Integers, first: Integers) -> tuple[Integers, Integers]:
    """Return start and end of the iterations that begin with these marks. Each ends at the next, or its last mark."""
    start = marks.start[first]
    end_index = np.append(np.searchsorted(inside, first[1:]), len(inside))
    end = np.maximum.reduceat(marks.end[inside], np.searchsorted(inside, first))
    last = inside[end_index - 1]
    is_next = np.append(last[:-1] + 1 == first[1:], False)
    return start, np.where(is_next, np.append(start[1:], 0), end)
