"""Source trees: reading and fetching them, and queries that parse their files."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure
from benchmarks.processes import FRAMEDEX, percentiles, print_header, print_row
from framedex.base.errors import FramedexError
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, refresh_files
from framedex.model import SourceHealth, StaticCallers
from framedex.path_resolution.files import find_file
from framedex.sources import find_files
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import ObjectSource, fetch_sources
from framedex.sources.fetching.suppliers import Clone, Remote
from framedex.sources.fetching.wanted import WantedCommit
from tests.gitrepository import git
from tests.gitserver import Served, served

# --- reading source trees ---------------------------------------------------------------------------------------------

_CHANGED_LINES = 2000  # of the file that is changed
_NAME_PARTS = (
    "get",
    "buffer",
    "BufferFromHost",
    "computation",
    "x",
    "Client::Buffer",
    "zzz::Create",
    "xyzzy",
    "the",
    "ion",
)


class Seconds(NamedTuple):
    """Wall-clock and processor seconds of a command."""

    wall: float
    processor: float


_INDEX_PROGRAM = """
import sys
from pathlib import Path
from framedex.index import Store
from framedex.ingest import SilentProgress, find_sources
with Store(Path(sys.argv[1])) as store:
    with store.transaction():
        for root in sys.argv[2:]:
            store.sources.add_root(root)
    find_sources(store, SilentProgress())
"""


@click.command()
@click.argument("trees", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
@click.option("--capture", type=click.Path(exists=True, path_type=Path), help="Also measure the first trace of it.")
def source_index(trees: tuple[Path, ...], rounds: int, capture: Path | None) -> list[Figure]:
    """Measure reading whole source trees, against universal-ctags.

    Both read all C, C++ and Python files on two processors. Also measures one changed file, searches for names, and
    with --capture the time from a capture to its first trace. ctags comes from `apt-get install universal-ctags`.
    """
    if shutil.which("ctags") is None:
        raise SystemExit("ctags is not installed. Install it: apt-get install universal-ctags")
    roots = [os.path.realpath(tree) for tree in trees]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure_full_index(Path(folder), roots, rounds)
        figures.append(_measure_one_file(Path(folder) / "index.db", rounds))
        figures += _measure_searches(Path(folder) / "index.db")
        if capture:
            figures += _measure_first_trace(Path(folder), roots, capture, rounds)
    return figures


def _measure_full_index(folder: Path, trees: Sequence[str], rounds: int) -> list[Figure]:
    files = [
        file.path for tree in trees for file in find_files(Path(tree)) if not file.path.endswith((".proto", ".td"))
    ]
    names = folder / "files"
    names.write_text("\n".join(files))
    index = folder / "index.db"
    ctags = ["ctags", "-f", str(folder / "tags"), "--fields=+neS", "-L", str(names)]
    framedex = [sys.executable, "-c", _INDEX_PROGRAM, str(index), *trees]
    seconds: dict[str, list[Seconds]] = {"universal-ctags +neS": [], "framedex": []}
    memory = 0
    for _ in range(rounds):
        _remove_index(index)
        for command, durations in zip((ctags, framedex), seconds.values(), strict=True):
            durations.append(_timed(command))
        memory = max(memory, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    table = Table("reader", "median s", "ratio to ctags", "of a processor", "ratio", title=f"{len(files):,} files")
    peer = _median(seconds["universal-ctags +neS"])
    for name, durations in seconds.items():
        own = _median(durations)
        ratios = [f"{mine / its:.2f}" for mine, its in zip(own, peer, strict=True)]
        table.add_row(name, f"{own.wall:.2f}", ratios[0], f"{own.processor:.2f}", ratios[1])
    Console().print(table)
    with Index.open(index) as reader:
        _print_health(reader.sources.health(), memory)
    title, ctags_name = f"full index of {len(files):,} files", "universal-ctags +neS"
    return [
        Figure(f"{title}, two threads", own.wall, "s", ctags_name, own.wall / peer.wall),
        Figure(title, own.processor, "s of a processor", ctags_name, own.processor / peer.processor),
        Figure(f"{title}, peak memory", memory, "MB"),
    ]


def _print_health(health: SourceHealth, memory: int) -> None:
    table = Table("language", "files", "with errors", "definitions", "touched by an error", title="what was read")
    for totals in health.totals:
        table.add_row(
            totals.language,
            f"{totals.files:,}",
            f"{100 * totals.with_errors / max(totals.files, 1):.2f} %",
            f"{totals.definitions:,}",
            f"{100 * totals.broken / max(totals.definitions, 1):.3f} %",
        )
    Console().print(table)
    print(f"largest process of all: {memory} MB")


def _measure_one_file(index: Path, rounds: int) -> Figure:
    with Store(index) as store:
        known = (path for path in store.sources.known_files() if path.endswith(".cc"))
        path = min(known, key=lambda path: abs(Path(path).read_bytes().count(b"\n") - _CHANGED_LINES))
        durations = []
        for _ in range(rounds):
            with store.transaction():  # as if the file had changed
                store.sources.remove_files([path])
            began = time.perf_counter()
            refresh_files(store, [Path(path)], SilentProgress())
            durations.append(time.perf_counter() - began)
    median = 1e3 * statistics.median(durations)
    print(f"one changed file ({path.rpartition('/')[2]}): median {median:.0f} ms")
    return Figure(f"a changed file of about {_CHANGED_LINES:,} lines", median, "ms")


def _measure_searches(index: Path) -> list[Figure]:
    """Measure searches for a part of a name, against SQLite's LIKE, and from a name to its definitions; warm."""
    with Index.open(index) as reader, Store(index) as store:
        searches = [(_median_seconds(partial(reader.names.symbols, part)), part) for part in _NAME_PARTS]
        like = "SELECT * FROM definitions WHERE short_name LIKE ? LIMIT 100"
        connection = store.sources.connection

        def scan(part: str) -> None:
            connection.execute(like, (f"%{part}%",)).fetchall()

        scans = [_median_seconds(partial(scan, part)) for part in _NAME_PARTS]
        names = connection.execute("SELECT short_name FROM definitions GROUP BY 1 HAVING count(*) < 4 LIMIT 1000")
        found = [_median_seconds(partial(store.sources.definitions, name, "cpp")) for (name,) in names]
    worst, part = max(searches)
    median, scan_median = statistics.median(durations for durations, _ in searches), statistics.median(scans)
    name_us = 1e6 * statistics.median(found)
    print(
        f"a part of a name: median {1e3 * median:.2f} ms, worst {1e3 * worst:.2f} ms ({part}); LIKE: median"
        f" {1e3 * scan_median:.2f} ms, worst {1e3 * max(scans):.1f} ms;"
        f" a name to its definitions: median {name_us:.0f} us"
    )
    return [
        Figure("search for a part of a name, median", 1e3 * median, "ms", "SQLite's LIKE", median / scan_median),
        Figure("search for a part of a name, slowest", 1e3 * worst, "ms", "SQLite's LIKE", worst / max(scans)),
        Figure("a name to its definitions", name_us, "us"),
    ]


