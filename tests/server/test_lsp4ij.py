"""A client like LSP4IJ, which brings framedex to JetBrains' editors (facts: its own documentation and sources).

Its positions are UTF-16, its request ids strings, it names its project by `rootUri` only, and, in its lazy mode, sends
workspace folders that are empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.server.raw_client import RawClient
from tests.server.recording import Recording

CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "definition": {"linkSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "references": {},
        "codeLens": {},
    },
    "workspace": {"workspaceFolders": True, "configuration": True},
    "window": {"workDoneProgress": True},
}


class Lsp4ij:
    """Asks with string ids."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self._ids = map(str, count(1))

    def ask(self, method: str, recording: Recording, line: int, **more: Any) -> Any:
        """The result of a request about a line of the demo."""
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
        client.answer(asked, [None] * len(asked["params"]["items"]))
        yield Lsp4ij(client)


def test_it_gets_hovers_and_frames(editor: Lsp4ij, recording: Recording) -> None:
    hover = editor.ask("textDocument/hover", recording, recording.main_calls_make_input)
    assert "3 recorded calls" in hover["contents"]["value"]
    (link,) = editor.ask("textDocument/definition", recording, recording.main_calls_make_input)
    line = recording.line(recording.demo, recording.make_input_calls_device_put)
    assert link["targetSelectionRange"]["end"]["character"] == len(line.encode("utf-16-le")) // 2


def test_what_its_call_hierarchy_cannot_show_it_gets_as_references(editor: Lsp4ij, recording: Recording) -> None:
    line = recording.device_put_enters_cpp
    params = {"context": {"includeDeclaration": False}, "textDocument": {"uri": recording.library.as_uri()}}
    assert editor.ask("textDocument/references", recording, line, **params)
