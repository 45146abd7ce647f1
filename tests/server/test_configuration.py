"""Settings come from the client, requested or pushed, and with lower priority from the project's files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framedex_server.settings import Configuration, EditorSettings
from tests.server.raw_client import RawClient
from tests.server.recording import Recording, write_index

SHOWS = {"workspace": {"codeLens": {"refreshSupport": True}}}
"""A client that receives a notice when settings have changed."""

ASKS = {"workspace": {"configuration": True, **SHOWS["workspace"]}}
REGISTERS = {
    "workspace": {
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "codeLens": {"refreshSupport": True},
    }
}


@pytest.fixture
def client() -> Iterator[RawClient]:
    with RawClient() as started:
        yield started


@pytest.fixture
def problems() -> list[str]:
    return []


@pytest.fixture
def settings(tmp_path: Path, problems: list[str]) -> Configuration:
    """The settings of a workspace whose only folder is the temporary one."""
    return Configuration(lambda: [tmp_path], problems.append)


def pyproject(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.framedex]\n{text}\n")


def hover_text(client: RawClient, recording: Recording, request_id: int = 100) -> str | None:
    position = {"line": recording.main_calls_make_input - 1, "character": 0}
    params = {"textDocument": {"uri": recording.demo.as_uri()}, "position": position}
    result: dict[str, Any] | None = client.request("textDocument/hover", params, request_id)["result"]
    return result["contents"]["value"] if result else None


def test_client_settings_override_the_file_by_key(tmp_path: Path, settings: Configuration) -> None:
    pyproject(tmp_path, "editor = { code-lens = true, limit = 7 }")
    settings.reload({tmp_path: {"editor": {"limit": 8, "static-calls": True}, "server": {"path": "framedex"}}})
    assert settings.settings_for(tmp_path / "a.py").editor == EditorSettings(code_lens=True, limit=8, static_calls=True)


def test_null_from_a_client_is_unset(tmp_path: Path, settings: Configuration, problems: list[str]) -> None:
    pyproject(tmp_path, "editor.limit = 7")
    settings.reload({tmp_path: {"editor": {"limit": None, "code-lens": True, "auto-index": None}}})
    assert settings.settings_for(tmp_path).editor == EditorSettings(code_lens=True, limit=7)
    assert problems == []


@pytest.mark.parametrize("value", [True, False, "incoming"])
def test_static_calls_have_three_values(
    tmp_path: Path, settings: Configuration, problems: list[str], value: bool | str
) -> None:
    settings.reload({tmp_path: {"editor": {"static-calls": value}}})
    assert settings.settings_for(tmp_path).editor == EditorSettings(static_calls=value)
    assert problems == []


@pytest.mark.parametrize("value", [1, 0, "outgoing", ["incoming"]])
def test_other_values_of_static_calls_are_reported(
    tmp_path: Path, settings: Configuration, problems: list[str], value: object
) -> None:
    settings.reload({tmp_path: {"editor": {"static-calls": value}}})
    assert settings.settings_for(tmp_path).editor == EditorSettings()
    assert problems == ['The value of editor.static-calls is invalid. Use "incoming" or true or false.']


def test_an_invalid_setting_is_reported_once_and_keeps_the_default(
    tmp_path: Path, settings: Configuration, problems: list[str]
) -> None:
    pyproject(tmp_path, 'editor = { limit = "many", code-lenses = true, code-lens = 1 }')
    for _ in range(2):
        settings.reload({})
    assert settings.settings_for(tmp_path).editor == EditorSettings()
    assert len(problems) == 3
    assert all("pyproject.toml" in problem and "editor." in problem for problem in problems)


def test_a_malformed_client_answer_equals_no_settings(tmp_path: Path, settings: Configuration) -> None:
    answers: list[Any] = [None, 1, [], "x", {"editor": 3}]
    for nonsense in answers:
        settings.reload({tmp_path: nonsense})
        assert settings.settings_for(tmp_path).editor == EditorSettings()


def test_the_innermost_folder_wins(tmp_path: Path, problems: list[str]) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    settings = Configuration(lambda: [tmp_path, inner], problems.append)
    pyproject(tmp_path, "editor.limit = 1")
    pyproject(inner, "editor.limit = 2")
    settings.reload({})
    limits = [
        settings.settings_for(path).editor.limit
        for path in (tmp_path / "a.py", inner / "a.py", Path("/elsewhere/a.py"))
    ]
    assert limits == [1, 2, 1]


def test_a_project_cannot_define_command_links(client: RawClient, recording: Recording) -> None:
    """VS Code turns `[text](command:...)` in a message into a link, and the project may be hostile."""
    (recording.root / "framedex.toml").write_text('"[here](command:workbench.action.quit)" = 1\n')
    client.initialize(recording.root)
    message = client.wait_for("window/showMessage")["params"]["message"]
    assert "[here]" in message
    assert "](" not in message


def test_the_client_is_queried_for_each_folder_and_its_index_is_used(client: RawClient, recording: Recording) -> None:
    elsewhere = recording.root / "elsewhere.db"
    write_index(Recording(recording.root, elsewhere), puts=6)
    client.initialize(recording.root, capabilities=ASKS)
    request = client.wait_for("workspace/configuration")
    assert request["params"]["items"] == [{"scopeUri": recording.root.as_uri(), "section": "framedex"}]
    client.answer(request, [{"index": "elsewhere.db"}])
    client.wait_for("workspace/codeLens/refresh")
    assert "6 recorded calls" in (hover_text(client, recording) or "")


def test_a_silent_client_blocks_nothing(client: RawClient, recording: Recording) -> None:
    client.initialize(recording.root, capabilities=ASKS)
    client.wait_for("workspace/configuration")
    assert "3 recorded calls" in (hover_text(client, recording) or "")


@pytest.mark.exhaustive(keep=["False"])
@pytest.mark.parametrize("at_start", [True, False])
def test_pushed_settings_are_accepted(client: RawClient, recording: Recording, at_start: bool) -> None:
    elsewhere = recording.root / "elsewhere.db"
    write_index(Recording(recording.root, elsewhere), puts=6)
    pushed = {"framedex": {"index": str(elsewhere)}}
    if at_start:
        client.initialize(recording.root, capabilities=SHOWS, initializationOptions=pushed)
    else:
        client.initialize(recording.root, capabilities=SHOWS)
        client.send({"method": "workspace/didChangeConfiguration", "params": {"settings": pushed}})
    client.wait_for("workspace/codeLens/refresh")
    assert "6 recorded calls" in (hover_text(client, recording) or "")


def test_file_changes_are_watched_and_a_changed_file_is_read_again(client: RawClient, recording: Recording) -> None:
    """If a client watches files, a changed pyproject.toml makes it request displays again."""
    client.initialize(recording.root, capabilities=REGISTERS)
    registered: dict[str, Any] = {}
    while len(registered) < 2:
        message = client.wait_for("client/registerCapability")
        client.answer(message, None)
        registered |= {each["method"]: each["registerOptions"] for each in message["params"]["registrations"]}
    assert registered["workspace/didChangeConfiguration"] == {"section": "framedex"}
    patterns = [watcher["globPattern"] for watcher in registered["workspace/didChangeWatchedFiles"]["watchers"]]
    assert "**/pyproject.toml" in patterns
    assert "**/.framedex/index.db*" in patterns
    assert "**/.framedex/captures/*/capture.json" in patterns

    pyproject(recording.root, "editor.code-lens = true")
    change = {"uri": (recording.root / "pyproject.toml").as_uri(), "type": 1}
    client.send({"method": "workspace/didChangeWatchedFiles", "params": {"changes": [change]}})
    client.answer(client.wait_for("workspace/configuration"), [None])
    client.wait_for("workspace/codeLens/refresh")


def test_folders_are_added_removed_and_renamed_at_run_time(
    client: RawClient, tmp_path: Path, recording: Recording
) -> None:
    """A renamed folder is removed and added under one URI."""
    inner = recording.root / "a.b"
    inner.mkdir()
    other = Recording(inner, inner / ".framedex" / "index.db")
    write_index(other, puts=9)
    client.initialize(inner, workspaceFolders=[{"uri": inner.as_uri(), "name": "a"}])
    for change in (
        {"added": [{"uri": recording.root.as_uri(), "name": "r"}], "removed": []},
        {
            "added": [{"uri": recording.root.as_uri(), "name": "s"}],
            "removed": [{"uri": recording.root.as_uri()} | {"name": "r"}],
        },
        {"added": [], "removed": [{"uri": inner.as_uri(), "name": "a"}]},
    ):
        client.send({"method": "workspace/didChangeWorkspaceFolders", "params": {"event": change}})
    assert "3 recorded calls" in (hover_text(client, recording) or "")


def test_hovers_link_to_missing_files_by_the_settings(client: RawClient, recording: Recording) -> None:
    """For a callee without a local file, a changed path setting changes the hover's link."""
    links = {"/build": "https://one.example/{path}?l={line}"}
    capabilities = {**SHOWS, "textDocument": {"hover": {"contentFormat": ["markdown"]}}}
    client.initialize(recording.root, capabilities=capabilities, initializationOptions={"framedex": {"links": links}})
    position = {"line": recording.device_put_enters_cpp - 1, "character": 0}
    params = {"textDocument": {"uri": recording.library.as_uri()}, "position": position}
    assert "https://one.example/moved.cc?l=20" in str(client.request("textDocument/hover", params, 1)["result"])
    changed = {"links": {"/build": "https://two.example/{path}?l={line}"}}
    client.send({"method": "workspace/didChangeConfiguration", "params": {"settings": {"framedex": changed}}})
    client.wait_for("workspace/codeLens/refresh")
    assert "https://two.example/moved.cc?l=20" in str(client.request("textDocument/hover", params, 2)["result"])


def test_unset_client_settings_are_not_reported(settings: Configuration, problems: list[str], tmp_path: Path) -> None:
    settings.reload({tmp_path: {"index": None, "links": None, "editor": {"limit": None}}})
    assert problems == []
    assert settings.settings_for(tmp_path).index is None
