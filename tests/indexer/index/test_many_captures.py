"""An index of a thousand captures: every capture is added, removed and chosen, and their order makes no difference."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from framedex.base.progress import SilentProgress
from framedex.captures import foreign_file, write_foreign
from framedex.index import Index, Store
from framedex.index.file.database import LOCK_TIMEOUT_S, connect_reading
from framedex.index.read.rows import Reader, Scope
from framedex.ingest.captures import read_captures, read_states
from framedex.ingest.rebuild import rebuild_index
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.model import CaptureScope, FrameRow, ImportOrigin, Location, LocationEvidence
from tests.indexed_ffi import indexed
from tests.indexer.commands.small_captures import unpack_capture
from tests.indexer.index.test_scopes import CONTENTS

MANY = 1_010
"""More captures than SQLite's maximum expression depth (1,000)."""

BEGAN = 1_700_000_000
PROGRAM = """\
def main():
    step()

def step():
    pass

def other():
    step()
"""
LINE = 5  # of `pass`

LATEST_CALLS = {
    table: f"SELECT x.calls, x.run_calls, b.name, p.identity, c.start FROM {table} x JOIN boundaries b"
    " ON b.id = x.boundary JOIN calls c ON c.id = x.latest_call JOIN captures p ON p.id = c.capture"
    for table in ("stack_calls", "line_calls", "line_links")
}
RUNS = "SELECT identity, calls, dense_rank() OVER (ORDER BY run) FROM captures"


