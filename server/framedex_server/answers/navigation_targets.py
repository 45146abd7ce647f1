"""The targets of a line: the callees that ran (inward) and the calling lines (outward), likeliest first.

Each target has the stacks that reach it, so that an answer can be recorded in the session's walks. `format_targets`
formats targets as links if the client supports them, else as locations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex.base.plaintext import make_printable
from framedex.base.words import count
from framedex.model import ProgramLine
from framedex.path_resolution.files import file_exists
from framedex.texts.places import format_location_labels
from framedex_server.answers.ffi import find_called_uses, resolve_registration
from framedex_server.answers.programs import find_lines_inside, find_lines_outside
from framedex_server.answers.remote_sources import make_location_finder
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.stack_paths import (
    can_step_to,
    find_local_locations,
    find_paths_inward,
    format_skipped_notes,
    is_named,
)
from framedex_server.walks import WalkTarget

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, PythonLine, StackPath
    from framedex.programs.ffi.model import FfiHandler


MAX_TARGETS = 20
"""Maximum number of targets from one line: more are noise."""

Targets = list[types.Location] | list[types.LocationLink] | None


@dataclass(frozen=True, slots=True)
class TargetLine:
    """A line, and the first and last line of the function around it (the line itself if unknown)."""

    path: str
    line: int
    first: int
    last: int

    @staticmethod
    def from_location(location: Location) -> TargetLine:
        """Return a target without a function."""
        return TargetLine(location.path, location.line, location.line, location.line)

    @staticmethod
    def from_frame(frame: FrameRow, location: Location) -> TargetLine:
        """Return a frame's location as a target, with its function's extent if that contains the line."""
        function = frame.function
        begin = function.location
        if begin is None or begin.path != location.path or not begin.line <= location.line <= function.end_line:
            return TargetLine.from_location(location)
        return TargetLine(location.path, location.line, begin.line, function.end_line)


def format_targets(
    session: Session, origin: types.Range, targets: Sequence[TargetLine], with_links: bool, limit: int = MAX_TARGETS
) -> Targets:
    """Return the targets as links or locations, each place once, at most `limit`; None if there are none."""
    distinct = _merge_duplicates(targets)[:limit]
    if not distinct:
        return None
    if with_links:
        return [_make_link(session, origin, target) for target in distinct]
    return [
        types.Location(session.documents.uri_of(target.path), session.line_range(target.path, target.line))
        for target in distinct
    ]


def _merge_duplicates(targets: Sequence[TargetLine]) -> list[TargetLine]:
    """Return each place once, with its widest known function: a client would list duplicates."""
    found: dict[tuple[str, int], TargetLine] = {}
    for target in targets:
        known = found.setdefault((target.path, target.line), target)
        if target.last - target.first > known.last - known.first:
            found[target.path, target.line] = target
    return list(found.values())


def _make_link(session: Session, origin: types.Range, target: TargetLine) -> types.LocationLink:
    return types.LocationLink(
        target_uri=session.documents.uri_of(target.path),
        target_range=session.extent_range(target.path, target.first, target.last),
        target_selection_range=session.line_range(target.path, target.line),
        origin_selection_range=origin,
    )


@dataclass(frozen=True, slots=True)
class NavigationTarget:
    """A location to go to: its function, the quality of its line, and the number of calls (None: unknown).

    `skipped` is the number of skipped code frames whose source is not on this machine. `turns_outward` means that the
    innermost line of a compiled program leads to a line that runs the program. `arrivals` are the frames at the
    location, with the stacks that reach them.
    """

    target: TargetLine
    function: str
    quality: tuple[str, ...] = ()
    calls: int | None = None
    skipped: int = 0
    turns_outward: bool = False
    arrivals: tuple[WalkTarget, ...] = ()

    @property
    def place(self) -> str:
        """The location as text, with its quality unless exact: `pjrt_client.cc:123`."""
        labels = f" [{', '.join(self.quality)}]" if self.quality else ""
        return f"{make_printable(PurePath(self.target.path).name)}:{self.target.line}{labels}"

    @property
    def detail(self) -> str:
        """A summary: `61 calls; 7 frames skipped, source not here`; may be empty."""
        calls = [count(self.calls, "call")] if self.calls is not None else []
        turned = [TURNED_OUTWARD_NOTE] if self.turns_outward else []
        return "; ".join([*turned, *calls, *format_skipped_notes(self.skipped)])


TURNED_OUTWARD_NOTE = "turned outward: this line runs the program"
"""The note on a step outward from the innermost line of a compiled program."""


def find_inward_targets(session: Session, position: RequestPosition, index: Index) -> list[NavigationTarget]:
    """Return the callees recorded from a source line, along the stack path that led there, if any."""
    within = session.walks.nodes_at(index, position.path, position.line)
    word = session.word_at(position)
    capture = session.selection.capture_in(index)
    places = make_location_finder(session, index, position.uri)
    stack_paths = find_paths_inward(index, position.path, position.line, within, word, capture, places)
    passed, inside = (
        _targets_of_stack_paths(stack_paths, places),
        _mark_turns(find_lines_inside(session, position, index)),
    )
    is_stepped_into = any(is_named(stack_path.target.function.name, word) for stack_path in stack_paths)
    named = (
        _find_program_targets(find_lines_inside(session, position, index, word))
        if word and not is_stepped_into and not _has_just_turned(session, index, position)
        else []
    )
    if inside and _is_within_program(within):
        return _merge_targets([*named, *inside])
    to_handlers = _find_handler_targets(_find_handlers(session, index, position), passed)
    return _merge_targets([*named, *to_handlers] or inside)


def sort_by_file(targets: Sequence[NavigationTarget]) -> list[NavigationTarget]:
    """Return the targets grouped by file: likeliest file first, and within a file likeliest target first."""
    by_file: dict[str, list[NavigationTarget]] = {}
    for candidate in targets:
        by_file.setdefault(candidate.target.path, []).append(candidate)
    return [candidate for group in by_file.values() for candidate in group]


def find_outward_targets(session: Session, position: RequestPosition, index: Index) -> list[NavigationTarget]:
    """Return the lines from which recorded stacks reached a source line, most calls first."""
    position = resolve_registration(session, index, position)
    within = session.walks.nodes_at(index, position.path, position.line)
    capture = session.selection.capture_in(index)
    passed = _targets_of_stack_paths(
        index.line(position.path, position.line, capture).paths_outward(can_step_to, within)
    )
    outside = _find_program_targets(find_lines_outside(session, position, index))
    is_inside = bool(outside) and (_is_within_program(within) or not passed)
    return _merge_targets(outside if is_inside else passed)


def _find_program_targets(lines: Iterable[ProgramLine | PythonLine]) -> list[NavigationTarget]:
    """Return lines within compiled programs, which have no stacks, or lines that run programs, as targets."""
    return [_make_program_target(line, turns_outward=False) for line in lines]


def _mark_turns(lines: Iterable[ProgramLine | PythonLine]) -> list[NavigationTarget]:
    """Return lines within compiled programs as targets; from the innermost line, outward, the lines that run it."""
    return [_make_program_target(line, turns_outward=not isinstance(line, ProgramLine)) for line in lines]


def _make_program_target(line: ProgramLine | PythonLine, turns_outward: bool) -> NavigationTarget:
    target = TargetLine.from_location(line.location)
    nodes = () if isinstance(line, ProgramLine) else None
    arrival = WalkTarget(target.path, target.line, None, nodes, turns_outward)
    return NavigationTarget(target, line.function, turns_outward=turns_outward, arrivals=(arrival,))


def _has_just_turned(session: Session, index: Index, position: RequestPosition) -> bool:
    """Return whether a walk has just turned outward to this line: the cursor is at its start, not on a chosen name."""
    start = session.line_range(position.path, position.line).start.character
    return position.character == start and session.walks.has_turned_at(index, position.path, position.line)


def _is_within_program(within: Sequence[int] | None) -> bool:
    """Return whether a place was reached within a program, not along a stack."""
    return within is not None and not within


def _targets_of_stack_paths(
    stack_paths: Sequence[StackPath], find_locations: Callable[[FrameRow], Iterable[Location]] = find_local_locations
) -> list[NavigationTarget]:
    """Return the targets of stack paths, one for each location of a target frame."""
    return [_make_target(stack_path, spot) for stack_path in stack_paths for spot in find_locations(stack_path.target)]


def _make_target(stack_path: StackPath, spot: Location) -> NavigationTarget:
    target = TargetLine.from_frame(stack_path.target, spot)
    return NavigationTarget(
        target,
        stack_path.target.function.name,
        tuple(format_location_labels(spot)),
        stack_path.calls,
        stack_path.skipped_frames,
        arrivals=(WalkTarget(target.path, target.line, stack_path.target.id, stack_path.nodes or None),),
    )


def _merge_targets(candidates: Iterable[NavigationTarget]) -> list[NavigationTarget]:
    """Return the first targets, each place once with the arrivals of all targets there."""
    places: dict[tuple[str, int], NavigationTarget] = {}
    for candidate in candidates:
        place = candidate.target.path, candidate.target.line
        known = places.get(place)
        places[place] = replace(known, arrivals=(*known.arrivals, *candidate.arrivals)) if known else candidate
    return list(places.values())[:MAX_TARGETS]


def record_targets(session: Session, index: Index, candidates: Iterable[NavigationTarget]) -> None:
    """Record the targets of an answer, so that the next request at one of them continues on the same stacks."""
    session.walks.record_answer(index, (arrival for candidate in candidates for arrival in candidate.arrivals))


def _find_handlers(session: Session, index: Index, position: RequestPosition) -> list[FfiHandler]:
    """Return the handlers of the `ffi_call`s on a line."""
    uses = index.line(position.path, position.line).ffi_uses()
    return [handler for use in find_called_uses(session, index, position, uses) for handler in use.handlers]


def _find_handler_targets(
    handlers: Sequence[FfiHandler], other_targets: Sequence[NavigationTarget]
) -> Iterator[NavigationTarget]:
    """Yield the function of each handler, else its registration, then the other targets of the `ffi_call`.

    JAX's own machinery, which an eager call passes through, is not listed before the handlers. The registration is left
    out if the handler's implementation can be shown.
    """
    passed: set[tuple[str, int]] = set()
    for handler in handlers:
        written, registered = _build_implementation_target(handler), handler.location
        if registered is not None and file_exists(registered.path):
            if written is None:
                yield NavigationTarget(
                    TargetLine.from_location(registered), handler.function.name, ("registered here",)
                )
            else:
                passed.add((registered.path, registered.line))
        if written is not None:
            yield written
    yield from (
        candidate for candidate in other_targets if (candidate.target.path, candidate.target.line) not in passed
    )


def _build_implementation_target(handler: FfiHandler) -> NavigationTarget | None:
    function = handler.implementation
    if function is None or function.location is None or not file_exists(function.location.path):
        return None
    begin = function.location
    return NavigationTarget(
        TargetLine(begin.path, begin.line, begin.line, max(begin.line, function.end_line)), function.name
    )
