"""The contents of captures for a tree view: boundary functions, pages of calls, frames; and their flame graph."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from framedex.index.file.schema import VERSION
from tests.server.lsp_requests import Connect, framedex_request, open_document, send_request, to_json, wait_for_settings
from tests.server.recording import HOSTILE, Recording, record, write_hostile_index, write_index

pytestmark = pytest.mark.asyncio

PUT, DEVICES = "PJRT_Client_BufferFromHostBuffer", "PJRT_Client_Devices"


@pytest.fixture
def twice(recording: Recording) -> Recording:
    """The program recorded a second time, with seven calls from its first line instead of three."""
    write_index(recording, puts=7)
    return recording


def switch_off_auto_index(project: Path) -> None:
    """Keep the server from rebuilding an outdated index itself: an index under construction is not listed."""
    (project / "framedex.toml").write_text("[editor]\nauto-index = false\n")


async def answer(client: LanguageClient, method: str, **params: object) -> Any:
    return to_json(await send_request(client, method, params))


async def boundaries(client: LanguageClient, **params: object) -> list[tuple[str, int, int]]:
    found = await answer(client, "boundaries", **params)
    return [(each["function"], each["calls"], each["duration"]) for each in found["boundaries"]]


async def boundary(client: LanguageClient, name: str, capture: int = 1) -> int:
    found = await answer(client, "boundaries", capture=capture)
    return int(next(each["id"] for each in found["boundaries"] if each["function"] == name))


async def test_every_index_of_the_workspace_is_listed_with_its_captures(tmp_path: Path, connect: Connect) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        record(tmp_path / name)
    client = await connect(tmp_path)
    listed = (await answer(client, "indexes"))["indexes"]
    assert sorted(each["folder"] for each in listed) == [str(tmp_path / "one"), str(tmp_path / "two")]
    assert [[capture["calls"] for capture in each["captures"]] for each in listed] == [[6], [6]]
    folder = str(tmp_path / "two")
    assert await boundaries(client, folder=folder, capture=1) == [(PUT, 5, 10_000), (DEVICES, 1, 2_000)]
    assert (await answer(client, "traceDocument", folder=folder, call=1))["uri"] == (
        f"framedex-trace:{folder}/call-1.fdtrace"
    )


async def test_an_index_that_cannot_be_used_is_listed_with_the_reason(tmp_path: Path, connect: Connect) -> None:
    for name in ("sound", "spoilt"):
        (tmp_path / name).mkdir()
        record(tmp_path / name)
    (tmp_path / "spoilt" / ".framedex" / "index.db").write_bytes(b"spoilt " * 1000)
    client = await connect(tmp_path)
    for _ in range(2):  # reported each time, not once
        listed = {Path(each["folder"]).name: each for each in (await answer(client, "indexes"))["indexes"]}
        assert listed["sound"]["problem"] is None and listed["sound"]["action"] is None
        assert listed["spoilt"]["captures"] == []
        assert "framedex index" in listed["spoilt"]["problem"]
    folder = tmp_path / "spoilt"
    action: dict[str, Any] = {
        "title": "Rebuild the index",
        "command": "framedex.rebuildIndex",
        "arguments": [folder.as_uri()],
    }
    assert listed["spoilt"]["action"] == action
    why = to_json(await framedex_request(client, "why", folder / "demo.py", 1, request="framedex/stacks"))
    assert (why["text"], why["action"]) == (listed["spoilt"]["problem"].replace("\n", " "), action)
    done = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(action["command"], action["arguments"])
    )
    assert to_json(done) == {"captures": 0, "calls": 0, "refused": []}, "its capture is in the index alone"
    assert (folder / ".framedex" / "index.db.damaged").exists()
    listed = {Path(each["folder"]).name: each for each in (await answer(client, "indexes"))["indexes"]}
    assert (listed["spoilt"]["problem"], listed["spoilt"]["action"]) == (None, None)


@pytest.mark.parametrize(
    ("spoil", "command"),
    [
        ("PRAGMA user_version = 1", "framedex.rebuildIndex"),
        ("PRAGMA application_id = 1", None),
    ],
)
async def test_a_remedy_is_shown_only_if_one_exists(
    tmp_path: Path, connect: Connect, spoil: str, command: str | None
) -> None:
    """An index of another version can be rebuilt; another program's database is left alone."""
    recording = record(tmp_path)
    switch_off_auto_index(tmp_path)
    with closing(sqlite3.connect(recording.index)) as connection:
        connection.execute(spoil)
    client = await connect(tmp_path)
    (listed,) = (await answer(client, "indexes"))["indexes"]
    assert listed["problem"]
    assert (listed["action"] and listed["action"]["command"]) == command


