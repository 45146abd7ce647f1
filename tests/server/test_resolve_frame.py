"""`framedex/resolveFrame`: the source of a frame in a terminal or a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.server.lsp_requests import Connect, definition, send_request, to_json
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


async def resolved(connect: Connect, root: Path, **wanted: object) -> dict[str, Any]:
    client = await connect(root)
    answer: dict[str, Any] = to_json(await send_request(client, "resolveFrame", wanted))
    return answer


def places(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(Path(each["uri"]).name, each["range"]["start"]["line"] + 1) for each in answer["locations"]]


async def test_a_build_path_leads_to_the_recorded_file_with_the_same_tail(
    recording: Recording, connect: Connect
) -> None:
    tail = recording.client.relative_to(recording.client.parent.parent)
    client = await connect(recording.root)
    for prefix in ("", "external/xla/", "bazel-out/k8-opt/bin/external/xla/", "/proc/self/cwd/", "/build/elsewhere/"):
        answer = to_json(await send_request(client, "resolveFrame", {"path": f"{prefix}{tail}", "line": 4}))
        assert (places(answer), answer["message"]) == ([("client.cc", 4)], None), prefix


async def test_a_symbol_leads_to_the_recorded_function(recording: Recording, connect: Connect) -> None:
    answer = await resolved(connect, recording.root, symbol="xla::Client::BufferFromHost()")
    assert [name for name, _ in places(answer)] == ["client.cc"]


async def test_an_unindexed_file_is_found_in_the_sources(tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "xla" / "pjrt").mkdir(parents=True)
    (tmp_path / "xla" / "pjrt" / "new.cc").write_text("int x;\n")
    answer = await resolved(connect, tmp_path, path="external/xla/xla/pjrt/new.cc", line=1)
    assert places(answer) == [("new.cc", 1)]


async def test_several_files_in_the_sources_are_candidates(tmp_path: Path, connect: Connect) -> None:
    for folder in ("xla", "tsl"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "new.cc").write_text("int x;\n")
    (tmp_path / "framedex.toml").write_text('sources = ["xla", "tsl"]\n')
    answer = await resolved(connect, tmp_path, path="build/./new.cc", line=1)
    assert answer["locations"] == []  # a name alone is not enough where the text has a path
    for folder in ("xla", "tsl"):
        (tmp_path / folder / "pjrt").mkdir()
        (tmp_path / folder / "pjrt" / "new.cc").write_text("int x;\n")
    answer = await resolved(connect, tmp_path, path="build/pjrt/new.cc", line=1)
    assert [each["how"] for each in answer["locations"]] == ["candidates", "candidates"]


async def test_a_log_frame_leads_into_the_sources(tmp_path: Path, connect: Connect) -> None:
    (tmp_path / "xla" / "pjrt").mkdir(parents=True)
    (tmp_path / "xla" / "pjrt" / "new.cc").write_text("int x;\n")
    log = tmp_path / "crash.log"
    log.write_text("#0  0x00007f xla::f () at external/xla/xla/pjrt/new.cc:1\n")
    client = await connect(tmp_path)
    assert await definition(client, log, 1) == [("new.cc", 1)]


async def test_an_unlocated_frame_reports_attempts_and_a_remedy(recording: Recording, connect: Connect) -> None:
    answer = await resolved(connect, recording.root, path="external/x\x1b[2Jy/\u202egone.cc", line=3)
    assert answer["locations"] == []
    assert "There is no file external/x\\x1b[2Jy/\\u202egone.cc on this machine" in answer["message"]
    assert str(recording.root) in answer["message"]
    assert "path-map" in answer["message"]
    client = await connect(recording.root)
    nameless = to_json(await send_request(client, "resolveFrame", {"symbol": "no::such()"}))
    assert "neither a recorded function nor a definition" in nameless["message"]
    sourceless = to_json(await send_request(client, "resolveFrame", {"symbol": "jax::Glue()"}))
    assert "was recorded, but its source is not on this machine" in sourceless["message"]


async def test_a_request_without_a_frame_is_refused(tmp_path: Path, connect: Connect) -> None:
    client = await connect(tmp_path)
    refused: list[dict[str, Any]] = [
        {},
        {"path": 3},
        {"path": "a.cc", "line": 0},
        {"path": "a.cc", "line": True},
        {"path": "a" * 5000},
        {"symbol": ""},
    ]
    for wanted in refused:
        with pytest.raises(JsonRpcException):
            await send_request(client, "resolveFrame", wanted)


async def test_a_hostile_path_is_not_located(tmp_path: Path, connect: Connect) -> None:
    client = await connect(tmp_path)
    for path in ("a/\0b.cc", "a/\ud800.cc", "/", "../../no/such.cc", "x/" + "y" * 4000):
        answer = to_json(await send_request(client, "resolveFrame", {"path": path, "line": 1}))
        assert (answer["locations"], answer["url"]) == ([], None), path
