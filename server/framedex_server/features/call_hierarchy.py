"""Call hierarchy over recorded edges: who really called whom, across the border of Python and C++, with counts.

LSP wants a place in a document for every item, but a function whose source is unknown, or not on this machine, has
none, and no frame may be dropped. Where no checkout has its file, such an item opens the nearest located frame on the
way to it (the line that led there, or back from there), and its detail says so, with the public address. That place is
known from the item it was reached from: nothing is searched, no file is written for a question, and every client can
open it. Frames of the interpreter and glue between languages are passed over; the detail then says "indirectly". Calls
of the source that were never recorded are listed after these, in the directions that are set (`static_calls`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.whereabouts.files import is_here
from framedex.words import count
from framedex_server.answers.counted import answer_text, ask_counted
from framedex_server.answers.elsewhere import InCheckouts
from framedex_server.answers.frame_lines import resolver
from framedex_server.answers.session import Place, Session
from framedex_server.answers.static_calls import Written, static_callees, static_callers
from framedex_server.documents.stack_texts import StackText
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.interchange import TextFrame
    from framedex.model import Edge, FunctionRow, Location

MOST_EDGES = 200
"""Callers or callees of one function that are listed, most calls first; the last item's detail counts the rest."""

INDIRECTLY = ", indirectly"

MOST_SITES = 20
"""Lines of one caller that are listed per callee."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where an item opens: a file's real path and a 1-based line."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What an item is about; it travels in the item's `data` between requests.

    `function` is an id in the index that answers for the document at `origin`; `name` guards against an index that was
    rebuilt meanwhile, in which the id means another function.
    """

    function: int
    name: str
    origin: str
    anchor: Anchor

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        place = {"path": self.anchor.path, "line": self.anchor.line}
        return {"function": self.function, "name": self.name, "origin": self.origin, "anchor": place}

    @staticmethod
    def from_data(data: Any) -> Subject | None:
        """From what a client sent back; None if it is not ours."""
        match data:
            case {
                "function": int(function),
                "name": str(name),
                "origin": str(origin),
                "anchor": {"path": str(path), "line": int(line)},
            }:
                return Subject(function, name, origin, Anchor(path, line))
        return None