async def test_an_older_index_is_rebuilt_from_the_editor(tmp_path: Path, connect: Connect) -> None:
    recording = record(tmp_path)
    switch_off_auto_index(tmp_path)
    with closing(sqlite3.connect(recording.index)) as connection:
        connection.executescript("DROP TABLE release_maps; ALTER TABLE functions DROP COLUMN is_release_known")
        connection.execute("PRAGMA user_version = 5")
    client = await connect(tmp_path)
    (listed,) = (await answer(client, "indexes"))["indexes"]
    assert f"has version 5; this framedex reads version {VERSION}" in listed["problem"]

    action = listed["action"]
    await client.workspace_execute_command_async(types.ExecuteCommandParams(action["command"], action["arguments"]))

    (listed,) = (await answer(client, "indexes"))["indexes"]
    assert listed["problem"] is None


async def test_an_empty_index_can_be_filled(tmp_path: Path, connect: Connect) -> None:
    index = tmp_path / ".framedex" / "index.db"
    index.parent.mkdir()
    index.touch()
    client = await connect(tmp_path)
    (listed,) = (await answer(client, "indexes"))["indexes"]
    assert listed["action"] == {
        "title": "Index this project",
        "command": "framedex.index",
        "arguments": [tmp_path.as_uri()],
    }


async def test_index_problems_are_reported_only_to_views_of_its_contents(tmp_path: Path, connect: Connect) -> None:
    recording = record(tmp_path)
    client = await connect(tmp_path)
    assert await boundaries(client, folder=str(tmp_path), capture=1)
    spoilt = tmp_path / "spoilt.db"
    spoilt.write_bytes(b"spoilt " * 1000)
    spoilt.replace(recording.index)  # at once: the server must not see and report an intermediate state
    for _ in range(2):
        assert await answer(client, "boundaries", folder=str(tmp_path), capture=1) is None
    (told,) = {shown.message for shown in client.messages}
    assert "framedex index" in told


async def test_an_empty_recording_is_an_empty_list(tmp_path: Path, connect: Connect) -> None:
    client = await connect(tmp_path)
    assert await answer(client, "indexes") == {"indexes": []}
    assert await answer(client, "boundaries", folder=str(tmp_path), capture=1) is None


