"""What comes from servers of every kind, and what is said where nothing does."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from framedex.errors import FramedexError
from framedex.fetching.cache import SourceCache
from framedex.fetching.fetch import find_fetched_checkout
from framedex.fetching.suppliers import Remote
from framedex.releases.roots import commit_of
from tests.gitrepository import git
from tests.gitserver import served, served_as_files, silent
from tests.indexer.fetching.repositories import add_commit, contents, fetch, head, written, xla


@pytest.mark.parametrize(
    "configuration",
    [
        pytest.param({"uploadpack_allowFilter": "false"}, id="no filters"),
        pytest.param({"protocol_version": "0", "uploadpack_allowFilter": "true"}, id="contents by no id"),
        pytest.param({"protocol_version": "0", "uploadpack_allowFilter": "false"}, id="the old protocol"),
    ],
)
def test_servers_that_know_less_are_asked_for_all_of_the_commit_at_once(
    cache: SourceCache, repository: Path, configuration: dict[str, str]
) -> None:
    with served(repository.parent, **configuration) as server:
        folder = fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents()


def test_a_commit_that_a_server_does_not_give_by_its_id_comes_by_its_tag(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    add_commit(repository, "xla/new.cc", "")  # the branch is elsewhere now
    with served(repository.parent, protocol_version="0") as server:
        folder = fetch(cache, xla(commit, "jax-v1.2"), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents()


def test_a_tag_that_is_another_commit_is_refused(cache: SourceCache, repository: Path) -> None:
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


def test_a_release_whose_commit_is_not_known_comes_by_its_tag(cache: SourceCache, repository: Path) -> None:
    wanted = xla("", "jax-v1.2")
    with served(repository.parent) as server:
        folder = fetch(cache, wanted, Remote(f"{server.address}/xla.git"))
    assert folder == cache.checkout("xla", head(repository)) == find_fetched_checkout(cache, wanted)
    assert commit_of(folder, "jax-v1.2") == head(repository)


def test_a_repository_without_the_commit_is_told_with_the_two_commands(cache: SourceCache, repository: Path) -> None:
    commit = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"
    with served(repository.parent) as server, pytest.raises(FramedexError, match="not our ref") as error:
        fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))
    assert "does not have the commit" in error.value.remedy
    assert "`git clone https://github.com/openxla/xla`" in error.value.remedy
    assert f"`git -C xla checkout {commit}`" in error.value.remedy


def test_a_server_of_plain_files_is_told(cache: SourceCache, repository: Path) -> None:
    with served_as_files(repository.parent) as server, pytest.raises(FramedexError, match="does not support shallow"):
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))


def test_without_a_network_the_two_commands_are_told(cache: SourceCache) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(FramedexError, match="could not be fetched from http:") as error:
        fetch(cache, xla("5a" * 20), Remote(f"http://127.0.0.1:{port}/xla.git"))
    assert "`git clone https://github.com/openxla/xla`" in error.value.remedy
    assert f"`git -C xla checkout {'5a' * 20}`" in error.value.remedy


def test_a_server_that_says_nothing_is_given_up(cache: SourceCache) -> None:
    with silent() as address, pytest.raises(FramedexError, match="nothing came for"):
        fetch(cache, xla("5a" * 20), Remote(f"{address}/xla.git", timeout_s=0.2))


def test_a_server_that_wants_a_password_asks_nobody(cache: SourceCache, repository: Path) -> None:
    with served(repository.parent) as server, pytest.raises(FramedexError) as error:
        server.wants_password = True
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    assert "cannot ask for a password" in error.value.remedy


def test_the_ssh_that_the_user_names_is_taken(
    cache: SourceCache, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\n[ "$1" = -G ] && exit 1\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    folder = fetch(cache, xla(head(repository)), Remote(f"ssh://git@git.example.org{repository}"))
    assert written(folder) == contents()
