"""`framedex waits`: blocked threads, compared with the program's own measurements, and its loops."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from framedex.captures import CaptureStream
from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.index.file.database import DamagedIndexError
from framedex.index.write.costs.activity import CaptureActivity
from framedex.index.write.costs.timeline import CallbackTimes, KindColumns, ThreadCalls
from framedex.index.write.costs.waits import delete_waits, write_waits
from framedex.model import Loop, LoopStep, WaitReason, Waits, WaitsAndLoops
from tests import tiers
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import Cases, changed_copy, line_marked, recorded_cases
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "waits.py"
MS = 1_000_000
TAKES = 100 * MS  # minimum duration of a run of `slow`
LATE = 2 * TAKES  # the delay until a notified thread runs, on a busy machine
LEAST = TAKES // 10  # the duration of a wait that a thread reached late, on a busy machine
PARTS = ("waits", "loader", "train", "tight", "epochs", "both", "busy")
KEPT = PARTS[:5]
"""The parts of `make test`: `make test-all` records all of them."""
# What each case waits for. Its line is blocked no longer than the program measured, except for late notification.
WAITING = {
    **dict.fromkeys(("block_until_ready", "tree", "sleeps_after", "thread", "fails"), WaitReason.READY),
    **dict.fromkeys(
        ("asarray", "float", "bool", "item", "tolist", "print", "device_get", "read_later"), WaitReason.COPY
    ),
}
NOT_WAITING = ("again", "copy_to_host_async", "is_ready")


class Recorded(Cases):
    """All parts of the program; each printed the durations of its cases."""

    @property
    def took(self) -> dict[str, int]:
        """The duration of each case in ns."""
        return {case: took for part in self.results.values() for case, took in part.items()}

    def waiting(self, part: str, *, all_lines: bool = False) -> WaitsAndLoops:
        """The index's data for a part."""
        with self.within(part) as narrow:
            return narrow.waits(all_lines=all_lines)

    def loop(self, part: str, case: str) -> Loop:
        """The loop of the line with the name of a case."""
        loops = self.waiting(part).loops
        (found,) = [loop for loop in loops if loop.line is not None and loop.line.location.line == _number(case)]
        return found


def _record(folder: Path, parts: Sequence[str]) -> Recorded:
    settings = {part: {"FRAMEDEX_DEVICES": "2"} for part in parts}
    return Recorded(*recorded_cases(folder, "costs/waits.py", settings))


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest) -> Recorded:
    """The parts of this tier, recorded and indexed."""
    parts = KEPT if request.config.getoption(tiers.OPTION) else PARTS
    return made_once("costs-waits", lambda folder: _record(folder, parts))


def _number(case: str) -> int:
    return line_marked(PROGRAM, f"case: {case}")


def _rows(waiting: WaitsAndLoops, case: str) -> list[Waits]:
    number = _number(case)
    return [row for row in waiting.lines if row.line is not None and row.line.location.line == number]


# Waits


@pytest.mark.parametrize("case", WAITING)
def test_a_line_is_blocked_as_long_as_the_program(recorded: Recorded, case: str) -> None:
    (row,) = _rows(recorded.waiting("waits"), case)

    assert row.line is not None and row.line.location.path == str(PROGRAM)
    assert row.how is WAITING[case]
    assert (row.count, row.unsure, row.outward) == (1, 0, ())
    assert LEAST < row.total_duration <= recorded.took[case] + LATE
    assert row.longest_duration == row.total_duration


@pytest.mark.parametrize("case", NOT_WAITING)
def test_available_results_and_asynchronous_requests_do_not_wait(recorded: Recorded, case: str) -> None:
    assert not _rows(recorded.waiting("waits"), case)


def test_a_wait_ends_when_its_result_is_ready(recorded: Recorded) -> None:
    """The program then sleeps three times as long, without calls."""
    (row,) = _rows(recorded.waiting("waits"), "sleeps_after")

    assert row.total_duration < 3 * TAKES


def test_results_on_several_devices_are_one_wait(recorded: Recorded) -> None:
    (row,) = _rows(recorded.waiting("waits"), "sharded")

    assert row.count == 1
    assert 0 < row.total_duration <= recorded.took["sharded"] + LATE


def test_the_callers_option_separates_callers_of_a_helper(recorded: Recorded) -> None:
    (row,) = _rows(recorded.waiting("waits"), "fetch")
    by_way = _rows(recorded.waiting("waits", all_lines=True), "fetch")

    assert row.count == 2
    assert {each.outward[0].location.line for each in by_way} == {_number("first_caller"), _number("second_caller")}
    assert [each.count for each in by_way] == [1, 1]
    assert sum(each.total_duration for each in by_way) == row.total_duration <= recorded.took["fetch"] + LATE


