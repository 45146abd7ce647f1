"""Finds the lines on which frames of placed functions stand, where no debug information says them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from framedex.binaries import Binary
from framedex.index.write.records import FramePlacement, OpenFrame, Placement
from framedex.index.write.sources import SourceTables
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.released import BinarySources
from framedex.model import How, Location
from framedex.progress import Progress
from framedex.sources.bodies import Bodies, calls_written_in
from framedex.sources.callline import Called, Caller, Unnamed, call_line, called
from framedex.sources.calls import Span, WrittenCall

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries.code import CallInstruction, FunctionCode

_MOST_CANDIDATES = 8


def find_calls(
    tables: SourceTables,
    placements: Sequence[Placement],
    binaries: RecordedBinaries,
    progress: Progress,
    released: Mapping[int, BinarySources],
) -> list[FramePlacement]:
    """The lines of the frames of these functions, as far as they can be told; the others stay at the definition.

    `released` has the sources of those functions that are in release maps, by their ids.
    """
    in_trees = Bodies(
        lambda name: tables.definitions(name, "cpp"), lambda path: calls_written_in(path, tables.definitions_in(path))
    )
    in_release = {
        sources: Bodies(lambda _: (), sources.written, sources.calls_in_bodies) for sources in released.values()
    }
    defined = {placement.function: placement for placement in placements if _is_defined(placement)}
    frames = tables.open_frames(defined)
    compiled = _Compiled(binaries)
    found = []
    with progress.task("Finding calls", len(frames)) as advance:
        for _, seen in groupby(frames, key=lambda frame: frame.id):
            callees = list(seen)
            function = callees[0].function
            bodies = in_release[released[function]] if function in released else in_trees
            if placed := _place(defined[function], callees, compiled, bodies):
                found.append(placed)
            advance(len(callees))
    return found


def _is_defined(placement: Placement) -> bool:
    return placement.location is not None and placement.location.how is How.DEFINITION and placement.end_line > 0


def _place(
    placement: Placement, callees: Sequence[OpenFrame], compiled: _Compiled, bodies: Bodies
) -> FramePlacement | None:
    """Where one frame stands; `callees` has it once for each function that it was seen to call."""
    assert placement.location is not None
    path, span = placement.location.path, (placement.location.line, placement.end_line)
    code = compiled.code_of(callees[0])
    calls = code.calls if code else []
    caller = compiled.caller(span, bodies.written(path), callees[0], code)
    index = next((i for i, call in enumerate(calls) if call.returns_to == callees[0].offset), None)
    answers = []
    for callee in filter(None, (called(frame.callee) for frame in callees)):
        how, lines = call_line(caller, callee, index, bodies.reaches)
        if how is not None:
            answers.append((how, lines))
    agreed = list(_agreed(answers))
    if not agreed:
        return None
    is_disputed = len({lines[0] for _, lines in answers}) > 1
    how = How.CANDIDATES if is_disputed else next(how for how, lines in answers if agreed[0] in lines)
    first, *others = agreed[:_MOST_CANDIDATES]
    candidates = tuple(Location(path, line, How.CANDIDATES) for line in others)
    return FramePlacement(callees[0].id, Location(path, first, how), candidates)


def _agreed(answers: Sequence[tuple[How, tuple[int, ...]]]) -> Iterator[int]:
    """The lines that any answer has, those of most answers first: one return address is in one line."""
    lines = dict.fromkeys(line for _, found in answers for line in found)
    yield from sorted(lines, key=lambda line: -sum(line in found for _, found in answers))


class _Compiled:
    """Machine code of recorded binaries, with the names of the functions that it calls."""

    def __init__(self, binaries: RecordedBinaries) -> None:
        self._binaries = binaries
        self._called: dict[tuple[Binary, int], Called | None] = {}

    def code_of(self, frame: OpenFrame) -> FunctionCode | None:
        """The machine code of the function that a frame is in."""
        binary = self._binaries.named(frame.module)
        return binary.code_around(frame.offset - 1) if binary else None

    def caller(
        self, span: Span, written: Mapping[Span, Sequence[WrittenCall]], frame: OpenFrame, code: FunctionCode | None
    ) -> Caller:
        """The function that a frame is in, written in the lines of `span`."""
        binary = self._binaries.named(frame.module)
        if binary is None or code is None:
            return Caller(span, written, (), lambda _: ((), ()))

        def names(targets: Sequence[int]) -> list[Called | None]:
            return [self._name(binary, target) for target in targets]

        return Caller(
            span,
            written,
            [self._called_by(binary, call) for call in code.calls],
            lambda i: (names(code.before(i)), names(code.after(i))),
            code.numbers,
            frozenset(i for i, call in enumerate(code.calls) if call.returns_to == 0),
        )

    def _called_by(self, binary: Binary, call: CallInstruction) -> Called | Unnamed | None:
        if call.target == 0 and call.slot is None:
            return None
        return self._name(binary, call.target) or Unnamed(call.target, call.slot)

    def _name(self, binary: Binary, target: int) -> Called | None:
        key = binary, target
        if key not in self._called:
            symbol = binary.function_at(target)
            self._called[key] = called(symbol) if symbol else None
        return self._called[key]
