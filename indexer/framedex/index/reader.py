"""The index as its readers see it: the command line, the language server, the guidebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from framedex.ffi.model import FfiTarget, FfiUse
from framedex.index.ask import ffi
from framedex.index.ask.call import calls, links
from framedex.index.ask.call.objects import name_objects, object_named
from framedex.index.ask.capture import contents, flame
from framedex.index.ask.capture.check import check_capture
from framedex.index.ask.line import ends, lines, marks, narrowing, outward, roads
from framedex.index.ask.line.pythonlines import python_lines
from framedex.index.ask.line.standing import MOST_STANDING
from framedex.index.ask.line.troubles import file_troubles
from framedex.index.ask.name import functions
from framedex.index.ask.name.name_lookup import NameLookup
from framedex.index.ask.name.search import find_symbols
from framedex.index.ask.source.health import knows_source, read_sources, source_health
from framedex.index.ask.source.source_maps import source_maps
from framedex.index.read.rows import frames_by_id
from framedex.index.read.urls import builds
from framedex.model import (
    BoundaryEnd,
    BoundaryTotals,
    CallFilter,
    CallRow,
    CaptureRow,
    Check,
    Edge,
    FileTrouble,
    FlameGraph,
    FoundSymbol,
    FrameRow,
    FunctionMark,
    FunctionRow,
    FunctionTotals,
    LineMark,
    LineSummary,
    LinkedCalls,
    Location,
    ObjectRow,
    PythonLine,
    Road,
    SourceHealth,
    SourceMapInfo,
    StackHit,
    StaticCall,
    Step,
    Trace,
)
from framedex.releases import Build

_MOST_STACKS = 50
_MOST_FLAME_NODES = 4000  # as many as a screen can show, and a page can draw at once
_MOST_SYMBOLS = 100


class Index(NameLookup):
    """Every question that can be asked of an index file; what it begins with says how.

    Lines are those of files as they are now, both in questions and in answers: where a file has changed since it was
    recorded or indexed, git tells where its lines have gone (see `Location.stale`).
    """

    def captures(self) -> list[CaptureRow]:
        """Every capture, oldest first."""
        return calls.captures(self._reader)

    def builds(self) -> list[Build]:
        """The components (jax, xla, ...) whose code was recorded, those of the latest capture first."""
        return builds(self._reader)

    def source_health(self) -> SourceHealth:
        """How well the source trees are known."""
        return source_health(self._reader)

    def read_sources(self) -> frozenset[str]:
        """The paths of the source files that were read."""
        return read_sources(self._reader)

    def source_maps(self) -> list[SourceMapInfo]:
        """The source maps whose definitions are known."""
        return source_maps(self._reader.connection)

    def knows_source(self, path: str) -> bool:
        """Whether a source file is in the index or below a source root: worth reading again when it changes."""
        return knows_source(self._reader, path)

    def calls(self, wanted: CallFilter, limit: int | None = None) -> list[CallRow]:
        """The calls that pass the filter, by start time; with a limit the latest ones of them.

        Their objects have no names yet: `named` gives them to those that are shown.
        """
        return calls.calls(self._reader, wanted, limit)

    def calls_with_stacks(self, stacks: Iterable[int], limit: int, capture: int | None = None) -> list[CallRow]:
        """The latest calls with one of the stacks, latest first, in a capture or in all; objects have no names yet."""
        return calls.calls_with_stacks(self._reader, stacks, capture, limit)

    def named(self, calls: Sequence[CallRow]) -> list[CallRow]:
        """The calls, with the names of the objects that are their arguments."""
        return name_objects(self._reader, calls)

    def count_calls(self, wanted: CallFilter) -> int:
        """How many calls pass the filter."""
        return calls.count_calls(self._reader, wanted)

    def function_totals(self, wanted: CallFilter, *, by_thread: bool = False) -> list[FunctionTotals]:
        """What the calls that pass the filter came to by boundary function, most time of their own first."""
        from framedex.index.ask.capture.summary import function_totals  # with numpy, which other questions do without

        return function_totals(self._reader, wanted, by_thread=by_thread)

    def boundary_totals(self, capture: int, text: str = "") -> list[BoundaryTotals]:
        """The boundary functions that a capture called, most time first; with a text what passes that filter.

        A call passes where its boundary function, an argument, or a function or file of its stack contains the text.
        """
        return contents.boundary_totals(self._reader, capture, text)

    def calls_of_boundary(
        self,
        capture: int,
        boundary: int,
        text: str = "",
        *,
        longest_first: bool = False,
        limit: int = _MOST_STACKS,
        offset: int = 0,
    ) -> list[CallRow]:
        """A page of the calls of a boundary function (`BoundaryTotals.id`) in a capture that pass the filter.

        By start time, or the longest first; their objects are named.
        """
        return contents.calls_of_boundary(
            self._reader, capture, boundary, text, longest_first=longest_first, limit=limit, offset=offset
        )

    def flame_graph(
        self, capture: int, boundary: int | None = None, *, with_glue: bool = True, most: int = _MOST_FLAME_NODES
    ) -> FlameGraph:
        """The calling-context tree of a capture, of the calls of one boundary function alone if it is given.

        At most `most` nodes are told apart. Without glue, interpreter and glue frames are passed over.
        """
        return flame.flame_graph(self._reader, capture, boundary, with_glue=with_glue, most=most)

    def frame(self, frame_id: int) -> FrameRow | None:
        """The frame with this id."""
        return frames_by_id(self._reader, [frame_id]).get(frame_id)

    def check(self, capture: CaptureRow) -> Check:
        """What a capture shows to be wrong."""
        return check_capture(self._reader, capture)

    def object_named(self, name: str, capture: int | None = None) -> ObjectRow:
        """The object of the runtime with this name (`buffer#12`) in a capture, by default the latest that has it.

        Raises FramedexError where there is none.
        """
        return object_named(self._reader, name, capture)

    def python_lines(self, calls: Iterable[CallRow]) -> dict[int, PythonLine]:
        """The line of Python that led to each call, by its id: of the program itself where there is one.

        Of a call on a thread without Python, the line that had it made, if that is known to be one.
        """
        return python_lines(self._reader, {call.id: call.stack for call in calls})

    def call(self, call_id: int) -> CallRow | None:
        """The call with this id."""
        return calls.call(self._reader, call_id)

    def latest_call(self, function: str) -> CallRow | None:
        """The latest call of a boundary function: exact name, else a part that fits one name, else None.

        Raises FramedexError that lists the names where several fit.
        """
        return calls.latest_call(self._reader, function)

    def trace(self, call_id: int) -> Trace | None:
        """The call and every frame of its stack, outermost first."""
        return calls.trace(self._reader, call_id)

    def stack_trace(self, stack_id: int) -> Trace | None:
        """The trace of the latest call with this stack."""
        return calls.stack_trace(self._reader, stack_id)

    def stack_chains(self, stack_id: int) -> list[tuple[FrameRow, ...]]:
        """The frames of a stack, outermost first, once for each of its chains: merged, Python apart, `ffi_call`."""
        return calls.stack_chains(self._reader, stack_id)

    def stacks_through(self, path: str, line: int | None = None, limit: int = _MOST_STACKS) -> list[StackHit]:
        """The stacks that pass a file, or one line of it, most calls first."""
        then = line if line is None else self._then(path, line)
        return lines.stacks_through(self._reader, path, then, limit)

    def longest_stacks(self, path: str, line: int, limit: int = _MOST_STACKS) -> list[StackHit]:
        """The stacks that pass a line, with the boundary functions they end in, what took longest first."""
        return lines.longest_stacks(self._reader, path, self._then(path, line), limit)

    def stacks_of_capture(self, capture: int, path: str, line: int, limit: int = _MOST_STACKS) -> list[StackHit]:
        """The stacks with which a capture passes a line, most calls of it first."""
        return narrowing.stacks_through(self._reader, capture, path, self._then(path, line), limit)

    def line_summary(self, path: str, line: int, capture: int | None = None) -> LineSummary | None:
        """What was recorded through a line, in one capture if it is given; None where nothing was.

        Of one capture, no callers are told.
        """
        then = self._then(path, line)
        if capture is not None:
            summary = narrowing.line_summary(self._reader, capture, path, then)
        else:
            summary = lines.line_summary(self._reader, path, then)
        return None if summary is None else replace(summary, line=line)

    def since_recorded(self, path: str, line: int) -> Location:
        """A line as a place: `stale` and `moved_from` tell what has become of it since its file was last recorded.

        A line that was not there then has neither.
        """
        return lines.since_recorded(self._reader, path, line)

    def boundary_ends(self, path: str, line: int, capture: int | None = None) -> list[BoundaryEnd]:
        """The boundary functions that were reached from a line, that which took longest first."""
        return ends.boundary_ends(self._reader, path, self._then(path, line), capture)

    def line_marks(self, path: str, first: int, last: int) -> list[LineMark]:
        """The lines of a file, from `first` to `last`, that calls passed through, with what these came to."""
        return marks.line_marks(self._reader, path, first, last)

    def recorded_functions_in(self, path: str) -> list[tuple[int, int]]:
        """The lines on which recorded functions of a file begin, each with the id of one: see `function_mark`."""
        return marks.recorded_functions(self._reader, path)

    def function_mark(self, function_id: int) -> FunctionMark | None:
        """What the calls through a function came to."""
        return marks.function_mark(self._reader, function_id)

    def file_troubles(self, path: str) -> list[FileTrouble]:
        """What is wrong with the data about a file: changed since, callees without symbols, ambiguous FFI sites."""
        return file_troubles(self._reader, path)

    def static_callees(self, path: str, line: int) -> list[StaticCall]:
        """The calls written in the definition that begins on a line, as far as what they name is in the index."""
        from framedex.index.ask.line.static_calls import static_callees  # with the readers of binaries

        return static_callees(self._reader, path, line)

    def recorded_lines(self, path: str) -> dict[int, int]:
        """The lines of a file that calls passed through, with the number of those calls."""
        return lines.recorded_lines(self._reader, path)

    def recorded_files(self, ending: str = "") -> list[str]:
        """The files with recorded lines whose path, here or as recorded, ends with these whole components."""
        return lines.recorded_files(self._reader, ending)

    def linked_calls(self, path: str, line: int) -> list[LinkedCalls]:
        """The calls on threads without Python that were dispatched from a line, most calls first."""
        return links.linked_calls(self._reader, path, self._then(path, line))

    def is_recorded(self, path: str) -> bool:
        """Whether calls passed through any line of the file, or an FFI handler was made from a function in it."""
        return lines.is_recorded(self._reader, path)

    def inward(self, path: str, line: int) -> list[Step]:
        """The frames called from a line, most calls first."""
        return lines.inward(self._reader, path, self._then(path, line))

    def inward_readable(self, path: str, line: int) -> list[Step]:
        """The next frames with source that a line leads to, most calls first, past interpreter and glue frames."""
        return lines.inward_readable(self._reader, path, self._then(path, line))

    def outward_readable(self, path: str, line: int) -> list[Step]:
        """The next frames with source that led to a line (as `target`), most calls first."""
        return lines.outward_readable(self._reader, path, self._then(path, line))

    def roads_inward(
        self,
        path: str,
        line: int,
        wanted: Callable[[FrameRow], bool],
        within: Sequence[int] | None = None,
        capture: int | None = None,
    ) -> list[Road]:
        """Where stacks go on from a line, to the next frames with source that are `wanted`; longest first.

        `within` is a road's `nodes`: only the stacks that came to the line by it; with a `capture` only where it went.
        """
        return roads.roads_inward(self._reader, path, self._then(path, line), wanted, within, capture)

    def roads_outward(
        self,
        path: str,
        line: int,
        wanted: Callable[[FrameRow], bool],
        within: Sequence[int] | None = None,
        capture: int | None = None,
    ) -> list[Road]:
        """Where stacks came from to a line: the next frames outward that are `wanted`, most calls first.

        `within` and `capture` as for `roads_inward`; a road's `nodes` are those of the frame outward.
        """
        return outward.roads_outward(self._reader, path, self._then(path, line), wanted, within, capture)

    def program_lines(
        self, path: str, line: int, capture: int | None = None, limit: int = MOST_STANDING
    ) -> list[PythonLine]:
        """The lines of Python from which stacks came to a line, the longest first: the program's own if it has one.

        A line is no origin of itself. Of the ways in which stacks came, at most `limit` are looked at.
        """
        return outward.program_lines(self._reader, path, self._then(path, line), capture, limit)

    def functions_at(self, path: str, line: int) -> list[FunctionRow]:
        """The recorded functions whose extent or recorded lines cover the line, the innermost first."""
        found = self.remembered(
            ("functions at", path, line),
            lambda: functions.functions_at(self._reader, path, lines.nearest_line_then(self._reader, path, line)),
        )
        return list(found)

    def function(self, function_id: int) -> FunctionRow | None:
        """The function with this id."""
        return functions.function(self._reader, function_id)

    def find_functions(self, name: str) -> list[FunctionRow]:
        """The functions of this name, else of this short name, else whose name contains it; most calls first."""
        return functions.find_functions(self._reader, name)

    def find_symbols(self, text: str, limit: int = _MOST_SYMBOLS) -> list[FoundSymbol]:
        """What was recorded or is defined in the sources under a name that contains `text`, best first.

        `A::b` and `A.b` ask for names with `b` inside something whose name has `A`. Case does not matter.
        """
        return find_symbols(self._reader, text, limit)

    def callers(self, function_id: int) -> list[Edge]:
        """The functions that called this one, past interpreter and glue frames, most calls first.

        For a function that is interpreter or glue itself: its direct callers.
        """
        return list(self.remembered(("callers", function_id), lambda: functions.callers(self._reader, function_id)))

    def direct_callers(self, function_id: int) -> list[Edge]:
        """The functions one frame outward of this one, most calls first."""
        return functions.direct_callers(self._reader, function_id)

    def callees(self, function_id: int) -> list[Edge]:
        """The functions that this one called, past interpreter and glue frames, most calls first.

        For a function that is interpreter or glue itself: its direct callees.
        """
        return list(self.remembered(("callees", function_id), lambda: functions.callees(self._reader, function_id)))

    def direct_callees(self, function_id: int) -> list[Edge]:
        """The functions one frame inward of this one, most calls first."""
        return functions.direct_callees(self._reader, function_id)

    def direct_neighbours(self, function_id: int) -> tuple[frozenset[int], frozenset[int]]:
        """The ids of the functions one frame outward of this one, and of those one frame inward."""
        return functions.direct_neighbours(self._reader, function_id)

    def ffi_targets(self, capture: int) -> list[FfiTarget]:
        """The FFI targets of a capture with their handlers, sites and runs, and what went wrong with them.

        Those that took longest come first, then those that failed; those that were only registered come last.
        """
        return ffi.targets(self._reader, capture)

    def ffi_captures(self) -> list[int]:
        """The captures in which FFI targets were run or missing, oldest first."""
        return ffi.captures_with_uses(self._reader)

    def ffi_uses(self, path: str, line: int) -> list[FfiUse]:
        """The FFI targets that are called at a line, or whose handlers' source it is in."""
        uses = self.remembered(
            ("FFI uses", path, line), lambda: ffi.uses_at(self._reader, path, self._then(path, line))
        )
        return list(uses)

    def handlers_made_from(self, functions: Iterable[int]) -> list[FunctionRow]:
        """The registered functions of the FFI handlers that were made from any of these functions."""
        found = (self.function(each) for each in ffi.handlers_made_from(self._reader, functions))
        return [function for function in found if function is not None]

    def _then(self, path: str, line: int) -> int:
        """What a line of a file was when it was recorded."""
        return lines.line_then(self._reader, path, line)
