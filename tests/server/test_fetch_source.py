"""`framedex.fetchSource` fetches the sources of a public frame after the user's consent, and shows its line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.gitrepository import make_checkout
from tests.server.raw_client import RawClient
from tests.server.recording import Recording

FILE = "xla/moved.cc"
LINES = "".join(f"// line {line}\n" for line in range(1, 41))


@dataclass(frozen=True)
class Public:
    """The recorded program, with one frame public at an XLA commit, whose repository has a local mirror."""

    recording: Recording
    client: RawClient
    commit: str
    cache: Path

    @property
    def url(self) -> str:
        return f"https://github.com/openxla/xla/blob/{self.commit}/{FILE}#L20"

    @property
    def where(self) -> dict[str, Any]:
        return {
            "textDocument": {"uri": self.recording.library.as_uri()},
            "position": {"line": self.recording.device_put_enters_cpp - 1, "character": 0},
        }

    def actions(self) -> list[Any]:
        position = self.where["position"]
        asked = {"range": {"start": position, "end": position}, "context": {"diagnostics": []}}
        document = {"textDocument": self.where["textDocument"]}
        found: list[Any] = self.client.request("textDocument/codeAction", {**document, **asked}, "actions")["result"]
        return found


@pytest.fixture
def public(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Public]:
    folder = tmp_path_factory.mktemp("fetching")
    commit = make_checkout(folder / "xla", {FILE: LINES})
    template = f"https://github.com/openxla/xla/blob/{commit}/xla/{{path}}#L{{line}}"
    settings = f'[links]\n"/build" = "{template}"\n[mirrors]\nxla = "{folder / "xla"}"\n'
    (recording.root / "framedex.toml").write_text(settings)
    for source in (recording.client, recording.mock):
        source.unlink()
    with RawClient(env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}) as client:
        client.initialize(recording.root, capabilities={"window": {"showDocument": {"support": True}}})
        yield Public(recording, client, commit, folder / "cache" / "framedex" / "sources" / "xla" / commit)


def test_after_the_users_consent_the_line_is_here_and_definition_leads_to_it(public: Public) -> None:
    client, (page, fetch) = public.client, public.actions()
    assert page["command"]["command"] == "framedex.openPublic"
    assert fetch["title"] == f"Fetch the sources of XLA {public.commit[:12]}…"
    client.send({"id": "fetch", "method": "workspace/executeCommand", "params": fetch["command"]})
    asked = client.wait_for("window/showMessageRequest")
    text = asked["params"]["message"]
    assert f"Fetch the sources of XLA {public.commit[:12]} from {public.cache.parents[3].parent / 'xla'}" in text
    assert "a mirror that this folder's settings name" in text and "about 17 MB to fetch" in text
    assert not public.cache.exists()
    client.answer(asked, {"title": "Fetch"})
    shown = client.wait_for("window/showDocument")
    assert shown["params"]["uri"] == (public.cache / FILE).as_uri()
    assert shown["params"]["selection"]["start"]["line"] == 19
    client.answer(shown, {"success": True})
    assert client.reply_to("fetch")["result"] is None
    (found,) = client.request("textDocument/definition", public.where, "definition")["result"]
    assert (found["uri"], found["range"]["start"]["line"]) == ((public.cache / FILE).as_uri(), 19)


def test_without_consent_nothing_is_fetched(public: Public) -> None:
    _, fetch = public.actions()
    public.client.send({"id": "fetch", "method": "workspace/executeCommand", "params": fetch["command"]})
    public.client.answer(public.client.wait_for("window/showMessageRequest"), None)
    assert public.client.reply_to("fetch")["result"] is None
    assert not public.cache.parents[1].exists()


def test_a_fetch_that_fails_is_reported(public: Public) -> None:
    _, fetch = public.actions()
    other = public.url.replace(public.commit, "a" * 40)
    about = {**fetch["command"]["arguments"][0], "url": other}
    command = {"command": "framedex.fetchSource", "arguments": [about]}
    public.client.send({"id": "fetch", "method": "workspace/executeCommand", "params": command})
    public.client.answer(public.client.wait_for("window/showMessageRequest"), {"title": "Fetch"})
    assert f"XLA {'a' * 12}" in public.client.wait_for("window/showMessage")["params"]["message"]


def test_the_reason_of_an_empty_answer_offers_it_beside_the_page(public: Public) -> None:
    why = public.client.request("framedex/why", {**public.where, "request": "textDocument/definition"}, "why")["result"]
    assert (why["action"]["command"], why["alternative"]["command"]) == ("framedex.openPublic", "framedex.fetchSource")


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/openxla/xla/blob/main/xla/moved.cc#L20",
        f"https://github.com/example/other/blob/{'a' * 40}/moved.cc#L20",
        "file:///etc/passwd",
        7,
    ],
)
def test_an_address_without_a_known_commit_is_refused(public: Public, url: object) -> None:
    about = {"textDocument": public.where["textDocument"], "url": url}
    command = {"command": "framedex.fetchSource", "arguments": [about]}
    assert "error" in public.client.request("workspace/executeCommand", command, "fetch")
