"""Stepping along one recorded stack by framedex's own requests, and highlights of its lines."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.indexer.forgotten import forget_states
from tests.server.lsp_requests import ONE_EDITOR, Connect, framedex_request, position_params, send_request, to_json
from tests.server.recording import Recording
from tests.server.roads import Roads, record_roads

pytestmark = pytest.mark.asyncio


@pytest.fixture
def roads(tmp_path: Path) -> Roads:
    return record_roads(tmp_path)


def where(step: dict[str, Any]) -> tuple[str, int]:
    return Path(step["location"]["uri"]).name, step["location"]["range"]["start"]["line"] + 1


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_steps_lead_in_to_the_end_of_the_stack_and_out_again(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    step = await framedex_request(client, "stepIn", recording.demo, 11)
    way = [where(step)]
    files = {"demo.py": recording.demo, "library.py": recording.library, "client.cc": recording.client}
    while step := await framedex_request(client, "stepIn", files.get(way[-1][0], recording.mock), way[-1][1]):
        way.append(where(step))
    assert way == [("demo.py", 8), ("demo.py", 5), ("library.py", 4), ("client.cc", 4), ("mock.cc", 4)]
    step = await framedex_request(client, "stepOut", recording.mock, 4)
    assert where(step) == ("client.cc", 4)
    assert {name: step[name] for name in ("function", "language", "how", "boundary", "calls", "frame", "frames")} == {
        "function": "xla::Client::BufferFromHost",
        "language": "native",
        "how": "definition",
        "boundary": "PJRT_Client_BufferFromHostBuffer",
        "calls": 3,
        "frame": 7,
        "frames": 9,
    }


async def test_a_step_stays_on_the_selected_stack(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    first = await framedex_request(client, "stepIn", roads.demo, 2)
    second = await framedex_request(client, "stepIn", roads.library, 2)
    assert (where(first), where(second)) == (("library.py", 2), ("library.py", 8))
    assert first["stack"] == second["stack"]


async def test_next_and_previous_cycle_through_the_stacks_of_a_line(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    listed = await framedex_request(client, "stacks", roads.library, 2)
    assert [stack["boundary"] for stack in listed][:2] == ["PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_ToHostBuffer"]
    assert listed[-1]["boundary"] == "PJRT_Client_Create"
    assert not any(stack["selected"] for stack in listed)
    forward = [(await framedex_request(client, "nextStack", roads.library, 2))["stack"] for _ in listed]
    assert forward == [stack["stack"] for stack in listed]
    assert (await framedex_request(client, "nextStack", roads.library, 2))["stack"] == forward[0]
    assert (await framedex_request(client, "previousStack", roads.library, 2))["stack"] == forward[-1]


async def test_a_stack_can_be_selected_and_shown_completely(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    listed = await framedex_request(client, "stacks", roads.library, 2)
    wanted = next(stack for stack in listed if stack["boundary"] == "PJRT_Buffer_ToHostBuffer")
    assert await framedex_request(client, "selectStack", roads.library, 2, stack=10**6) is None
    picked = await framedex_request(client, "selectStack", roads.library, 2, stack=wanted["stack"])
    whole = await framedex_request(client, "stack", roads.library, 2)
    assert (picked["stack"], whole["stack"]) == (wanted["stack"], wanted["stack"])
    assert [frame["function"] for frame in whole["stackFrames"]][-2:] == ["get", "runtime::ToHostBuffer"]
    again = await framedex_request(client, "stacks", roads.library, 2)
    assert [stack["stack"] for stack in again if stack["selected"]] == [wanted["stack"]]


async def test_unrecorded_code_is_null_and_malformed_parameters_are_an_error(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    assert await framedex_request(client, "stack", recording.demo, 1) is None
    for method in ("stepIn", "stepOut", "nextStack", "previousStack"):
        assert await framedex_request(client, method, recording.demo, recording.nothing_recorded) is None
        for params in (None, 1, {"textDocument": {"uri": recording.demo.as_uri()}}):
            with pytest.raises(JsonRpcException):
                await send_request(client, method, params)
    assert await framedex_request(client, "stacks", recording.demo, recording.nothing_recorded) == []


async def highlights(client: Any, path: Path, line: int) -> list[int]:
    params = types.DocumentHighlightParams(*position_params(path, line))
    found = await client.text_document_document_highlight_async(params) or ()
    return [each.range.start.line + 1 for each in found]


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_highlights_are_the_lines_of_the_busiest_or_selected_stack(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    make_input = recording.make_input_calls_device_put
    assert await highlights(client, recording.demo, make_input) == [11, 8, 5]
    assert await highlights(client, recording.demo, recording.nothing_recorded) == []
    await framedex_request(client, "nextStack", recording.demo, make_input)
    await framedex_request(client, "nextStack", recording.demo, make_input)
    assert await highlights(client, recording.demo, make_input) == [11, 9, 5]


async def test_a_frame_of_the_selected_stack_is_opened_by_its_number(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await send_request(client, "selectFrame", {"frame": 0}) is None
    await framedex_request(client, "stepIn", recording.demo, 11)
    whole = to_json(await send_request(client, "stack", {}))
    located = [number for number, frame in enumerate(whole["stackFrames"]) if frame["location"]]
    reached = [to_json(await send_request(client, "selectFrame", {"frame": number})) for number in located]
    assert [each["frame"] for each in reached] == located
    assert to_json(await send_request(client, "stack", {}))["frame"] == located[-1]
    unknown = next(number for number in range(whole["frames"]) if number not in located)
    assert await send_request(client, "selectFrame", {"frame": unknown}) is None
    assert await send_request(client, "selectFrame", {"frame": whole["frames"]}) is None
    assert await send_request(client, "selectFrame", {"frame": -1}) is None
    with pytest.raises(JsonRpcException):
        await send_request(client, "selectFrame", {"frame": "1"})


async def test_a_stack_missing_from_the_index_is_deselected(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    await framedex_request(client, "stepIn", recording.demo, 11)
    assert await send_request(client, "stack", {}) is not None
    with closing(sqlite3.connect(recording.index)) as database, database:
        database.execute("DELETE FROM call_rows")
        database.execute("DELETE FROM call_kinds")
        database.execute("DELETE FROM stacks")
    assert await send_request(client, "stack", {}) is None


async def test_a_step_to_a_line_that_may_have_moved_says_so(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert (await framedex_request(client, "stepIn", recording.demo, 11))["stale"] is None
    forget_states(recording.index)
    recording.demo.write_text("# new\n" + recording.demo.read_text())

    step = await framedex_request(client, "stepIn", recording.demo, 11)
    assert (where(step), step["how"], step["stale"]) == (("demo.py", 8), "exact", "file changed since")
