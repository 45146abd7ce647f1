"""`framedex run --hang-after`: a program that makes no progress is reported once, and ended by choice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.base.words import parse_duration
from framedex.commands.main import cli
from framedex.live.diagnosis import Verdict
from framedex.live.snapshot import take_snapshot
from framedex.live.stalls import StallWatch
from framedex.live.targets import find_target
from tests.indexer.live.programs import FRAMEDEX, started, wait_for
from tests.running import PROGRAMS, TIMEOUT, plain_environment

REPORT = "framedex: no progress for 1 s."


def _run(folder: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*FRAMEDEX, "run", "--hang-after", "1s", *options, str(PROGRAMS / program)]
    return subprocess.run(
        command, cwd=folder, env=plain_environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )


def test_a_hang_is_reported_on_stderr_in_the_capture_and_to_a_command_and_ended(tmp_path: Path) -> None:
    command = 'cat > answer.txt; echo "$FRAMEDEX_HANG_PIDS $FRAMEDEX_HANG_CAPTURES" >> commands.txt'

    ended = _run(tmp_path, "hangs/callback_blocks.py", "--hang-command", command, "--hang-end")

    assert ended.returncode == -signal.SIGTERM
    (capture,) = (tmp_path / ".framedex" / "captures").iterdir()
    answer = (capture / "hang.txt").read_text()
    assert answer.startswith("Hang: Callback thread ")
    assert f"{PROGRAMS}/hangs/callback_blocks.py:" in answer
    assert f"{REPORT}\n{answer}" in ended.stderr
    assert (tmp_path / "answer.txt").read_text() == answer
    target = find_target(None, tmp_path)
    assert (tmp_path / "commands.txt").read_text() == f"{target.pid} {capture}\n"
    later = CliRunner().invoke(cli, ["hang", str(capture)]).stdout
    assert later.startswith("Ended: The process was killed by SIGTERM.")
    assert "reported:\n  Hang: Callback thread " in later


def test_the_program_continues_after_the_report_and_ends_with_framedex(tmp_path: Path) -> None:
    command = [*FRAMEDEX, "run", "--hang-after", "1s", str(PROGRAMS / "hangs" / "lock_twice.py")]
    with subprocess.Popen(command, cwd=tmp_path, env=plain_environment(), stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        shown = ""
        while "process " not in shown:  # the last line of the report
            shown += run.stderr.readline()
        state = take_snapshot(find_target(None, tmp_path)).state
        run.kill()
        shown_later = run.stderr.read()  # until the program, which has the other end, has ended, too

    assert shown.startswith(f"{REPORT}\nHang: The main thread waits for Lock")
    assert state == "alive"
    assert shown_later == ""


def test_a_thread_that_trains_is_progress_of_a_main_thread_that_waits_for_it(tmp_path: Path) -> None:
    with started("slow/thread_trains.py", folder=tmp_path) as running:
        running.wait_at("step", "joins", holds=lambda snapshot: (snapshot.calls or 0) > 1000)

        assert running.ask("hang", "--patience", "0").startswith("No hang: ")


def test_a_thread_that_logs_does_not_hide_a_hang(tmp_path: Path) -> None:
    options = ("--behaviour", str(PROGRAMS / "hangs" / "lost_event_behaviour.py"))
    with started("hangs/behind_a_logger.py", folder=tmp_path, options=options) as running:
        logged = wait_for(lambda: take_snapshot(running.target), lambda snapshot: (snapshot.calls or 0) > 600)

        answer = running.ask("hang", "--patience", "0")

        assert answer.startswith("Hang: The main thread waits for JAX")
        assert (take_snapshot(running.target).calls or 0) > (logged.calls or 0)


def test_a_program_that_computes_has_ten_times_as_long(tmp_path: Path) -> None:
    patience_ns = 50_000_000
    with started("slow/pure_python.py", folder=tmp_path) as running:
        snapshot = running.wait_at("computes")
        watch = StallWatch(running.target, patience_ns)
        while (found := watch.poll()) is None:
            pass

        assert found.verdict is Verdict.BUSY
        assert watch.snapshot is not None
        assert watch.snapshot.time_ns - snapshot.time_ns > 10 * patience_ns


@pytest.mark.parametrize("arguments", [(), ("output",)], ids=["end", "output"])
def test_a_program_whose_child_computes_has_ten_times_as_long(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    patience_ns = 500_000_000
    with started("slow/child_computes.py", *arguments, folder=tmp_path) as running:
        running.wait_at("waits")
        watch = StallWatch(running.target, patience_ns)
        end = time.monotonic_ns() + 3 * patience_ns
        while time.monotonic_ns() < end:
            assert watch.poll() is None


def test_a_stopped_program_does_not_stall(tmp_path: Path) -> None:
    with started("hangs/lock_twice.py", folder=tmp_path) as running:
        running.wait_at("blocks")
        watch = StallWatch(running.target, 20_000_000)
        found = [watch.poll()]
        while found[-1] is None:
            found.append(watch.poll())
        assert found[-1].verdict is Verdict.HANG
        os.kill(running.target.pid, signal.SIGSTOP)
        wait_for(lambda: take_snapshot(running.target), lambda snapshot: snapshot.state == "stopped")

        assert {watch.poll() for _ in range(50)} == {None}


def test_a_duration_has_a_unit() -> None:
    texts = ("90", "60s", "1.5min", "2m", "1h", "250ms", "0", "x", "-1s", "1 day")
    assert [None if found is None else found / 1e9 for found in map(parse_duration, texts)] == [
        *(90, 60, 90, 120, 3600, 0.25),
        *(None, None, None, None),
    ]


@pytest.mark.parametrize("options", [("--hang-end",), ("--hang-command", "true")])
def test_an_action_needs_a_time(options: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(cli, ["run", *options, "-c", "pass"])

    assert refused.exit_code == 2
    assert "--hang-after 60s" in refused.output
