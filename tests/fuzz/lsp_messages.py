"""Send malformed messages of every method to a real server: `python -m tests.fuzz.lsp_messages SECONDS`.

LSP's methods and parameter types come from lsprotocol's metadata. framedex's own methods, its commands and their
parameter names come from the server. Each message starts well formed; then parts of it are mutated: other types, huge
and negative numbers, missing and unknown keys, deep nesting, lone surrogates, odd URIs. Malformed bodies and headers
are sent between messages. After each batch, the server must have answered every request once, and must still work.
"""

from __future__ import annotations

import ast
import copy
import functools
import json
import random
import sys
import tempfile
import threading
import time
import types as python_types
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import types

import framedex_server
from framedex_server.protocol import INDEX_COMMAND, OWN_METHOD_PREFIX, REBUILD_COMMAND, RECORD_COMMAND
from framedex_server.server import FramedexServer
from tests.server.raw_client import RawClient, framed
from tests.server.recording import Recording, record

BATCH = 200
FIRST_ID = 10_000  # noise is smaller
PATIENCE = 60.0  # timeout in seconds for the answers to a batch
DEEPEST = 4  # nesting levels of generated parameters
ENDING = {types.SHUTDOWN, types.EXIT}
LONG_WORK = {INDEX_COMMAND, REBUILD_COMMAND, RECORD_COMMAND}


@dataclass(frozen=True)
class Method:
    """A method, whether it is a request, and its parameter type; None for framedex's own methods, which take JSON."""

    name: str
    is_request: bool
    params: Any


def nested(depth: int, leaf: Any) -> Any:
    """A value nested in this many lists and objects."""
    for level in range(depth):
        leaf = [leaf] if level % 2 else {"value": leaf}
    return leaf


VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2**31, 2**63, -(2**63), 2**70, 10**400, 1.5, -0.0, 1e308),
    *("", "x", "\ud800", "\udcff\0", "a" * 100_000, "\u202e\x1b[31m", "٣", "{}", "%", "file:"),
    *([], [[]], {}, {"uri": 1}, [None] * 1000, {"": ""}, {str(i): i for i in range(1000)}, nested(200, 1)),
)

SCRAPS: tuple[Callable[[], Any], ...] = tuple(functools.partial(copy.copy, value) for value in VALUES)
# Never an existing folder: opened as a workspace, it would be indexed, even the root of the machine.
URIS = (
    *("", "::", "file:", "file://", "file://host/x", "file:///nowhere.fdtrace", "untitled:1", "http://example.org/x"),
    *(
        "framedex-trace:",
        "framedex-trace:///x/call-1.fdtrace",
        "framedex-trace:///%00/call-99999999999999999999.fdtrace",
    ),
    *("javascript:alert(1)", "file:///%ED%A0%80", "file:///a%00b", "file:///dev/zero", "file:///proc/self/mem"),
    *("vscode-remote://ssh/x.py", "file:///" + "a/" * 3000, "file:///" + "b" * 5000, "C:\\x", "file:///C%3A/x.py"),
)
BODIES = (
    b"",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"{}",
    b"\xff\xfe",
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b"NaN",
    b'{"jsonrpc":"2.0"}',
)
HEADERS = (
    *(
        b"\r\n",
        b"X-Nothing: 1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"content-length: x\r\n\r\n",
        b"\0" * 100 + b"\r\n",
    ),
    *(b"Content-Length: 0\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"),
    *(b"Content-Length: 99999999999999\r\n\r\n", b"\xff\xfe\r\n", b"x" * 200_000 + b"\r\n"),
)


def client_methods() -> tuple[Method, ...]:
    """Every method that a client may send, LSP's and framedex's own, read from their declarations."""
    known = types.METHOD_TO_TYPES
    of_lsp = [
        Method(name, known[name][1] is not None, known[name][2])
        for name in known
        if types.message_direction(name) != "serverToClient" and name not in ENDING
    ]
    offered = FramedexServer().protocol.fm.features
    own = [Method(name, True, None) for name in offered if name.startswith(OWN_METHOD_PREFIX)]
    assert own and {name for name in offered if not name.startswith(OWN_METHOD_PREFIX)} <= {*known, *ENDING}
    return (*of_lsp, *own, Method(f"{OWN_METHOD_PREFIX}nonsense", True, None), Method("$/nonsense", True, None))


def own_keys() -> tuple[str, ...]:
    """The strings in the features' sources that could be keys of their requests."""
    files = Path(framedex_server.__file__).parent.rglob("*.py")
    texts = {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    }
    return tuple(sorted(texts))


