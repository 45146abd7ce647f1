"""Frames without local files: in a checkout that has them, or else with their public address, in every editor."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from framedex.commands.main import cli
from tests.gitrepository import commit_all, git
from tests.server.lsp_requests import (
    EDITORS,
    ONE_EDITOR,
    Connect,
    definition,
    definition_links,
    framedex_request,
    hover,
    position_params,
)
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio

DEFINITION = "textDocument/definition"
MOVED = "\n".join(f"// line {line}" for line in range(1, 20)) + "\nvoid Moved() { `client`->Buffer(); }\n// line 21\n"


IN_NAMESPACE = "namespace jax { void Moved() { client->Buffer(); } }"


def publish(recording: Recording, commit: str) -> str:
    """Make /build/moved.cc, where `jax::Moved` was recorded, public at a commit; return the address of its line."""
    template = f"https://github.com/example/moved/blob/{commit}/{{path}}#L{{line}}"
    (recording.root / "framedex.toml").write_text(f'sources = ["checkout"]\n[links]\n"/build" = "{template}"\n')
    return template.format(path="moved.cc", line=20)


def make_checkout(recording: Recording, text: str = MOVED) -> tuple[Path, str]:
    """A checkout with the file, and its commit."""
    folder = recording.root / "checkout"
    folder.mkdir()
    (folder / "moved.cc").write_text(text)
    commit = commit_all(folder)
    git(folder, "remote", "add", "origin", "https://github.com/example/moved.git")
    return folder, commit


async def hierarchy(client: LanguageClient, recording: Recording) -> dict[str, types.CallHierarchyItem]:
    """The items on the way inward from `device_put`, by name."""
    where = position_params(recording.library, recording.device_put_enters_cpp)
    way = list(await client.text_document_prepare_call_hierarchy_async(types.CallHierarchyPrepareParams(*where)) or ())
    while calls := await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(way[-1])):
        way.append(calls[0].to)
    return {item.name: item for item in way}


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_definition_leads_to_a_checkout_at_the_recorded_commit(
    recording: Recording, connect: Connect, editor: str
) -> None:
    folder, commit = make_checkout(recording)
    publish(recording, commit)
    client = await connect(recording.root, editor)

    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("moved.cc", 20)]
    told = await hover(client, recording.library, recording.device_put_enters_cpp)
    assert told is not None and f"{folder.as_uri()}/moved.cc#L20" in told
    assert "void Moved() { `client`->Buffer(); }" in told and "[" not in told.partition("#L20>)")[2].partition("\n")[0]
    item = (await hierarchy(client, recording))["jax::Moved"]
    assert (item.uri, item.selection_range.start.line) == ((folder / "moved.cc").as_uri(), 19)
    assert item.detail is not None and "is not here" not in item.detail


async def test_at_another_commit_the_line_is_mapped(recording: Recording, connect: Connect) -> None:
    folder, commit = make_checkout(recording)
    (folder / "moved.cc").write_text("// new\n" + MOVED)
    commit_all(folder)
    publish(recording, commit)
    client = await connect(recording.root)

    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("moved.cc", 21)]
    told = await hover(client, recording.library, recording.device_put_enters_cpp)
    assert told is not None and "[followed, moved from line 20]" in told


async def test_a_workspace_folder_may_be_the_checkout(recording: Recording, connect: Connect) -> None:
    folder, commit = make_checkout(recording)
    publish(recording, commit)
    (recording.root / "framedex.toml").write_text(
        (recording.root / "framedex.toml").read_text().replace('sources = ["checkout"]\n', "")
    )
    client = await connect(recording.root)
    await hover(client, recording.library, recording.device_put_enters_cpp)
    added = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(folder.as_uri(), "checkout")], [])
    client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(added))

    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("moved.cc", 20)]


@pytest.mark.exhaustive(keep=["index"])
@pytest.mark.parametrize("verb", [["index", "--source"], ["sources", "add"]], ids=["index", "sources"])
async def test_a_checkout_created_while_the_editor_is_open_is_used(
    recording: Recording, connect: Connect, verb: list[str]
) -> None:
    """After a checkout is created and indexed, the next definition in an open editor leads there."""
    folder, commit = make_checkout(recording, MOVED.replace("void Moved() { `client`->Buffer(); }", IN_NAMESPACE))
    publish(recording, commit)
    (recording.root / "framedex.toml").write_text(
        (recording.root / "framedex.toml").read_text().replace('sources = ["checkout"]\n', "")
    )
    hidden = folder.rename(recording.root / ".not-yet")
    client = await connect(recording.root)
    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("client.cc", 4)]

    hidden.rename(folder)
    done = await asyncio.to_thread(CliRunner().invoke, cli, ["--index", str(recording.index), *verb, str(folder)])

    assert done.exit_code == 0, done.output
    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("moved.cc", 20)]


async def test_a_source_folder_of_the_settings_created_later_is_used(recording: Recording, connect: Connect) -> None:
    folder, commit = make_checkout(recording)
    publish(recording, commit)
    hidden = folder.rename(recording.root / ".not-yet")
    client = await connect(recording.root)
    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("client.cc", 4)]

    hidden.rename(folder)

    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("moved.cc", 20)]


async def test_sources_fetched_for_any_project_are_used(
    recording: Recording, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an XLA commit in the cache of fetched sources, a public frame and a frame of a text lead there."""
    commit, cache = "a" * 40, recording.root / "cache"
    fetched = cache / "framedex" / "sources" / "xla" / commit / "moved.cc"
    fetched.parent.mkdir(parents=True)
    fetched.write_text(MOVED)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    template = f"https://github.com/openxla/xla/blob/{commit}/{{path}}#L{{line}}"
    (recording.root / "framedex.toml").write_text(f'[links]\n"/build" = "{template}"\n')
    log = recording.root / "crash.log"
    log.write_text("#1  0x4 in jax::Moved () at /build/moved.cc:20\n")
    client = await connect(recording.root)

    for where in ((recording.library, recording.device_put_enters_cpp), (log, 1)):
        (found,) = await definition_links(client, *where)
        assert (found.target_uri, found.target_selection_range.start.line) == (fetched.as_uri(), 19)


