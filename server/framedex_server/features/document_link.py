"""Document links in trace documents and logs: each frame's location leads to `file:///path#L12`.

VS Code and JetBrains share that form. Foreign paths and symbols without a path are looked up in the index at once,
because not every client resolves links. The link leads to the first of several candidates; definition offers all. A
file that is not here is linked to its public repository.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.path_resolution.files import file_exists
from framedex.texts.places import format_location_labels
from framedex_server.answers.frame_lines import make_resolver
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.documents.stack_texts import StackText

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location
    from framedex.text_stacks import TextFrame
    from framedex.text_stacks.source_lookup.resolve import Resolver

MAX_LINKS = 2_000
MAX_SYMBOL_LOOKUPS = 200
"""Maximum number of different symbols looked up for one answer."""

# `PartKind` values as text.
_LINKED_PARTS = ("path", "line", "column")


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/documentLink`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
        uri = params.text_document.uri
        document = await session.texts.parse(uri)
        if document is None:
            return None
        about = to_path(uri) or session.default_document()
        found = await session.query(about, lambda index: _find_links(session, document, uri, index))
        return found if found is not None else await session.run(lambda: _find_links(session, document, uri, None))


def _find_links(session: Session, document: StackText, uri: str, index: Index | None) -> list[types.DocumentLink]:
    # Skip binaries: opening a large one takes too long.
    finder = make_resolver(session, uri, index, None, document)
    symbols: set[str] = set()
    links: list[types.DocumentLink] = []
    for frame, source, called in _frames_with_callees(document, finder):
        if frame.place is None:
            symbols.add(frame.function)
            if len(symbols) > MAX_SYMBOL_LOOKUPS:
                continue
        location = finder.find(frame, source, called).location
        if location is not None and (location.url is not None or file_exists(location.path)):
            links += [_make_link(session, where, location) for where in _link_ranges(session, document, frame)]
        if len(links) >= MAX_LINKS:
            break
    return links[:MAX_LINKS]


def _frames_with_callees(document: StackText, finder: Resolver) -> Iterator[tuple[TextFrame, str, TextFrame | None]]:
    """Yield the frames, each with its quoted source and its callee.

    `finder` gets the text before the first stack, and each stack before its own frames.
    """
    from framedex.text_stacks.source_lookup.frame_context import find_callees

    finder.set_program(*document.reading.frames())
    for stack in document.reading.stacks:
        frames = [(frame, document.source_of(frame)) for frame in stack.frames]
        finder.set_stack(frames)
        callee_frame = find_callees(stack.frames, stack.innermost_first)
        yield from ((*each, called) for each, called in zip(frames, callee_frame, strict=True))


def _make_link(session: Session, text_range: types.Range, location: Location) -> types.DocumentLink:
    labels = format_location_labels(location)
    known = [f"location: {', '.join(labels)}"] if labels else []
    if location.url is not None:
        known.insert(0, "the file is not on this machine")
    return types.DocumentLink(
        range=text_range,
        target=location.url or f"{session.documents.uri_of(location.path)}#L{location.line}",
        tooltip="; ".join(known) or None,
    )


def _link_ranges(session: Session, document: StackText, frame: TextFrame) -> Iterator[types.Range]:
    """Yield the range of path, line and column on each text line; without a path, that of the function or the frame."""
    parts = [part for part in frame.parts if part.kind in _LINKED_PARTS]
    if not any(part.kind == "path" for part in parts):
        parts = [part for part in frame.parts if part.kind in ("function", "label")][:1]
    for line in dict.fromkeys(part.line for part in parts):
        parts_here = [part for part in parts if part.line == line]
        text = document.lines[line]
        yield types.Range(
            session.position_in(text, line, min(part.start for part in parts_here)),
            session.position_in(text, line, max(part.end for part in parts_here)),
        )
