"""A client like LSP4IJ, which connects framedex to JetBrains' editors (facts from its documentation and sources).

Its positions are UTF-16, its request ids strings. It names its project only by `rootUri` and, in its lazy mode, sends
empty workspace folders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.editors.sessions import EDITORS
from tests.server.raw_client import RawClient
from tests.server.recording import Recording

TEMPLATE = EDITORS / "jetbrains" / "framedex"

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "definition": {"linkSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "references": {},
        "codeLens": {},
        "inlayHint": {},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
        "semanticTokens": {
            "requests": {"full": True},
            "tokenTypes": ["function", "string", "number", "comment"],
            "tokenModifiers": [],
            "formats": ["relative"],
        },
    },
    "experimental": json.loads((TEMPLATE / "experimental.json").read_text()),
    "workspace": {"workspaceFolders": True, "configuration": True, "inlayHint": {"refreshSupport": True}},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
}

SETTINGS = json.loads((TEMPLATE / "settings.json").read_text())


class Lsp4ij:
    """Uses string ids."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self._ids = map(str, count(1))

    def ask(self, method: str, recording: Recording, line: int, **more: Any) -> Any:
        """The result of a request about a demo line."""
        params = {
            "textDocument": {"uri": recording.demo.as_uri()},
            "position": {"line": line - 1, "character": 0},
            **more,
        }
        return self._client.request(method, params, next(self._ids))["result"]


@pytest.fixture(
    params=[
        pytest.param({}, marks=pytest.mark.exhaustive),
        {"workspaceFolders": []},
        pytest.param({"workspaceFolders": None}, marks=pytest.mark.exhaustive),
    ]
)
def editor(request: pytest.FixtureRequest, recording: Recording) -> Iterator[Lsp4ij]:
    with RawClient() as client:
        reply = client.initialize(recording.root, request_id="0", capabilities=CAPABILITIES, **request.param)
        assert reply["result"]["capabilities"]["positionEncoding"] == "utf-16"
        asked = client.wait_for("workspace/configuration")
        client.answer(asked, [SETTINGS["framedex"]] * len(asked["params"]["items"]))
        client.answer(client.wait_for("workspace/inlayHint/refresh"), None)  # the settings apply from here on
        yield Lsp4ij(client)


def test_lsp4ij_gets_hovers_and_frames(editor: Lsp4ij, recording: Recording) -> None:
    hover = editor.ask("textDocument/hover", recording, recording.main_calls_make_input)
    assert "3 recorded calls" in hover["contents"]["value"]
    (link,) = editor.ask("textDocument/definition", recording, recording.main_calls_make_input)
    line = recording.line(recording.demo, recording.make_input_calls_device_put)
    assert link["targetSelectionRange"]["end"]["character"] == len(line.encode("utf-16-le")) // 2


def test_the_call_hierarchy_is_available_as_references(editor: Lsp4ij, recording: Recording) -> None:
    line = recording.device_put_enters_cpp
    params = {"context": {"includeDeclaration": False}, "textDocument": {"uri": recording.library.as_uri()}}
    assert editor.ask("textDocument/references", recording, line, **params)


def test_its_intentions_are_the_steps_from_a_line(editor: Lsp4ij, recording: Recording) -> None:
    """LSP4IJ requests intentions with an automatic trigger, and drops quick fixes from that answer."""
    here = {"line": recording.main_calls_both - 1, "character": 0}
    context = {"diagnostics": [], "triggerKind": 1}
    actions = editor.ask("textDocument/codeAction", recording, 1, range={"start": here, "end": here}, context=context)
    assert [action["title"].split(",")[0] for action in actions] == ["Go to make_input", "Go to devices"]
    assert all(action["kind"] != "quickfix" for action in actions)


def test_the_template_switches_on_hints_and_lenses(editor: Lsp4ij, recording: Recording) -> None:
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 11, "character": 0}}
    hints = editor.ask("textDocument/inlayHint", recording, 1, range=whole)
    assert any("call" in str(hint["label"]) for hint in hints)
    assert editor.ask("textDocument/codeLens", recording, 1)
