"""Definition and hover for frame lines of trace documents, logs and crash texts.

Clients without document links (Emacs, Helix) reach a frame by definition, so any column of its line works.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex.base.plaintext import make_printable, make_visible
from framedex.path_resolution.files import file_exists
from framedex.texts.places import format_location, format_location_labels
from framedex_server.answers.navigation_targets import TargetLine, Targets, format_targets
from framedex_server.answers.remote_sources import find_fetched_location, make_path_resolver
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.documents.stack_texts import StackText
from framedex_server.markup import Markup
from framedex_server.stack_paths import find_first_public

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location
    from framedex.text_stacks import TextFrame, TextStack
    from framedex.text_stacks.source_lookup.binaries import Binaries
    from framedex.text_stacks.source_lookup.frame_context import FoundFrame
    from framedex.text_stacks.source_lookup.resolve import Resolver

_MAX_SHOWN = 4


async def find_definition(session: Session, uri: str, position: types.Position) -> Targets:
    """Return the source of the frame at a position, with all alternatives; None if it is not on this machine."""
    document = await session.texts.parse(uri)
    if document is None:
        return None
    found = await _resolve_at(session, document, uri, position)
    if found is None or found.location is None:
        return None
    places = [place for place in (found.location, *found.candidates) if file_exists(place.path)]
    places = places or list(filter(None, map(find_fetched_location, (found.location, *found.candidates))))
    if not places:
        return None
    targets = [TargetLine(place.path, place.line, place.line, place.line) for place in places]
    return format_targets(
        session,
        frame_range(session, document, found.frame),
        targets,
        session.links_supported_for(types.TEXT_DOCUMENT_DEFINITION),
    )


async def find_public_frame(session: Session, uri: str, position: types.Position) -> tuple[str, Location] | None:
    """Return the function and location of the frame at a position, if its source is only on a public page."""
    document = await session.texts.parse(uri)
    found = await _resolve_at(session, document, uri, position) if document is not None else None
    location = None if found is None else find_first_public((found.location, *found.candidates))
    return None if found is None or location is None else (make_printable(found.function or "The frame"), location)


async def find_hover(session: Session, uri: str, position: types.Position) -> types.Hover | None:
    """Return the hover for a frame: its full name, its binary, its source line, and the quality of its location."""
    document = await session.texts.parse(uri)
    found = await _resolve_at(session, document, uri, position) if document is not None else None
    if document is None or found is None:
        return None
    known = None
    if found.location is not None:
        about = to_path(uri) or session.default_document()
        known = await session.query(about, lambda index: _find_symbol_and_module(index, found))
        source = await session.run(lambda: _read_source_line(session, found))
    else:
        source = ""
    markup = Markup(session.markdown_supported)
    lines = list(_format_lines(markup, found, known, source))
    kind = types.MarkupKind.Markdown if markup.markdown else types.MarkupKind.PlainText
    text = types.MarkupContent(kind, markup.lines(lines))
    return types.Hover(text, frame_range(session, document, found.frame)) if lines else None


def frame_range(session: Session, document: StackText, frame: TextFrame) -> types.Range:
    """Return the range of a frame's text."""
    return types.Range(
        session.position_in(document.lines[frame.first_line], frame.first_line, frame.start),
        session.position_in(document.lines[frame.last_line], frame.last_line, frame.end),
    )


def stack_range(session: Session, document: StackText, stack: TextStack) -> types.Range:
    """Return the range of all lines of a stack."""
    last = document.lines[stack.last_line]
    return types.Range(types.Position(stack.first_line, 0), session.position_in(last, stack.last_line, len(last)))


def make_resolver(
    session: Session, uri: str, index: Index | None, binaries: Binaries | None, document: StackText | None = None
) -> Resolver:
    """Return a resolver for the source locations of a document's frames."""
    from framedex.text_stacks.source_lookup.resolve import Resolver

    releases = document.releases if document is not None else None
    return Resolver(index, make_path_resolver(session, uri, index), binaries, releases, session.outlines)


async def _resolve_at(session: Session, document: StackText, uri: str, position: types.Position) -> FoundFrame | None:
    frame = _find_frame(session, document, position)
    if frame is None:
        return None
    about = to_path(uri) or session.default_document()

    def find(index: Index | None) -> FoundFrame:
        finder = make_resolver(session, uri, index, session.binaries, document)
        finder.set_program(*document.reading.frames())
        if stack := document.stack_around(frame.first_line):
            finder.set_stack((each, document.source_of(each)) for each in stack.frames)
        return finder.find(frame, document.source_of(frame), document.find_callee(frame))

    # Without an index, local paths and binaries can still be resolved.
    return await session.query(about, find) or await session.run(lambda: find(None))


def _find_frame(session: Session, document: StackText, position: types.Position) -> TextFrame | None:
    """Return the frame under the cursor, else the first frame on its line."""
    frames = document.frames_on(position.line)
    if len(frames) > 1:
        column = session.column_in(document.lines[position.line], position.character)
        under = [frame for frame in frames if frame.start <= column <= frame.end]
        frames = tuple(under) or frames
    return frames[0] if frames else None


def _format_lines(markup: Markup, found: FoundFrame, known: tuple[str, str] | None, source: str) -> Iterator[str]:
    frame = found.frame
    name, module = known or (found.function, frame.module)
    if name:
        yield f"{markup.code(name)} [doubtful]" if found.is_doubtful else markup.code(name)
    if module:
        yield f"in {markup.code(module)}"
    if found.location is not None and not found.is_found_by_name:
        yield _format_location(markup, found.location)
        if source:
            yield markup.code(source)
    elif frame.place is not None:
        has_no_file = frame.place.path.startswith("<")  # `<string>`: generated or built-in Python code
        missing = "" if has_no_file else ": file not on this machine"
        yield f"{markup.literal(make_visible(format_location(frame.place.path, frame.place.line)))}{missing}"
    elif frame.call_address is not None:
        yield f"call at {frame.call_address:#x}: source unknown"
    by_name = (found.location,) if found.location is not None and found.is_found_by_name else ()
    for candidate in (*by_name, *found.candidates)[:_MAX_SHOWN]:
        yield f"{found.conjunction} {_format_location(markup, candidate)}"
    for outer in found.outward[:_MAX_SHOWN]:
        yield f"from {_format_location(markup, outer)}"
    if len(found.outward) > _MAX_SHOWN:
        yield f"and {len(found.outward) - _MAX_SHOWN} more callers"
    shown = format_location_labels(found.location) if found.location is not None else ()
    labels = [label for label in frame.labels if label not in shown]
    if labels:
        yield ", ".join(map(markup.code, labels))


def _format_location(markup: Markup, location: Location) -> str:
    labels = format_location_labels(location)
    how = f" [{', '.join(labels)}]" if labels else ""
    return f"{markup.link(markup.code(format_location(location.path, location.line)), location.url)}{how}"


def _find_symbol_and_module(index: Index, found: FoundFrame) -> tuple[str, str] | None:
    """Return the full symbol and the binary of a recorded function: the text may shorten the symbol."""
    if found.location is None:
        return None
    for function in index.line(found.location.path, found.location.line).functions():
        if function.name == found.function:
            return function.symbol or function.name, function.module
    return None


def _read_source_line(session: Session, found: FoundFrame) -> str:
    """Return the frame's current source line; empty if it differs from the recorded line."""
    if found.location is None or any(label.startswith("as recorded: ") for label in found.frame.labels):
        return ""
    return session.documents.line(found.location.path, found.location.line).strip()