def register(server: LanguageServer, session: Session) -> None:
    """Offer the three requests of the call hierarchy."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        place = session.place(params.text_document, params.position)
        if place is None:
            return None
        if session.texts.may_hold(place.uri):
            document = await session.texts.of(place.uri)
            frames = document.frames_on(place.shown) if document is not None else ()
            return await ask_counted(
                session, place.path, lambda index: in_text(session, place, index, document, frames)
            )
        return await ask_counted(session, place.path, lambda index: in_source(session, place, index))

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        about = Written.from_data(params.item.data) or Subject.from_data(params.item.data)
        if about is None:
            return None
        seen = await ask_counted(session, about.origin, lambda index: seen_callers(session, about, index))
        if seen is None or seen.definition is None or not session.settings_at(about.origin).static_calls:
            return seen.calls if seen is not None else None
        # All sources are searched for the name, which no hover should wait for.
        more = await session.contents.ask(Path(about.origin), lambda index: unseen_callers(session, seen, index))
        return [*seen.calls, *(more or ())]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        written = Written.from_data(params.item.data)
        if written is not None:
            return await session.ask(written.origin, lambda index: static_callees(session, written, index))
        subject = Subject.from_data(params.item.data)
        if subject is None:
            return None
        return await ask_counted(session, subject.origin, lambda index: callees(session, subject, index))


def in_source(session: Session, place: Place, index: Index) -> list[types.CallHierarchyItem] | None:
    """The innermost function around a source line that was on a recorded stack."""
    here = Anchor(place.path, place.line)
    functions = _innermost(index.line(place.path, place.line).functions())
    # What the author of an FFI handler wrote is seen on stacks as the function by which it is registered.
    functions = index.ffi.handlers_made_from(function.id for function in functions) or functions
    return [_first_item(session, index, function, place.path, here) for function in functions] or None


def in_text(
    session: Session, place: Place, index: Index, document: StackText | None, frames: Sequence[TextFrame]
) -> list[types.CallHierarchyItem] | None:
    """The functions of the frames on a line of a trace document or log."""
    items = []
    for found in map(resolver(session, place.uri, index, session.binaries, document).find, frames):
        if found.location is not None and is_here(found.location.path):
            there = Anchor(found.location.path, found.location.line)
            functions = index.line(there.path, there.line).functions()
            # Texts shorten names (`f()`, as absl has it): then it is the function around the place.
            named = [each for each in functions if each.name == found.function] or _innermost(functions)
            items += [_first_item(session, index, function, place.path, there) for function in named]
    return items or None


def callers(session: Session, subject: Subject, index: Index) -> list[types.CallHierarchyIncomingCall]:
    """The functions that were seen calling the subject, with the lines from which they did."""
    function = _function(index, subject)
    if function is None:
        return []
    direct, _ = index.functions.direct_neighbours(function.id)
    calls = []
    for edge, calls_made in _with_counts(index.functions.callers(function.id), _limit(session, subject)):
        calls_made += "" if edge.caller.id in direct else INDIRECTLY
        sites = _sites_in(edge, _document(edge.caller) or next((site.path for site in edge.sites), ""))
        anchor = Anchor(sites[0].path, sites[0].line) if sites else subject.anchor
        item = _item(session, index, edge.caller, subject.origin, anchor, calls_made)
        # Clients open `from_ranges` in the caller's document, and some show nothing at all when there are none.
        calls.append(types.CallHierarchyIncomingCall(item, _ranges(session, sites) or [item.selection_range]))
    return calls


@dataclass(frozen=True, slots=True)
class SeenCallers:
    """The `calls` that were recorded of what an item is about, the `functions` that made them, and its `definition`."""

    calls: list[types.CallHierarchyIncomingCall]
    definition: Written | None
    functions: Sequence[FunctionRow]


def seen_callers(session: Session, about: Subject | Written, index: Index) -> SeenCallers:
    """The functions that were seen calling the subject, or the function that begins where it is written."""
    if isinstance(about, Written):
        definition: Written | None = about
        there = [each for each in index.line(about.path, about.line).functions() if _begins_at(each, about)]
        subjects = [_subject(each, about) for each in there]
    else:
        function = _function(index, about)
        begin = function.location if function is not None else None
        definition = Written(begin.path, begin.line, about.origin) if begin is not None else None
        subjects = [about]
    calls = [call for subject in subjects for call in callers(session, subject, index)]
    recorded = [caller for subject in subjects for caller in index.functions.all_callers(subject.function)]
    return SeenCallers(calls, definition, recorded)


def unseen_callers(session: Session, seen: SeenCallers, index: Index) -> list[types.CallHierarchyIncomingCall]:
    """The functions whose source calls the same definition, and that were never seen to."""
    if seen.definition is None:
        return []
    static, left_out = static_callers(session, seen.definition, index, seen.functions, len(seen.calls))
    last = [*seen.calls, *static][-1:]
    for call in last if left_out else ():
        call.from_.detail = f"{call.from_.detail} ({left_out:,} more that may call it, not shown)"
    return static


def _begins_at(function: FunctionRow, place: Written) -> bool:
    begin = function.location
    return begin is not None and (begin.path, begin.line) == (place.path, place.line)


def _subject(function: FunctionRow, place: Written) -> Subject:
    return Subject(function.id, function.name, place.origin, Anchor(place.path, place.line))


def callees(session: Session, subject: Subject, index: Index) -> list[types.CallHierarchyOutgoingCall]:
    """The functions that the subject was seen calling, with the lines from which it did."""
    function = _function(index, subject)
    if function is None:
        return []
    _, direct = index.functions.direct_neighbours(function.id)
    here = session.line_range(subject.anchor.path, subject.anchor.line)
    calls = []
    for edge, calls_made in _with_counts(index.functions.callees(function.id), _limit(session, subject)):
        calls_made += "" if edge.callee.id in direct else INDIRECTLY
        sites = _sites_in(edge, subject.anchor.path)
        anchor = Anchor(sites[0].path, sites[0].line) if sites else subject.anchor
        item = _item(session, index, edge.callee, subject.origin, anchor, calls_made)
        calls.append(types.CallHierarchyOutgoingCall(item, _ranges(session, sites) or [here]))
    return [*calls, *_never_recorded(session, subject, function, index)]


def _never_recorded(
    session: Session, subject: Subject, function: FunctionRow, index: Index
) -> list[types.CallHierarchyOutgoingCall]:
    begin = function.location
    if begin is None or session.settings_at(subject.origin).static_calls is not True:
        return []
    # Of a function that is passed over as glue, too, it is known that it was called.
    recorded = [*index.functions.callees(function.id), *index.functions.direct_callees(function.id)]
    begins = {(each.callee.location.path, each.callee.location.line) for each in recorded if each.callee.location}
    return static_callees(session, Written(begin.path, begin.line, subject.origin), index, begins)


def _innermost(functions: Sequence[FunctionRow]) -> list[FunctionRow]:
    """Of nested functions the one that begins last; several only where the same source made several (templates)."""
    begins = [function.location.line if function.location else 0 for function in functions]
    return [function for function, begin in zip(functions, begins, strict=True) if begin == max(begins)]


def _function(index: Index, subject: Subject) -> FunctionRow | None:
    function = index.functions.get(subject.function)
    if function is not None and function.name == subject.name:
        return function
    return next((each for each in index.functions.named(subject.name) if each.name == subject.name), None)


def _limit(session: Session, subject: Subject) -> int:
    return min(MOST_EDGES, session.settings_at(subject.origin).limit)


def _with_counts(edges: Sequence[Edge], most: int) -> Iterator[tuple[Edge, str]]:
    for position, edge in enumerate(edges[:most], start=1):
        left_out = f" ({len(edges) - most} more not shown)" if position == most < len(edges) else ""
        yield edge, count(edge.calls, "call") + left_out


def _sites_in(edge: Edge, path: str) -> list[Location]:
    """The caller's lines in the file that its item opens: `from_ranges` are read as lines of that document."""
    return [site for site in edge.sites if site.path == path and is_here(path)][:MOST_SITES]


