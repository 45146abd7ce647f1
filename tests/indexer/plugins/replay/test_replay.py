"""A capture with contents gives the same bits when it is replayed; a changed result is found with its line."""

from __future__ import annotations

import json
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import framedex_native
from framedex.commands.launching.replayed import MOCK, find_target
from framedex.commands.main import cli
from framedex.plugins.replay.comparison import Tolerance
from framedex.plugins.replay.judging import judge_reads
from framedex.plugins.replay.plan import Callbacks, find_callback_words
from framedex.plugins.replay.recorded_calls import RecordedCapture, build_plan
from framedex.plugins.replay.runner import _PROGRAM
from tests.once import made_once
from tests.running import PROGRAMS, Run, plain_environment, run

PROGRAM = PROGRAMS / "replayed.py"
EQUAL = [
    "jitted", "donated", "sharded", "collectives", "scanned", "random_numbers", "several_results", "threads",
    "element_types", "strided", "copied", "trained", "linear_algebra", "all_equal",
]  # fmt: skip
FAULT = """\
import os
from framedex_native.behaviour import runs


@runs("jit_step")
def alter(program):
    program.run()
    *others, value = program.outputs
    program.outputs = (*others, value + 1e-6)
"""
CRASH = """\
import os
from framedex_native.behaviour import runs


@runs("jit_step")
def crash(program):
    os.write(2, b"the plug-in is lost")
    os.abort()
"""


def recorded(name: str, contents: str = "all") -> Path:
    """The capture of a program of `replayed.py`. No test changes it."""

    def record(folder: Path) -> Run:
        done = run("replayed.py", name, folder=folder, FRAMEDEX_CONTENTS=contents, FRAMEDEX_DEVICES="8")
        assert done.status == 0, done.stderr
        return done

    return made_once(f"replay {name} {contents}", record).capture


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["replay", "--no-bisect", *map(str, arguments)])


def answer(*arguments: str | Path) -> dict[str, Any]:
    """The JSON document of a replay."""
    done = replay(*arguments, "--json")
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["status"] == done.exit_code
    return document


def names_in(capture: Path) -> set[str]:
    """The names of the kept contents."""
    return {each.name for each in (capture / "buffers").iterdir()}


