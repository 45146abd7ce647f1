"""Definition and hover for frame lines of trace documents, logs and crash texts.

Clients without document links (Emacs, Helix) reach a frame by definition, so any column of its line works.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex.path_resolution.files import is_here
from framedex.placetext import location_labels, place_text
from framedex.plaintext import printable, visible
from framedex_server.answers.fetched import fetched_place
from framedex_server.answers.session import Session
from framedex_server.answers.targets import Target, Targets, answer
from framedex_server.documents.open_documents import path_of
from framedex_server.documents.stack_texts import StackText
from framedex_server.inward import first_public
from framedex_server.markup import Markup

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location
    from framedex.path_resolution.precedence import Whereabouts
    from framedex.text_stacks import TextFrame, TextStack
    from framedex.text_stacks.placing.binaries import Binaries
    from framedex.text_stacks.placing.resolve import Found, Resolver

_MOST_SHOWN = 4


async def definition(session: Session, uri: str, position: types.Position) -> Targets:
    """Return the source of the frame at a position, with all alternatives; None if no source is here."""
    document = await session.texts.of(uri)
    if document is None:
        return None
    found = await _found_at(session, document, uri, position)
    if found is None or found.location is None:
        return None
    places = [place for place in (found.location, *found.candidates) if is_here(place.path)]
    places = places or list(filter(None, map(fetched_place, (found.location, *found.candidates))))
    if not places:
        return None
    targets = [Target(place.path, place.line, place.line, place.line) for place in places]
    return answer(
        session,
        frame_range(session, document, found.frame),
        targets,
        session.links_supported_for(types.TEXT_DOCUMENT_DEFINITION),
    )


async def public_frame_in_text(session: Session, uri: str, position: types.Position) -> tuple[str, Location] | None:
    """Return the function and location of the frame at a position, if its source is only public."""
    document = await session.texts.of(uri)
    found = await _found_at(session, document, uri, position) if document is not None else None
    there = None if found is None else first_public((found.location, *found.candidates))
    return None if found is None or there is None else (printable(found.function or "The frame"), there)


async def hover(session: Session, uri: str, position: types.Position) -> types.Hover | None:
    """Return the hover for a frame: its full name, its binary, its source line, and the quality of its location."""
    document = await session.texts.of(uri)
    found = await _found_at(session, document, uri, position) if document is not None else None
    if document is None or found is None:
        return None
    known = None
    if found.location is not None:
        about = path_of(uri) or session.any_document()
        known = await session.ask(about, lambda index: _symbol_and_module(index, found))
        source = await session.run(lambda: _source(session, found))
    else:
        source = ""
    markup = Markup(session.markdown_supported)
    lines = list(_lines(markup, found, known, source))
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


def resolver(
    session: Session, uri: str, index: Index | None, binaries: Binaries | None, document: StackText | None = None
) -> Resolver:
    """Return a resolver for the source locations of a document's frames."""
    from framedex.text_stacks.placing.resolve import Resolver

    releases = document.releases if document is not None else None
    return Resolver(index, whereabouts(session, uri, index), binaries, releases, session.outlines)


def whereabouts(session: Session, uri: str, index: Index | None) -> Whereabouts:
    """Return a path resolver for a document; it searches the workspace folders like source folders."""
    from framedex.path_resolution.precedence import Whereabouts

    path, roots = path_of(uri), session.roots()
    settings = session.folder_settings_at(path or session.any_document())
    beside = [Path(path).parent] if path is not None else []
    return Whereabouts(settings.path_map, (*settings.sources, *roots), (*beside, *roots), index)


async def _found_at(session: Session, document: StackText, uri: str, position: types.Position) -> Found | None:
    frame = _frame_at(session, document, position)
    if frame is None:
        return None
    about = path_of(uri) or session.any_document()

    def find(index: Index | None) -> Found:
        finder = resolver(session, uri, index, session.binaries, document)
        finder.of_program(*document.reading.frames())
        if stack := document.stack_around(frame.first_line):
            finder.of_stack((each, document.source_of(each)) for each in stack.frames)
        return finder.find(frame, document.source_of(frame), document.called_by(frame))

    # Without an index, local paths and binaries can still be resolved.
    return await session.ask(about, find) or await session.run(lambda: find(None))


def _frame_at(session: Session, document: StackText, position: types.Position) -> TextFrame | None:
    """Return the frame under the cursor, else the first frame on its line."""
    frames = document.frames_on(position.line)
    if len(frames) > 1:
        column = session.column_in(document.lines[position.line], position.character)
        under = [frame for frame in frames if frame.start <= column <= frame.end]
        frames = tuple(under) or frames
    return frames[0] if frames else None


def _lines(markup: Markup, found: Found, known: tuple[str, str] | None, source: str) -> Iterator[str]:
    frame = found.frame
    name, module = known or (found.function, frame.module)
    if name:
        yield f"{markup.code(name)} [doubtful]" if found.is_doubtful else markup.code(name)
    if module:
        yield f"in {markup.code(module)}"
    if found.location is not None and not found.is_by_name:
        yield _place(markup, found.location)
        if source:
            yield markup.code(source)
    elif frame.place is not None:
        is_of_no_file = frame.place.path.startswith("<")  # `<string>`: generated or built-in Python code
        missing = "" if is_of_no_file else ": no such file here"
        yield f"{markup.literal(visible(place_text(frame.place.path, frame.place.line)))}{missing}"
    elif frame.call_address is not None:
        yield f"call at {frame.call_address:#x}: no source is known"
    by_name = (found.location,) if found.location is not None and found.is_by_name else ()
    for candidate in (*by_name, *found.candidates)[:_MOST_SHOWN]:
        yield f"or {_place(markup, candidate)}"
    for outer in found.outward[:_MOST_SHOWN]:
        yield f"from {_place(markup, outer)}"
    if len(found.outward) > _MOST_SHOWN:
        yield f"and {len(found.outward) - _MOST_SHOWN} more callers"
    told = location_labels(found.location) if found.location is not None else ()
    labels = [label for label in frame.labels if label not in told]
    if labels:
        yield ", ".join(map(markup.code, labels))


def _place(markup: Markup, location: Location) -> str:
    labels = location_labels(location)
    how = f" [{', '.join(labels)}]" if labels else ""
    return f"{markup.link(markup.code(place_text(location.path, location.line)), location.url)}{how}"


def _symbol_and_module(index: Index, found: Found) -> tuple[str, str] | None:
    """Return the full symbol and the binary of a recorded function: the text may shorten the symbol."""
    if found.location is None:
        return None
    for function in index.line(found.location.path, found.location.line).functions():
        if function.name == found.function:
            return function.symbol or function.name, function.module
    return None


def _source(session: Session, found: Found) -> str:
    """Return the frame's current source line; empty if it differs from the recorded line."""
    if found.location is None or any(label.startswith("as recorded: ") for label in found.frame.labels):
        return ""
    return session.documents.line(found.location.path, found.location.line).strip()
