"""Going to frames: definition, declaration, implementation and references on lines with recorded calls.

Without recorded calls every answer is empty, so only the answers of pyright and clangd appear. `frame_lines` handles
lines of trace documents and logs.

Definition (go to frame) leads one frame inward, across languages, to the callee that ran. It skips the interpreter,
glue, framedex itself, and frames without source. A file that is not on this machine is shown in a checkout or in the
fetched sources. After the last such frame the answer is empty, and the client gets a note with a command that opens the
next public page. The answer is one location, the likeliest, so that no editor shows a chooser: a walk takes one key per
frame. A note after the answer lists skipped frames. `code_action` and `line_requests` list the alternatives on demand.

Repeated requests walk along one real stack. From a line that an answer led to, only the stacks that led there continue.
So of all callees of a shared wrapper, only those on this path count. Requests elsewhere in between do not change that
(`walks`). The path that took most time comes first. Creation of the runtime's client comes last
(`stack_paths.find_paths_inward` defines the order). A callee whose name is under the cursor comes before all others,
except the handler of an `ffi_call` on its line.

A line inside `jit` made no call when its program ran. It leads to the lines called from it during tracing. The
innermost of those lead to the lines that run the program, and the client is notified. No recorded stack enters a jitted
function. So with the cursor on its name, the line of its call leads to the function's first line with an op. A walk
that has just turned outward to that line does not go inward again: it follows the stack.

Declaration (back one frame) reverses definition: it leads outward to the calling line, the one with most calls. On a
line that an answer led to, it follows only the stacks that led there. An FFI handler's implementation has the callers
of the handler. From a line inside `jit` it leads to the line that called the function during tracing, or that runs the
program.

Implementation returns the boundary functions reached from a line, at any depth, longest first. Each leads to the
innermost frame with source of its latest call. In the mock, or in a plug-in with debug information, that is the
function itself. Otherwise it is the nearest line on the path to it.

References returns the origins of the stacks through a line, most calls first. Each distinct path is shown by the
innermost Python line of the program itself, else of a library. For an FFI handler's C++ source and for an `ffi_call`,
the lines of every `ffi_call` of the target come first. A line inside `jit` also has the lines that traced it and that
run its program.

Notes are sent after the answer, because the file that the editor opens would cover them. Only clients that show them in
a status line get them: clients that support `framedex/led`, and some known editors. Other editors would open a window
over the text at each step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.path_resolution.files import file_exists
from framedex_server.answers import frame_lines
from framedex_server.answers.navigation_targets import (
    MAX_TARGETS,
    TURNED_OUTWARD_NOTE,
    NavigationTarget,
    TargetLine,
    Targets,
    find_inward_targets,
    find_outward_targets,
    format_targets,
    record_targets,
)
from framedex_server.answers.programs import find_lines_outside
from framedex_server.answers.remote_sources import find_public_callees, format_public_callee
from framedex_server.answers.requests import Json, show_message
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.protocol import OPEN_PUBLIC, STEP_NOTE
from framedex_server.stack_paths import can_step_to, find_local_locations, format_short_location, format_skipped_notes

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import BoundaryEnd, Location


def register_definition(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/definition`."""

    async def _find_in_stack_text(params: types.DefinitionParams, position: RequestPosition | None) -> Targets:
        about = session, params.text_document.uri, params.position
        targets = await frame_lines.find_definition(*about)
        if targets is None and position is not None and (found := await frame_lines.find_public_frame(*about)):
            send_page_note(server, session, position, *found)
        return targets

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> Targets:
        place = session.request_position(params.text_document, params.position)
        if session.texts.may_contain_stacks(params.text_document.uri):
            return await _find_in_stack_text(params, place)
        return (
            await find_first_target(server, session, place, types.TEXT_DOCUMENT_DEFINITION, find_inward_targets)
            if place
            else None
        )