def test_threads_wait_separately(recorded: Recorded) -> None:
    waiting = recorded.waiting("waits")
    (row,) = _rows(waiting, "thread")

    assert row.thread not in {each.thread for each in _rows(waiting, "float")}


def test_a_sleeping_thread_does_not_wait_for_another_threads_event(recorded: Recorded) -> None:
    waiting = recorded.waiting("loader")

    assert _rows(waiting, "loads") == []


@pytest.mark.exhaustive
def test_threads_that_wait_for_the_same_run_have_separate_waits(recorded: Recorded) -> None:
    rows = _rows(recorded.waiting("both"), "both")

    assert len({row.thread for row in rows}) == 2
    assert [(row.how, row.count, row.unsure) for row in rows] == [(WaitReason.COPY, 1, 0)] * 2
    assert all(row.total_duration > LEAST for row in rows)


@pytest.mark.exhaustive
def test_a_thread_does_not_wait_for_the_many_calls_of_another(recorded: Recorded) -> None:
    waiting = recorded.waiting("busy")
    (row,) = _rows(waiting, "beside")

    with Index.open(recorded.index) as index:
        (capture,) = [each for each in index.captures() if each.id == recorded.captures["busy"]]
    assert capture.calls > 100_000
    assert (row.how, row.count, row.unsure) == (WaitReason.READY, 3, 0)
    assert recorded.took["beside"] / 2 < row.total_duration <= recorded.took["beside"]


