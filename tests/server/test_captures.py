"""Selecting a capture restricts answers to it; two captures can be compared at a line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from tests.server.lsp_requests import (
    ONE_EDITOR,
    Connect,
    definition,
    framedex_request,
    hover,
    position_params,
    send_request,
    to_json,
)
from tests.server.recording import Recording, write_hostile_index, write_index
from tests.server.roads import record_roads

pytestmark = pytest.mark.asyncio


@pytest.fixture
def twice(recording: Recording) -> Recording:
    """The program recorded a second time, with seven calls from its first line instead of three."""
    write_index(recording, puts=7)
    return recording


async def command(client: LanguageClient, name: str, argument: object) -> object:
    params = types.ExecuteCommandParams(name, [argument])
    return to_json(await client.workspace_execute_command_async(params))


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_captures_are_listed_latest_first(twice: Recording, connect: Connect, editor: str) -> None:
    client = await connect(twice.root, editor)
    listed = await framedex_request(client, "captures", twice.demo, 1)
    assert [(each["id"], each["calls"], each["command"], each["name"]) for each in listed["captures"]] == [
        (2, 10, "python demo.py", "demo.py"),
        (1, 6, "python demo.py", "demo.py"),
    ]
    assert listed["selected"] is None


async def test_a_selected_capture_restricts_the_hover_until_deselected(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    line = twice.main_calls_make_input
    assert "7 recorded calls**" in (await hover(client, twice.demo, line) or "")
    picked = await framedex_request(client, "selectCapture", twice.demo, line, capture=1)
    assert picked["id"] == 1
    narrowed = await hover(client, twice.demo, line) or ""
    assert "3 recorded calls**, 6 µs" in narrowed
    assert "→ `PJRT_Client_BufferFromHostBuffer` (3, 6 µs)" in narrowed
    assert "from `<module>`" in narrowed
    assert "into `make_input`" in narrowed
    assert "; capture 1, " in narrowed
    assert await framedex_request(client, "selectCapture", twice.demo, line, capture=None) is None
    assert "7 recorded calls**" in (await hover(client, twice.demo, line) or "")


async def test_the_captures_of_a_hover_follow_the_setting_and_are_named_last(
    twice: Recording, connect: Connect
) -> None:
    (twice.root / "framedex.toml").write_text('captures = "all"\n')
    client = await connect(twice.root, experimental={"framedex": {"indexChanges": True}})
    told = asyncio.Event()
    client.feature("framedex/didChangeIndex")(lambda _: told.set())
    text = await hover(client, twice.demo, twice.main_calls_make_input) or ""
    assert "; all captures, " in text.splitlines()[-1]
    assert "10 recorded calls**" in text
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"framedex": {"captures": "latest"}}))
    async with asyncio.timeout(20):
        while "10 recorded calls**" in text:  # other changes send notifications too
            await told.wait()
            told.clear()
            text = await hover(client, twice.demo, twice.main_calls_make_input) or ""
    assert "; latest run that executed this file, " in text.splitlines()[-1]
    assert "7 recorded calls**" in text


async def test_one_rule_selects_captures_for_all_features(twice: Recording, connect: Connect) -> None:
    """With one of two runs selected, each number on a line is that capture's, and its name is shown."""
    (twice.root / "framedex.toml").write_text("editor = { code-lens = true, inlay-hints = true }\n")
    client = await connect(twice.root)
    line = twice.main_calls_make_input
    for capture, calls, name in (
        (None, 7, "latest run that executed this file"),
        (1, 3, "capture 1"),
        (2, 7, "capture 2"),
    ):
        await send_request(client, "selectCapture", {"capture": capture})
        text = await hover(client, twice.demo, line) or ""
        assert f"**framedex: {calls} recorded calls**" in text and f"; {name}, " in text
        document = types.TextDocumentIdentifier(twice.demo.as_uri())
        whole = types.Range(types.Position(0, 0), types.Position(99, 0))
        hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole)) or ()
        (hint,) = [each for each in hints if each.position.line == line - 1]
        assert str(hint.label).startswith(f"{calls} calls, ") and str(hint.tooltip).endswith(name)
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(document)) or ()
        resolved = [await client.code_lens_resolve_async(lens) for lens in lenses]
        titles = [lens.command.title for lens in resolved if lens.command]
        through = {None: 9, 1: 5, 2: 9}[capture]
        label = "latest run" if capture is None else name
        assert any(title.startswith(f"{through} calls → ") for title in titles), titles
        assert all(title.endswith(f" · {label}") for title in titles), titles
        where = types.CallHierarchyPrepareParams(*position_params(twice.demo, twice.make_input_calls_device_put))
        (item,) = await client.text_document_prepare_call_hierarchy_async(where) or ()
        assert item.detail is not None and item.detail.startswith(name)
        callers = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item)) or ()
        assert [each.from_.detail.partition(" calls")[0] for each in callers if each.from_.detail] == [str(through)]
        assert (await framedex_request(client, "captures", twice.demo, 1))["counted"] == name


