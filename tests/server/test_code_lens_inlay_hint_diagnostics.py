"""Unrequested displays in the text: code lenses and inlay hints, off by default, and diagnostics."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.gitrepository import commit_all
from tests.indexer.forgotten import forget_states
from tests.server.lsp_requests import ONE_EDITOR, Connect, open_document, wait_for_settings
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


def switch_on(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.framedex]\neditor = { code-lens = true, inlay-hints = true }\n")


async def lenses(client: LanguageClient, path: Path) -> list[types.CodeLens]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
    return list(await client.text_document_code_lens_async(params) or ())


async def hints(client: LanguageClient, path: Path, first: int, last: int) -> list[types.InlayHint]:
    where = types.Range(types.Position(first - 1, 0), types.Position(last - 1, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(path.as_uri()), where)
    return list(await client.text_document_inlay_hint_async(params) or ())


async def test_lenses_and_hints_are_off_by_default(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    await wait_for_settings(client, recording.root)
    assert await lenses(client, recording.demo) == []
    assert await hints(client, recording.demo, 1, 20) == []


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_lenses_on_functions_are_resolved_on_display(recording: Recording, connect: Connect, editor: str) -> None:
    switch_on(recording.root)
    client = await connect(recording.root, editor)
    await wait_for_settings(client, recording.root)
    found = await lenses(client, recording.demo)
    assert [(lens.range.start.line + 1, lens.command) for lens in found] == [(1, None), (3, None), (7, None)]
    main = await client.code_lens_resolve_async(found[2])
    assert main.command is not None
    assert main.command.title == "6 calls → PJRT_Client_BufferFromHostBuffer and 1 more, 12 µs · latest run"
    params = types.ExecuteCommandParams(main.command.command, main.command.arguments)
    uri = await client.workspace_execute_command_async(params)
    assert isinstance(uri, str)
    assert uri.endswith("/call-3.fdtrace")


async def test_a_lens_of_another_server_is_unchanged(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    lens = types.CodeLens(types.Range(types.Position(0, 0), types.Position(0, 0)), data={"function": "x"})
    assert await client.code_lens_resolve_async(lens) == lens


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_hints_are_at_the_end_of_recorded_lines(recording: Recording, connect: Connect, editor: str) -> None:
    switch_on(recording.root)
    client = await connect(recording.root, editor, encodings=["utf-16"])
    await wait_for_settings(client, recording.root)
    found = await hints(client, recording.demo, 4, 8)
    assert [(hint.position.line + 1, hint.label) for hint in found] == [(5, "5 calls, 10 µs"), (8, "3 calls, 6 µs")]
    text = recording.line(recording.demo, 8)
    assert found[1].position.character == len(text.encode("utf-16-le")) // 2
    assert found[1].tooltip == "PJRT_Client_BufferFromHostBuffer\nlatest run that executed this file"


async def test_hints_and_lenses_of_an_untraceable_file_say_so(recording: Recording, connect: Connect) -> None:
    switch_on(recording.root)
    client = await connect(recording.root)
    await wait_for_settings(client, recording.root)
    forget_states(recording.index)
    _edit(recording.demo)
    hint, _ = await hints(client, recording.demo, 4, 8)
    assert hint.label == "5 calls, 10 µs [file changed since]"
    assert hint.tooltip == "file changed since\nPJRT_Client_BufferFromHostBuffer\nlatest run that executed this file"
    main = await client.code_lens_resolve_async((await lenses(client, recording.demo))[2])
    assert main.command is not None
    assert main.command.title.endswith(", 12 µs [file changed since] · latest run")


async def test_hints_on_lines_mapped_by_git_have_the_new_position(recording: Recording, connect: Connect) -> None:
    switch_on(recording.root)
    commit_all(recording.root)
    client = await connect(recording.root)
    await wait_for_settings(client, recording.root)
    _edit(recording.demo)
    (hint,) = await hints(client, recording.demo, 6, 7)
    assert (hint.position.line + 1, hint.label) == (6, "5 calls, 10 µs")
    assert hint.tooltip == "moved from line 5\nPJRT_Client_BufferFromHostBuffer\nlatest run that executed this file"


async def pulled(client: LanguageClient, path: Path) -> list[types.Diagnostic]:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(path.as_uri()))
    report = await client.text_document_diagnostic_async(params)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


def _edit(path: Path) -> None:
    path.write_text(f"# new\n{path.read_text()}")


async def test_a_file_changed_after_its_recording_has_a_hint(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    os.utime(recording.demo)  # changes nothing in it
    assert await pulled(client, recording.demo) == []
    _edit(recording.demo)
    (diagnostic,) = await pulled(client, recording.demo)
    assert (diagnostic.severity, diagnostic.code, diagnostic.source) == (
        types.DiagnosticSeverity.Hint,
        "stale-source",
        "framedex",
    )
    assert diagnostic.message.endswith("recorded lines are mapped to the current text.")


async def test_a_client_without_pull_diagnostics_gets_them_on_opening(recording: Recording, connect: Connect) -> None:
    _edit(recording.demo)
    client = await connect(recording.root, "neovim@v0.7.0")
    open_document(client, recording.demo.as_uri(), recording.demo.read_text())
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    (diagnostic,) = client.diagnostics[recording.demo.as_uri()]
    assert diagnostic.code == "stale-source"


async def test_a_file_without_recordings_has_no_diagnostics(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await pulled(client, recording.root / "other.py") == []