def line_of(text: str) -> int:
    """The number of the program's line with this text."""
    return next(number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


@pytest.mark.exhaustive(keep=["all_equal"])
@pytest.mark.parametrize("name", EQUAL)
def test_a_replay_at_the_same_plugin_gives_the_same_bits(name: str) -> None:
    capture = recorded(name)
    found = answer(capture)
    plan = build_plan(RecordedCapture.read(capture))
    assert found["compared"] == len(plan.reads) > 0
    assert not found["incomparable"] and not found["seeded"]
    assert not any(found[each] for each in ("differences", "failed", "omitted", "crashes", "skipped", "unsteady"))
    assert found["executions"] == len(plan.executions)
    assert found["status"] == 0


def test_missing_devices_are_reported_once_for_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_DEVICES", "4")
    done = replay(recorded("sharded"))
    assert done.exit_code == 2
    assert "devices    4 of 8 recorded devices" in done.stdout
    assert done.stdout.count("there is no device") == 1
    assert "PJRT_Client_BufferFromHostBuffer failed 4 times, first: there is no device 4 here" in done.stdout


def test_the_first_altered_result_is_found_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fault.py").write_text(FAULT)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "fault.py"))
    found = answer(recorded("trained"))
    first = found["first"]
    assert found["status"] == 1 and len(found["differences"]) == 4
    assert first["computed_by"]["program"] == "jit_step" and first["computed_by"]["execution"] == 1
    assert first["computed_by"]["line"]["location"]["line"] == line_of("weights, value = step(")
    assert first["call"]["line"]["location"]["line"] == line_of("print(float(value))")
    assert first["comparison"]["differing"] == 1 and 0 < first["comparison"]["largest_relative"] < 1e-4
    assert answer(recorded("trained"), "--rtol", "1e-3")["status"] == 0
    assert answer(recorded("trained"), "--ulps", "2")["status"] == 1
    text = replay(recorded("trained")).stdout
    assert f"replayed.py:{line_of('weights, value = step(')} in trained" in text


def test_a_crash_of_the_plugin_names_the_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crash.py").write_text(CRASH)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "crash.py"))
    found = answer(recorded("trained"))
    (crash,) = found["crashes"]
    assert found["status"] == 2 and "SIGABRT" in crash["reason"] and "the plug-in is lost" in crash["output"]
    assert crash["call"]["program"] == "jit_step"
    assert crash["call"]["line"]["location"]["line"] == line_of("weights, value = step(")


def test_callbacks_answer_from_the_recording(tmp_path: Path) -> None:
    """The replay has no Python of the program, so the recorded answers alone give the recorded results."""
    found = answer(recorded("with_callbacks"))
    assert found["compared"] == 10 and found["status"] == 0 and not found["omitted"]
    done = replay(recorded("with_callbacks"), "--step", "2..3", "-o", tmp_path / "part")
    assert done.exit_code == 0, done.output
    assert answer(tmp_path / "part.fdxreplay")["compared"] == 2
    with zipfile.ZipFile(tmp_path / "part.fdxreplay") as archive:
        assert len(json.loads(archive.read("recording.json"))["reads"]) == 2


def test_a_program_that_asks_for_more_answers_fails(tmp_path: Path) -> None:
    capture = RecordedCapture.read(recorded("with_callbacks"))
    plan = build_plan(capture)
    execution = plan.executions[0]
    callbacks = Callbacks.parse(find_callback_words(execution))
    words = execution.operands[: -len(callbacks.words())]
    fewer = replace(execution, operands=(*words, *map(str, replace(callbacks, answers=()).words())))
    changed = replace(plan, operations=tuple(fewer if each == execution else each for each in plan.operations))
    verdict = judge_reads(changed, find_target(MOCK, sys.executable), Tolerance())
    assert [(each.row, "was not recorded" in each.message) for each in verdict.failed] == [(execution.row, True)]


def test_a_callback_without_recorded_answers_is_skipped_with_what_depends_on_it(tmp_path: Path) -> None:
    done = run("replayed.py", "with_callback", folder=tmp_path)
    found = answer(done.capture)
    (omitted,) = found["omitted"]
    assert "Record it with --contents" in omitted["reason"]
    assert omitted["line"]["location"]["line"] == line_of("np.zeros(3, np.float32)")
    assert found["skipped"] and found["executions"] == 1 and found["status"] == 0


def test_buffers_that_are_sent_in_parts_are_sent_whole(tmp_path: Path) -> None:
    """Two parts in reverse order and a literal are read as recorded; two buffers have no content."""
    done = run("transfers_in_parts.py", folder=tmp_path, FRAMEDEX_CONTENTS="all")
    assert done.status == 0, done.stderr
    found = answer(done.capture)
    assert (found["compared"], found["status"], found["seeded"]) == (2, 0, 0)
    assert {each["reason"] for each in found["omitted"]} == {
        "the program ended its transfer with an error",
        "its content was never transferred",
    }
    parts = [each.contents for each in build_plan(RecordedCapture.read(done.capture)).operations if each.contents]
    assert [len(each) for each in parts] == [2, 1]
    replayed = replay(done.capture, "-o", tmp_path / "parts")
    assert replayed.exit_code == 0, replayed.output
    assert answer(tmp_path / "parts.fdxreplay")["compared"] == 2


def test_without_contents_buffers_in_parts_come_from_a_seed(tmp_path: Path) -> None:
    done = run("transfers_in_parts.py", folder=tmp_path)
    assert done.status == 0, done.stderr
    assert answer(done.capture)["seeded"] == 2


def test_without_contents_the_inputs_come_from_a_seed(tmp_path: Path) -> None:
    done = run("replayed.py", "trained", folder=tmp_path)
    assert not (done.capture / "buffers").exists()
    found = answer(done.capture)
    assert found["seeded"] == 6 and not found["compared"] and found["incomparable"] == 4 and found["executions"] == 4
    text = replay(done.capture).stdout
    assert "6 sent buffers without a recorded content, filled from the seed" in text
    assert "nothing: the reads have no recorded contents" in text
    assert answer(done.capture, "--against", "mock", "--every-output", "--seed", "3")["compared"] == 4 + 4 * 3


def test_hashes_find_a_difference_without_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = recorded("trained", "hash")
    assert answer(capture)["status"] == 0
    (tmp_path / "fault.py").write_text(FAULT)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "fault.py"))
    found = answer(capture)
    assert found["status"] == 1 and found["first"]["comparison"] is None
    assert "only the hash of the recorded content is known" in replay(capture).stdout


def test_a_step_is_replayed_with_what_it_depends_on() -> None:
    capture = recorded("trained")
    found = answer(capture, "--step", "2..3")
    assert (found["executions"], found["compared"]) == (3, 2)  # not the fourth; the first only for its weights
    assert answer(recorded("threads"), "--step", "20")["executions"] == 1
    beyond = replay(capture, "--step", "5")
    assert beyond.exit_code == 2 and "There is no execution 5: the capture has 4." in beyond.stderr


def test_repetitions_are_compared_with_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = recorded("trained")
    assert answer(capture, "--repeat", "2")["unsteady"] == []
    (tmp_path / "fault.py").write_text(FAULT.replace("1e-6", "os.getpid()"))
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "fault.py"))
    found = answer(capture, "--repeat", "2")
    assert (len(found["unsteady"]), found["status"]) == (4, 1)


def test_the_first_nan_is_found_at_the_execution_that_computes_it() -> None:
    found = answer(recorded("not_a_number"), "--find-nan")
    (first,) = found["non_finite"]
    assert found["status"] == 1 and first["nans"] == 2 and first["call"]["program"] == "jit_logarithm"
    assert first["call"]["line"]["location"]["line"] == line_of("logarithm(shifted)")
    assert answer(recorded("trained"), "--find-nan")["status"] == 0


