"""Imported stacks in editors: shown like recorded calls, with the name of their file."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.indexer.imports.profiles import fixture, framedex
from tests.server.lsp_requests import Connect, definition, hover, position_params, send_request, to_json

pytestmark = pytest.mark.asyncio


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with an indexed py-spy profile."""
    with monkeypatch.context() as there:
        there.chdir(tmp_path)
        assert framedex("import", fixture("py_spy.txt", tmp_path)).exit_code == 0
    return tmp_path / "busy.py"


def _line(program: Path, text: str) -> int:
    return next(number for number, line in enumerate(program.read_text().splitlines(), 1) if text in line)


async def _callers(client: LanguageClient, program: Path, line: int) -> list[str]:
    prepared = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(*position_params(program, line))
    )
    (item,) = prepared or ()
    calls = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    return [call.from_.name for call in calls or ()]


async def test_a_line_leads_to_its_callers_and_callees(program: Path, connect: Connect) -> None:
    client = await connect(program.parent)
    calls_inner = _line(program, "return inner(")
    text = await hover(client, program, calls_inner) or ""
    assert "samples (count)" in text and "imported collapsed py_spy.txt" in text
    assert ("busy.py", _line(program, "return sum(")) in await definition(client, program, calls_inner)
    assert await _callers(client, program, calls_inner) == ["Worker.run"]


async def test_the_flame_graph_counts_samples(program: Path, connect: Connect) -> None:
    client = await connect(program.parent)
    graph = to_json(await send_request(client, "flameGraph", {"capture": 1}))
    weights = [int(line.rpartition(" ")[2]) for line in (program.parent / "py_spy.txt").read_text().splitlines()]
    assert graph["calls"] == sum(weights)
    assert {"outer", "samples (count)"} <= {node["name"] for node in graph["nodes"]}
