"""Workspace symbols: by part of a name to the recorded function, and by a call's id to its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.lsp_requests import ONE_EDITOR, Connect
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


async def symbols(client: LanguageClient, query: str) -> list[types.WorkspaceSymbol]:
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query)) or ()
    symbols = [symbol for symbol in found if isinstance(symbol, types.WorkspaceSymbol)]
    assert len(symbols) == len(found)
    return [
        symbol if isinstance(symbol.location, types.Location) else await client.workspace_symbol_resolve_async(symbol)
        for symbol in symbols
    ]


def where(symbol: types.WorkspaceSymbol) -> tuple[str, int]:
    assert isinstance(symbol.location, types.Location)
    return Path(symbol.location.uri).name, symbol.location.range.start.line + 1


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_recorded_functions_and_boundaries_are_found_by_substring(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    found = await symbols(client, "hostbuffer")
    assert {(symbol.name, symbol.container_name, *where(symbol)) for symbol in found} == {
        ("PJRT_Client_BufferFromHostBuffer", "recorded", "mock.cc", 3),
        ("PJRT_Client_BufferFromHostBuffer", "boundary function", "mock.cc", 4),
    }
    assert [where(symbol) for symbol in await symbols(client, "make_input")] == [("demo.py", 3)]


async def test_a_trace_is_found_by_its_call_id(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    for query in ("6", "#6", "trace 6"):
        (symbol,) = await symbols(client, query)
        assert (symbol.name, where(symbol)) == ("trace 6: PJRT_Client_Devices", ("mock.cc", 9))


async def test_an_unknown_name_is_not_found(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    for query in ("", "nothing_of_this_name", "99999"):
        assert await symbols(client, query) == []
