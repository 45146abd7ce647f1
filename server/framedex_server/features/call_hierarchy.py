"""Call hierarchy over recorded edges: real callers and callees, across Python and C++, with call counts.

LSP requires a document location for every item, but a function may have no known source or no file on this machine. No
frame may be dropped. If no checkout has the file, the item opens the nearest frame with a location on the path to the
function. That is the calling line, or the line that was called back. The item's detail says so, with the public URL.
The parent item provides this location, so nothing is searched or written, and every client can open it.

Frames of the interpreter and glue between languages are skipped; the detail then contains "indirectly". Calls in the
source that were never recorded follow, in the directions of the setting `static_calls`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex.base.words import count
from framedex.path_resolution.files import file_exists
from framedex_server.answers.frame_lines import make_resolver
from framedex_server.answers.provenance import counted_in_answer, query_counted
from framedex_server.answers.remote_sources import CheckoutFinder
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.answers.static_calls import SourceDefinition, static_callees, static_callers
from framedex_server.documents.stack_texts import StackText
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CallEdge, FunctionRow, Location
    from framedex.text_stacks import TextFrame

MAX_EDGES = 200
"""Maximum number of callers or callees listed, most calls first; the last item's detail counts the rest."""

INDIRECTLY = ", indirectly"

MAX_SITES = 20
"""Maximum number of lines of one caller listed per callee."""


@dataclass(frozen=True, slots=True)
class ItemLocation:
    """The location that an item opens: a file's real path and a 1-based line."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class ItemFunction:
    """The function of an item, stored in the item's `data` between requests.

    `function` is an id in the index that answers for the document at `origin`. `name` detects an index rebuilt
    meanwhile, in which the id belongs to another function.
    """

    function: int
    name: str
    origin: str
    anchor: ItemLocation

    def to_data(self) -> dict[str, Any]:
        """Return the item's `data` as JSON."""
        place = {"path": self.anchor.path, "line": self.anchor.line}
        return {"function": self.function, "name": self.name, "origin": self.origin, "anchor": place}

    @staticmethod
    def from_data(data: Any) -> ItemFunction | None:
        """Parse an item's `data` from the client; None if it is not ours."""
        match data:
            case {
                "function": int(function),
                "name": str(name),
                "origin": str(origin),
                "anchor": {"path": str(path), "line": int(line)},
            }:
                return ItemFunction(function, name, origin, ItemLocation(path, line))
        return None


