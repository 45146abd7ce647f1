"""Fetching one commit of a repository into the cache, with unchanged content, and finding it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import find_fetched_checkout
from framedex.sources.fetching.suppliers import Clone, Remote
from framedex.sources.releases.roots import read_checkout
from tests.gitrepository import git
from tests.gitserver import served
from tests.indexer.sources.fetching.repositories import RecordingRemote, add_commit, contents, fetch, head, written, xla


def test_fetched_files_are_written_as_committed(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    with served(repository.parent) as server:
        folder = fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))

    assert written(folder) == contents()
    assert folder == cache.checkout("xla", commit)
    checkout = read_checkout(folder)
    assert checkout is not None
    assert (checkout.commit, checkout.is_changed, checkout.problem) == (commit, False, None)
    assert git(folder, "log", "--format=%H") == commit


def test_unneeded_file_contents_are_not_downloaded(cache: SourceCache, repository: Path) -> None:
    with served(repository.parent) as server:
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    store = cache.store("xla")
    unwanted = git(repository, "rev-parse", "main:xla/tests/big.hlo")
    assert unwanted in git(repository, "cat-file", "--batch-all-objects", "--batch-check")
    assert unwanted not in git(store, "cat-file", "--batch-all-objects", "--batch-check")


def test_fetched_files_are_found_without_network(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    assert find_fetched_checkout(cache, wanted) is None
    with served(repository.parent) as server:
        folder = fetch(cache, wanted, Remote(f"{server.address}/xla.git"))
    assert find_fetched_checkout(cache, wanted) == folder
    assert fetch(cache, wanted, Remote("http://127.0.0.1:1/xla.git")) == folder


def test_another_commit_shares_objects_with_the_first(cache: SourceCache, repository: Path) -> None:
    first = head(repository)
    with served(repository.parent) as server:
        old = fetch(cache, xla(first), Remote(f"{server.address}/xla.git"))
        second = add_commit(repository, "xla/new.cc", "int added() { return 2; }\n")
        asked: list[list[str]] = []
        remote = RecordingRemote(Remote(f"{server.address}/xla.git"), asked)
        new = fetch(cache, xla(second), remote)
    assert asked == [[git(repository, "rev-parse", f"{second}:xla/new.cc")]]
    assert written(new) == contents() | {"xla/new.cc": b"int added() { return 2; }\n"}
    assert written(old) == contents()


def test_the_users_global_git_configuration_does_not_change_files(
    cache: SourceCache, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = tmp_path / "witness"
    configuration = tmp_path / "gitconfig"
    configuration.write_text(
        f'[filter "stranger"]\n\tsmudge = touch {witness}; cat\n\trequired = true\n[core]\n\tautocrlf = true\n'
        "\teol = crlf\n[init]\n\tdefaultBranch = trunk\n[safe]\n\tbareRepository = explicit\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    with served(repository.parent) as server:
        folder = fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents()
    assert not witness.exists()


def test_missing_git_is_reported(cache: SourceCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FramedexError, match="there is no git on the PATH") as error:
        fetch(cache, xla("5a" * 20), Remote("http://127.0.0.1:1/xla.git"))
    assert error.value.remedy.startswith("Install git")


def test_fetched_files_are_found_without_git(
    cache: SourceCache, repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = xla(head(repository))
    folder = fetch(cache, wanted, Clone.open(repository))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_fetched_checkout(cache, wanted) == folder


def test_an_unwritable_cache_is_reported(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(FramedexError, match="cannot be written") as error:
        fetch(SourceCache(tmp_path / "cache"), xla("5a" * 20), Remote("http://127.0.0.1:1/xla.git"))
    assert "XDG_CACHE_HOME" in error.value.remedy


def test_cached_commits_are_listed_and_removed(cache: SourceCache, repository: Path) -> None:
    folder = fetch(cache, xla(head(repository)), Clone.open(repository))
    (kept,) = cache.components()
    assert (kept.component, kept.checkouts) == ("xla", (folder,))
    assert kept.size > 0
    cache.remove("xla")
    assert cache.components()[0].checkouts == ()
    assert [each.name for each in (cache.folder / "xla").iterdir()] == ["lock"]
