"""The lines that an editor marks in its margin."""

from __future__ import annotations

from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcInvalidParams

from tests.server.lsp_requests import Connect, open_document, send_request, to_json
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


async def test_the_recorded_lines_of_a_program_are_listed_with_their_calls(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    lines = to_json(await send_request(client, "recordedLines", _document(recording.demo)))["lines"]
    assert [each["line"] + 1 for each in lines] == sorted(each["line"] + 1 for each in lines)
    calls = {each["line"] + 1: each["calls"] for each in lines}
    assert calls[recording.main_calls_make_input] > 0 and recording.nothing_recorded not in calls


async def test_recorded_lines_follow_unsaved_edits(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    before = to_json(await send_request(client, "recordedLines", _document(recording.demo)))["lines"]
    open_document(client, recording.demo.as_uri(), "# a line above\n" + recording.demo.read_text())
    after = to_json(await send_request(client, "recordedLines", _document(recording.demo)))["lines"]
    assert [each["line"] for each in after] == [each["line"] + 1 for each in before]


async def test_an_installed_file_has_no_marked_lines(recording: Recording, connect: Connect, tmp_path: Path) -> None:
    client = await connect(recording.root)
    installed = tmp_path / "site-packages" / "library.py"
    assert to_json(await send_request(client, "recordedLines", _document(installed))) is None
    with pytest.raises(JsonRpcInvalidParams, match="textDocument"):
        await send_request(client, "recordedLines", {})


def _document(path: Path) -> dict[str, object]:
    return {"textDocument": {"uri": path.as_uri()}}
