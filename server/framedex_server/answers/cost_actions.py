"""Code actions on the diagnostic of a cost: show the stacks behind it, or compare with the previous run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from framedex_server.answers.costs import ANSWERS, captures_of_file
from framedex_server.answers.session import Session
from framedex_server.protocol import COMPARE_CAPTURES, OPEN_TRACE, SHOW_COSTS

if TYPE_CHECKING:
    from framedex.index import Index

COST = types.CodeActionKind.QuickFix.value
"""The kind of these actions: editors offer it on a diagnostic."""

_SHOW = {
    "compiles": "Show the shapes that differ",
    "transfers": "Show the calls that move data",
    "memory": "Show the calls that hold memory",
    "waits": "Show the calls that wait",
}


async def cost_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the actions for the cost diagnostics in a request."""
    found = [each for each in params.context.diagnostics if each.source == "framedex" and each.code in ANSWERS]
    path = session.source_path(params.text_document)
    if not found or path is None:
        return []
    runs = await session.contents.ask(Path(path), lambda index: _run_before(session, path, index))
    actions = []
    for diagnostic in found:
        start = diagnostic.range.start
        about = {
            "textDocument": {"uri": params.text_document.uri},
            "position": {"line": start.line, "character": start.character},
        }
        show = SHOW_COSTS if SHOW_COSTS in session.command_links else OPEN_TRACE
        name = str(diagnostic.code)
        actions.append(_action(_SHOW[name], show, {**about, "answer": name}, diagnostic))
        if runs is not None:
            before, after = runs
            compared = {**about, "before": before, "after": after}
            actions.append(_action("Compare with the run before", COMPARE_CAPTURES, compared, diagnostic))
    return actions


def _run_before(session: Session, path: str, index: Index) -> tuple[int, int] | None:
    """Return the latest capture of the previous run, and the one counted for a file; None without a previous run."""
    counted = captures_of_file(session, path, index)
    captures = {capture.id: capture for capture in index.captures()}
    after = next((captures[each] for each in reversed(counted) if each in captures), None)
    if after is None:
        return None
    earlier = [each for each in captures.values() if (each.run, each.started) < (after.run, after.started)]
    before = [each for each in earlier if not each.run or each.run != after.run]
    return (before[-1].id, after.id) if before else None


def _action(title: str, command: str, about: dict[str, Any], diagnostic: types.Diagnostic) -> types.CodeAction:
    return types.CodeAction(
        title,
        kind=COST,
        diagnostics=[diagnostic],
        command=types.Command(title, command, arguments=[about]),
    )
