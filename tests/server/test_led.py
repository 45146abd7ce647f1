"""After a step's answer, a quiet message lists the skipped frames and, by function, the other next frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.server.raw_client import RawClient
from tests.server.recording import Recording

OVER_THE_BORDER = "2 frames skipped, source not here"
"""From Python into C++: `jax::Glue` has no known source, and the source of `jax::Moved` is not local."""

Told = tuple[str, Any]


def place_on(path: Path, line: int) -> dict[str, object]:
    """The parameters of a request about a 1-based line."""
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line - 1, "character": 0}}


def told_after(client: RawClient, method: str, path: Path, line: int) -> list[Told]:
    """The server's notifications between its answer to a step and that to the next request."""
    place = place_on(path, line)
    assert client.request(f"textDocument/{method}", place, "step")["result"]
    client.send({"id": "after", "method": "framedex/waysIn", "params": place})
    told = []
    while (message := client.receive()).get("id") != "after":
        if message.get("method") in ("framedex/led", "window/showMessage"):
            told.append((message["method"], message["params"]))
    return told


def session(recording: Recording, own: Mapping[str, object] | None = None, **more: Any) -> RawClient:
    """A client with a server that has read the recording."""
    client = RawClient()
    client.initialize(recording.root, capabilities={"experimental": {"framedex": own or {}}}, **more)
    return client


def test_a_supporting_client_is_notified_of_every_step(recording: Recording) -> None:
    steps = {
        "definition": (
            (recording.library, recording.device_put_enters_cpp, {"text": OVER_THE_BORDER}),
            (recording.demo, recording.main_calls_make_input, {"text": ""}),
            (recording.demo, recording.main_calls_both, {"text": "way 1 of 2", "ways": 2}),
        ),
        "declaration": (
            (recording.client, recording.client_definition, {"text": OVER_THE_BORDER}),
            (recording.demo, recording.make_input_calls_device_put, {"text": "way 1 of 2", "ways": 2}),
        ),
    }
    for method, request in (("definition", "framedex/waysIn"), ("declaration", "framedex/waysOut")):
        with session(recording, {"led": True}) as client:
            for path, line, about in steps[method]:
                led = {**about, "at": place_on(path, line), "request": request}
                assert told_after(client, method, path, line) == [("framedex/led", led)]
                if "ways" in led:
                    assert len(client.request(request, led["at"], f"ways {line}")["result"]) == led["ways"]


def test_a_step_with_all_locations_reports_no_choice(recording: Recording) -> None:
    (recording.root / "framedex.toml").write_text("editor.all-places = true\n")
    with session(recording, {"led": True}) as client:
        ((_, led),) = told_after(client, "definition", recording.demo, recording.main_calls_both)
        assert led["text"] == "" and "ways" not in led


def test_a_definition_at_a_public_frame_names_the_command_for_its_page(
    recording: Recording,
) -> None:
    """For a frame with only a public page, definition has no result, and one command opens its page."""
    url = "https://github.com/example/moved/blob/abc/moved.cc#L20"
    template = "https://github.com/example/moved/blob/abc/{path}#L{line}"
    (recording.root / "framedex.toml").write_text(f'[links]\n"/build" = "{template}"\n')
    for source in (recording.client, recording.mock):
        source.unlink()
    log = recording.root / "crash.log"
    log.write_text("#1  0x4 in jax::Moved () at /build/moved.cc:20\n")
    with session(recording, {"led": True}) as client:
        for path, line in ((recording.library, recording.device_put_enters_cpp), (log, 1)):
            place = place_on(path, line)
            assert not client.request("textDocument/definition", place, f"step {line}")["result"]
            told = client.receive()
            assert told["method"] == "framedex/led"
            text = "jax::Moved continues at /build/moved.cc:20, which is not on this machine"
            assert told["params"]["text"] == text
            assert told["params"]["action"]["command"] == "framedex.openPublic"
            assert told["params"]["action"]["arguments"] == [url]
            assert told["params"]["at"] == place


@pytest.mark.exhaustive(keep=["Neovim"])
@pytest.mark.parametrize("editor", ["Neovim", "Eglot", "emacs", "helix"])
def test_an_editor_with_a_message_line_gets_messages_only_if_needed(recording: Recording, editor: str) -> None:
    with session(recording, clientInfo={"name": editor}) as client:
        cpp = told_after(client, "definition", recording.library, recording.device_put_enters_cpp)
        assert cpp == [("window/showMessage", {"type": 3, "message": OVER_THE_BORDER})]
        assert told_after(client, "definition", recording.demo, recording.main_calls_make_input) == []


@pytest.mark.exhaustive(keep=["VS Code"])
@pytest.mark.parametrize(
    "client_info",
    [None, {"name": "Visual Studio Code"}, {"name": "IntelliJ IDEA"}],
    ids=["unnamed", "VS Code", "IntelliJ"],
)
def test_no_window_opens_over_the_text(recording: Recording, client_info: dict[str, str] | None) -> None:
    with session(recording, clientInfo=client_info) as client:
        assert told_after(client, "definition", recording.library, recording.device_put_enters_cpp) == []


def test_alternative_steps_are_listed_by_function(recording: Recording) -> None:
    with session(recording) as client:
        place = {"textDocument": {"uri": recording.library.as_uri()}, "position": {"line": 3, "character": 0}}
        (way,) = client.request("framedex/waysIn", place, "ways")["result"]
    assert way["function"] == "xla::Client::BufferFromHost"
    assert way["place"] == "client.cc:4 [definition]"
    assert (way["calls"], way["passed"]) == (5, 2)
    assert way["detail"] == f"5 calls; {OVER_THE_BORDER}"
    assert way["location"]["uri"] == recording.client.as_uri()


def test_a_step_along_a_stack_reports_alternatives(recording: Recording) -> None:
    with session(recording) as client:
        place = {"textDocument": {"uri": recording.library.as_uri()}, "position": {"line": 3, "character": 0}}
        inward = client.request("framedex/stepIn", place, "in")["result"]
        place["textDocument"] = {"uri": recording.client.as_uri()}
        outward = client.request("framedex/stepOut", place, "out")["result"]
    for reached in (inward, outward):
        assert reached["text"].endswith(f"PJRT_Client_BufferFromHostBuffer; {OVER_THE_BORDER}")