def _median_seconds(query: Callable[[], object]) -> float:
    durations = []
    for _ in range(9):
        began = time.perf_counter()
        query()
        durations.append(time.perf_counter() - began)
    return statistics.median(durations)


def _measure_first_trace(folder: Path, trees: Sequence[str], capture: Path, rounds: int) -> list[Figure]:
    index, cache = folder / "lazy.db", folder / "cache"
    framedex = [*FRAMEDEX, "--index", str(index)]
    lazily = [*framedex, "index", "--lazy", str(capture), *(word for tree in trees for word in ("--source", tree))]
    durations: dict[str, list[tuple[Seconds, Seconds]]] = {"not cached": [], "cached": []}
    for _ in range(rounds):
        shutil.rmtree(cache, ignore_errors=True)
        for steps in durations.values():
            _remove_index(index)
            indexed = _timed(lazily, cache)
            steps.append((indexed, _timed([*framedex, "trace", "1"], cache)))
    with Store(index) as store:
        parsed = len(store.sources.known_files())
    print(f"nothing indexed, {parsed} files parsed; seconds, in brackets of a processor")
    figures = []
    for tables, steps in durations.items():
        indexed, traced = (_median(step) for step in zip(*steps, strict=True))
        print(
            f"line tables {tables}: index --lazy {indexed.wall:.2f} ({indexed.processor:.2f}), then trace"
            f" {traced.wall:.2f} ({traced.processor:.2f})"
        )
        figures.append(Figure(f"index --lazy, line tables {tables}", indexed.processor, "s of a processor"))
    return figures