def test_damaged_contents_end_in_a_message(tmp_path: Path) -> None:
    capture = Path(shutil.copytree(recorded("jitted"), tmp_path / "capture"))
    sent = next(each for each in (capture / "buffers").iterdir() if each.name.endswith("-30"))
    whole = sent.read_bytes()
    for damaged in (whole[:-1], whole + b"x", bytes([whole[0] ^ 1]) + whole[1:], None):
        sent.unlink(missing_ok=True)
        if damaged is not None:
            sent.write_bytes(damaged)
        found = answer(capture)
        assert found["status"] == 2 and sent.name in found["failed"][0]["message"]
        assert found["skipped"] == 2  # the execution, and the read of its result
    sent.write_bytes(whole)
    for program in (capture / "programs").iterdir():
        program.write_bytes(b"")
    found = answer(capture)
    assert found["omitted"][0]["reason"].endswith("is missing or damaged") and found["executions"] == 0


def test_what_is_not_a_plugin_or_a_capture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plugin.so").write_bytes(b"nothing")
    for arguments, text in (
        ([recorded("jitted"), "--plugin", tmp_path / "none.so"], "There is no plug-in"),
        ([recorded("jitted"), "--plugin", tmp_path / "plugin.so"], "Check --plugin"),
        ([tmp_path], "is not a capture"),
        ([recorded("jitted"), "--every-output"], "--against"),
        ([recorded("jitted"), "--step", "0"], "is not a range of executions"),
    ):
        done = replay(*arguments)
        assert done.exit_code == 2 and text in done.stderr, done.stderr


def test_contents_are_bounded_and_stored_once(tmp_path: Path) -> None:
    done = run("replayed.py", "trained", folder=tmp_path, FRAMEDEX_CONTENTS="all", FRAMEDEX_CONTENTS_LIMIT="600")
    files = list((done.capture / "buffers").iterdir())
    assert files and sum(each.stat().st_size for each in files) <= 600
    found = answer(done.capture)
    assert found["seeded"] and found["status"] == 0  # reads that depend on a seeded input are not compared
    assert found["incomparable"] + found["compared"] == 4
    whole = recorded("trained") / "buffers"
    assert len(list(whole.iterdir())) == 6 + 4


def test_run_keeps_contents(tmp_path: Path) -> None:
    for option, kept in (("--contents", 3), ("--contents=inputs", 2)):
        folder = tmp_path / kept.__repr__()
        command = ["run", "-o", str(folder), option, str(PROGRAM), "jitted"]
        subprocess.run([sys.executable, "-m", "framedex", *command], env=plain_environment(), check=True)
        (buffers,) = folder.glob("*/buffers")
        assert len(list(buffers.iterdir())) == kept


def test_a_recorded_replay_can_be_replayed(tmp_path: Path) -> None:
    """The replayer waits for events with PJRT_Event_Await, JAX with callbacks."""
    capture = recorded("trained")
    (tmp_path / "plan").write_text(build_plan(RecordedCapture.read(capture)).text())
    library = framedex_native.library_path()
    with (tmp_path / "report").open("wb") as report:
        arguments = [framedex_native.replayer_path(), tmp_path / "plan", capture, library, report.fileno(), 0, 0, 1]
        subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM, *map(str, arguments)],
            env=plain_environment() | {"FRAMEDEX_OUT": str(tmp_path / "captures"), "FRAMEDEX_CONTENTS": "all"},
            pass_fds=(report.fileno(),),
            check=True,
        )
    assert (tmp_path / "report").read_bytes().endswith(b"end 0 0\n")
    (again,) = (tmp_path / "captures").iterdir()
    assert names_in(again) == names_in(capture)
    found = answer(again)
    assert (found["executions"], found["compared"], found["status"]) == (4, 4, 0)


CURIOUS = """\
import pathlib
import socket
from framedex_native.behaviour import runs

REPORT, OTHER, PORT = {arguments!r}


def problem(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "none"


@runs("jit_step")
def look(program):
    program.run()
    found = [
        problem(lambda: pathlib.Path(OTHER).write_text("written")),
        problem(lambda: socket.create_connection(("127.0.0.1", PORT)).close()),
    ]
    pathlib.Path(REPORT).write_text(" ".join(found))
"""


def test_a_replay_writes_only_temporary_files_and_opens_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    report = tmp_path / "temporary" / "report"
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = [str(report), str(tmp_path / "other"), server.getsockname()[1]]
        (tmp_path / "look.py").write_text(CURIOUS.format(arguments=arguments))
        monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "look.py"))
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        assert answer(recorded("trained"), "--step", "1")["status"] == 0
        written, connected = report.read_text().split()
        if written == "none":
            pytest.skip("this Linux has no Landlock")
        has_network_rules = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (6, 7)
        assert (written, connected) == ("PermissionError", "PermissionError" if has_network_rules else "none")
        assert answer(recorded("trained"), "--step", "1", "--no-sandbox")["status"] == 0
    assert report.read_text() == "none none" and (tmp_path / "other").read_text() == "written"
