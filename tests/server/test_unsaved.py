"""Queries about documents with unsaved edits: answers are about the displayed lines."""

from __future__ import annotations

import pytest
from lsprotocol import types

from framedex_server.documents.open_documents import UnsavedEdits
from tests.server.lsp_requests import (
    EDITORS,
    Connect,
    definition,
    framedex_request,
    hover,
    open_document,
    position_params,
    target_lines,
    wait_for_settings,
)
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio

TYPED = "# typed\n# and not saved: 🚀\n"


@pytest.mark.parametrize("editor", EDITORS)
async def test_requests_refer_to_displayed_lines(recording: Recording, connect: Connect, editor: str) -> None:
    """With two lines typed at the top, a line has its recording two lines further down, and typed ones none."""
    client = await connect(recording.root, editor)
    saved = recording.main_calls_make_input
    before = await hover(client, recording.demo, saved)
    open_document(client, recording.demo.as_uri(), TYPED + recording.demo.read_text())
    assert before is not None and await hover(client, recording.demo, saved + 2) == before
    assert await hover(client, recording.demo, 1) is None
    assert await definition(client, recording.demo, 2) == []
    assert await definition(client, recording.demo, saved + 2) == [
        ("demo.py", recording.make_input_calls_device_put + 2)
    ]
    declared = await client.text_document_declaration_async(
        types.DeclarationParams(*position_params(recording.library, recording.device_put_enters_cpp))
    )
    assert target_lines(declared) == [("demo.py", recording.make_input_calls_device_put + 2)]


async def test_a_hover_is_shown_on_the_requested_line(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    open_document(client, recording.demo.as_uri(), TYPED + recording.demo.read_text())
    document, position = position_params(recording.demo, recording.main_calls_make_input + 2)
    found = await client.text_document_hover_async(types.HoverParams(document, position))
    assert found is not None and found.range is not None and found.range.start.line == position.line


async def test_steps_lenses_and_hints_follow_the_edits(recording: Recording, connect: Connect) -> None:
    """With lines typed above and a recorded line changed, the changed one has no hint and the others move."""
    (recording.root / "pyproject.toml").write_text(
        "[tool.framedex]\neditor = { code-lens = true, inlay-hints = true }\n"
    )
    client = await connect(recording.root)
    await wait_for_settings(client, recording.root)
    text = recording.demo.read_text().replace("y = make_input(1)", "y = make_input(2)")
    open_document(client, recording.demo.as_uri(), TYPED + text)
    document = types.TextDocumentIdentifier(recording.demo.as_uri())
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(document)) or []
    assert [lens.range.start.line + 1 for lens in lenses] == [3, 5, 9]
    whole = types.Range(types.Position(0, 0), types.Position(20, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole)) or []
    assert [hint.position.line + 1 for hint in hints] == [7, 11, 13]
    position = await framedex_request(client, "stepOut", recording.demo, recording.make_input_calls_device_put + 2)
    assert position is not None


async def test_saved_documents_need_no_mapping(recording: Recording) -> None:
    text = recording.demo.read_text()
    edits = UnsavedEdits({str(recording.demo): text}.get)
    assert [edits.saved_line(str(recording.demo), line) for line in (1, 5, 99)] == [1, 5, 99]


async def test_reindented_lines_are_the_same_lines(recording: Recording) -> None:
    text = recording.demo.read_text()
    edits = UnsavedEdits({str(recording.demo): "if True:\r\n" + text.replace("    ", "\t\t").replace("\n", "\r\n")}.get)
    assert [edits.saved_line(str(recording.demo), line) for line in (1, 2, 9)] == [None, 1, 8]


@pytest.mark.parametrize(
    ("cookie", "encoding", "shown"),
    [
        ("", "latin-1", "latin-1"),
        ("", "cp1252", "cp1252"),
        ("", "latin-1", "utf-8"),
        ("# coding: koi8-r\n", "koi8-r", "koi8-r"),
        ("# coding: rot13\n", "latin-1", "latin-1"),
        ("# coding: idna\n", "latin-1", "latin-1"),
    ],
)
async def test_a_file_in_another_encoding_keeps_its_lines(
    recording: Recording, cookie: str, encoding: str, shown: str
) -> None:
    """For a non-UTF-8 file, lines are followed in any encoding of the editor."""
    accents = "ж" if encoding == "koi8-r" else "é€" if encoding == "cp1252" else "é"
    content = f"{cookie}x = '{accents}'\ny = 1\n".encode(encoding)
    recording.demo.write_bytes(content)
    text, path = content.decode(shown, "replace"), str(recording.demo)
    last = len(text.splitlines())
    assert [UnsavedEdits({path: text}.get).saved_line(path, line) for line in range(1, last + 1)] == [
        *range(1, last + 1)
    ]
    edits = UnsavedEdits({path: f"{cookie}new = 2\n{text.removeprefix(cookie)}"}.get)
    assert [edits.saved_line(path, line) for line in (last - 1, last, last + 1)] == [None, last - 1, last]