def register_declaration(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/declaration`."""

    @server.feature(types.TEXT_DOCUMENT_DECLARATION)
    async def declaration(params: types.DeclarationParams) -> Targets:
        place = session.source_position(params.text_document, params.position)
        return (
            await find_first_target(server, session, place, types.TEXT_DOCUMENT_DECLARATION, find_outward_targets)
            if place
            else None
        )


def register_implementation(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/implementation`."""

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementation(params: types.ImplementationParams) -> Targets:
        place = session.source_position(params.text_document, params.position)
        if place is None:
            return None
        return await session.query_at(place, lambda index: find_boundaries(session, place, index))


def find_boundaries(session: Session, position: RequestPosition, index: Index) -> Targets:
    """Return the boundary functions reached from a source line, except the line itself."""
    ends = index.line(position.path, position.line, session.selection.capture_in(index)).ends()
    targets = [target for end in ends for target in _innermost_targets(end)]
    here = index.line(position.path, position.line).lines
    elsewhere = [target for target in targets if target.path != position.path or target.line not in here]
    links = session.links_supported_for(types.TEXT_DOCUMENT_IMPLEMENTATION)
    limit = session.settings_for(position.path).limit  # list all boundary functions, not only the likeliest
    return format_targets(session, session.line_range(position.path, position.line), elsewhere, links, limit)


def _innermost_targets(end: BoundaryEnd) -> Iterator[TargetLine]:
    frame = next(filter(can_step_to, end.frames), None)
    if frame is not None:
        yield from (TargetLine.from_frame(frame, location) for location in find_local_locations(frame))


def register_references(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/references`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        place = session.source_position(params.text_document, params.position)
        if place is None:
            return None
        found = await session.query_at(place, lambda index: find_origins(session, place, index))
        return session.send_in_parts(params.partial_result_token, found) if found else None


def find_origins(session: Session, position: RequestPosition, index: Index) -> list[types.Location] | None:
    """Return the lines that call the FFI targets of a line, then the lines that its stacks come from."""
    lines = dict.fromkeys(
        (location.path, location.line)
        for location in _find_origin_locations(session, position, index)
        if file_exists(location.path)
    )
    limit = session.settings_for(position.path).limit
    found = [
        types.Location(session.documents.uri_of(path), session.line_range(path, line))
        for path, line in list(lines)[:limit]
    ]
    return found or None


def _find_origin_locations(session: Session, position: RequestPosition, index: Index) -> Iterator[Location]:
    for use in index.line(position.path, position.line).ffi_uses():
        yield from (site.lines[0].location for site in use.sites if site.lines)
    capture = session.selection.capture_in(index)
    for line in index.line(position.path, position.line, capture).program_lines():
        yield line.location
    for outside in find_lines_outside(session, position, index):
        yield outside.location


async def find_first_target(
    server: LanguageServer,
    session: Session,
    position: RequestPosition,
    method: str,
    search: Callable[[Session, RequestPosition, Index], list[NavigationTarget]],
) -> Targets:
    """Return the first target of a line, or all targets if the settings say so; send the note."""
    takes_all = session.settings_for(position.path).all_places
    most, links = MAX_TARGETS if takes_all else 1, session.links_supported_for(method)

    def find_candidates(index: Index) -> tuple[list[NavigationTarget], Targets]:
        candidates = search(session, position, index)
        record_targets(session, index, candidates[:most])
        origin = session.line_range(position.path, position.line)
        return candidates, format_targets(session, origin, [candidate.target for candidate in candidates], links, most)

    candidates, targets = await session.query_at(position, find_candidates) or ([], None)
    if candidates:
        text, about = ("", {}) if takes_all else _format_step_note(candidates)
        request = "framedex/waysIn" if search is find_inward_targets else "framedex/waysOut"
        _send_after_answer(server, session, text, {**about, "at": position.parameters, "request": request})
    elif search is find_inward_targets:
        pages = await session.query_at(position, lambda index: find_public_callees(session, index, position))
        if pages:
            send_page_note(server, session, position, *pages[0])
    return targets


def send_page_note(
    server: LanguageServer, session: Session, position: RequestPosition, name: str, location: Location
) -> None:
    """After the answer, report that a frame is not on this machine, with a command that opens its public page."""
    action = {
        "title": f"Open {format_short_location(location)} in the browser",
        "command": OPEN_PUBLIC,
        "arguments": [location.url],
    }
    about = {"action": action, "at": position.parameters}
    _send_after_answer(server, session, format_public_callee(name, location), about, address=f": {location.url}")


def _format_step_note(targets: Sequence[NavigationTarget]) -> tuple[str, Json]:
    """Return the note about a step to the first of these targets (may be empty), and its further fields."""
    is_choice = len(targets) > 1
    others = [f"way 1 of {len(targets)}"] if is_choice else []
    turned = [TURNED_OUTWARD_NOTE] if targets[0].turns_outward else []
    text = "; ".join([*turned, *format_skipped_notes(targets[0].skipped), *others])
    return text, {"ways": len(targets)} if is_choice else {}


def _send_after_answer(server: LanguageServer, session: Session, text: str, about: Json, address: str = "") -> None:
    """Send a note after the answer; an empty text clears the note of a client that supports `framedex/led`.

    `about` has further fields of `framedex/led`. Messages end with the `address` instead.
    """
    task = asyncio.current_task()
    assert task is not None
    if session.supports_step_notes:
        task.add_done_callback(lambda _: server.protocol.notify(STEP_NOTE, {"text": text, **about}))
    elif text and session.has_message_line:
        task.add_done_callback(lambda _: show_message(server, text + address))