async def test_a_line_not_executed_by_a_capture_has_no_answer(tmp_path: Path, connect: Connect) -> None:
    roads = record_roads(tmp_path)
    client = await connect(roads.project)
    await framedex_request(client, "selectCapture", roads.demo, 1, capture=1)
    assert await definition(client, roads.library, 2) == [("library.py", 8)]
    assert await framedex_request(client, "selectCapture", roads.demo, 1, capture=99) is None
    assert await definition(client, roads.demo, 2) == [("library.py", 2)]


async def test_two_captures_are_compared_at_a_line(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    compared = await framedex_request(
        client, "compareCaptures", twice.demo, twice.main_calls_make_input, before=1, after=2
    )
    assert compared["boundaries"] == [
        {
            "boundary": "PJRT_Client_BufferFromHostBuffer",
            "before": {"calls": 3, "duration": 6_000, "durationText": "6 µs"},
            "after": {"calls": 7, "duration": 14_000, "durationText": "14 µs"},
            "differenceText": "+8 µs",
        }
    ]
    assert compared["text"] == (
        "demo.py:8, before → after:\nPJRT_Client_BufferFromHostBuffer: 3 → 7 calls, 6 µs → 14 µs"
    )
    assert await framedex_request(client, "compareCaptures", twice.demo, 1, before=1, after=2) is None


async def test_commands_report_their_result(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    document = {"textDocument": {"uri": twice.demo.as_uri()}, "position": {"line": 7, "character": 0}}
    await command(client, "framedex.selectCapture", {**document, "capture": 2})
    await command(client, "framedex.compareCaptures", {**document, "before": 1, "after": 2})
    assert [message.message.splitlines()[0] for message in client.messages] == [
        "framedex: Answers now cover only demo.py.",
        "demo.py:8, before → after:",
    ]
    with pytest.raises(JsonRpcException):
        await command(client, "framedex.compareCaptures", document)


async def test_the_trace_of_a_call_opens_as_a_document(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    document = {"textDocument": {"uri": twice.demo.as_uri()}, "position": {"line": 6, "character": 0}}
    uri = await command(client, "framedex.openTrace", {**document, "call": 1})
    assert uri == (twice.index.parent / "traces" / "call-1.fdtrace").as_uri()
    assert await command(client, "framedex.openTrace", document) is not None
    elsewhere = {**document, "textDocument": {"uri": (twice.root / "other.py").as_uri()}}
    assert await command(client, "framedex.openTrace", elsewhere) is None
    nothing = "framedex: No recorded call went through this line: nothing was recorded in this file."
    assert client.messages[-1].message == nothing


async def test_a_trace_is_never_written_through_a_link(twice: Recording, connect: Connect) -> None:
    """A project with a link to a user's file at its trace's path."""
    precious = twice.root / "precious"
    precious.write_text("mine")
    trace = twice.index.parent / "traces" / "call-1.fdtrace"
    trace.parent.mkdir(exist_ok=True)
    trace.unlink(missing_ok=True)
    trace.symlink_to(precious)
    client = await connect(twice.root)
    document = {"textDocument": {"uri": twice.demo.as_uri()}, "position": {"line": 6, "character": 0}}
    assert await command(client, "framedex.openTrace", {**document, "call": 1}) == trace.as_uri()
    assert precious.read_text() == "mine"
    assert trace.read_text().startswith("framedex trace, format 1")


@pytest.fixture
def elsewhere(recording: Recording) -> Recording:
    """The program recorded a second time, by a run that did not reach `make_input`."""
    write_hostile_index(recording)
    return recording


async def test_opening_a_trace_mentions_other_captures(elsewhere: Recording, connect: Connect) -> None:
    client = await connect(elsewhere.root)
    document, position = position_params(elsewhere.demo, elsewhere.make_input_calls_device_put)
    await framedex_request(client, "selectCapture", elsewhere.demo, 1, capture=2)

    about = {"textDocument": {"uri": document.uri}, "position": {"line": position.line, "character": 0}}
    assert await command(client, "framedex.openTrace", about) is None
    (message,) = client.messages
    assert message.message.startswith("framedex: No call of capture 2 (")
