"""An interrupted, killed or damaged fetch leaves files that the next one continues from."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import find_fetched_checkout
from framedex.sources.fetching.suppliers import Clone, Remote
from tests.gitserver import Served, served
from tests.indexer.sources.fetching.repositories import RecordingRemote, add_commit, contents, fetch, head, written, xla

FETCHING = """
import sys
from pathlib import Path
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import fetch_sources
from framedex.sources.fetching.suppliers import Remote
from framedex.sources.fetching.wanted import WantedCommit
from framedex.base.progress import SilentProgress
cache, address, commit = sys.argv[1:]
waiting = lambda: print("waiting", flush=True)
wanted, remote = WantedCommit("xla", commit, "", ""), Remote(address, batch=1)
print(fetch_sources(SourceCache(Path(cache)), wanted, [remote], SilentProgress(), waiting))
"""


def test_an_interrupted_fetch_resumes(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    with served(repository.parent) as server:
        server.before = lambda number: number <= 3  # the list of files, and two batches
        remote = Remote(f"{server.address}/xla.git", batch=1)
        with pytest.raises(FramedexError, match="could not be fetched"):
            fetch(cache, wanted, remote)
        assert find_fetched_checkout(cache, wanted) is None
        asked: list[list[str]] = []
        server.before = lambda _number: True
        folder = fetch(cache, wanted, RecordingRemote(remote, asked))
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
def test_the_next_fetch_resumes_after_a_kill_at_any_request(cache: SourceCache, repository: Path, number: int) -> None:
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
        again = _process(cache, server, commit)  # it waits for the killed fetch's remaining processes
        said, _ = again.communicate()
    assert said.splitlines()[-1] == str(cache.checkout("xla", commit))
    assert written(cache.checkout("xla", commit)) == contents()


def test_ctrl_c_ends_all_child_processes(cache: SourceCache, repository: Path) -> None:
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
        # `fetch` fails while a remaining process holds the lock.
        assert written(fetch(cache, xla(commit), Remote(f"{server.address}/xla.git"))) == contents()


@pytest.mark.exhaustive
def test_the_second_of_two_fetches_waits_and_reuses_the_first(cache: SourceCache, repository: Path) -> None:
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


def test_a_half_written_checkout_is_not_used(cache: SourceCache, repository: Path) -> None:
    commit = head(repository)
    unfinished = cache.checkout("xla", commit).with_name("unfinished")
    (unfinished / "xla").mkdir(parents=True)
    (unfinished / "xla" / "left.cc").write_text("int left;\n")
    assert written(fetch(cache, xla(commit), Clone.open(repository))) == contents()
    assert not unfinished.exists()


def test_leftover_locks_and_packs_of_a_killed_git_do_no_harm(cache: SourceCache, repository: Path) -> None:
    fetch(cache, xla(head(repository)), Clone.open(repository))
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
def test_damaged_objects_are_refetched_or_reported_with_the_remedy(
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


def test_a_damaged_checkout_is_reported_with_the_remedy(cache: SourceCache, repository: Path) -> None:
    wanted = xla(head(repository))
    folder = fetch(cache, wanted, Clone.open(repository))
    (folder / ".git" / "HEAD").write_text("nothing\n")
    with pytest.raises(FramedexError, match="is not the expected checkout") as error:
        fetch(cache, wanted, Clone.open(repository))
    assert "fetch --remove xla" in error.value.remedy
