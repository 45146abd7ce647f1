"""Find the op of a program where a wrong value begins: NaN, infinity, or a difference between two targets.

The search starts at a wrong result. It goes from each op to an operand whose same element is wrong, until none is.
In a loop, it first finds the iteration whose result is wrong, and continues in the loop's body.

A value inside a fusion changes what the compiler fuses if it becomes a result. Then the wrong result usually gets other
bits: a multiplication and an addition are no longer contracted, for example. So the search accepts only contents
that leave the bits of the wrong result as they are, and passes over other values: their ops are `fused`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from framedex.model.programs import ProgramFrame
from framedex.plugins.replay.comparison import ElementMask, format_element
from framedex.plugins.replay.isolation import CannotProbeError
from framedex.plugins.replay.probes import Contents, Edit, EditedProgram, Op, Prober
from framedex.plugins.replay.runner import Array
from framedex.programs.location_text import find_op_in_text

Measure = Callable[[Sequence[Array]], ElementMask]
"""Returns for each element whether it is wrong, from the array of each target."""

_WINDOW_BYTES = 256 << 20
"""The maximum size of all values that one run of a program returns, unless one value is larger."""

ALL_ITERATIONS = 1 << 62
_PARTS = 8  # the search for an iteration divides the loop into as many parts at once
LOOP, BRANCHES = "stablehlo.while", ("stablehlo.case", "stablehlo.if")
_SELECT = "stablehlo.select"
_SINGLE_VALUES = 6  # values that one run of the replayer probes each alone
_HIDDEN = "with the values inside it as results, its own result is right"


@dataclass(frozen=True, slots=True)
class OriginOp:
    """An op with its Python stack, innermost first. `name` is JAX's: `jit(f)/log`."""

    kind: str
    name: str
    frames: tuple[ProgramFrame, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array, as each target computed it."""

    type: str
    shape: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a wrong value begins: the op, or the argument of the program that already has it.

    `index` is the flat index of the first wrong element; `operands` are the elements there of operands with as many
    elements. `loops` are the loops around the op with the iteration, from 1, outermost first. `fused` are ops before it
    in the same fusion, whose own values are unknown.
    """

    op: OriginOp | None
    argument: int | None
    index: int
    element: Element
    operands: tuple[Element, ...]
    loops: tuple[tuple[OriginOp, int], ...]
    fused: tuple[OriginOp, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """A value in an edited program."""

    edits: tuple[Edit, ...]
    program: EditedProgram
    value: int


def find_origin(prober: Prober, result: int, find_wrong: Measure) -> tuple[Origin, Site]:
    """Find where the wrong elements of a result of an execution begin. Raises CannotProbeError."""
    return _Search(prober, find_wrong).find(result)


class _Search:
    def __init__(self, prober: Prober, find_wrong: Measure) -> None:
        self._prober = prober
        self._find_wrong = find_wrong
        self._loops: list[tuple[OriginOp, int]] = []
        self._edits: list[Edit] = []
        self._set_program(prober.program(()))

    def _set_program(self, program: EditedProgram) -> None:
        self._program = program
        self._contents: dict[int, Contents] = {}
        self._wrong: dict[int, ElementMask] = {}
        self._fused: set[int] = set()

    def _restart_at(self, value: int, contents: Contents | None) -> int:
        """Continue the search at a value with these contents; None: those of the program with only this result."""
        self._is_alone = contents is None
        if contents is None:
            (found,) = self._prober.run([(self._edits, [value])])
            contents = found[value]
        self._start, self._contents[value] = value, contents
        self._wrong.pop(value, None)
        return value

    def find(self, result: int) -> tuple[Origin, Site]:
        program = self._program
        if result >= len(program.returned):
            raise CannotProbeError("its results are not those of its program")
        returned = program.returned[result]
        is_same = program.source(returned) == returned
        value = self._restart_at(program.source(returned), self._prober.result(result) if is_same else None)
        wrong = self._wrong_elements(value)
        if not wrong.any():
            raise CannotProbeError(_HIDDEN)
        while (operation := self._program.values[value].op) >= 0:
            op = self._program.ops[operation]
            if op.kind == LOOP:
                position = op.results.index(value)
                initial = self._program.source(op.operands[position])
                value = initial if self._wrong_elements(initial).any() else self._enter_loop(operation, position)
            elif op.kind in BRANCHES:
                value = self._enter_branch(operation, op.results.index(value))
            else:
                chosen = self._find_wrong_operand(operation, wrong)
                if chosen is None:
                    return self._build_origin(value, operation, wrong)
                value = chosen
            places = self._wrong_elements(value)
            if not places.any():
                raise CannotProbeError("a loop or a branch in it gives another result when it is unrolled")
            wrong = places & wrong if places.shape == wrong.shape and (places & wrong).any() else places
        return self._build_origin(value, None, wrong)

    def _build_origin(self, value: int, operation: int | None, wrong: ElementMask) -> tuple[Origin, Site]:
        index = int(np.flatnonzero(wrong)[0])
        operands, fused = ([], []) if operation is None else self._find_outer_sources(operation)
        origin = Origin(
            op=None if operation is None else self._build_op(operation),
            argument=value if operation is None else None,
            index=index,
            element=self._build_element(value, index),
            operands=tuple(self._build_element(each, index) for each in operands if self._has_same_shape(each, wrong)),
            loops=tuple(self._loops),
            fused=tuple(map(self._build_op, fused)),
        )
        return origin, Site(tuple(self._edits), self._program, value)

    def _build_op(self, operation: int) -> OriginOp:
        op = self._program.ops[operation]
        return OriginOp(op.kind, *find_op_in_text(op.location))

    def _build_element(self, value: int, index: int) -> Element:
        arrays = self._read_contents(value)[self._find_wrong_device(value, index)]
        texts = tuple(format_element(each.type, each.content, index) for each in arrays)
        return Element(arrays[0].type, arrays[0].shape, texts)

    def _has_same_shape(self, value: int, wrong: ElementMask) -> bool:
        return self._is_visible(value) and self._wrong_elements(value).shape == wrong.shape

    def _find_wrong_device(self, value: int, index: int) -> int:
        """The first device with the wrong element; else the first device."""
        for device, arrays in enumerate(self._read_contents(value)):
            wrong = self._find_wrong(arrays)
            if index < len(wrong) and wrong[index]:
                return device
        return 0

    def _find_wrong_operand(self, operation: int, wrong: ElementMask) -> int | None:
        """Return the operand that makes the result of an op wrong, preferably one with the same wrong elements."""
        op = self._program.ops[operation]
        elsewhere = None
        for value in self._find_outer_sources(operation)[0]:
            if not self._is_visible(value):
                continue
            places = self._wrong_elements(value)
            if not places.any():
                continue
            if places.shape == wrong.shape and (places & wrong).any():
                return value
            is_unused = op.kind == _SELECT and places.shape == wrong.shape
            elsewhere = value if elsewhere is None and not is_unused else elsewhere
        return elsewhere

    def _find_sources(self, operation: int) -> list[int]:
        return list(dict.fromkeys(map(self._program.source, self._program.ops[operation].operands)))

    def _find_outer_sources(self, operation: int) -> tuple[list[int], list[int]]:
        """Return the operands of an op, and its fused ops. A fused op is replaced by its own operands."""
        outer: list[int] = []
        fused: list[int] = []
        pending = self._find_sources(operation)
        while pending:
            value = pending.pop(0)
            if self._is_visible(value):
                self._read_contents(value)
            place = self._program.values[value].op
            if value in self._fused and place >= 0:
                if place not in fused:
                    fused.append(place)
                    pending += self._find_sources(place)
            elif value not in outer:
                outer.append(value)
        return outer, fused

    def _is_visible(self, value: int) -> bool:
        return self._program.values[value].size >= 0 and value not in self._fused

    # Loops and branches

    def _enter_branch(self, operation: int, position: int) -> int:
        """Replace a branch by the ops that it executed, and return the value of its result."""
        op = self._program.ops[operation]
        arrays = self._read_contents(self._program.source(op.operands[0]))[0]
        return self._edit({"op": operation, "branch": find_executed_branch(op, arrays[0])}, position)

    def _enter_loop(self, operation: int, position: int) -> int:
        """End the loop before its first iteration with a wrong result, and unroll that one.

        Return the result's value.
        """
        loop = self._build_op(operation)
        iteration = self._find_first_wrong_iteration(operation, position)
        self._loops.append((loop, iteration))
        return self._edit({"op": operation, "iterations": iteration - 1, "unrolls": True}, position)

    def _edit(self, edit: Edit, position: int) -> int:
        self._edits.append(edit)
        self._set_program(self._prober.program(self._edits))
        return self._restart_at(self._program.source(self._program.edited[-1][position]), None)

    def _find_first_wrong_iteration(self, operation: int, position: int) -> int:
        def limit(iterations: int) -> list[Edit]:
            return [*self._edits, {"op": operation, "iterations": iterations, "unrolls": False}]

        values = self._prober.program(limit(ALL_ITERATIONS)).edited[-1]  # their numbers are those of every limit
        value, counter = values[position], values[-1]

        def probe(counts: Sequence[int]) -> list[tuple[bool, int]]:
            """Return, for each limit, whether the loop's value is wrong, and the number of iterations that ran."""
            found = []
            for contents in self._prober.run([(limit(count), (value, counter)) for count in counts]):
                is_wrong = any(self._find_wrong(each).any() for each in contents[value])
                found.append((is_wrong, count_iterations(contents[counter])))
            return found

        ((is_wrong, last),) = probe([ALL_ITERATIONS])
        if not is_wrong:
            raise CannotProbeError("a loop in it gives another result when its iterations are counted")
        right = 0
        while last - right > 1:
            step = max(1, (last - right) // _PARTS)
            counts = list(range(right + step, last, step))
            for count, (is_wrong, _) in zip(counts, probe(counts), strict=True):
                if is_wrong:
                    last = count
                    break
                right = count
        return last

    # Contents

    def _wrong_elements(self, value: int) -> ElementMask:
        """The wrong elements of a value on any device."""
        if value not in self._wrong:
            self._wrong[value] = np.stack([self._find_wrong(each) for each in self._read_contents(value)]).any(axis=0)
        return self._wrong[value]

    def _read_contents(self, value: int) -> Contents:
        if value not in self._contents:
            window = self._choose_window(value)
            (found,) = self._prober.run([(self._edits, [*window, self._start])])
            if self._keeps_result(found):
                self._contents.update(found)
            else:
                self._probe_each(window[:_SINGLE_VALUES])
        return self._contents[value]

    def _probe_each(self, values: Sequence[int]) -> None:
        """Read the contents of each value alone. A value that changes the bits of the wrong result is in a fusion."""
        requests = [[self._start], *([value, self._start] for value in values)]
        alone, *found = self._prober.run([(self._edits, each) for each in requests])
        if not self._keeps_result(alone):
            if self._is_alone:
                raise CannotProbeError("its result has other bits in each run")
            self._restart_at(self._start, alone[self._start])
            self._is_alone = True
            if not self._wrong_elements(self._start).any():
                raise CannotProbeError(_HIDDEN)
        for value, contents in zip(values, found, strict=True):
            if not self._keeps_result(contents):
                self._fused.add(value)
            self._contents[value] = contents[value]

    def _keeps_result(self, found: dict[int, Contents]) -> bool:
        """Whether the wrong result has the same bits as before."""
        return _list_content_names(found[self._start]) == _list_content_names(self._contents[self._start])

    def _choose_window(self, value: int) -> list[int]:
        """Return a value and its dependencies, nearest in the program first, up to `_WINDOW_BYTES`."""
        if not self._is_visible(value):
            raise CannotProbeError("a value inside it cannot become a result")
        pending, size = {value}, 0
        window: list[int] = []
        while pending:
            last = max(pending)
            pending.remove(last)
            place = self._program.values[last].op
            if self._is_visible(last) and last not in self._contents:
                size += self._program.values[last].size
                if window and size > _WINDOW_BYTES:
                    break
                window.append(last)
            if place >= 0:
                pending.update(self._find_sources(place))
        return window


def find_executed_branch(op: Op, index: Array) -> int:
    """Return the number of the branch that an op executes with this first operand."""
    chosen = int(np.frombuffer(index.content, np.uint8 if index.type == "PRED" else np.int32)[0])
    return int(not chosen) if op.kind == "stablehlo.if" else chosen


def count_iterations(contents: Contents) -> int:
    """Return the number of iterations from the contents of a loop's counter: the highest of all devices."""
    return max(int(each) for of in contents for array in of for each in np.frombuffer(array.content, np.int64))


def _list_content_names(contents: Contents) -> list[list[str]]:
    """Return the content names of each device and target."""
    return [[array.name for array in arrays] for arrays in contents]
