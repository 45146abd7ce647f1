"""The calls through a line, as framedex's own request lists them."""

from __future__ import annotations

import pytest

from tests.server.lsp_requests import Connect, framedex_request
from tests.server.recording import Recording, record

pytestmark = pytest.mark.asyncio


async def test_the_calls_through_a_line_are_listed_latest_first(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)

    calls = await framedex_request(client, "callsThrough", recording.demo, recording.main_calls_both)

    assert [call["id"] for call in calls] == sorted((call["id"] for call in calls), reverse=True)
    assert {call["function"] for call in calls} == {"PJRT_Client_BufferFromHostBuffer", "PJRT_Client_Devices"}
    put = next(call for call in calls if call["function"] == "PJRT_Client_BufferFromHostBuffer")
    assert put["arguments"] and set(put) >= {"capture", "boundary", "thread", "start", "duration", "error", "outcome"}
    stacks = await framedex_request(client, "stacks", recording.demo, recording.main_calls_both)
    assert {call["stack"] for call in calls} == {stack["stack"] for stack in stacks}


async def test_a_line_without_calls_has_none(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)

    assert await framedex_request(client, "callsThrough", recording.demo, recording.nothing_recorded) == []


async def test_the_list_is_limited(tmp_path_factory: pytest.TempPathFactory, connect: Connect) -> None:
    recording = record(tmp_path_factory.mktemp("many"), puts=300)
    client = await connect(recording.root)

    calls = await framedex_request(client, "callsThrough", recording.demo, recording.main_calls_make_input)

    assert len(calls) == 100
    assert calls[0]["id"] == 300
