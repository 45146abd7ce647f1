"""`framedex/why`: the reason for an empty answer, as one text for all editors, with a helpful command."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from framedex_native._native import METADATA_FILE
from tests.server.lsp_requests import (
    ONE_EDITOR,
    Connect,
    definition,
    framedex_request,
    open_document,
    send_request,
    to_json,
)
from tests.server.recording import Recording, write_hostile_index

pytestmark = pytest.mark.asyncio

DEFINITION = "textDocument/definition"
LINE_REQUESTS = ("stepIn", "stepOut", "nextStack", "stacks", "callsThrough", "traceDocument", "traceMarkdown")


async def why(client: LanguageClient, request: str, path: Path, line: int) -> Any:
    """The reason for an empty answer to a request about a line."""
    return await framedex_request(client, "why", path, line, request=request)


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_at_the_end_of_a_stack_its_trace_is_offered(recording: Recording, connect: Connect, editor: str) -> None:
    client = await connect(recording.root, editor)
    end = recording.mock, recording.mock_allocates
    assert await framedex_request(client, "stepIn", *end) is None
    told = await why(client, "framedex/stepIn", *end)
    assert told == {"text": "No frame with source is further inward on this stack.", "action": None}
    assert not await definition(client, *end)
    told = await why(client, DEFINITION, *end)
    assert told["text"].startswith("No frame with source is further inward from here")
    assert (told["action"]["title"], told["action"]["command"]) == ("Open the trace", "framedex.openTrace")
    opened = types.ExecuteCommandParams(told["action"]["command"], told["action"]["arguments"])
    assert str(await client.workspace_execute_command_async(opened)).endswith(".fdtrace")


async def test_a_line_without_calls_says_so(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    for request in (*(f"framedex/{name}" for name in LINE_REQUESTS), DEFINITION):
        told = await why(client, request, recording.demo, recording.nothing_recorded)
        assert told == {
            "text": "No recorded call went through this line: it made no call or was not reached."
            " Nearest: line 5 (5 calls).",
            "action": None,
        }, request


async def test_a_frame_without_source_says_so(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    told = to_json(await send_request(client, "why", {"request": "framedex/selectFrame", "frame": 0}))
    assert told == {"text": "The source of this frame is not on this machine.", "action": None}


async def test_an_unsaved_new_line_has_no_call(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    text = recording.demo.read_text()
    open_document(client, recording.demo.as_uri(), text + "# new\n")
    told = await why(client, "framedex/stepIn", recording.demo, text.count("\n") + 1)
    assert told["text"] == "No recorded call went through this line."


async def test_a_line_executed_only_by_other_captures_says_so_and_offers_all(
    recording: Recording, connect: Connect
) -> None:
    """A second run that did not reach `make_input` is selected."""
    write_hostile_index(recording)
    client = await connect(recording.root)
    line = recording.demo, recording.make_input_calls_device_put
    await framedex_request(client, "selectCapture", *line, capture=2)
    for name in LINE_REQUESTS:
        assert not await framedex_request(client, name, *line)
        told = await why(client, f"framedex/{name}", *line)
        assert told["text"].startswith("No call of capture 2 (")
        assert ") went through this line; 5 calls of other captures did." in told["text"]
        assert "\n" not in told["text"], "a command is not trusted"
    assert not (await why(client, "framedex/stacks", recording.library, 2))["action"], "no capture passed it"
    assert told["action"]["title"] == "Answer from other captures"
    picked_none = types.ExecuteCommandParams(told["action"]["command"], told["action"]["arguments"])
    await client.workspace_execute_command_async(picked_none)
    assert await framedex_request(client, "stacks", *line)


async def test_the_end_of_a_stack_of_the_selected_capture_is_its_own_reason(
    recording: Recording, connect: Connect
) -> None:
    write_hostile_index(recording)
    client = await connect(recording.root)
    await framedex_request(client, "selectCapture", recording.demo, 1, capture=1)
    told = await why(client, "framedex/stepIn", recording.mock, recording.mock_allocates)
    assert told["text"] == "No frame with source is further inward on this stack."


async def test_a_text_line_without_a_known_source_says_so(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    log = recording.root / "crash.log"
    log.write_text("no frame\n")
    assert (await why(client, DEFINITION, log, 1))["text"] == "No source found for this line."


async def test_an_unrecorded_program_can_be_recorded(tmp_path: Path, connect: Connect) -> None:
    program = tmp_path / "train.py"
    program.touch()
    client = await connect(tmp_path)
    told = await why(client, "framedex/stacks", program, 1)
    assert told["text"] == "Nothing has been recorded here yet. Run `framedex run SCRIPT` to record a program."
    record = {"title": "Record this file", "command": "framedex.record", "arguments": [program.as_uri()]}
    assert told["action"] == record
    assert to_json(await send_request(client, "why", {"request": "framedex/captures"})) == {
        "text": told["text"],
        "action": None,
    }


async def test_an_unindexed_recording_can_be_indexed(recording: Recording, connect: Connect) -> None:
    """A capture without an index, in a session that does not index automatically."""
    (recording.root / "framedex.toml").write_text("[editor]\nauto-index = false\n")
    shutil.rmtree(recording.index.parent)
    capture = recording.root / ".framedex" / "captures" / "20261120-133417-22257"
    capture.mkdir(parents=True)
    (capture / METADATA_FILE).write_text("{}")
    client = await connect(recording.root)
    told = await why(client, "framedex/stacks", recording.demo, 1)
    assert told["text"] == "The recordings here are not indexed yet. Run `framedex index`."
    index = {"title": "Index this project", "command": "framedex.index", "arguments": [recording.root.as_uri()]}
    assert told["action"] == index


async def test_an_unusable_index_is_the_reason_each_time(recording: Recording, connect: Connect) -> None:
    recording.index.write_bytes(b"")
    client = await connect(recording.root)
    for request in ("framedex/stacks", "framedex/captures", DEFINITION):
        text = (await why(client, request, recording.demo, 1))["text"]
        assert f"The index {recording.index} is empty." in text and "Then run `framedex index`" in text
        assert "\n" not in text


async def test_a_request_without_its_subject_is_an_error(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    with pytest.raises(JsonRpcException):
        await framedex_request(client, "why", recording.demo, 1)
