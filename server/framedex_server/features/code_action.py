"""Code actions: fixes for the cost in a diagnostic, alternative targets of a line, and public pages.

Go to frame leads to the likeliest location only, and opens no browser. The code actions list the others, by function.
Targets and pages are offered only if the user requests actions, not if the editor requests them as the cursor moves.
Actions on diagnostics are always offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex_server.answers import frame_lines
from framedex_server.answers.costs import COST_KINDS, find_counted_captures
from framedex_server.answers.navigation_targets import (
    NavigationTarget,
    find_inward_targets,
    record_targets,
    sort_by_file,
)
from framedex_server.answers.remote_sources import find_public_callees, make_fetch_action
from framedex_server.answers.session import Session
from framedex_server.protocol import (
    COMPARE_CAPTURES,
    FETCH_SOURCE,
    GO_TO,
    OPEN_HOW_TO,
    OPEN_PUBLIC,
    OPEN_TRACE,
    SHOW_COSTS,
)
from framedex_server.stack_paths import format_short_location

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location

PAGE_KIND, GO_TO_KIND = "source.framedex.openPublic", "source.framedex.goTo"
"""The kinds of these actions: clients neither run them automatically nor show a light bulb for them."""

MAX_PAGES = 4


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/codeAction`."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[GO_TO_KIND, PAGE_KIND, COST_KIND])
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        actions: list[types.CodeAction] = []
        if _is_requested(COST_KIND, params):
            actions += await find_cost_actions(session, params)
        is_automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        if is_automatic and not session.lists_automatic_actions:
            return actions or None
        if session.shows_documents and _is_requested(GO_TO_KIND, params):
            actions += [_make_go_to_action(session, candidate) for candidate in await _find_targets(session, params)]
        if _is_requested(PAGE_KIND, params):
            pages = await _find_pages(session, params)
            actions += [_make_page_action(place) for place in pages]
            actions += _make_fetch_actions(session, params.text_document.uri, pages)
        return actions or None


def _is_requested(kind: str, params: types.CodeActionParams) -> bool:
    return any(f"{kind}.".startswith(f"{wanted}.") for wanted in params.context.only or [kind])


async def _find_targets(session: Session, params: types.CodeActionParams) -> list[NavigationTarget]:
    """Return the inward targets of a source line; empty if there is only one, to which go to frame leads."""
    place = session.source_position(params.text_document, params.range.start)
    if place is None:
        return []

    def find(index: Index) -> list[NavigationTarget]:
        candidates = find_inward_targets(session, place, index)
        record_targets(session, index, candidates)
        return candidates

    found = await session.query_at(place, find) or []
    return sort_by_file(found) if len(found) > 1 else []


async def _find_pages(session: Session, params: types.CodeActionParams) -> list[Location]:
    document, position = params.text_document, params.range.start
    if session.texts.may_contain_stacks(document.uri):
        found = await frame_lines.find_public_frame(session, document.uri, position)
        return [found[1]] if found is not None else []
    place = session.request_position(document, position)
    if place is None:
        return []
    candidates = await session.query_at(place, lambda index: find_public_callees(session, index, place)) or []
    return list({location.url: location for _, location in candidates}.values())[:MAX_PAGES]


def _make_go_to_action(session: Session, candidate: NavigationTarget) -> types.CodeAction:
    title = f"Go to {make_printable(candidate.function)}, {candidate.place}" + (
        f": {candidate.detail}" if candidate.detail else ""
    )
    target = candidate.target
    line = session.line_range(target.path, target.line).start.line
    where = {"uri": session.documents.uri_of(target.path), "line": line}
    return types.CodeAction(title, kind=GO_TO_KIND, command=types.Command(title, GO_TO, arguments=[where]))


def _make_page_action(location: Location) -> types.CodeAction:
    title = f"Open the public page of {format_short_location(location)}"
    return types.CodeAction(title, kind=PAGE_KIND, command=types.Command(title, OPEN_PUBLIC, arguments=[location.url]))


def _make_fetch_actions(session: Session, uri: str, locations: Sequence[Location]) -> list[types.CodeAction]:
    """Return an action for each commit that can be fetched; it leads to the first of the commit's locations."""
    found = {fetch["title"]: fetch for each in reversed(locations) if (fetch := make_fetch_action(session, uri, each))}
    return [
        types.CodeAction(
            title, kind=PAGE_KIND, command=types.Command(title, FETCH_SOURCE, arguments=fetch["arguments"])
        )
        for title, fetch in reversed(found.items())
    ]


COST_KIND = types.CodeActionKind.QuickFix.value
"""The kind of these actions: editors offer it on a diagnostic."""

_SHOW_TITLES = {
    "compiles": "Show the shapes that differ",
    "transfers": "Show the calls that move data",
    "memory": "Show the calls that hold memory",
    "waits": "Show the calls that wait",
}

_HOW_TO_PAGES = {"compiles": "recompiles"}
"""The page of docs/how-to about a cost, if it has another name."""


async def find_cost_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the actions for the cost diagnostics in a request."""
    found = [each for each in params.context.diagnostics if each.source == "framedex" and each.code in COST_KINDS]
    path = session.source_path(params.text_document)
    if not found or path is None:
        return []
    runs = await session.contents.query(Path(path), lambda index: _find_previous_run(session, path, index))
    actions = []
    for diagnostic in found:
        start = diagnostic.range.start
        argument = {
            "textDocument": {"uri": params.text_document.uri},
            "position": {"line": start.line, "character": start.character},
        }
        show = SHOW_COSTS if SHOW_COSTS in session.command_links else OPEN_TRACE
        name = str(diagnostic.code)
        actions.append(_make_cost_action(_SHOW_TITLES[name], show, {**argument, "answer": name}, diagnostic))
        if runs is not None:
            before, after = runs
            compared = {**argument, "before": before, "after": after}
            actions.append(_make_cost_action("Compare with the run before", COMPARE_CAPTURES, compared, diagnostic))
        if OPEN_HOW_TO in session.command_links:
            page = _HOW_TO_PAGES.get(name, name)
            actions.append(_make_cost_action(f"Open the how-to: {page}", OPEN_HOW_TO, {"page": page}, diagnostic))
    return actions


def _find_previous_run(session: Session, path: str, index: Index) -> tuple[int, int] | None:
    """Return the latest capture of the previous run, and the one counted for a file; None without a previous run."""
    counted = find_counted_captures(session, path, index)
    captures = {capture.id: capture for capture in index.captures()}
    after = next((captures[each] for each in reversed(counted) if each in captures), None)
    if after is None:
        return None
    earlier = [each for each in captures.values() if (each.run, each.started) < (after.run, after.started)]
    before = [each for each in earlier if not each.run or each.run != after.run]
    return (before[-1].id, after.id) if before else None


def _make_cost_action(
    title: str, command: str, argument: dict[str, Any], diagnostic: types.Diagnostic
) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=COST_KIND,
        diagnostics=[diagnostic],
        command=types.Command(title, command, arguments=[argument]),
    )
