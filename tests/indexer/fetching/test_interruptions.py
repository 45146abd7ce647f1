"""A fetch that is interrupted, killed or met by damage leaves what the next one goes on with."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.errors import FramedexError
from framedex.fetching.cache import SourceCache
from framedex.fetching.fetch import find_fetched_checkout
from framedex.fetching.suppliers import Clone, Remote
from tests.gitserver import Served, served
from tests.indexer.fetching.repositories import Asked, add_commit, contents, fetch, head, written, xla

FETCHING = """
import sys
from pathlib import Path
from framedex.fetching.cache import SourceCache
from framedex.fetching.fetch import fetch_sources
from framedex.fetching.suppliers import Remote
from framedex.fetching.wanted import WantedCommit
from framedex.progress import SilentProgress
cache, address, commit = sys.argv[1:]
waiting = lambda: print("waiting", flush=True)
wanted, remote = WantedCommit("xla", commit, "", ""), Remote(address, batch=1)
print(fetch_sources(SourceCache(Path(cache)), wanted, [remote], SilentProgress(), waiting))
"""


def test_an_interrupted_fetch_goes_on_where_it_was(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    with served(repository.parent) as server:
        server.before = lambda number: number <= 3  # the list of files, and two batches
        remote = Remote(f"{server.address}/xla.git", batch=1)
        with pytest.raises(FramedexError, match="could not be fetched"):
            fetch(cache, wanted, remote)
        assert find_fetched_checkout(cache, wanted) is None
        asked: list[list[str]] = []
        server.before = lambda _number: True
        folder = fetch(cache, wanted, Asked(remote, asked))
    assert len(asked[0]) == len(contents()) - 2
    assert written(folder) == contents()


def _process(cache: SourceCache, server: Served, commit: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FETCHING, cache.folder, f"{server.address}/xla.git", commit],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.exhaustive(keep=["3"])
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
        assert find_fetched_checkout(cache, xla(commit)) is None
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
        assert find_fetched_checkout(cache, xla(commit)) is None
        server.before = lambda _number: True
        # `fetch` fails where the lock is still held by a process that was left.
        assert written(fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))) == contents()


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive(keep=["garbled"])
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
    with pytest.raises(FramedexError, match="is not the expected checkout") as error:
        fetch(cache, wanted, Clone.at(repository))
    assert "fetch --remove xla" in error.value.remedy
