"""Call hierarchy over recorded edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.lsp_requests import Connect, position_params, wait_for_settings
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


async def prepare(client: LanguageClient, path: Path, line: int) -> list[types.CallHierarchyItem]:
    answer = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(*position_params(path, line))
    )
    return list(answer or ())


async def outgoing(client: LanguageClient, item: types.CallHierarchyItem) -> list[types.CallHierarchyOutgoingCall]:
    params = types.CallHierarchyOutgoingCallsParams(item)
    return list(await client.call_hierarchy_outgoing_calls_async(params) or ())


async def incoming(client: LanguageClient, item: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall]:
    params = types.CallHierarchyIncomingCallsParams(item)
    return list(await client.call_hierarchy_incoming_calls_async(params) or ())


async def test_a_hierarchy_starts_at_the_innermost_recorded_function_around_the_line(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    (item,) = await prepare(client, recording.demo, recording.main_calls_make_input)
    assert (item.name, item.detail, item.uri) == (
        "main",
        "latest run that executed this file · demo.py",
        recording.demo.as_uri(),
    )
    assert (item.range.start.line, item.range.end.line, item.selection_range.start.line) == (6, 8, 6)


async def test_unrecorded_code_has_no_hierarchy(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await prepare(client, recording.client, 1) == []


async def test_outgoing_calls_are_sorted_by_calls_with_every_calling_line(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    (main,) = await prepare(client, recording.demo, recording.main_calls_make_input)
    calls = await outgoing(client, main)
    assert [(call.to.name, call.to.detail) for call in calls] == [
        ("make_input", "5 calls · demo.py"),
        ("devices", "1 call · library.py"),
    ]
    assert [[where.start.line + 1 for where in call.from_ranges] for call in calls] == [[8, 9], [9]]


async def test_outgoing_calls_lead_from_python_to_the_plugin_without_gaps(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    (item,) = await prepare(client, recording.demo, 11)
    way = [item]
    while calls := await outgoing(client, way[-1]):
        way.append(calls[0].to)
    assert [item.name for item in way] == [
        "<module>",
        "main",
        "make_input",
        "device_put",
        "jax::Glue",
        "jax::Moved",
        "xla::Client::BufferFromHost",
        "PJRT_Client_BufferFromHostBuffer",
    ]
    without_source = way[4:6]
    assert [item.detail for item in without_source] == [
        "5 calls, indirectly · libjax_common.so, no source: opens library.py:4",
        "5 calls · libjax_common.so, moved.cc:20 is not here: opens library.py:4",
    ]
    for item in without_source:
        assert (item.uri, item.selection_range.start.line) == (recording.library.as_uri(), 3)


async def test_incoming_calls_lead_back_to_python(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    (item,) = await prepare(client, recording.mock, recording.mock_allocates)
    way = [item]
    while calls := await incoming(client, way[-1]):
        assert all(call.from_ranges for call in calls)
        way.append(calls[0].from_)
    assert [item.name for item in way][1:4] == ["xla::Client::BufferFromHost", "jax::Moved", "jax::Glue"]
    assert way[3].detail == "5 calls · libjax_common.so, no source: opens client.cc:4"
    assert (way[4].name, way[4].detail) == ("device_put", "5 calls, indirectly · library.py")
    assert [item.name for item in way][-2:] == ["main", "<module>"]


async def test_a_frame_line_of_a_trace_document_starts_a_hierarchy(recording: Recording, connect: Connect) -> None:
    document = recording.root / "some.fdtrace"
    document.write_text(f"  0 P make_input at {recording.demo}:5\n")
    client = await connect(recording.root)
    (item,) = await prepare(client, document, 1)
    assert (item.name, item.uri) == ("make_input", recording.demo.as_uri())
    assert [call.from_.name for call in await incoming(client, item)] == ["main"]


async def test_an_item_survives_an_index_with_changed_ids(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    (main,) = await prepare(client, recording.demo, recording.main_calls_make_input)
    main.data = {**cast("dict[str, Any]", main.data), "function": 5}
    assert [call.to.name for call in await outgoing(client, main)] == ["make_input", "devices"]


async def test_foreign_item_data_has_no_result(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    (main,) = await prepare(client, recording.demo, recording.main_calls_make_input)
    foreign: list[Any] = [None, 1, {"function": 1}, {"function": 10**30, "name": "x", "origin": "", "anchor": 1}]
    for data in foreign:
        main.data = data
        assert (await outgoing(client, main), await incoming(client, main)) == ([], []), data


async def test_the_limit_of_the_settings_applies(recording: Recording, connect: Connect) -> None:
    (recording.root / "pyproject.toml").write_text("[tool.framedex]\neditor = { limit = 1 }\n")
    client = await connect(recording.root)
    await wait_for_settings(client, recording.root)
    (main,) = await prepare(client, recording.demo, recording.main_calls_make_input)
    assert [call.to.detail for call in await outgoing(client, main)] == ["5 calls (1 more not shown) · demo.py"]