class Messages:
    """Messages from valid to malformed, always the same for one seed."""

    def __init__(self, recording: Recording, seed: int) -> None:
        self._random = random.Random(seed)
        self._methods = client_methods()
        self._own_keys = own_keys()
        self._commands = (*FramedexServer().protocol.fm.commands, "framedex.nonsense", "")
        files = (recording.demo, recording.library, recording.client, recording.mock, recording.root)
        self._uris = (*(path.as_uri() for path in files), *(str(path) for path in files), *URIS)

    def message(self, request_id: int) -> dict[str, Any]:
        """The next message; a request if it has an id."""
        chance = self._random
        method = chance.choice(self._methods)
        params = self._own_params() if method.params is None else self._value(method.params, 0, "params")
        if method.name == types.WORKSPACE_EXECUTE_COMMAND and isinstance(params, dict):
            params = self._command()
        if chance.random() < 0.6:
            for _ in range(chance.choice((1, 1, 2, 5))):
                params = self._disordered(params)
        message: dict[str, Any] = {"method": method.name, "params": params}
        if chance.random() < 0.02:
            message.pop(chance.choice(("params", "method")))
        if method.is_request and "method" in message:
            message["id"] = request_id if chance.random() < 0.5 else f"id-{request_id}"
        return message

    def noise(self) -> bytes:
        """Malformed bytes between two messages, or an unusual message."""
        chance = self._random
        if chance.random() < 0.3:
            return chance.choice(HEADERS)
        whole = json.dumps({"jsonrpc": "2.0", **self.message(0), "id": self._random_value()}).encode()
        odd = (
            *(whole[: chance.randrange(len(whole))], b"[" + whole + b"]", whole.replace(b"2.0", b"1.0")),
            json.dumps({"jsonrpc": "2.0", "id": self._random_id(), "result": self._random_value()}).encode(),
            json.dumps({"jsonrpc": "2.0", "id": self._random_id(), "error": self._random_value()}).encode(),
            *BODIES,
        )
        return framed(chance.choice(odd))

    def is_noise_next(self) -> bool:
        """Whether to send noise before the next message."""
        return self._random.random() < 0.1

    def _random_value(self) -> Any:
        return self._random.choice(SCRAPS)()

    def _random_id(self) -> Any:
        """The id of an answer: of a request that the server may have sent, or malformed."""
        return self._random.choice((0, 1, "x", None, 1.5, [], {}, True))

    def _command(self) -> Any:
        chance = self._random
        command = chance.choice(self._commands)
        # Commands that index or run programs never get an existing file.
        uris = URIS if command in LONG_WORK else self._uris
        arguments = [chance.choice((chance.choice(uris), self._own_params())) for _ in range(chance.randrange(3))]
        return {"command": command, "arguments": [] if command in (INDEX_COMMAND, REBUILD_COMMAND) else arguments}

    def _own_params(self) -> Any:
        chance = self._random
        position = {"line": chance.randrange(12), "character": chance.randrange(40)}
        params: dict[str, Any] = {"textDocument": {"uri": chance.choice(self._uris)}, "position": position}
        for key in chance.sample(self._own_keys, chance.randrange(8)):
            params.setdefault(key, chance.choice((chance.randrange(5), "put", True, None, chance.choice(self._uris))))
        for key in ("capture", "call", "frame", "boundary", "stack"):
            if chance.random() < 0.5:
                params[key] = chance.randrange(5)
        return params

    def _value(self, kind: Any, depth: int, name: str) -> Any:
        """A value of an lsprotocol type as JSON."""
        chance = self._random
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, python_types.UnionType):
            choices = [part for part in parts if part is not type(None)]
            if len(choices) < len(parts) and (depth >= DEEPEST or chance.random() < 0.4):
                return None
            return self._value(chance.choice(choices), depth, name)
        if attrs.has(kind):
            attrs.resolve_types(kind)
            fields = {field.name: field.type for field in attrs.fields(kind)}
            values = {each: self._value(of, depth + 1, each) for each, of in fields.items()}
            return {_camel(each): value for each, value in values.items() if value is not None}
        if origin is typing.Literal:
            return chance.choice(parts)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return chance.choice(list(kind)).value
        if parts and isinstance(origin, type):
            if depth >= DEEPEST:
                return {} if "Mapping" in str(origin) or origin is dict else []
            if "Mapping" in str(origin) or origin is dict:
                return {"x": self._value(parts[1], depth + 1, name)}
            return [self._value(parts[0], depth + 1, name) for _ in range(chance.randrange(3))]
        if kind is int:
            return chance.choice((0, 1, 3, 7, chance.randrange(12), chance.randrange(10_000)))
        if kind is bool:
            return chance.random() < 0.5
        if kind is float:
            return chance.random()
        return (
            chance.choice(self._uris)
            if "uri" in name or chance.random() < 0.2
            else chance.choice(("put", "python", "x\n" * 5))
        )

    def _disordered(self, value: Any) -> Any:
        """The value with all or parts of it mutated."""
        chance = self._random
        if isinstance(value, dict) and value and chance.random() < 0.85:
            key = chance.choice(list(value))
            kind = chance.random()
            if kind < 0.15:
                return {each: inner for each, inner in value.items() if each != key}
            if kind < 0.2:
                return {**value, "jsonrpc": "2.0", "id": 1, "method": "textDocument/hover"}
            return {**value, key: self._disordered(value[key])}
        if isinstance(value, list) and value and chance.random() < 0.7:
            position = chance.randrange(len(value))
            return [*value[:position], self._disordered(value[position]), *value[position + 1 :]]
        return self._random_value()


