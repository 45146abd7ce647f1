"""Fetching from servers of every kind, and the messages if all of them fail."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import find_fetched_checkout
from framedex.sources.fetching.suppliers import Remote
from framedex.sources.releases.roots import find_commit
from tests.gitrepository import git
from tests.gitserver import served, served_as_files, silent
from tests.indexer.sources.fetching.repositories import add_commit, contents, fetch, head, written, xla


@pytest.mark.parametrize(
    "configuration",
    [
        pytest.param({"uploadpack_allowFilter": "false"}, id="no filters"),
        pytest.param({"protocol_version": "0", "uploadpack_allowFilter": "true"}, id="contents by no id"),
        pytest.param({"protocol_version": "0", "uploadpack_allowFilter": "false"}, id="the old protocol"),
    ],
)
def test_servers_without_filters_are_asked_for_the_whole_commit(
    cache: SourceCache, repository: Path, configuration: dict[str, str]
) -> None:
    with served(repository.parent, **configuration) as server:
        folder = fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents()


def test_a_commit_that_a_server_refuses_by_id_is_fetched_by_tag(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    add_commit(repository, "xla/new.cc", "")  # the branch has moved
    with served(repository.parent, protocol_version="0") as server:
        folder = fetch(cache, xla(commit, "jax-v1.2"), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents()


def test_a_tag_at_another_commit_is_refused(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    git(repository, "tag", "-f", "jax-v1.2", f"{commit}~1")
    add_commit(repository, "xla/new.cc", "")
    with (
        served(repository.parent, protocol_version="0") as server,
        pytest.raises(FramedexError, match="returned a different commit") as error,
    ):
        fetch(cache, xla(commit, "jax-v1.2"), Remote(f"{server.address}/xla.git"))
    assert "https://github.com/openxla/xla" in error.value.remedy
    assert find_fetched_checkout(cache, xla(commit)) is None
    assert find_fetched_checkout(cache, xla("", "jax-v1.2")) is None


def test_a_release_without_a_known_commit_is_fetched_by_tag(cache: SourceCache, repository: Path) -> None:
    wanted = xla("", "jax-v1.2")
    with served(repository.parent) as server:
        folder = fetch(cache, wanted, Remote(f"{server.address}/xla.git"))
    assert folder == cache.checkout("xla", head(repository)) == find_fetched_checkout(cache, wanted)
    assert find_commit(folder, "jax-v1.2") == head(repository)


def test_a_missing_commit_is_reported_with_two_commands(cache: SourceCache, repository: Path) -> None:
    commit = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"
    with served(repository.parent) as server, pytest.raises(FramedexError, match="not our ref") as error:
        fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))
    assert "does not have the commit" in error.value.remedy
    assert "`git clone https://github.com/openxla/xla`" in error.value.remedy
    assert f"`git -C xla checkout {commit}`" in error.value.remedy


def test_a_dumb_http_server_is_reported(cache: SourceCache, repository: Path) -> None:
    with served_as_files(repository.parent) as server, pytest.raises(FramedexError, match="does not support shallow"):
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))


def test_without_network_the_error_has_two_commands(cache: SourceCache) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(FramedexError, match="could not be fetched from http:") as error:
        fetch(cache, xla("5a" * 20), Remote(f"http://127.0.0.1:{port}/xla.git"))
    assert "`git clone https://github.com/openxla/xla`" in error.value.remedy
    assert f"`git -C xla checkout {'5a' * 20}`" in error.value.remedy


def test_a_silent_server_times_out(cache: SourceCache) -> None:
    with silent() as address, pytest.raises(FramedexError, match="nothing came for"):
        fetch(cache, xla("5a" * 20), Remote(f"{address}/xla.git", timeout_s=0.2))


def test_a_password_prompt_is_suppressed(cache: SourceCache, repository: Path) -> None:
    with served(repository.parent) as server, pytest.raises(FramedexError) as error:
        server.wants_password = True
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    assert "cannot ask for a password" in error.value.remedy


def test_the_users_ssh_command_is_used(
    cache: SourceCache, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\n[ "$1" = -G ] && exit 1\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    folder = fetch(cache, xla(head(repository)), Remote(f"ssh://git@git.example.org{repository}"))
    assert written(folder) == contents()
