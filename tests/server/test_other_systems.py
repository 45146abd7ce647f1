"""The server without the native part, JAX, and Linux features: it still answers from an index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.hiding import ANOTHER_SYSTEM, FUNCTIONS, JAX, python_without
from tests.server.lsp_requests import (
    Connect,
    definition,
    framedex_request,
    hover,
    open_document,
    position_params,
    to_json,
)
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio

SERVE = "import framedex_server.server\nsys.exit(framedex_server.server.main([]))"


async def test_an_editor_is_answered_without_jax(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root, command=tuple(python_without(JAX, SERVE)))
    await _check_answers(client, recording)


async def test_an_editor_is_answered_on_another_system(recording: Recording, connect: Connect) -> None:
    command = tuple(python_without(ANOTHER_SYSTEM, SERVE, FUNCTIONS))
    client = await connect(recording.root, command=command)
    await _check_answers(client, recording)
    assert not [each for each in client.messages if each.type is types.MessageType.Error]


async def test_unsupported_requests_are_reported_and_the_server_continues(tmp_path: Path, connect: Connect) -> None:
    """For a project without an index, the server gives the reason, and still answers."""
    (tmp_path / "demo.py").write_text("print()\n")
    client = await connect(tmp_path, command=tuple(python_without(ANOTHER_SYSTEM, SERVE, FUNCTIONS)))
    params = types.ExecuteCommandParams("framedex.index", [tmp_path.as_uri()])

    assert await client.workspace_execute_command_async(params) is None
    assert any("framedex's native part" in each.message for each in client.messages)
    why = to_json(await framedex_request(client, "why", tmp_path / "demo.py", 1, request="framedex/stacks"))
    assert "Nothing has been recorded here yet" in why["text"]


async def _check_answers(client: LanguageClient, recording: Recording) -> None:
    assert await definition(client, recording.demo, recording.main_calls_make_input) == [("demo.py", 5)]
    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("client.cc", 4)]
    text = await hover(client, recording.demo, recording.main_calls_make_input)
    assert text is not None and "PJRT_Client_BufferFromHostBuffer" in text
    item = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(*position_params(recording.library, recording.device_put_enters_cpp))
    )
    assert item
    log = recording.root / "crash.log"
    log.write_text(
        "Traceback (most recent call last):\n"
        f'  File "{recording.demo}", line 8, in main{os.linesep}'
        "    y = make_input(1)\n"
        "    @     0x7f1bb00a8eed        112  xla::Client::BufferFromHost()\n"
    )
    open_document(client, log.as_uri(), log.read_text(), "log")
    symbols = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(log.as_uri()))
    )
    assert symbols
    assert await definition(client, log, 2) == [("demo.py", 8)]