async def test_a_checkout_of_another_repository_is_not_used(recording: Recording, connect: Connect) -> None:
    folder, _ = make_checkout(recording)
    git(folder, "remote", "set-url", "origin", "https://github.com/example/other")
    publish(recording, "a" * 40)
    client = await connect(recording.root)

    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("client.cc", 4)]


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_without_a_checkout_the_public_address_is_shown(
    recording: Recording, connect: Connect, editor: str
) -> None:
    url = publish(recording, "a" * 40)
    client = await connect(recording.root, editor)

    told = await hover(client, recording.library, recording.device_put_enters_cpp)
    assert told is not None and url in told
    item = (await hierarchy(client, recording))["jax::Moved"]
    assert item.uri == recording.library.as_uri()
    assert item.detail is not None and "moved.cc:20 is not here: opens library.py:4" in item.detail
    assert item.detail.endswith(url)


async def test_at_a_public_frame_why_returns_the_page(recording: Recording, connect: Connect) -> None:
    """If no frame further inward is local and definition has no result, the command opens the page."""
    url = publish(recording, "a" * 40)
    for source in (recording.client, recording.mock):
        source.unlink()
    client = await connect(recording.root)
    line = recording.library, recording.device_put_enters_cpp
    assert not await definition(client, *line)

    for request in (DEFINITION, "framedex/stepIn"):
        told = await framedex_request(client, "why", *line, request=request)
        assert (
            told["text"]
            == f"jax::Moved continues at /build/moved.cc:20, which is not on this machine; its public page is {url}"
        )
        assert told["action"] == {
            "title": "Open its public page",
            "command": "framedex.openPublic",
            "arguments": [url],
        }


async def test_a_public_frame_of_a_text_has_its_page(recording: Recording, connect: Connect) -> None:
    url = publish(recording, "a" * 40)
    log = recording.root / "crash.log"
    log.write_text("#1  0x4 in jax::Moved () at /build/moved.cc:20\n")
    client = await connect(recording.root)

    assert not await definition(client, log, 1)
    told = await framedex_request(client, "why", log, 1, request=DEFINITION)
    assert told["action"]["arguments"] == [url]


@pytest.mark.exhaustive(keep=["visual-studio-code", "emacs"])
@pytest.mark.parametrize("editor", EDITORS)
async def test_the_page_opens_outside_the_editor_or_is_reported(
    recording: Recording, connect: Connect, editor: str
) -> None:
    """The command works in all editors, whether or not they can open external pages."""
    client = await connect(recording.root, editor)
    url = "https://github.com/example/moved/blob/main/a'b.cc#L20"

    await client.workspace_execute_command_async(types.ExecuteCommandParams("framedex.openPublic", [url]))

    shown = [(each.uri, each.external) for each in client.shown_documents]
    told = [each.message for each in client.messages]
    quoted = url.replace("'", "%27")
    assert shown == [(quoted, True)] or told == [f"framedex: Open this page in a browser: {quoted}"]


async def test_only_web_addresses_are_opened(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)

    refused: list[list[Any]] = [[], [7], ["file:///etc/passwd"], ["javascript:alert(1)"], ["https://" + "x" * 9000]]
    for given in refused:
        with pytest.raises(JsonRpcException):
            await client.workspace_execute_command_async(types.ExecuteCommandParams("framedex.openPublic", given))