def fuzz(seconds: float, seed: int, log: Path) -> int:
    """Send messages for this time, at least one batch; return their number.

    Raises AssertionError if the server fails.
    """
    until, sent = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory(prefix="framedex-fuzz-") as folder:
        recording = record(Path(folder))
        # Into a file: unread reports of malformed messages would fill a pipe.
        with RawClient("--log-file", str(log)) as client:
            client.initialize(recording.root)
            messages = Messages(recording, seed)
            while not sent or time.monotonic() < until:
                exchange(client, messages, range(FIRST_ID + sent, FIRST_ID + sent + BATCH))
                sent += BATCH
                # Earlier messages may have changed the answer by what they opened, set and selected.
                answer = hover(client, recording, f"after-{sent}")
                assert "result" in answer, answer
            assert client.request("shutdown", None, "shutdown")["result"] is None
    return sent


def exchange(client: RawClient, messages: Messages, numbers: range) -> None:
    """Send messages without waiting for answers, and cancel some requests; each request must get one answer."""
    wanted: list[int | str] = []

    def send() -> None:
        for number in numbers:
            if messages.is_noise_next():
                client.send_bytes(messages.noise())
            message = messages.message(number)
            if "id" in message:
                wanted.append(message["id"])
            client.send(message)
            if number % 7 == 0:
                client.send({"method": "$/cancelRequest", "params": {"id": message.get("id", number)}})
        client.send({"id": f"last-{numbers.stop}", "method": "framedex/nonsense-at-the-end", "params": {}})

    with watched(client):
        # Send and receive concurrently: the pipes hold less than a batch.
        sending = threading.Thread(target=send)
        sending.start()
        answered: Counter[int | str] = Counter()
        is_last_answered = False
        while not is_last_answered or sum(answered.values()) < len(wanted):
            message = client.receive()
            if "method" in message or not isinstance(message.get("id"), int | str):
                continue
            if message["id"] == f"last-{numbers.stop}":
                is_last_answered = True
                sending.join()
            elif message["id"] in wanted:
                answered[message["id"]] += 1
        odd = {request: answers for request, answers in answered.items() if answers != 1}
        assert answered == Counter(wanted), f"not answered once: {odd}"


def hover(client: RawClient, recording: Recording, request_id: str) -> dict[str, Any]:
    """The reply to a request with a known answer."""
    position = {"line": recording.main_calls_make_input - 1, "character": 0}
    params = {"textDocument": {"uri": recording.demo.as_uri()}, "position": position}
    with watched(client):
        return client.request("textDocument/hover", params, request_id)


class watched:  # noqa: N801 - used as a statement
    """Within the block, kill a server that does not answer in time, so that its client notices."""

    def __init__(self, client: RawClient) -> None:
        self._timer = threading.Timer(PATIENCE, client.process.kill)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(each.capitalize() for each in others)


def seeds() -> Iterator[int]:
    """A new seed each time, for long runs."""
    return iter(random.SystemRandom().sample(range(10**6), 10_000))


def main(seconds: float) -> int:
    """Fuzz until the time is over, with a new server for each seed; report failed seeds."""
    until, sent = time.monotonic() + seconds, 0
    for seed in seeds():
        left = until - time.monotonic()
        if left <= 0:
            break
        with tempfile.NamedTemporaryFile(prefix="framedex-fuzz-", suffix=".log") as log:
            try:
                sent += fuzz(min(left, 30.0), seed, Path(log.name))
            except (AssertionError, OSError) as error:
                print(f"seed {seed}: {error}\n{Path(log.name).read_text()[-4000:]}", file=sys.stderr)
                return 1
    print(f"{sent:,} messages of {len(client_methods())} methods: every request was answered")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
