"""One commit of a repository comes into the cache, whole or not at all, from servers of every kind and from clones."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from framedex.errors import FramedexError
from framedex.fetching.cache import SourceCache
from framedex.fetching.clones import Clone
from framedex.fetching.fetch import fetched_already
from framedex.fetching.origins import Told
from framedex.fetching.remotes import Remote
from framedex.fetching.store import ObjectStore
from framedex.fetching.wanted import Wanted
from framedex.releases.checkout import commit_of, read_checkout
from tests.gitrepository import git
from tests.gitserver import Served, served, served_as_files, silent
from tests.indexer.fetching.repositories import add_commit, contents, fetch, written, xla

FETCHING = """
import sys
from pathlib import Path
from framedex.fetching.cache import SourceCache
from framedex.fetching.fetch import fetch_sources
from framedex.fetching.remotes import Remote
from framedex.fetching.wanted import Wanted
from framedex.progress import Silence
cache, address, commit = sys.argv[1:]
waiting = lambda: print("waiting", flush=True)
wanted, remote = Wanted("xla", commit, "", ""), Remote(address, batch=1)
print(fetch_sources(SourceCache(Path(cache)), wanted, [remote], Silence(), waiting))
"""


def head(repository: Path) -> str:
    return git(repository, "rev-parse", "main")


def test_what_framedex_reads_of_the_commit_is_written_as_it_was_committed(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    with served(repository.parent) as server:
        folder = fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))

    assert written(folder) == contents()
    assert folder == cache.checkout("xla", commit)
    checkout = read_checkout(folder)
    assert checkout is not None
    assert (checkout.commit, checkout.is_changed, checkout.problem) == (commit, False, None)
    assert git(folder, "log", "--format=%H") == commit


def test_the_text_of_files_that_are_not_wanted_does_not_come(cache: SourceCache, repository: Path) -> None:
    with served(repository.parent) as server:
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    store = cache.store("xla")
    unwanted = git(repository, "rev-parse", "main:xla/tests/big.hlo")
    assert unwanted in git(repository, "cat-file", "--batch-all-objects", "--batch-check")
    assert unwanted not in git(store, "cat-file", "--batch-all-objects", "--batch-check")


def test_what_is_there_is_found_without_a_word_to_anybody(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    assert fetched_already(cache, wanted) is None
    with served(repository.parent) as server:
        folder = fetch(cache, wanted, Remote(f"{server.address}/xla.git"))
    assert fetched_already(cache, wanted) == folder
    assert fetch(cache, wanted, Remote("http://127.0.0.1:1/xla.git")) == folder


def test_another_commit_shares_the_objects_of_the_first(cache: SourceCache, repository: Path) -> None:
    first = head(repository)
    with served(repository.parent) as server:
        old = fetch(cache, xla(first), Remote(f"{server.address}/xla.git"))
        second = add_commit(repository, "xla/new.cc", "int added() { return 2; }\n")
        asked: list[list[str]] = []
        remote = _Asked(Remote(f"{server.address}/xla.git"), asked)
        new = fetch(cache, xla(second), remote)
    assert asked == [[git(repository, "rev-parse", f"{second}:xla/new.cc")]]
    assert written(new) == contents() | {"xla/new.cc": b"int added() { return 2; }\n"}
    assert written(old) == contents()


class _Asked:
    """A remote, and which contents it was asked for."""

    def __init__(self, remote: Remote, asked: list[list[str]]) -> None:
        self.address, self.bring_commit = remote.address, remote.bring_commit
        self._remote, self._asked = remote, asked

    def bring_contents(self, store: ObjectStore, wanted: Wanted, contents: Sequence[str], told: Told) -> None:
        self._asked.append(list(contents))
        self._remote.bring_contents(store, wanted, contents, told)


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
        pytest.raises(FramedexError, match="answers with another commit") as error,
    ):
        fetch(cache, xla(commit, "jax-v1.2"), Remote(f"{server.address}/xla.git"))
    assert "https://github.com/openxla/xla" in error.value.remedy
    assert fetched_already(cache, xla(commit)) is None
    assert fetched_already(cache, xla("", "jax-v1.2")) is None


def test_a_release_whose_commit_is_not_known_comes_by_its_tag(cache: SourceCache, repository: Path) -> None:
    wanted = xla("", "jax-v1.2")
    with served(repository.parent) as server:
        folder = fetch(cache, wanted, Remote(f"{server.address}/xla.git"))
    assert folder == cache.checkout("xla", head(repository)) == fetched_already(cache, wanted)
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
        fetch(cache, xla("5a" * 20), Remote(f"{address}/xla.git", patience=0.2))


def test_a_server_that_wants_a_password_asks_nobody(cache: SourceCache, repository: Path) -> None:
    with served(repository.parent) as server, pytest.raises(FramedexError) as error:
        server.wants_password = True
        fetch(cache, xla(head(repository)), Remote(f"{server.address}/xla.git"))
    assert "asks nobody for a password" in error.value.remedy


def test_the_ssh_that_the_user_names_is_taken(
    cache: SourceCache, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\n[ "$1" = -G ] && exit 1\nfor last; do :; done\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    folder = fetch(cache, xla(head(repository)), Remote(f"ssh://git@git.example.org{repository}"))
    assert written(folder) == contents()


def test_an_interrupted_fetch_goes_on_where_it_was(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    with served(repository.parent) as server:
        server.before = lambda number: number <= 3  # the list of files, and two batches
        remote = Remote(f"{server.address}/xla.git", batch=1)
        with pytest.raises(FramedexError, match="could not be fetched"):
            fetch(cache, wanted, remote)
        assert fetched_already(cache, wanted) is None
        asked: list[list[str]] = []
        server.before = lambda _number: True
        folder = fetch(cache, wanted, _Asked(remote, asked))
    assert len(asked[0]) == len(contents()) - 2
    assert written(folder) == contents()


def _process(cache: SourceCache, server: Served, commit: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FETCHING, cache.folder, f"{server.address}/xla.git", commit],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", range(1, len(contents()) + 2))
def test_a_process_killed_at_any_request_leaves_what_the_next_goes_on_with(
    cache: SourceCache, repository: Path, number: int
) -> None:
    commit = head(repository)
    killed: list[subprocess.Popen[str]] = []

    def kill(post: int) -> bool:
        if post == number:
            killed[0].kill()
            killed[0].wait()
        return True

    with served(repository.parent) as server:
        server.before = kill
        killed.append(_process(cache, server, commit))
        killed[0].communicate()
        assert killed[0].returncode == -signal.SIGKILL
        assert fetched_already(cache, xla(commit)) is None
        server.before = lambda _number: True
        again = _process(cache, server, commit)  # it waits for what the killed one has left running
        said, _ = again.communicate()
    assert said.splitlines()[-1] == str(cache.checkout("xla", commit))
    assert written(cache.checkout("xla", commit)) == contents()


def test_ctrl_c_ends_all_that_was_started(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    interrupted: list[subprocess.Popen[str]] = []

    def interrupt(post: int) -> bool:
        if post == 3:
            interrupted[0].send_signal(signal.SIGINT)
            interrupted[0].wait()
        return True

    with served(repository.parent) as server:
        server.before = interrupt
        interrupted.append(_process(cache, server, commit))
        interrupted[0].communicate()
        assert interrupted[0].returncode != 0
        assert fetched_already(cache, xla(commit)) is None
        server.before = lambda _number: True
        # `fetch` fails where the lock is still held by a process that was left.
        assert written(fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))) == contents()


def test_of_two_at_once_the_second_waits_and_takes_what_the_first_has_fetched(
    cache: SourceCache, repository: Path
) -> None:
    commit = head(repository)
    second: list[subprocess.Popen[str]] = []

    def begin_another(post: int) -> bool:
        if post == 2:
            second.append(_process(cache, server, commit))
            assert second[0].stdout is not None
            assert second[0].stdout.readline() == "waiting\n"
        return True

    with served(repository.parent) as server:
        server.before = begin_another
        first = _process(cache, server, commit)
        outputs = [first.communicate()[0], second[0].communicate()[0]]
        assert [output.strip() for output in outputs] == [str(cache.checkout("xla", commit))] * 2
        assert server.posts == 1 + len(contents())


def test_a_clone_gives_all_that_it_has_and_no_server_is_asked(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    folder = fetch(cache, xla(commit), Clone.at(repository), Remote("http://127.0.0.1:1/xla.git"))
    assert written(folder) == contents()
    repository.rename(repository.with_name("gone"))  # nothing refers to the clone
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "show", f"{commit}:xla/client.cc").splitlines() == ["int client() { return 1; }"]


def test_after_a_clone_a_server_gives_what_the_clone_has_not(cache: SourceCache, repository: Path) -> None:
    clone = repository.parent.parent / "clone"
    git(repository.parent, "clone", "-q", str(repository), str(clone))
    commit = add_commit(repository, "xla/new.cc", "int added() { return 2; }\n")
    asked: list[list[str]] = []
    with served(repository.parent) as server:
        folder = fetch(cache, xla(commit), Clone.at(clone), _Asked(Remote(f"{server.address}/xla.git"), asked))
    assert asked == [[git(repository, "rev-parse", f"{commit}:xla/new.cc")]]
    assert written(folder) == contents() | {"xla/new.cc": b"int added() { return 2; }\n"}


def test_after_a_clone_another_commit_can_be_fetched(cache: SourceCache, repository: Path) -> None:
    fetch(cache, xla(head(repository)), Clone.at(repository))
    second = add_commit(repository, "xla/new.cc", "int added();\n")
    with served(repository.parent) as server:
        folder = fetch(cache, xla(second), Remote(f"{server.address}/xla.git"))
    assert written(folder) == contents() | {"xla/new.cc": b"int added();\n"}


def test_a_partial_clone_is_asked_for_no_more_than_it_has(cache: SourceCache, repository: Path) -> None:
    clone = repository.parent.parent / "partial"
    with served(repository.parent) as server:
        address = f"{server.address}/xla.git"
        git(repository.parent, "clone", "-q", "--bare", "--filter=blob:none", address, str(clone))
        before = server.posts
        folder = fetch(cache, xla(head(repository)), Clone.at(clone), Remote(address))
        assert server.posts == before + 1  # all contents at once; the folders are the clone's
    assert written(folder) == contents()


def test_a_damaged_clone_is_told_to_be_that(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    git(repository, "repack", "-q", "-a", "-d")
    (pack,) = repository.glob("objects/pack/*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:100] + bytes(pack.stat().st_size - 100))
    with pytest.raises(FramedexError) as error:
        fetch(cache, xla(commit), Clone.at(repository))
    assert "fetch --remove" not in error.value.remedy
    assert fetched_already(cache, xla(commit)) is None


def test_nothing_that_a_clone_configures_runs(cache: SourceCache, repository: Path, tmp_path: Path) -> None:
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
    assert written(fetch(cache, xla(commit), Clone.at(repository))) == contents()
    with pytest.raises(FramedexError, match="does not have the commit"):
        fetch(cache, xla("5a" * 20), Clone.at(repository))
    assert not witness.exists()


def test_what_the_user_configures_for_all_repositories_does_not_change_files(
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


def test_a_half_written_checkout_is_not_taken_for_one(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    unfinished = cache.checkout("xla", commit).with_name("unfinished")
    (unfinished / "xla").mkdir(parents=True)
    (unfinished / "xla" / "left.cc").write_text("int left;\n")
    assert written(fetch(cache, xla(commit), Clone.at(repository))) == contents()
    assert not unfinished.exists()


def test_locks_and_packs_that_a_killed_git_has_left_are_no_hindrance(cache: SourceCache, repository: Path) -> None:
    fetch(cache, xla(head(repository)), Clone.at(repository))
    store = cache.store("xla")
    left = [store / "shallow.lock", store / "config.lock", store / "objects" / "pack" / "tmp_pack_abc"]
    for file in left:
        file.write_text("")
    second = add_commit(repository, "xla/new.cc", "int added();\n")
    with served(repository.parent) as server:
        fetch(cache, xla(second), Remote(f"{server.address}/xla.git"))
    assert not any(file.exists() for file in left)


@pytest.mark.parametrize("harm", ["truncated", "garbled", "removed"])
def test_damaged_objects_are_told_with_the_remedy_or_fetched_again(
    cache: SourceCache, repository: Path, harm: str
) -> None:
    commit = head(repository)
    with served(repository.parent) as server:
        remote = Remote(f"{server.address}/xla.git")
        folder = fetch(cache, xla(commit), remote)
        folder.rename(folder.with_name("moved"))
        for pack in cache.store("xla").glob("objects/pack/*.pack"):
            content = pack.read_bytes()
            pack.chmod(0o644)
            if harm == "removed":
                pack.unlink()
            else:
                pack.write_bytes(content[:40] if harm == "truncated" else content[:40] + bytes(len(content) - 40))
        try:
            assert written(fetch(cache, xla(commit), remote)) == contents()
        except FramedexError as error:
            assert "fetch --remove xla" in error.remedy
        cache.remove("xla")
        assert written(fetch(cache, xla(commit), remote)) == contents()


def test_a_checkout_that_was_damaged_is_told_with_the_remedy(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    folder = fetch(cache, wanted, Clone.at(repository))
    (folder / ".git" / "HEAD").write_text("nothing\n")
    with pytest.raises(FramedexError, match="is not the checkout") as error:
        fetch(cache, wanted, Clone.at(repository))
    assert "fetch --remove xla" in error.value.remedy


def test_without_git_that_is_said(cache: SourceCache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FramedexError, match="there is no git on the PATH") as error:
        fetch(cache, xla("5a" * 20), Remote("http://127.0.0.1:1/xla.git"))
    assert error.value.remedy.startswith("Install git")


def test_what_is_there_is_found_without_git(
    cache: SourceCache, repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = xla(head(repository))
    folder = fetch(cache, wanted, Clone.at(repository))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetched_already(cache, wanted) == folder


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(FramedexError, match="cannot be written") as error:
        fetch(SourceCache(tmp_path / "cache"), xla("5a" * 20), Remote("http://127.0.0.1:1/xla.git"))
    assert "XDG_CACHE_HOME" in error.value.remedy


def test_what_is_kept_is_listed_and_removed(cache: SourceCache, repository: Path) -> None:
    folder = fetch(cache, xla(head(repository)), Clone.at(repository))
    (kept,) = cache.kept()
    assert (kept.component, kept.checkouts) == ("xla", (folder,))
    assert kept.size > 0
    cache.remove("xla")
    assert cache.kept()[0].checkouts == ()
    assert [each.name for each in (cache.folder / "xla").iterdir()] == ["lock"]
