"""Code actions that open public pages, as raw JSON: pygls' client mistakes an action for a command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.raw_client import RawClient
from tests.server.recording import Recording

URL = "https://github.com/example/moved/blob/main/moved.cc#L20"
TITLE = "Open the public page of /build/moved.cc:20"
INVOKED, AUTOMATIC = 1, 2


@pytest.fixture
def client(recording: Recording) -> Iterator[RawClient]:
    """A client of the recorded program, with one frame public and not local."""
    template = URL.replace("moved.cc", "{path}").replace("L20", "L{line}")
    (recording.root / "framedex.toml").write_text(f'[links]\n"/build" = "{template}"\n')
    with RawClient() as client:
        client.initialize(recording.root)
        yield client


def actions(client: RawClient, path: Path, line: int, **context: object) -> Any:
    """The code actions of a line."""
    position = {"line": line - 1, "character": 0}
    params = {
        "textDocument": {"uri": path.as_uri()},
        "range": {"start": position, "end": position},
        "context": {"diagnostics": [], **context},
    }
    return client.request("textDocument/codeAction", params, f"{path.name}:{line} {context}")["result"]


def test_requested_code_actions_of_a_line_include_its_page(client: RawClient, recording: Recording) -> None:
    line = recording.library, recording.device_put_enters_cpp

    (action,) = actions(client, *line)
    assert (action["title"], action["kind"]) == (TITLE, "source.framedex.openPublic")
    assert (action["command"]["command"], action["command"]["arguments"]) == ("framedex.openPublic", [URL])
    assert actions(client, *line, only=["quickfix", "source"]) == [action]
    assert actions(client, *line, triggerKind=INVOKED) == [action]


def test_automatic_or_other_code_action_requests_get_none(client: RawClient, recording: Recording) -> None:
    line = recording.library, recording.device_put_enters_cpp

    assert actions(client, *line, triggerKind=AUTOMATIC) is None
    assert actions(client, *line, only=["quickfix"]) is None
    assert actions(client, recording.demo, recording.nothing_recorded) is None


def test_a_frame_of_a_text_has_its_page(client: RawClient, recording: Recording) -> None:
    log = recording.root / "crash.log"
    log.write_text("#1  0x4 in jax::Moved () at /build/moved.cc:20\n")

    (action,) = actions(client, log, 1)
    assert action["command"]["arguments"] == [URL]


def test_each_location_that_a_line_led_to_is_an_action(recording: Recording) -> None:
    with RawClient() as client:
        client.initialize(recording.root, capabilities={"window": {"showDocument": {"support": True}}})
        both = actions(client, recording.demo, recording.main_calls_both)
        assert [each["title"] for each in both] == [
            "Go to make_input, demo.py:5: 2 calls",
            "Go to devices, library.py:7: 1 call",
        ]
        assert actions(client, recording.demo, recording.main_calls_both, only=["source.framedex.openPublic"]) is None
        assert (
            actions(client, recording.demo, recording.main_calls_make_input) is None
        )  # one frame only: definition leads there
        command = both[1]["command"]
        client.send({"id": "go", "method": "workspace/executeCommand", "params": command})
        asked = client.wait_for("window/showDocument")
        assert asked["params"]["uri"] == recording.library.as_uri()
        assert asked["params"]["selection"]["start"]["line"] == 6


def test_a_client_without_show_document_gets_no_step_actions(client: RawClient, recording: Recording) -> None:
    found = actions(client, recording.demo, recording.main_calls_both) or []
    assert not [each for each in found if each["kind"] == "source.framedex.goTo"]
