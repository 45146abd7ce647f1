"""Captures pulled from a store look the same in editors as the originals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.lsp_requests import Connect, definition, hover, position_params
from tests.server.real_program import CALL, PUT, framedex, recorded_program

pytestmark = pytest.mark.asyncio


async def _callers(client: LanguageClient, program: Path, line: int) -> list[str]:
    prepared = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(*position_params(program, line))
    )
    (item,) = prepared or ()
    calls = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    return [call.from_.name for call in calls or ()]


async def _shown(client: LanguageClient, program: Path) -> list[object]:
    """The displays of an editor on the lines of a program."""
    shown: list[object] = [await _callers(client, program, PUT)]
    for line in (PUT, CALL):
        text = await hover(client, program, line)
        assert text is not None and "PJRT_" in text
        text = re.sub(r"`(shared )?\S*python\S* ", "`", text)  # the label of such a capture
        shown += [re.findall(r"`[^`]+`", text), await definition(client, program, line)]
    return shown


async def test_hover_definition_and_call_hierarchy_equal_those_of_captures(tmp_path: Path, connect: Connect) -> None:
    """A workspace whose index has only pulled captures."""
    program, store = recorded_program(), tmp_path / "store"
    expected = await _shown(await connect(program.parent), program)
    framedex("fleet", "add", str(program.parent / "captures"), "--store", str(store), folder=tmp_path)

    framedex("fleet", "pull", "--store", str(store), folder=tmp_path)

    client = await connect(tmp_path)
    assert await _shown(client, program) == expected
    assert "`shared " in (await hover(client, program, PUT) or "")
    assert "put_on_device" in str(expected) and "api.py" in str(expected)