def _document(function: FunctionRow) -> str | None:
    """The file that shows a function, if it is on this machine."""
    return function.location.path if function.location and is_here(function.location.path) else None


def _ranges(session: Session, sites: Sequence[Location]) -> list[types.Range]:
    return [session.line_range(site.path, site.line) for site in sites]


def _in_checkout(session: Session, index: Index, origin: str, begin: Location) -> Location | None:
    return InCheckouts(session, index, session.documents.uri_of(origin)).find(begin)


def _first_item(
    session: Session, index: Index, function: FunctionRow, origin: str, anchor: Anchor
) -> types.CallHierarchyItem:
    """The item at which a hierarchy begins, with the captures that its counts are of."""
    asked, functions = index.functions.in_latest_run([function])
    path = _document(function) or origin
    return _item(
        session, index, function, origin, anchor, answer_text(session, index, path, asked.answer_of(functions))
    )


def _item(
    session: Session, index: Index, function: FunctionRow, origin: str, anchor: Anchor, calls_made: str
) -> types.CallHierarchyItem:
    begin = function.location
    known = function.module.rpartition("/")[2]
    last = 0
    if begin is not None and _document(function):
        anchor = Anchor(begin.path, begin.line)
        last = function.end_line
    elif begin is not None and (there := _in_checkout(session, index, origin, begin)) is not None:
        anchor = Anchor(there.path, there.line)
    else:
        missing = f"{Path(begin.path).name}:{begin.line} is not here" if begin else "no source"
        known += f", {missing}: opens {Path(anchor.path).name}:{anchor.line}"
        known += f" · {begin.url}" if begin is not None and begin.url else ""
    last = max(anchor.line, last)
    selection = session.line_range(anchor.path, anchor.line)
    return types.CallHierarchyItem(
        name=shorten(printable(function.name)),
        kind=types.SymbolKind.Function,
        uri=session.documents.uri_of(anchor.path),
        range=session.extent_range(anchor.path, anchor.line, last),
        selection_range=selection,
        detail=" · ".join(part for part in (calls_made, printable(known)) if part),
        data=Subject(function.id, function.name, origin, anchor).to_data(),
    )
