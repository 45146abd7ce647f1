"""Whatever a client sends, and in whatever order: no crash, and one reply to every request."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.raw_client import RawClient
from tests.server.recording import Recording, write_index

MESSAGES = 1000

METHODS = (
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "textDocument/codeLens",
    "textDocument/inlayHint",
    "textDocument/foldingRange",
    "textDocument/diagnostic",
    "textDocument/prepareCallHierarchy",
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "workspace/symbol",
    "workspace/executeCommand",
    "framedex/nonsense",
)
NOTIFICATIONS = (
    "textDocument/didOpen",
    "textDocument/didClose",
    "textDocument/didChange",
    "textDocument/didSave",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeWorkspaceFolders",
    "window/workDoneProgress/cancel",
    "$/cancelRequest",
    "$/progress",
    "$/setTrace",
)
SCRAPS: tuple[Any, ...] = (None, True, -1, 0, 2**31, 2**70, 1.5, "", "x", "\ud800", [], [[]], {}, {"uri": 1})


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    # Into a file: what is wrong with a thousand messages fills a pipe that nobody reads.
    with RawClient("--log-file", str(tmp_path / "server.log")) as started:
        yield started


class Nonsense:
    """Messages from good to absurd, always the same ones for one seed."""

    def __init__(self, recording: Recording, seed: int) -> None:
        self._random = random.Random(seed)
        self._uris = [path.as_uri() for path in (recording.demo, recording.library, recording.client, recording.mock)]
        self._uris += ["", "file:///", "untitled:1", "file:///nowhere.fdtrace", "::"]

    def params(self) -> Any:
        """What most requests take, with one thing or all of it wrong most of the time."""
        chance = self._random
        if chance.random() < 0.1:
            return chance.choice(SCRAPS)
        uri = chance.choice(self._uris)
        params: dict[str, Any] = {
            "textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": "x\n" * 5},
            "position": {"line": chance.randrange(-1, 12), "character": chance.randrange(-1, 40)},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": chance.randrange(20), "character": 0}},
            "context": {"includeDeclaration": True},
            "contentChanges": [{"text": "y\n"}],
            "query": "put",
            "command": "framedex.nonsense",
            "item": {"name": "n", "kind": 12, "uri": uri, "data": chance.choice(SCRAPS)},
            "changes": [{"uri": uri, "type": 2}],
            "settings": {"framedex": chance.choice(SCRAPS)},
            "event": {"added": [], "removed": []},
            "id": chance.randrange(MESSAGES),
            "token": "t",
            "value": "off",
        }
        for _ in range(chance.choice((0, 0, 1, 2))):
            params[chance.choice(list(params))] = chance.choice(SCRAPS)
        return params

    def message(self, request_id: int) -> dict[str, Any]:
        """The next message; a request if it has the id."""
        chance = self._random
        if chance.random() < 0.3:
            return {"method": chance.choice(NOTIFICATIONS), "params": self.params()}
        identity: int | str = request_id if chance.random() < 0.5 else f"id-{request_id}"
        return {"id": identity, "method": chance.choice(METHODS), "params": self.params()}

    def garbage(self) -> bytes:
        """A body that is no message at all."""
        whole = json.dumps(self.message(0)).encode()
        return self._random.choice((whole[: self._random.randrange(1, len(whole))], b"[]", b"null", b"\xff\xfe", b"{}"))

    def is_garbage_next(self) -> bool:
        """Whether to send garbage before the next message."""
        return self._random.random() < 0.1


@pytest.mark.parametrize("seed", [1, 2])
def test_every_request_of_a_thousand_odd_messages_is_answered_once(
    client: RawClient, recording: Recording, seed: int
) -> None:
    """Sent without waiting for answers, with requests cancelled in between; afterwards the server works as ever."""
    client.initialize(recording.root)
    nonsense = Nonsense(recording, seed)
    wanted: list[int | str] = []

    def send() -> None:
        for number in range(MESSAGES):
            if nonsense.is_garbage_next():
                client.send_body(nonsense.garbage())
            message = nonsense.message(number)
            client.send(message)
            if number % 7 == 0:
                client.send({"method": "$/cancelRequest", "params": {"id": message.get("id", number)}})
            if "id" in message:
                wanted.append(message["id"])
        client.send({"id": "last", "method": "textDocument/hover", "params": at(recording.demo, 7)})

    # Sending and receiving at once: the pipes hold less than a thousand messages.
    sending = threading.Thread(target=send)
    sending.start()
    answered: Counter[int | str] = Counter()
    last = None
    while last is None or sum(answered.values()) < len(wanted):
        message = client.receive()
        if "method" in message:
            continue
        if message["id"] == "last":
            last = message
            sending.join()
        else:
            answered[message["id"]] += 1
    assert answered == Counter(wanted)
    assert client.request("textDocument/hover", at(recording.demo, 7), "after")["result"]["contents"]
    assert client.request("shutdown", None, "shutdown")["result"] is None


def test_no_reply_fails_while_an_indexer_writes(client: RawClient, recording: Recording) -> None:
    """The short form of benchmarks/server_while_indexing.py."""
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
        calls.append(int(reply["result"]["contents"]["value"].split()[1].replace(",", "")))
    writing.join()
    assert calls == sorted(calls)
    reply = client.request("textDocument/hover", at(recording.demo, 7), "last")
    assert f"{3 + sum(range(1, 41)):,} recorded calls" in reply["result"]["contents"]["value"]


def at(path: Path, line: int) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": 0}}


def test_a_message_whose_header_is_odd_is_read_and_one_without_length_passed_over(
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
