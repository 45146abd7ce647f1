"""What a step went over is told after its answer, quietly, and the other ways on are listed by their functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.server.raw_client import RawClient
from tests.server.recording import Recording

OVER_THE_BORDER = "2 frames skipped, source not here"
"""From Python into C++: `jax::Glue` has no known source, that of `jax::Moved` is not here."""

Told = tuple[str, Any]


def place_on(path: Path, line: int) -> dict[str, object]:
    """The parameters of a question about a 1-based line."""
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line - 1, "character": 0}}


def told_after(client: RawClient, method: str, path: Path, line: int) -> list[Told]:
    """What the server notifies of between its answer to a step and that to the next question."""
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


def test_a_client_that_shows_it_is_told_of_every_step(recording: Recording) -> None:
    with session(recording, {"led": True}) as client:
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
            for path, line, about in steps[method]:
                led = {**about, "at": place_on(path, line), "request": request}
                assert told_after(client, method, path, line) == [("framedex/led", led)]
                if "ways" in led:
                    assert len(client.request(request, led["at"], f"ways {line}")["result"]) == led["ways"]


def test_a_step_that_answers_with_all_places_tells_of_no_choice(recording: Recording) -> None:
    (recording.root / "framedex.toml").write_text("editor.all-places = true\n")
    with session(recording, {"led": True}) as client:
        ((_, led),) = told_after(client, "definition", recording.demo, recording.main_calls_both)
        assert led["text"] == "" and "ways" not in led


def test_a_definition_that_ends_at_a_public_frame_is_told_with_the_command_that_opens_its_page(
    recording: Recording,
) -> None:
    """Given a frame that is only public, in a source and in a text, when definition finds nothing, then its page is
    one command away."""
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
def test_an_editor_with_a_message_line_gets_a_message_where_there_is_something_to_say(
    recording: Recording, editor: str
) -> None:
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
def test_no_window_is_opened_over_the_text(recording: Recording, client_info: dict[str, str] | None) -> None:
    with session(recording, clientInfo=client_info) as client:
        assert told_after(client, "definition", recording.library, recording.device_put_enters_cpp) == []


def test_the_ways_are_listed_by_their_functions(recording: Recording) -> None:
    with session(recording) as client:
        place = {"textDocument": {"uri": recording.library.as_uri()}, "position": {"line": 3, "character": 0}}
        (way,) = client.request("framedex/waysIn", place, "ways")["result"]
    assert way["function"] == "xla::Client::BufferFromHost"
    assert way["place"] == "client.cc:4 [definition]"
    assert (way["calls"], way["passed"]) == (5, 2)
    assert way["detail"] == f"5 calls; {OVER_THE_BORDER}"
    assert way["location"]["uri"] == recording.client.as_uri()


def test_a_step_along_a_stack_tells_of_them_too(recording: Recording) -> None:
    with session(recording) as client:
        place = {"textDocument": {"uri": recording.library.as_uri()}, "position": {"line": 3, "character": 0}}
        inward = client.request("framedex/stepIn", place, "in")["result"]
        place["textDocument"] = {"uri": recording.client.as_uri()}
        outward = client.request("framedex/stepOut", place, "out")["result"]
    for reached in (inward, outward):
        assert reached["text"].endswith(f"PJRT_Client_BufferFromHostBuffer; {OVER_THE_BORDER}")
