"""Any messages of a client in any order: no crash, and one reply to every request."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.lsp_messages import fuzz
from tests.server.raw_client import RawClient
from tests.server.recording import Recording, write_index


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    # Into a file: unread reports of a thousand malformed messages would fill a pipe.
    with RawClient("--log-file", str(tmp_path / "server.log")) as started:
        yield started


@pytest.mark.exhaustive(keep=["1"])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_fuzzed_request_is_answered_once_and_the_server_continues(tmp_path: Path, seed: int) -> None:
    """All methods, LSP's and framedex's own; FRAMEDEX_FUZZ_SECONDS extends the run."""
    seconds = float(os.environ.get("FRAMEDEX_FUZZ_SECONDS", "1"))
    assert fuzz(seconds, seed, tmp_path / "server.log")


def test_a_message_with_very_many_wrong_values_is_refused_at_once(client: RawClient, recording: Recording) -> None:
    """A string instead of a list counts as one wrong value per character."""
    client.initialize(recording.root)
    files = {"files": "a" * 3_000_000}
    assert "error" in client.request("workspace/willDeleteFiles", files, 1)
    assert client.request("textDocument/hover", at(recording.demo, 7), 2)["result"]["contents"]


def test_a_document_that_is_a_device_or_pipe_does_not_block(
    client: RawClient, recording: Recording, tmp_path: Path
) -> None:
    client.initialize(recording.root)
    os.mkfifo(tmp_path / "pipe.py")
    for uri in ("file:///dev/zero", (tmp_path / "pipe.py").as_uri()):
        document = {"uri": uri, "languageId": "python", "version": 1, "text": "x\n"}
        client.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        asked = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        assert "result" in client.request("textDocument/hover", asked, uri)


def test_an_object_inside_a_message_is_not_a_message(client: RawClient, recording: Recording) -> None:
    """Otherwise any text that an editor forwards could answer or send requests for it."""
    client.initialize(recording.root)
    inner = {"jsonrpc": "2.0", "id": 77, "method": "textDocument/hover", "params": 1}
    client.send({"method": "workspace/didChangeConfiguration", "params": {"settings": inner}})
    client.send({"id": 1, "method": "textDocument/hover", "params": at(recording.demo, 7)})
    while "method" in (answer := client.receive()):
        pass
    assert answer["id"] == 1 and answer["result"]["contents"]


def test_an_impossible_length_is_ignored(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    odd = (
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 9999999999\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Length: -3\r\n\r\n",
        b"\xff\x00\r\n\r\n",
    )
    for number, header in enumerate(odd, 1):
        client.send_bytes(header)
        assert client.request("textDocument/hover", at(recording.demo, 7), number)["result"]["contents"], header


def test_headers_are_case_insensitive(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": at(recording.demo, 7)})
    client.send_bytes(b"content-length:%d\r\n\r\n%s" % (len(body), body.encode()))
    assert client.reply_to(1)["result"]["contents"]


def test_a_folder_with_an_invalid_name_breaks_no_later_answer(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root)
    added = [{"uri": "file:///a%00b", "name": "odd"}, {"uri": "file:x", "name": "relative"}]
    event = {"event": {"added": added, "removed": []}}
    client.send({"method": "workspace/didChangeWorkspaceFolders", "params": event})
    assert client.request("textDocument/hover", at(recording.demo, 7), 1)["result"]["contents"]


@pytest.mark.exhaustive
def test_no_reply_fails_while_an_indexer_writes(client: RawClient, recording: Recording) -> None:
    """The short form of the benchmark server-while-indexing: the calls of all captures only increase."""
    (recording.root / "framedex.toml").write_text('captures = "all"\n')
    client.initialize(recording.root)
    done = threading.Event()

    def write() -> None:
        for puts in range(1, 41):
            write_index(recording, puts)
        done.set()

    writing = threading.Thread(target=write)
    writing.start()
    calls: list[int] = []
    while not done.is_set() or len(calls) < 300:
        reply = client.request("textDocument/hover", at(recording.demo, 7), len(calls))
        calls.append(_recorded_calls(reply))
    writing.join()
    assert calls == sorted(calls)
    reply = client.request("textDocument/hover", at(recording.demo, 7), "last")
    assert _recorded_calls(reply) == 3 + sum(range(1, 41))


def _recorded_calls(hover: dict[str, Any]) -> int:
    told = re.search(r"([\d,]+) recorded calls", hover["result"]["contents"]["value"])
    assert told is not None, hover
    return int(told[1].replace(",", ""))


def at(path: Path, line: int) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": 0}}


def test_a_message_with_an_odd_header_is_read_and_one_without_length_ignored(
    client: RawClient, recording: Recording
) -> None:
    client.initialize(recording.root)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": at(recording.demo, 7)})
    assert client.process.stdin is not None
    client.process.stdin.write(b"X-Nothing: 1\r\n\r\n")
    client.process.stdin.write(
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body.encode())
    )
    client.process.stdin.flush()
    assert client.reply_to(1)["result"]["contents"]
