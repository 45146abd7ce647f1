"""What `framedex sources fetch` costs git: seconds, processor seconds and bytes, beside git's own shallow fetch.

    python benchmarks/sources_fetch.py TREE [NEXT_TREE] [--rounds N]

A repository with a commit of TREE, and one of NEXT_TREE after it, is made in a temporary folder and served by git's
http-backend on the loopback. Processor seconds are those of all processes of git, the server's too; in turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from framedex.errors import FramedexError
from framedex.fetching.cache import SourceCache
from framedex.fetching.clones import Clone
from framedex.fetching.fetch import Supplier, fetch_sources
from framedex.fetching.remotes import Remote
from framedex.fetching.wanted import Wanted
from framedex.progress import Silence
from tests.gitrepository import git
from tests.gitserver import Served, served

_BATCHES = (200, 1000, 100_000)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("next_tree", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = [arguments.tree, *([arguments.next_tree] if arguments.next_tree else [])]
        commits = _make_repository(folder, trees)
        print(f"load {os.getloadavg()[0]:.1f}; {arguments.rounds} rounds, medians (least to most)")
        figures: dict[str, list[tuple[float, float, float]]] = {}
        with served(folder / "served") as server:
            for _ in range(arguments.rounds):
                for what, run in _steps(folder, server, commits):
                    figures.setdefault(what, []).append(_measured(run, server))
    for what, rounds in figures.items():
        columns = [
            f"{statistics.median(column):8.2f} {unit} ({min(column):.2f} to {max(column):.2f})"
            for column, unit in zip(zip(*rounds, strict=True), ("s", "s of a processor", "MB"), strict=True)
        ]
        print(f"{what:42}", *columns)


def _steps(folder: Path, server: Served, commits: list[str]) -> list[tuple[str, Callable[[], object]]]:
    """What is measured, in its order; each finds what the one before has left."""
    address = f"{server.address}/tree.git"
    cache, plain = SourceCache(folder / "cache"), folder / "plain"

    def anew(supplier: Supplier) -> None:
        shutil.rmtree(cache.folder, ignore_errors=True)
        _fetch(cache, commits[0], supplier)

    def peer() -> None:
        shutil.rmtree(plain, ignore_errors=True)
        plain.mkdir()
        git(plain, "init", "-q")
        git(plain, "fetch", "-q", "--depth=1", address, commits[0])
        git(plain, "checkout", "-q", "FETCH_HEAD")

    def interrupted() -> None:
        shutil.rmtree(cache.folder, ignore_errors=True)
        begun = server.posts
        server.before = lambda number: number - begun <= 1 + 4  # the list of files and four batches
        try:
            _fetch(cache, commits[0], Remote(address))
        except FramedexError:
            pass
        finally:
            server.before = lambda _number: True

    steps: list[tuple[str, Callable[[], object]]] = [("git fetch --depth=1, git checkout", peer)]
    for batch in _BATCHES:
        steps.append((f"fetched, {batch} files at once", partial(anew, Remote(address, batch=batch))))
    steps += [
        ("fetched, but for what follows", interrupted),
        ("resumed after four batches", lambda: _fetch(cache, commits[0], Remote(address))),
        ("there already", lambda: _fetch(cache, commits[0], Remote(address))),
    ]
    if len(commits) > 1:
        steps.append(("the next release", lambda: _fetch(cache, commits[1], Remote(address))))
    steps.append(("copied from a clone", lambda: anew(Clone.at(folder / "served" / "tree.git"))))
    return steps


def _fetch(cache: SourceCache, commit: str, supplier: Supplier) -> None:
    fetch_sources(cache, Wanted("xla", commit, "", ""), [supplier], Silence(), lambda: None)


def _measured(run: Callable[[], object], server: Served) -> tuple[float, float, float]:
    """Seconds, processor seconds of children, and megabytes that were served."""
    sent, began = server.sent, time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, (server.sent - sent) / 1e6


def _make_repository(folder: Path, trees: list[Path]) -> list[str]:
    work = folder / "work"
    commits = []
    for tree in trees:
        shutil.rmtree(work / "tree", ignore_errors=True)
        shutil.copytree(tree, work / "tree", symlinks=True, ignore=shutil.ignore_patterns(".git"))
        if not (work / ".git").exists():
            git(work, "init", "-q", "--initial-branch=main")
        git(work, "add", "-A", "-f")
        git(work, "commit", "-q", "-m", "a state")
        commits.append(git(work, "rev-parse", "HEAD"))
    (folder / "served").mkdir()
    subprocess.run(["git", "clone", "-q", "--bare", work, folder / "served" / "tree.git"], check=True)
    repository = folder / "served" / "tree.git"
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(repository, "repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=10")
    shutil.rmtree(work)
    return commits


if __name__ == "__main__":
    main()