@pytest.mark.exhaustive
def test_the_nearest_call_of_each_thread_is_found(recorded: Recorded) -> None:
    capture = recorded.captures["both"]
    with closing(sqlite3.connect(recorded.index)) as connection:
        kinds = KindColumns.read(connection, capture)
        threads = ThreadCalls(connection, capture, kinds)
        names = np.unique(kinds.thread[kinds.thread > 0])
        calls = np.repeat(np.arange(threads.first, threads.last + 1, 7), len(names))
        of_each = np.tile(names, len(calls) // len(names))
        found = threads.find_previous_calls(calls, of_each).id.tolist()
        rows = connection.execute(
            "SELECT c.id, k.thread FROM call_rows c JOIN call_kinds k ON k.id = c.kind WHERE c.id BETWEEN ? AND ?",
            (threads.first, threads.last),
        ).fetchall()

    assert len(names) > 2
    assert found == [
        max((call for call, thread in rows if call < base and thread == of), default=0)
        for base, of in zip(calls.tolist(), of_each.tolist(), strict=True)
    ]


def test_a_full_queue_blocks_in_the_executing_call(recorded: Recorded) -> None:
    waiting = recorded.waiting("waits")
    (row,) = _rows(waiting, "full_queue")
    (rest,) = _rows(waiting, "drained")

    assert row.how is WaitReason.RUN
    assert row.count >= 5
    assert row.total_duration <= recorded.took["full_queue"]
    assert rest.how is WaitReason.READY
    assert rest.total_duration <= recorded.took["drained"] + LATE


def test_device_time_does_not_exceed_the_recording(recorded: Recorded) -> None:
    waiting = recorded.waiting("waits")

    assert waiting.device is not None
    assert len(WAITING) * TAKES < waiting.device < waiting.recorded


@pytest.mark.exhaustive(keep=KEPT)
@pytest.mark.parametrize("part", PARTS)
def test_thread_waits_do_not_exceed_the_recording(recorded: Recorded, part: str) -> None:
    waiting = recorded.waiting(part)

    for thread in {row.thread for row in waiting.lines}:
        assert sum(row.total_duration for row in waiting.lines if row.thread == thread) < waiting.recorded
    for step in (step for loop in waiting.loops for step in loop.steps):
        assert step.compile + step.dispatch + step.transfer + step.wait <= step.duration


@pytest.mark.exhaustive
def test_blocking_calls_count_with_their_duration(tmp_path: Path) -> None:
    ran = run("awaiting.py", folder=tmp_path)
    index = tmp_path / "index.db"
    index_without_sources(index, *ran.captures)
    program = PROGRAMS / "awaiting.py"
    text = program.read_text().splitlines()
    with Index.open(index) as opened:
        rows = opened.waits(all_lines=True).lines
    found = {
        text[place.location.line - 1].rpartition("# case: ")[2]: row
        for row in rows
        for place in row.outward
        if place.location.path == str(program)
    }

    assert found.keys() == {"awaited", "fired", "hangs"}
    assert LEAST < found["awaited"].total_duration <= ran.result["awaited"]
    assert found["fired"].total_duration < TAKES / 2
    assert found["hangs"].total_duration > LEAST  # it never returned: until the recording ended
    assert {(row.how, row.count, row.unsure) for row in rows} == {(WaitReason.READY, 1, 0)}


# Loops


def test_a_training_loop_has_a_step_per_iteration(recorded: Recorded) -> None:
    loop = recorded.loop("train", "batch")

    assert loop.rounds == 12
    assert [step.number for step in loop.steps] == [*range(1, 13)]
    compiling = [step.number for step in loop.steps if step.compile]
    assert compiling[:2] == [1, 5]  # the step, and its first evaluation
    for step in loop.steps:
        assert step.dispatch + step.wait > 0 and step.transfer > 0  # a run may be over when its call returns
        assert step.compile + step.dispatch + step.transfer + step.wait + step.own == step.duration
    assert sum(step.duration for step in loop.steps) == loop.duration
    starts = [step.start for step in loop.steps]
    assert starts == sorted(starts)
    calls = [step.first_call for step in loop.steps]
    assert calls == sorted({*calls})


def test_contradictory_clocks_give_an_iteration_no_own_time() -> None:
    assert LoopStep(1, start=0, duration=10, compile=3, dispatch=4, transfer=0, wait=2, first_call=1).own == 1
    assert LoopStep(1, start=0, duration=10, compile=3, dispatch=4, transfer=0, wait=9, first_call=1).own == 0


def test_a_loop_on_one_line_is_found(recorded: Recorded) -> None:
    loop = recorded.loop("tight", "tight")

    assert loop.rounds == 30
    assert loop.steps[0].compile > 0
    assert not any(step.compile for step in loop.steps[1:])


def test_a_nested_loop_is_listed_separately(recorded: Recorded) -> None:
    told = recorded.waiting("epochs").loops
    loops = [(loop.line.location.line, loop.rounds) for loop in told if loop.line is not None]

    assert sorted(loops) == sorted([(_number("epoch"), 4), (_number("inner"), 100), (_number("validation"), 60)])


# The verb


def test_the_verb_prints_lines_and_steps(recorded: Recorded) -> None:
    shown = recorded.read("waits", "waits").stdout

    assert "Python waited" in shown and "programs were running" in shown
    for case in ("block_until_ready", "asarray"):
        assert f":{_number(case)} in " in shown.replace("\n", " ")
    assert "Loop of 60 iterations" in shown
    assert "--limit 0 shows more" in shown


def test_json_has_every_figure(recorded: Recorded) -> None:
    document = json.loads(recorded.read("waits", "waits", "--json", "--limit", "3").stdout)
    waiting = recorded.waiting("waits")

    assert document["line_count"] == len(waiting.lines) > len(document["lines"]) == 3
    assert document["lines"][0]["how"] == waiting.lines[0].how.value
    assert (document["recorded"], document["device"]) == (waiting.recorded, waiting.device)
    assert [len(loop["steps"]) for loop in document["loops"]] == [len(loop.steps) for loop in waiting.loops]


def test_rows_convert_to_a_pandas_table(recorded: Recorded) -> None:
    pandas = pytest.importorskip("pandas")

    frame = recorded.waiting("waits").lines.to_pandas()

    assert isinstance(frame, pandas.DataFrame)
    assert {"path", "line", "how", "total_duration"} <= {*frame.columns}


def test_removing_captures_removes_their_waits(recorded: Recorded, tmp_path: Path) -> None:
    copy = tmp_path / "index.db"
    copy.write_bytes(recorded.index.read_bytes())
    with Store(copy) as store:
        store.remove_captures([*recorded.captures.values()])
    with Index.open(copy) as index:
        assert not index.captures_with_waits()
        assert (index.waits().recorded, index.waits().device) == (0, None)

    assert CliRunner().invoke(cli, ["--index", str(copy), "waits"]).exit_code == 1


# Written output


def test_a_wait_without_a_known_end_lasts_until_the_next_call(recorded: Recorded, tmp_path: Path) -> None:
    """Without seen events: the wait for an immediate result becomes unknown too, but takes no time."""
    copy = tmp_path / "index.db"
    copy.write_bytes(recorded.index.read_bytes())
    capture = recorded.captures["waits"]
    with closing(sqlite3.connect(copy)) as connection, connection:
        events = "SELECT id FROM object_types WHERE name = 'event'"
        connection.execute(f"UPDATE object_rows SET destroyed_call = NULL WHERE type IN ({events})")
        write_waits(connection, capture, CaptureActivity.read(connection, capture))
    with Index.open(copy) as index, index.restrict_to_captures([capture]) as narrow:
        told = narrow.waits()

    assert told.device is None
    (row,) = _rows(told, "sleeps_after")
    assert (row.count, row.unsure) == (1, 1)
    assert row.total_duration > 3 * TAKES  # the program slept before its next call
    (exact,) = _rows(recorded.waiting("waits"), "float")
    (row,) = _rows(told, "float")
    assert row.unsure == row.count == 1
    assert row.total_duration >= exact.total_duration


@pytest.mark.exhaustive(keep=["0"])
@pytest.mark.parametrize("seed", range(3))
def test_damage_does_not_raise(recorded: Recorded, seed: int) -> None:
    """Times, objects and values that no recorder writes."""
    choose = random.Random(seed)
    odd = [0, -1, 1 << 62, -(1 << 62), (1 << 63) - 1, -(1 << 63), *(choose.randrange(10**10) for _ in range(4))]
    capture = recorded.captures["train"]
    with closing(sqlite3.connect(":memory:")) as connection:
        with closing(sqlite3.connect(recorded.index)) as whole:
            whole.backup(connection)
        (calls,) = connection.execute("SELECT max(id) FROM call_rows").fetchone()
        callbacks = _callbacks(connection, capture)
        for _ in range(500):
            call, place, value = choose.randrange(calls), choose.randrange(calls), choose.choice(odd)
            connection.execute(
                f"UPDATE call_rows SET {choose.choice(('start', 'duration'))} = ? WHERE id = ?", (value, call)
            )
            connection.execute("UPDATE call_rows SET inside = ? WHERE id = ?", (choose.choice((None, 1, call)), place))
            column = choose.choice(("created_call", "destroyed_call", "born", "address"))
            connection.execute(f"UPDATE object_rows SET {column} = ? WHERE id = ?", (value, place))
            text = choose.choice(("", "{}", "null", '{"event": "0xzz"}', '{"buffer": "0x' + "f" * 40 + '"}'))
            connection.execute("UPDATE arguments SET json = ? WHERE id = ?", (text, choose.randrange(calls)))
        connection.execute("DELETE FROM call_rows WHERE id % 7 = ?", (seed,))

        write_waits(connection, capture, CaptureActivity.read(connection, capture, callbacks))

        for duration, longest, waits in connection.execute("SELECT duration, longest, waits FROM waits"):
            assert 0 <= longest <= duration <= longest * waits


def test_rewriting_waits_gives_the_same_rows(recorded: Recorded, tmp_path: Path) -> None:
    copy = tmp_path / "index.db"
    copy.write_bytes(recorded.index.read_bytes())
    capture = recorded.captures["waits"]
    with closing(sqlite3.connect(copy)) as connection:
        before = _written(connection)
        write_waits(connection, capture, CaptureActivity.read(connection, capture, _callbacks(connection, capture)))
        assert _written(connection) == before
        delete_waits(connection, capture)
        assert {row[1] for row in _written(connection)} == {*recorded.captures.values()} - {capture}


def _callbacks(connection: sqlite3.Connection, capture: int) -> CallbackTimes:
    path, first_call = connection.execute("SELECT path, first_call FROM captures WHERE id = ?", (capture,)).fetchone()
    stream = CaptureStream(Path(path))
    stream.next(stream.calls)
    return CallbackTimes.from_rows(stream.callbacks(), first_call)


def _written(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
    return {
        (table, *row)
        for table in ("wait_totals", "waits", "loops", "loop_steps")
        for row in connection.execute(f"SELECT * FROM {table}")
    }


def test_a_view_has_waits_with_their_lines(recorded: Recorded) -> None:
    lines = recorded.waiting("waits").lines
    told = {(row.how.value, row.line and row.line.location.line): (row.count, row.total_duration) for row in lines}

    with closing(sqlite3.connect(recorded.index)) as database:
        query = (
            "SELECT how, line, sum(waits), CAST(round(sum(milliseconds) * 1e6) AS INTEGER) FROM waits_readable"
            " WHERE capture = ? GROUP BY how, line"
        )
        rows = database.execute(query, (recorded.captures["waits"],))
        assert {(how, line): (count, duration) for how, line, count, duration in rows} == told


def test_an_unknown_enumeration_value_is_reported_as_damage(recorded: Recorded, tmp_path: Path) -> None:
    copy = changed_copy(recorded.index, tmp_path, "UPDATE waits SET how = 'somehow'")

    with Index.open(copy) as index, pytest.raises(DamagedIndexError), index.reading():
        index.waits()