def _remove_index(index: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        index.with_name(index.name + ending).unlink(missing_ok=True)


def _timed(command: Sequence[str], cache: Path | None = None) -> Seconds:
    """Run a command with all its threads; `cache` replaces the user's cache folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)} if cache else None
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall, after = time.perf_counter() - began, os.times()
    user, system = after.children_user - before.children_user, after.children_system - before.children_system
    return Seconds(wall, user + system)


def _median(durations: Sequence[Seconds]) -> Seconds:
    return Seconds(
        statistics.median(one.wall for one in durations), statistics.median(one.processor for one in durations)
    )


# --- fetching sources -------------------------------------------------------------------------------------------------

_BATCH_SIZES = (200, 1000, 100_000)


@click.command()
@click.argument("tree", type=click.Path(exists=True, path_type=Path))
@click.argument("next_tree", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
def source_fetch(tree: Path, next_tree: Path | None, rounds: int) -> list[Figure]:
    """Measure `framedex sources fetch`, against a shallow fetch of git.

    A temporary repository with a commit of TREE, and one of NEXT_TREE after it, is served by git's http-backend on the
    loopback. Processor seconds are those of all processes of git, the server included.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commits = _make_repository(folder, [tree, *([next_tree] if next_tree else [])])
        measured: dict[str, list[tuple[float, float, float]]] = {}
        with served(folder / "served") as server:
            for _ in range(rounds):
                for title, run in _steps(folder, server, commits):
                    measured.setdefault(title, []).append(_measure_step(run, server))
    figures = []
    peer_s = statistics.median(processor for _, processor, _ in measured[_GIT_FETCH])
    for title, durations in measured.items():
        columns = list(zip(*durations, strict=True))
        cells = [
            f"{statistics.median(column):8.2f} {unit} ({min(column):.2f} to {max(column):.2f})"
            for column, unit in zip(columns, ("s", "s of a processor", "MB"), strict=True)
        ]
        print(f"{title:42}", *cells)
        _, processor, megabytes = (statistics.median(column) for column in columns)
        figures.append(Figure(title, processor, "s of a processor", "git fetch --depth=1", processor / peer_s))
        figures.append(Figure(f"{title}, transferred", megabytes, "MB"))
    return figures


_GIT_FETCH = "git fetch --depth=1, git checkout"


def _steps(folder: Path, server: Served, commits: list[str]) -> list[tuple[str, Callable[[], object]]]:
    """The measured steps in order; each step continues from the previous one."""
    address = f"{server.address}/tree.git"
    cache, plain = SourceCache(folder / "cache"), folder / "plain"

    def fetch_again(supplier: ObjectSource) -> None:
        shutil.rmtree(cache.folder, ignore_errors=True)
        _fetch_commit(cache, commits[0], supplier)

    def fetch_with_git() -> None:
        shutil.rmtree(plain, ignore_errors=True)
        plain.mkdir()
        git(plain, "init", "-q")
        git(plain, "fetch", "-q", "--depth=1", address, commits[0])
        git(plain, "checkout", "-q", "FETCH_HEAD")

    def interrupted() -> None:
        shutil.rmtree(cache.folder, ignore_errors=True)
        first = server.posts
        server.before = lambda number: number - first <= 1 + 4  # the list of files and four batches
        try:
            _fetch_commit(cache, commits[0], Remote(address))
        except FramedexError:
            pass
        finally:
            server.before = lambda _number: True

    steps: list[tuple[str, Callable[[], object]]] = [("git fetch --depth=1, git checkout", fetch_with_git)]
    for batch in _BATCH_SIZES:
        steps.append((f"fetched, {batch} files at once", partial(fetch_again, Remote(address, batch=batch))))
    steps += [
        ("fetched, but for what follows", interrupted),
        ("resumed after four batches", lambda: _fetch_commit(cache, commits[0], Remote(address))),
        ("there already", lambda: _fetch_commit(cache, commits[0], Remote(address))),
    ]
    if len(commits) > 1:
        steps.append(("the next release", lambda: _fetch_commit(cache, commits[1], Remote(address))))
    steps.append(("copied from a clone", lambda: fetch_again(Clone.open(folder / "served" / "tree.git"))))
    return steps


def _fetch_commit(cache: SourceCache, commit: str, supplier: ObjectSource) -> None:
    fetch_sources(cache, WantedCommit("xla", commit, "", ""), [supplier], SilentProgress(), lambda: None)


def _measure_step(run: Callable[[], object], server: Served) -> tuple[float, float, float]:
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


# --- lines of a statement ---------------------------------------------------------------------------------------------

Place = tuple[str, int]


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
@click.option("--runs", type=int, default=5, show_default=True, help="Runs over all lines.")
def statement_lines(index: Path, runs: int) -> list[Figure]:
    """Measure finding the recorded lines of a statement.

    Queries every line with recorded frames whose file is here, and the other lines of its statement. Processor time of
    this process. The first query in a file parses the file.
    """
    with Index.open(index) as opened:
        files = [path for path in _recorded_files(index) if find_file(path) is not None]
        recorded = [(path, line) for path in files for line in opened.file(path).recorded_lines()]
        others = [(path, line) for path, line in _lines_around(recorded) if opened.line(path, line).lines != (line,)]
    print(f"{len(files)} files, {len(recorded)} lines with frames, {len(others)} other lines of their statements")
    print_header("line", "p50", "p99")
    first_others = list({path: (path, line) for path, line in others}.values())
    figures = []
    for title, places, warm in (
        ("a line with frames", recorded, ()),
        ("another line of a statement, first in its file", first_others, ()),
        ("another line of a statement, again in its file", others, first_others),
    ):
        times = [each for _ in range(runs) for each in _query_seconds(index, places, warm)]
        p50, p99 = percentiles(times)
        print_row(title, f"{p50 * 1e3:.3f} ms", f"{p99 * 1e3:.2f} ms")
        figures.append(Figure(f"{title}, p50", p50 * 1e3, "ms of a processor"))
    return figures


def _recorded_files(index: Path) -> Sequence[str]:
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT DISTINCT f.path FROM line_calls l JOIN files f ON f.id = l.file")
        return [path for (path,) in rows]


def _lines_around(places: Sequence[Place], reach: int = 20) -> Sequence[Place]:
    recorded = set(places)
    near = {(path, line + by) for path, line in places for by in range(-reach, reach + 1) if line + by > 0}
    return sorted(near - recorded)


def _query_seconds(index_path: Path, places: Sequence[Place], warm: Sequence[Place]) -> list[float]:
    """Seconds of each query in a newly opened index, after the queries of `warm`."""
    with Index.open(index_path) as index:
        for path, line in warm:
            with index.reading():
                _ = index.line(path, line).lines

        def query_of(path: str, line: int) -> Callable[[], object]:
            return lambda: index.line(path, line).lines

        return [_query_second(index, query_of(*place)) for place in places]


def _query_second(index: Index, query: Callable[[], object]) -> float:
    with index.reading():
        began = time.process_time()
        query()
        return time.process_time() - began


# --- static callers ---------------------------------------------------------------------------------------------------

POPULAR_NAMES = ("size", "get", "Create", "Run", "device_put")
Function = tuple[str, int, str]


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
@click.option("--functions", type=int, default=200, show_default=True, help="Functions to query, spread by name.")
def static_callers(index: Path, functions: int) -> list[Figure]:
    """Measure finding the callers of a function in source trees, and count certain callers.

    INDEX has source trees. Processor time of this process.
    """
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        size, definitions = connection.execute("SELECT sum(length(sites)), count(*) FROM call_sites").fetchone()
        spread = _spread_functions(connection, functions)
        popular = [_first_named(connection, name) for name in POPULAR_NAMES]
    print(f"{size / 1e6:.0f} MB of calls of {definitions:,} definitions")
    with Index.open(index) as opened:
        found = [_time_callers(opened, function) for function in spread]
        times = [seconds for _, seconds in found]
        sure, unsure, doubtful = _totals([callers for callers, _ in found])
        median, (worst, (*_, name)) = statistics.median(times), max(zip(times, spread, strict=True))
        print(f"{len(spread)} functions: {median * 1e3:.0f} ms p50, slowest {worst * 1e3:.0f} ms, {name}")
        print(f"callers: {sure:,} certain, {unsure:,} possible, {doubtful:,} counted and left out")
        for function in filter(None, popular):
            callers, seconds = _time_callers(opened, function)
            print(f"{function[2]}: {seconds * 1e3:.0f} ms; {', '.join(f'{n:,}' for n in _totals([callers]))}")
    return [
        Figure(f"static callers of {len(spread)} functions, p50", median * 1e3, "ms of a processor"),
        Figure("static callers, slowest function", worst * 1e3, "ms of a processor", "", None, name),
        Figure("certain callers", sure, f"of {sure + unsure:,} listed"),
    ]


def _spread_functions(connection: sqlite3.Connection, count: int) -> Sequence[Function]:
    rows = connection.execute(
        "SELECT f.path, d.line, d.name FROM definitions d JOIN files f ON f.id = d.file"
        " WHERE d.kind IN ('function', 'method') ORDER BY d.short_name, f.path, d.line"
    ).fetchall()
    return rows[:: max(len(rows) // count, 1)][:count]


def _first_named(connection: sqlite3.Connection, name: str) -> Function | None:
    found: Function | None = connection.execute(
        "SELECT f.path, d.line, d.name FROM definitions d JOIN files f ON f.id = d.file"
        " WHERE d.short_name = ? AND d.kind IN ('function', 'method') ORDER BY d.name, f.path LIMIT 1",
        (name,),
    ).fetchone()
    return found


def _time_callers(index: Index, function: Function) -> tuple[StaticCallers, float]:
    path, line, _ = function
    began = time.process_time()
    with index.reading():
        found = index.line(path, line).static_callers()
    return found, time.process_time() - began


def _totals(found: Sequence[StaticCallers]) -> tuple[int, int, int]:
    sure = sum(each.is_sure for callers in found for each in callers.callers)
    unsure = sum(not each.is_sure for callers in found for each in callers.callers)
    return sure, unsure, sum(callers.doubtful for callers in found)
