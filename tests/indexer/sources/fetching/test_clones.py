"""Contents of local clones are copied, and their configuration executes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import find_fetched_checkout
from framedex.sources.fetching.suppliers import Clone, Remote
from tests.gitrepository import git
from tests.gitserver import served
from tests.indexer.sources.fetching.repositories import RecordingRemote, add_commit, contents, fetch, head, written, xla


def test_a_complete_clone_needs_no_server(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    folder = fetch(cache, xla(commit), Clone.open(repository), Remote("http://127.0.0.1:1/xla.git"))
    assert written(folder) == contents()
    repository.rename(repository.with_name("gone"))  # no reference to the clone
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "show", f"{commit}:xla/client.cc").splitlines() == ["int client() { return 1; }"]


def test_a_server_supplies_objects_missing_from_a_clone(cache: SourceCache, repository: Path) -> None:
    clone = repository.parent.parent / "clone"
    git(repository.parent, "clone", "-q", str(repository), str(clone))
    commit = add_commit(repository, "xla/new.cc", "int added() { return 2; }\n")
    asked: list[list[str]] = []
    with served(repository.parent) as server:
        folder = fetch(
            cache, xla(commit), Clone.open(clone), RecordingRemote(Remote(f"{server.address}/xla.git"), asked)
        )
    assert asked == [[git(repository, "rev-parse", f"{commit}:xla/new.cc")]]
    assert written(folder) == contents() | {"xla/new.cc": b"int added() { return 2; }\n"}


def test_another_commit_can_be_fetched_after_a_clone(cache: SourceCache, repository: Path) -> None:
    fetch(cache, xla(head(repository)), Clone.open(repository))
    second = add_commit(repository, "xla/new.cc", "int added();\n")
    with served(repository.parent) as server:
        folder = fetch(cache, xla(second), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents() | {"xla/new.cc": b"int added();\n"}


def test_a_partial_clone_is_only_asked_for_its_own_objects(cache: SourceCache, repository: Path) -> None:
    clone = repository.parent.parent / "partial"
    with served(repository.parent) as server:
        address = f"{server.address}/xla.git"
        git(repository.parent, "clone", "-q", "--bare", "--filter=blob:none", address, str(clone))
        before = server.posts
        folder = fetch(cache, xla(head(repository)), Clone.open(clone), Remote(address))
        assert server.posts == before + 1  # all contents at once; the folders are the clone's
    assert written(folder) == contents()


def test_a_damaged_clone_is_reported_as_damaged(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    git(repository, "repack", "-q", "-a", "-d")
    (pack,) = repository.glob("objects/pack/*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:100] + bytes(pack.stat().st_size - 100))
    with pytest.raises(FramedexError) as error:
        fetch(cache, xla(commit), Clone.open(repository))
    assert "fetch --remove" not in error.value.remedy
    assert find_fetched_checkout(cache, xla(commit)) is None


def test_the_configuration_of_a_clone_runs_nothing(cache: SourceCache, repository: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    hook = f"touch {witness}; exit 1"
    for name in ("uploadpack.packObjectsHook", "core.fsmonitor", "core.sshCommand", "core.gitProxy"):
        git(repository, "config", name, hook)
    git(repository, "config", "remote.origin.url", f"ext::sh -c touch% {witness}")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "remote.origin.uploadpack", hook)
    git(repository, "config", "protocol.ext.allow", "always")
    for name in ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction"):
        file = repository / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{hook}\n")
        file.chmod(0o755)
    commit = head(repository)
    assert written(fetch(cache, xla(commit), Clone.open(repository))) == contents()
    with pytest.raises(FramedexError, match="does not have the commit"):
        fetch(cache, xla("5a" * 20), Clone.open(repository))
    assert not witness.exists()