def register(server: LanguageServer, session: Session) -> None:
    """Register the three requests of the call hierarchy."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        place = session.request_position(params.text_document, params.position)
        if place is None:
            return None
        if session.texts.may_contain_stacks(place.uri):
            document = await session.texts.parse(place.uri)
            frames = document.frames_on(place.buffer_line) if document is not None else ()
            return await query_counted(
                session, place.path, lambda index: find_items_in_text(session, place, index, document, frames)
            )
        return await query_counted(session, place.path, lambda index: find_items_at_line(session, place, index))

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        subject = SourceDefinition.from_data(params.item.data) or ItemFunction.from_data(params.item.data)
        if subject is None:
            return None
        seen = await query_counted(
            session, subject.origin, lambda index: find_recorded_callers(session, subject, index)
        )
        if seen is None or seen.definition is None or not session.settings_for(subject.origin).static_calls:
            return seen.calls if seen is not None else None
        # The search covers all sources and would block hovers.
        more = await session.contents.query(
            Path(subject.origin), lambda index: find_static_callers(session, seen, index)
        )
        return [*seen.calls, *(more or ())]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        written = SourceDefinition.from_data(params.item.data)
        if written is not None:
            return await session.query(written.origin, lambda index: static_callees(session, written, index))
        subject = ItemFunction.from_data(params.item.data)
        if subject is None:
            return None
        return await query_counted(session, subject.origin, lambda index: find_callees(session, subject, index))


def find_items_at_line(
    session: Session, position: RequestPosition, index: Index
) -> list[types.CallHierarchyItem] | None:
    """Return items for the innermost recorded function around a source line."""
    anchor = ItemLocation(position.path, position.line)
    functions = _find_innermost(index.line(position.path, position.line).functions())
    # Stacks show an FFI handler's implementation as the function that registers it.
    functions = index.ffi.handlers_implemented_by(function.id for function in functions) or functions
    return [_make_root_item(session, index, function, position.path, anchor) for function in functions] or None


def find_items_in_text(
    session: Session, position: RequestPosition, index: Index, document: StackText | None, frames: Sequence[TextFrame]
) -> list[types.CallHierarchyItem] | None:
    """Return items for the functions of the frames on a line of a trace document or log."""
    items = []
    for found in map(make_resolver(session, position.uri, index, session.binaries, document).find, frames):
        if found.location is not None and file_exists(found.location.path):
            anchor = ItemLocation(found.location.path, found.location.line)
            functions = index.line(anchor.path, anchor.line).functions()
            # Texts shorten names (`f()` in absl): use the function around the location then.
            named = [each for each in functions if each.name == found.function] or _find_innermost(functions)
            items += [_make_root_item(session, index, function, position.path, anchor) for function in named]
    return items or None


def find_callers(session: Session, subject: ItemFunction, index: Index) -> list[types.CallHierarchyIncomingCall]:
    """Return the recorded callers of the subject, with the calling lines."""
    function = _find_function(index, subject)
    if function is None:
        return []
    direct, _ = index.functions.find_direct_neighbours(function.id)
    calls = []
    for edge, calls_made in _format_edge_counts(index.functions.callers(function.id), _max_edges(session, subject)):
        calls_made += "" if edge.caller.id in direct else INDIRECTLY
        sites = _find_sites_in(edge, _local_file(edge.caller) or next((site.path for site in edge.sites), ""))
        anchor = ItemLocation(sites[0].path, sites[0].line) if sites else subject.anchor
        item = _make_item(session, index, edge.caller, subject.origin, anchor, calls_made)
        # Clients open `from_ranges` in the caller's document, and some show nothing if there are none.
        calls.append(
            types.CallHierarchyIncomingCall(item, _build_line_ranges(session, sites) or [item.selection_range])
        )
    return calls


@dataclass(frozen=True, slots=True)
class RecordedCallers:
    """Recorded `calls` of an item's function, the calling `functions`, and the function's `definition`."""

    calls: list[types.CallHierarchyIncomingCall]
    definition: SourceDefinition | None
    functions: Sequence[FunctionRow]


def find_recorded_callers(session: Session, subject: ItemFunction | SourceDefinition, index: Index) -> RecordedCallers:
    """Return the recorded callers of the subject, or of the functions that begin at a definition."""
    if isinstance(subject, SourceDefinition):
        definition: SourceDefinition | None = subject
        functions = [each for each in index.line(subject.path, subject.line).functions() if _begins_at(each, subject)]
        subjects = [_make_subject(each, subject) for each in functions]
    else:
        function = _find_function(index, subject)
        begin = function.location if function is not None else None
        definition = SourceDefinition(begin.path, begin.line, subject.origin) if begin is not None else None
        subjects = [subject]
    calls = [call for each in subjects for call in find_callers(session, each, index)]
    recorded = [caller for each in subjects for caller in index.functions.all_callers(each.function)]
    return RecordedCallers(calls, definition, recorded)


def find_static_callers(
    session: Session, recorded: RecordedCallers, index: Index
) -> list[types.CallHierarchyIncomingCall]:
    """Return the static callers of the same definition that were never recorded."""
    if recorded.definition is None:
        return []
    static, left_out = static_callers(session, recorded.definition, index, recorded.functions, len(recorded.calls))
    last = [*recorded.calls, *static][-1:]
    for call in last if left_out else ():
        call.from_.detail = f"{call.from_.detail} ({left_out:,} more that may call it, not shown)"
    return static


def _begins_at(function: FunctionRow, definition: SourceDefinition) -> bool:
    begin = function.location
    return begin is not None and (begin.path, begin.line) == (definition.path, definition.line)


def _make_subject(function: FunctionRow, definition: SourceDefinition) -> ItemFunction:
    return ItemFunction(function.id, function.name, definition.origin, ItemLocation(definition.path, definition.line))


def find_callees(session: Session, subject: ItemFunction, index: Index) -> list[types.CallHierarchyOutgoingCall]:
    """Return the recorded callees of the subject, with the calling lines."""
    function = _find_function(index, subject)
    if function is None:
        return []
    _, direct = index.functions.find_direct_neighbours(function.id)
    here = session.line_range(subject.anchor.path, subject.anchor.line)
    calls = []
    for edge, calls_made in _format_edge_counts(index.functions.callees(function.id), _max_edges(session, subject)):
        calls_made += "" if edge.callee.id in direct else INDIRECTLY
        sites = _find_sites_in(edge, subject.anchor.path)
        anchor = ItemLocation(sites[0].path, sites[0].line) if sites else subject.anchor
        item = _make_item(session, index, edge.callee, subject.origin, anchor, calls_made)
        calls.append(types.CallHierarchyOutgoingCall(item, _build_line_ranges(session, sites) or [here]))
    return [*calls, *_find_static_callees(session, subject, function, index)]


def _find_static_callees(
    session: Session, subject: ItemFunction, function: FunctionRow, index: Index
) -> list[types.CallHierarchyOutgoingCall]:
    begin = function.location
    if begin is None or session.settings_for(subject.origin).static_calls is not True:
        return []
    # Glue functions are skipped in the list, but they were called too.
    recorded = [*index.functions.callees(function.id), *index.functions.direct_callees(function.id)]
    begins = {(each.callee.location.path, each.callee.location.line) for each in recorded if each.callee.location}
    return static_callees(session, SourceDefinition(begin.path, begin.line, subject.origin), index, begins)


def _find_innermost(functions: Sequence[FunctionRow]) -> list[FunctionRow]:
    """Return the nested function that begins last; several if one source line defines several (templates)."""
    begins = [function.location.line if function.location else 0 for function in functions]
    return [function for function, begin in zip(functions, begins, strict=True) if begin == max(begins)]


def _find_function(index: Index, subject: ItemFunction) -> FunctionRow | None:
    function = index.functions.get(subject.function)
    if function is not None and function.name == subject.name:
        return function
    return next((each for each in index.functions.find(subject.name) if each.name == subject.name), None)


def _max_edges(session: Session, subject: ItemFunction) -> int:
    return min(MAX_EDGES, session.settings_for(subject.origin).limit)


def _format_edge_counts(edges: Sequence[CallEdge], limit: int) -> Iterator[tuple[CallEdge, str]]:
    for position, edge in enumerate(edges[:limit], start=1):
        left_out = f" ({len(edges) - limit} more not shown)" if position == limit < len(edges) else ""
        yield edge, count(edge.calls, "call") + left_out


def _find_sites_in(edge: CallEdge, path: str) -> list[Location]:
    """Return the caller's lines in the file that its item opens: clients read `from_ranges` as lines of that file."""
    return [site for site in edge.sites if site.path == path and file_exists(path)][:MAX_SITES]