def import_profiles(folder: Path, numbers: Sequence[int]) -> list[Path]:
    """Store profiles of one stack as `framedex import` does, the first with the earliest start; return the captures."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    return [_import_profile(folder, program, number) for number in numbers]


def _import_profile(folder: Path, program: Path, number: int) -> Path:
    capture = folder / "captures" / f"{number:06}-0-0"
    capture.mkdir(parents=True)
    caller = "main ({program}:2)" if number % 3 else "other ({program}:8)"
    text = f"{caller.format(program=program)};step ({program}:{LINE}) {number % 5 + 1}\n"
    foreign_file(capture).write_text(text)
    content = hashlib.sha256(text.encode()).hexdigest()
    origin = ImportOrigin("collapsed", str(folder / f"{number}.txt"), content, None, (str(folder),))
    write_foreign(capture, origin, (BEGAN + number) * 10**9)
    return capture


def add_all(store: Store, captures: Sequence[Path]) -> None:
    states, refused = read_states(captures)
    with store.transaction():
        read_captures(store, states, refused, SilentProgress(), RecordedBinaries(), lambda: None)
    assert not refused


def dump(path: Path) -> dict[str, list[Any]]:
    """The rows of the index without ids, and the order of its runs."""
    with closing(connect_reading(path, LOCK_TIMEOUT_S)) as connection:
        queries = CONTENTS | {f"latest of {table}": query for table, query in LATEST_CALLS.items()} | {"runs": RUNS}
        return {name: sorted(connection.execute(query), key=repr) for name, query in queries.items()}


def test_captures_are_added_before_a_thousand_others_removed_and_chosen(tmp_path: Path) -> None:
    first, *others = import_profiles(tmp_path, range(MANY))
    path, line = tmp_path / "index.db", (str(tmp_path / "program.py"), LINE)
    with Store(path) as store:
        add_all(store, others)
        add_all(store, [first])

    with Index.open(path, counted=CaptureScope.LATEST) as index:
        ids = {Path(row.path): row.id for row in index.captures()}
        summary = index.line(*line).summary()
        assert len(ids) == MANY
        assert summary is not None and summary.latest_capture.path == str(others[-1])
        chosen = [ids[capture] for capture in (first, *others[:-1])]
        with index.restrict_to_captures(chosen) as restricted:
            assert [row.id for row in restricted.captures()] == chosen
            narrow = restricted.line(*line).summary()
            assert narrow is not None and narrow.latest_capture.path == str(others[-2])

    with Store(path) as store:
        store.remove_captures([ids[first], ids[others[-1]]])
        add_all(store, [first])
    with Index.open(path) as index:
        summary = index.line(*line).summary()
        assert summary is not None and summary.latest_capture.path == str(others[-2])


def _unpack_process(folder: Path, second: int, run: str, pid: int | None = None) -> Path:
    """A capture of a process that began in this second after `BEGAN`, in a run of `framedex run`."""
    pid = second if pid is None else pid
    metadata = {"pid": pid, "started_unix_ns": (BEGAN + second) * 10**9, "launcher": json.dumps({"run": run})}
    return unpack_capture(folder / "captures" / f"process {pid}", **metadata)


def test_a_run_is_as_old_as_its_earliest_process(tmp_path: Path) -> None:
    """Given a run that began between two processes of another, then it is the later run, in any order of indexing."""
    first, between, last = (_unpack_process(tmp_path, at, run) for at, run in ((0, "one"), (1, "other"), (2, "one")))
    in_order, reverse, without, never = (tmp_path / f"{name}.db" for name in ("order", "reverse", "without", "never"))
    for path, captures in ((in_order, [first, between, last]), (reverse, [last, between, first])):
        with Store(path) as store:
            add_all(store, captures)
    with Index.open(reverse) as index:
        assert [Path(row.path) for row in index.captures()] == [first, last, between]
        removed = next(row.id for row in index.captures() if Path(row.path) == first)
    assert dump(reverse) == dump(in_order)

    shutil.copy(reverse, without)
    with Store(without) as store:
        store.remove_captures([removed])
    with Store(never) as store:
        add_all(store, [between, last])
    assert dump(without) == dump(never)


def test_runs_of_one_moment_have_an_order_of_their_own(tmp_path: Path) -> None:
    """A capture and its shared copy began together: any order of adding them gives the same latest run."""
    captures = [_unpack_process(tmp_path, 1, f"run {pid}", pid) for pid in range(1, 4)]
    first, *others = (tmp_path / f"{number}.db" for number in range(3))
    for path, turn in ((first, captures), (others[0], captures[::-1]), (others[1], captures[1:] + captures[:1])):
        with Store(path) as store:
            add_all(store, turn)
    assert len({run for *_, run in dump(first)["runs"]}) == len(captures)
    for path in others:
        assert dump(path) == dump(first)


def test_stale_captures_are_read_again_together(tmp_path: Path) -> None:
    """Given many stored captures that have changed, then all are replaced, and the totals rebuilt only once."""
    captures = import_profiles(tmp_path, range(30))
    once, again = tmp_path / "once.db", tmp_path / "again.db"
    with Store(again) as store:
        add_all(store, captures)
        for capture in store.captures()[5:]:
            store.mark_capture_stale(capture.id)
        statements: list[str] = []
        store._connection.set_trace_callback(statements.append)
        add_all(store, captures)
        store._connection.set_trace_callback(None)
    with Store(once) as store:
        add_all(store, captures)

    assert dump(again) == dump(once)
    assert statements.count("DELETE FROM stack_calls") == 1


def test_a_stale_capture_that_cannot_be_read_keeps_its_calls(tmp_path: Path) -> None:
    captures = import_profiles(tmp_path, range(3))
    path = tmp_path / "index.db"
    with Store(path) as store:
        add_all(store, captures)
        before = dump(path)
        for capture in store.captures():
            store.mark_capture_stale(capture.id)
        states, refused = read_states(captures)
        foreign_file(captures[1]).unlink()
        report = read_captures(store, states, refused, SilentProgress(), RecordedBinaries(), lambda: None)
        assert [each.path for each in report] == [captures[0], captures[2]]
        assert [*refused] == [captures[1]]
    assert dump(path) == before


@pytest.mark.exhaustive
def test_the_order_of_adding_and_removing_two_thousand_captures_makes_no_difference(tmp_path: Path) -> None:
    """For profiles, and processes of several runs, any order of adding and removing gives the same rows."""
    captures = import_profiles(tmp_path, range(0, 1_960 * 2, 2))
    captures += [_unpack_process(tmp_path, 1 + number * 90, f"run {number % 15}") for number in range(40)]
    in_order, in_turns, rebuilt = (tmp_path / name for name in ("in-order.db", "in-turns.db", "rebuilt.db"))
    with Store(in_order) as store:
        add_all(store, captures)

    chance = random.Random(41)
    chance.shuffle(captures)
    with Store(in_turns) as store:
        left = list(captures)
        while left:
            add_all(store, left[:400])
            left = left[400:]
            if left:
                gone = chance.sample(store.captures(), 100)
                store.remove_captures([capture.id for capture in gone])
                left += [capture.path for capture in gone]
    rebuild_index(rebuilt, captures, (), SilentProgress())

    expected = dump(in_order)
    assert len(expected["runs"]) == len(captures)
    assert dump(in_turns) == expected
    assert dump(rebuilt) == expected


EditorQuery = Callable[[Index, str, int], object]
EDITOR_QUERIES: dict[str, EditorQuery] = {
    "recorded": lambda index, path, line: index.file(path).is_recorded(),
    "hover": lambda index, path, line: (
        index.line(path, line).summary(),
        index.line(path, line).answer_of(),
        index.line(path, line).linked_calls(),
        index.line(path, line).steps_inward(),
    ),
    "definition": lambda index, path, line: index.line(path, line).paths_inward(_is_any),
    "declaration": lambda index, path, line: index.line(path, line).paths_outward(_is_any),
    "implementation": lambda index, path, line: index.line(path, line).ends(),
    "references": lambda index, path, line: index.line(path, line).stacks(),
    "programs": lambda index, path, line: (
        index.line(path, line).program_uses(),
        index.line(path, line).programs_run(),
        index.file(path).program_marks(),
    ),
    "handlers": lambda index, path, line: index.line(path, line).ffi_uses(),
    "file": lambda index, path, line: (
        index.file(path).answer_of(),
        index.file(path).marks(1, 99),
        index.file(path).troubles(),
        [index.functions.call_totals(function) for _, function in index.file(path).functions()],
    ),
    "one capture": lambda index, path, line: (
        index.line(path, line, 1).summary(),
        index.line(path, line, 1).paths_inward(_is_any),
        index.line(path, line, 1).programs_run(),
    ),
    "calls": lambda index, path, line: index.calls.find_by_stacks([line], 2),
    "trace": lambda index, path, line: index.calls.trace(line),
}


def _is_any(frame: FrameRow) -> bool:
    return True


def _copy_capture(recorded: Path, folder: Path, number: int) -> Path:
    """Copy a capture as if a later process of another run had recorded it."""
    copy = folder / str(number)
    shutil.copytree(recorded, copy)
    metadata = json.loads((copy / "capture.json").read_text())
    metadata["started_unix_ns"] += number * 10**9
    changed = {"pid": number + 1, "identity": f"{number:016x}", "launcher": json.dumps({"run": f"{number:032x}"})}
    (copy / "capture.json").write_text(json.dumps(metadata | changed))
    return copy


def _count_steps(path: Path, source: Path, query: EditorQuery) -> int:
    """The steps, in tens, of SQLite's virtual machine for a query about each line of a file in the latest run."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    connection = connect_reading(path, LOCK_TIMEOUT_S)
    with Index(Reader.from_connection(connection, path, {}, Scope(is_latest=True))) as index, index.reading():
        # The components of all captures are read once for each index state.
        index.add_public_url(Location(f"{source}.gone", 1, LocationEvidence.EXACT))
        connection.set_progress_handler(count, 10)
        for line in range(1, len(source.read_text().splitlines()) + 1):
            query(index, str(source), line)
        connection.set_progress_handler(None, 0)
    return steps


@pytest.fixture(scope="module")
def indexes_of_a_few_and_more(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A program with FFI calls, an index of three runs of it, and one of seven."""
    recorded = indexed("ffi_calls.py")
    folder = tmp_path_factory.mktemp("runs")
    captures = [_copy_capture(recorded.run.captures[0], folder, number) for number in range(7)]
    few, more = folder / "few.db", folder / "more.db"
    for path, chosen in ((few, captures[:3]), (more, captures)):
        with Store(path) as store:
            add_all(store, chosen)
    return recorded.program, few, more


@pytest.mark.parametrize("query", EDITOR_QUERIES.values(), ids=EDITOR_QUERIES)
def test_an_editor_query_reads_as_much_of_three_runs_as_of_seven(
    indexes_of_a_few_and_more: tuple[Path, Path, Path], query: EditorQuery
) -> None:
    program, few, more = indexes_of_a_few_and_more
    steps = _count_steps(few, program, query)
    assert steps
    assert steps <= _count_steps(more, program, query) <= steps * 1.1