async def test_boundary_functions_of_one_capture_have_calls_and_time(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    assert await boundaries(client, capture=1) == [(PUT, 5, 10_000), (DEVICES, 1, 2_000)]
    assert await boundaries(client, capture=2) == [(PUT, 9, 18_000), (DEVICES, 1, 2_000)]
    assert await boundaries(client, capture=3) == []


async def test_a_filter_matches_names_stacks_and_arguments(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    passing: dict[str, list[tuple[str, int]]] = {
        "bufferfrom": [(PUT, 5)],  # a boundary function, or a function on its stacks
        "devices": [(DEVICES, 1)],
        "make_input": [(PUT, 5)],  # a function on the stack
        "demo.py": [(PUT, 5), (DEVICES, 1)],  # a file
        "_s32": [(PUT, 2)],  # an argument
        "F32[2,3]": [(PUT, 3)],  # a shape, as displayed
        "buffer#1": [],  # an object, which none here is
        "nowhere": [],
    }
    found = {text: await boundaries(client, capture=1, filter=text) for text in passing}
    assert {text: [(name, calls) for name, calls, _ in rows] for text, rows in found.items()} == passing


async def test_calls_are_paginated(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    put = await boundary(client, PUT)
    first = await answer(client, "calls", capture=1, boundary=put, limit=2)
    rest = await answer(client, "calls", capture=1, boundary=put, limit=50, offset=2)
    filtered = await answer(client, "calls", capture=1, boundary=put, filter="_S32")
    longest = await answer(client, "calls", capture=1, boundary=put, order="duration", limit=1)
    assert [[call["id"] for call in page["calls"]] for page in (first, rest, filtered, longest)] == [
        [1, 2],
        [3, 4, 5],
        [2, 4],
        [1],
    ]
    call = first["calls"][0]
    assert (call["function"], call["arguments"], call["duration"]) == (PUT, "F32[2,3] 24 B", 2_000)


async def test_the_frames_of_a_call_have_the_order_of_its_trace_document(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    found = await answer(client, "frames", call=1)
    (section,) = found["stacks"]
    text = (await answer(client, "traceDocument", call=1))["text"]
    lines = [line for line in text.splitlines() if line[:3].strip().isdigit()]
    assert len(lines) == len(section["frames"])
    for frame, line in zip(section["frames"], lines, strict=True):
        assert frame["function"] in line
    assert [frame["role"] for frame in section["frames"]].count("interpreter") == 1
    assert section["frames"][0]["location"]["uri"] == recording.demo.as_uri()
    assert await answer(client, "frames", call=99) is None


async def test_a_trace_is_found_by_line_and_returned_as_markdown(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    line = recording.main_calls_make_input
    document = await framedex_request(client, "traceDocument", recording.demo, line)
    assert document["uri"].endswith("/call-3.fdtrace")
    text = (await framedex_request(client, "traceMarkdown", recording.demo, line))["text"]
    assert text.startswith(f"### `{PUT}`\n\n- Arguments: `F32[2,3] 24 B`\n")
    assert f"2. Python `main` at [`demo.py:8`](<{recording.demo.as_uri()}#L8>)\n" in text
    assert "C++ `xla::Client::BufferFromHost` at [`client.cc:4`]" in text
    assert text.rstrip().endswith(f"C++ `{PUT}` at [`mock.cc:4`](<{recording.mock.as_uri()}#L4>)")
    assert "<details>" not in text  # one frame alone takes less room than its fold
    assert await framedex_request(client, "traceMarkdown", recording.root / "other.py", 1) is None


async def test_hostile_names_stay_inside_code_spans(tmp_path: Path, connect: Connect) -> None:
    recording = record(tmp_path)
    recording.index.unlink()
    write_hostile_index(recording)
    client = await connect(recording.root)
    text = (await answer(client, "traceMarkdown", call=1))["text"]
    shown = "``evil`](command:x) <img src=x>\\x0a\\u202e**``"
    assert text.splitlines()[0] == f"### {shown}"
    assert f"1. Python {shown} at" in text
    (found,) = (await answer(client, "boundaries", capture=1))["boundaries"]
    assert "\n" not in found["function"]
    graph = await answer(client, "flameGraph", capture=1)
    assert not any("\n" in node["name"] for node in graph["nodes"])
    assert HOSTILE not in json.dumps(graph)


async def test_two_captures_are_compared_by_lines(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    compared = await answer(client, "compareLines", before=1, after=2, floor=1_000)
    assert (compared["before"]["id"], compared["after"]["id"], compared["floorText"]) == (1, 2, "1 µs")
    assert compared["text"] == "1 line changed without a cost, 1 line unchanged."
    (line,) = compared["lines"]
    assert (line["function"], line["place"].rpartition("/")[2]) == ("device_put", "library.py:4")
    assert line["location"]["range"]["start"]["line"] == twice.device_put_enters_cpp - 1
    assert [line[side]["durationText"] for side in ("before", "after")] == ["10 µs", "18 µs"]
    assert (line["verdict"], line["differenceText"], line["isNoise"], line["only"]) == ("other", "+8 µs", True, None)
    assert line["measure"] == "in the runtime"
    assert f"calls {PUT} 5 -> 9" in line["reasons"]
    assert await answer(client, "compareLines", before=1, after=3) is None
    for wrong in ({"before": 1}, {"before": 1, "after": 2, "floor": -1}, {"before": 1, "after": 2, "floor": "10 ms"}):
        with pytest.raises(JsonRpcException):
            await answer(client, "compareLines", **wrong)


async def test_the_flame_graph_is_the_tree_of_the_stacks(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    graph = await answer(client, "flameGraph", capture=1)
    nodes = graph["nodes"]
    assert (graph["calls"], graph["duration"]) == (6, 12_000)
    assert [(node["name"], node["calls"]) for node in nodes if node["parent"] == -1] == [("<module>", 6)]
    main = next(number for number, node in enumerate(nodes) if node["name"] == "main")
    assert sorted((node["name"], node["calls"]) for node in nodes if node["parent"] == main) == [
        ("devices", 1),
        ("make_input", 5),
    ]
    ends = {node["name"]: (node["calls"], node["duration"]) for node in nodes if node["kind"] == "boundary"}
    assert ends == {PUT: (5, 10_000), DEVICES: (1, 2_000)}
    assert nodes[main]["place"] == f"{recording.demo}:9"
    frame = await answer(client, "frame", frame=nodes[main]["frame"])
    assert (frame["function"], frame["location"]["range"]["start"]["line"]) == ("main", 8)


async def test_a_flame_graph_of_a_boundary_function_omits_glue(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    graph = await answer(client, "flameGraph", capture=1, boundary=await boundary(client, PUT), glue=False)
    names = ["<module>", "main", "make_input", "device_put", "jax::Glue", "jax::Moved"]
    assert [node["name"] for node in graph["nodes"]] == [*names, "xla::Client::BufferFromHost", PUT]
    assert graph["hidden"] == 1


async def test_the_flame_graph_of_two_captures_has_both_shares(twice: Recording, connect: Connect) -> None:
    client = await connect(twice.root)
    graph = await answer(client, "flameGraphOfDifferences", before=1, after=2)
    assert (graph["calls"], len(graph["nodes"])) == (16, len((await answer(client, "flameGraph", capture=2))["nodes"]))
    ends = {node["name"]: node for node in graph["nodes"] if node["kind"] == "boundary"}
    assert (ends[PUT]["before"]["calls"], ends[PUT]["after"]["calls"], ends[PUT]["calls"]) == (5, 9, 14)
    assert ends[DEVICES]["changed"] == {"duration": "same", "calls": "same"}


METHODS = ("boundaries", "calls", "frames", "frame", "flameGraph", "flameGraphOfDifferences", "traceMarkdown")


async def test_malformed_parameters_are_refused(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    malformed: tuple[object, ...] = (
        {},
        {"capture": "1"},
        {"call": True},
        {"capture": 1, "boundary": "x", "filter": 3},
        None,
    )
    for method, params in product(METHODS, malformed):
        with pytest.raises(JsonRpcException):
            await send_request(client, method, params)


async def test_malformed_parameters_are_refused_even_without_an_index(tmp_path: Path, connect: Connect) -> None:
    client = await connect(tmp_path)
    with pytest.raises(JsonRpcException):
        await send_request(client, "calls", {"capture": 1, "boundary": "x"})


async def test_a_subscribed_client_is_notified_of_a_changed_index(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root, experimental={"framedex": {"indexChanges": True}})
    told = asyncio.Event()
    client.feature("framedex/didChangeIndex")(lambda _: told.set())
    await wait_for_settings(client, recording.root)
    await answer(client, "indexes")
    write_index(recording, puts=7)
    await asyncio.wait_for(told.wait(), 20)
    listed = (await answer(client, "indexes"))["indexes"]
    assert [capture["id"] for capture in listed[0]["captures"]] == [2, 1]


async def test_a_workspace_is_notified_of_its_first_index(tmp_path: Path, connect: Connect) -> None:
    client = await connect(tmp_path, experimental={"framedex": {"indexChanges": True}})
    told = asyncio.Event()
    client.feature("framedex/didChangeIndex")(lambda _: told.set())
    assert await answer(client, "indexes") == {"indexes": []}
    record(tmp_path)
    changes = [types.FileEvent((tmp_path / ".framedex" / "index.db").as_uri(), types.FileChangeType.Created)]
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
    await asyncio.wait_for(told.wait(), 20)


async def test_an_open_trace_is_requested_again_after_an_index_change(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root, content=True)
    uri = f"framedex-trace:{recording.root}/call-1.fdtrace"
    asked = asyncio.get_running_loop().create_future()

    def refresh(params: types.TextDocumentContentRefreshParams) -> None:
        if not asked.done():
            asked.set_result(params.uri)

    client.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)(refresh)
    await wait_for_settings(client, recording.root)
    open_document(client, uri, "framedex trace, format 1\n", "framedex-trace")
    write_index(recording, puts=7)
    assert await asyncio.wait_for(asked, 20) == uri