def _local_file(function: FunctionRow) -> str | None:
    """Return the file of a function if it is on this machine, else None."""
    return function.location.path if function.location and file_exists(function.location.path) else None


def _build_line_ranges(session: Session, sites: Sequence[Location]) -> list[types.Range]:
    return [session.line_range(site.path, site.line) for site in sites]


def _find_in_checkout(session: Session, index: Index, origin: str, begin: Location) -> Location | None:
    return CheckoutFinder(session, index, session.documents.uri_of(origin)).find(begin)


def _make_root_item(
    session: Session, index: Index, function: FunctionRow, origin: str, anchor: ItemLocation
) -> types.CallHierarchyItem:
    """Return the root item of a hierarchy; its detail names the captures counted."""
    asked, functions = index.functions.restrict_to_latest_run([function])
    path = _local_file(function) or origin
    return _make_item(
        session,
        index,
        function,
        origin,
        anchor,
        counted_in_answer(session, index, path, lambda: asked.answer_of(functions)),
    )


def _make_item(
    session: Session, index: Index, function: FunctionRow, origin: str, anchor: ItemLocation, calls_made: str
) -> types.CallHierarchyItem:
    begin = function.location
    details = function.module.rpartition("/")[2]
    last = 0
    if begin is not None and _local_file(function):
        anchor = ItemLocation(begin.path, begin.line)
        last = function.end_line
    elif begin is not None and (located := _find_in_checkout(session, index, origin, begin)) is not None:
        anchor = ItemLocation(located.path, located.line)
    else:
        missing = f"{Path(begin.path).name}:{begin.line} is not here" if begin else "no source"
        details += f", {missing}: opens {Path(anchor.path).name}:{anchor.line}"
        details += f" · {begin.url}" if begin is not None and begin.url else ""
    last = max(anchor.line, last)
    selection = session.line_range(anchor.path, anchor.line)
    return types.CallHierarchyItem(
        name=shorten(make_printable(function.name)),
        kind=types.SymbolKind.Function,
        uri=session.documents.uri_of(anchor.path),
        range=session.extent_range(anchor.path, anchor.line, last),
        selection_range=selection,
        detail=" · ".join(part for part in (calls_made, make_printable(details)) if part),
        data=ItemFunction(function.id, function.name, origin, anchor).to_data(),
    )
