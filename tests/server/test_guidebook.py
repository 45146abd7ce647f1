"""Hovers on names of runtime functions: links to their guidebook pages."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from tests.indexer.forgotten import forget_states
from tests.server.lsp_requests import Connect, hover, open_document, position_params
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio

SOURCE = """\
#include "xla/pjrt/c/pjrt_c_api.h"

PJRT_Error* put(PJRT_Client_BufferFromHostBuffer_Args* args) { return api->PJRT_Client_BufferFromHostBuffer(args); }
void* allocate() { return TpuExecutor_Allocate(nullptr, 4, 0); }  // PJRT_Client_Nonsense
"""
WEB = "https://example.org/guidebook"


def a_plugin(folder: Path, settings: str = f'guidebook = "{WEB}/"') -> Path:
    """A plug-in's source in a project without recordings."""
    (folder / "framedex.toml").write_text(settings)
    source = folder / "plugin.cc"
    source.write_text(SOURCE)
    return source


def a_guidebook(folder: Path, *functions: str) -> Path:
    """A guidebook folder with the files that a hover checks."""
    (folder / "functions").mkdir(parents=True)
    for name in functions:
        (folder / "functions" / f"{name}.html").write_text("<!doctype html>")
    return folder


async def hover_on(client: LanguageClient, source: Path, word: str, occurrence: int = 0) -> types.Hover | None:
    """The hover on a word of the plug-in's source."""
    line, text = [each for each in enumerate(SOURCE.splitlines(), 1) if word in each[1]][occurrence]
    return await client.text_document_hover_async(
        types.HoverParams(*position_params(source, line, text.rindex(word) + 1))
    )


def text_of(answer: types.Hover | None) -> str | None:
    return None if answer is None else getattr(answer.contents, "value", None)


async def test_an_unrecorded_function_name_leads_to_its_page(tmp_path: Path, connect: Connect) -> None:
    source = a_plugin(tmp_path)
    client = await connect(tmp_path)

    answer = await hover_on(client, source, "PJRT_Client_BufferFromHostBuffer")
    legacy = await hover_on(client, source, "TpuExecutor_Allocate")

    page = f"{WEB}/functions/PJRT_Client_BufferFromHostBuffer.html"
    assert text_of(answer) == f"[guidebook: `PJRT_Client_BufferFromHostBuffer`](<{page}>)"
    assert answer is not None and answer.range is not None
    assert SOURCE.splitlines()[2][answer.range.start.character : answer.range.end.character] == (
        "PJRT_Client_BufferFromHostBuffer"
    )
    assert text_of(legacy) == f"[guidebook: `TpuExecutor_Allocate`](<{WEB}/functions/TpuExecutor_Allocate.html>)"


async def test_other_words_have_no_page(tmp_path: Path, connect: Connect) -> None:
    source = a_plugin(tmp_path)
    client = await connect(tmp_path)
    for word in ("PJRT_Client_Nonsense", "allocate", "PJRT_Client_BufferFromHostBuffer_Args", "{"):
        assert await hover_on(client, source, word) is None, word


async def test_a_recorded_line_shows_its_calls_first(recording: Recording, connect: Connect) -> None:
    """A recorded line with a function's name, in a project with the guidebook in the default place."""
    a_guidebook(recording.root / ".framedex" / "guidebook", "PJRT_Client_Devices")
    client = await connect(recording.root)
    recorded = await hover(client, recording.demo, recording.main_calls_both) or ""
    line = recording.demo.read_text().splitlines()[recording.main_calls_both - 1]
    assert recorded.startswith("**framedex: 3 recorded calls**")

    text = recording.demo.read_text().replace(line, f"{line}  # PJRT_Client_Devices")
    open_document(client, recording.demo.as_uri(), text)
    about = position_params(recording.demo, recording.main_calls_both, len(line) + 6)
    answer = await client.text_document_hover_async(types.HoverParams(*about))

    page = recording.root / ".framedex" / "guidebook" / "functions" / "PJRT_Client_Devices.html"
    assert text_of(answer) == f"[guidebook: `PJRT_Client_Devices`](<{page.as_uri()}>)"  # the line is not saved

    forget_states(recording.index)  # otherwise a changed line has no calls
    recording.demo.write_text(text)
    open_document(client, recording.demo.as_uri(), text)
    answer = await client.text_document_hover_async(types.HoverParams(*about))
    lines = (text_of(answer) or "").split("  \n")
    assert lines[0] == "**framedex: 3 recorded calls**, 6 µs" and page.as_uri() in lines[-1]


async def test_only_existing_pages_of_a_folder_count(tmp_path: Path, connect: Connect) -> None:
    source = a_plugin(tmp_path, 'guidebook = "site"')
    a_guidebook(tmp_path / "site", "TpuExecutor_Allocate")
    client = await connect(tmp_path, markdown=False)

    page = tmp_path / "site" / "functions" / "TpuExecutor_Allocate.html"
    answer = await hover_on(client, source, "TpuExecutor_Allocate")
    assert text_of(answer) == f"guidebook: TpuExecutor_Allocate <{page.as_uri()}>"
    assert await hover_on(client, source, "PJRT_Client_BufferFromHostBuffer") is None
    page.unlink()
    page.mkdir()
    assert await hover_on(client, source, "TpuExecutor_Allocate") is None


async def test_vscode_opens_a_local_page_by_command(tmp_path: Path, connect: Connect) -> None:
    source = a_plugin(tmp_path, 'guidebook = "site"')
    a_guidebook(tmp_path / "site", "TpuExecutor_Allocate")
    client = await connect(tmp_path, experimental={"framedex": {"commandLinks": ["framedex.openGuidebook"]}})

    text = text_of(await hover_on(client, source, "TpuExecutor_Allocate")) or ""
    target = text.partition("](command:")[2].rstrip(")")
    command, _, arguments = target.partition("?")
    await client.workspace_execute_command_async(types.ExecuteCommandParams(command, json.loads(unquote(arguments))))
    page = tmp_path / "site" / "functions" / "TpuExecutor_Allocate.html"
    assert [(each.uri, each.external) for each in client.shown_documents] == [(page.as_uri(), True)]

    elsewhere = {"textDocument": {"uri": source.as_uri()}, "position": {"line": 0, "character": 0}, "url": "file:///x"}
    await client.workspace_execute_command_async(types.ExecuteCommandParams(command, [elsewhere]))
    assert len(client.shown_documents) == 1
    assert "has no page" in client.messages[-1].message
    with pytest.raises(JsonRpcException):
        await client.workspace_execute_command_async(types.ExecuteCommandParams(command, ["file:///etc/passwd"]))
