"""FFI handlers answer from the recording: a replay has neither their library nor the program."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.commands.launching.replayed import MOCK, find_target
from framedex.plugins.replay.comparison import Tolerance
from framedex.plugins.replay.isolation import isolate
from framedex.plugins.replay.judging import Verdict, judge_reads
from framedex.plugins.replay.plan import HandlerResult, Plan
from framedex.plugins.replay.probes import Prober
from framedex.plugins.replay.recorded_calls import RecordedCapture, build_plan
from framedex.plugins.replay.recording_file import DamagedRecordingError, read_recording
from tests.ffi_running import CPU, FfiRun, mock_tpu, run_ffi
from tests.indexer.plugins.replay.test_replay import answer, replay
from tests.once import made_once

ALTER = """\
from framedex_native.behaviour import runs


@runs("jit_shift")
def alter(program):
    program.run()
    (value,) = program.outputs
    program.outputs = (value + 1,)
"""


def recorded(program: str, contents: str = "all") -> Path:
    """The capture of a program with handlers at the mock TPU. No test changes it."""

    def record(folder: Path) -> FfiRun:
        done = run_ffi(program, folder=folder, FRAMEDEX_CONTENTS=contents, **mock_tpu(2))
        assert done.status == 0, done.stderr
        return done

    return made_once(f"replay {program} {contents}", record).capture


@pytest.fixture(scope="module")
def plan() -> Plan:
    return build_plan(RecordedCapture.read(recorded("ffi_replayed.py")))


def judge(plan: Plan) -> Verdict:
    return judge_reads(plan, find_target(MOCK, sys.executable), Tolerance())


def test_handlers_answer_in_loops_with_states_and_on_devices(plan: Plan) -> None:
    found = answer(recorded("ffi_replayed.py"))
    assert found["compared"] == len(plan.reads) == 8 and found["status"] == 0 and not found["inexact"]
    assert not found["failed"] and not found["omitted"]
    assert {each.target for each in plan.handler_results} == {"rms_norm", "counter"}
    assert len({each.content for each in plan.handler_results if each.target == "counter"}) == 3


def test_answers_are_in_the_file_of_a_recording(tmp_path: Path) -> None:
    done = replay(recorded("ffi_replayed.py"), "--step", "2", "-o", tmp_path / "part")
    assert done.exit_code == 0, done.output
    assert answer(tmp_path / "part.fdxreplay")["compared"] == 1


def test_other_arguments_get_the_answers_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "alter.py").write_text(ALTER)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "alter.py"))
    found = answer(recorded("ffi_replayed.py"))
    assert found["inexact"] and not found["failed"]
    assert "because an FFI handler got other arguments" in replay(recorded("ffi_replayed.py")).stdout


def test_an_execution_that_runs_again_gets_its_answers_again(plan: Plan, tmp_path: Path) -> None:
    """As in a bisection. Equal arguments had another answer in each recorded execution."""
    counter = next(number for number, name in plan.programs.items() if name == "jit(count_runs)")
    executions = [each for each in plan.executions if each.executable == counter]
    target = find_target(MOCK, sys.executable)
    with Prober(isolate(plan, executions[1], target, 0, tmp_path), [target]) as prober:
        values = [number for number, each in enumerate(prober.program(()).values) if each.op >= 0 and each.size >= 0]
        first, *others = prober.run([((), values)] * 3)
    assert len(executions) == 3 and first and others == [first, first]


def test_the_message_says_why_a_handler_cannot_answer() -> None:
    """The untyped API has no sizes; a result of an asynchronous handler comes later; one handler always failed."""
    failed = "".join(each["message"] for each in answer(recorded("ffi_calls.py"))["failed"])
    assert "add_one_untyped for Host: framedex cannot record answers of handlers of the untyped API" in failed
    assert "did not keep the answer of the FFI handler scale_later: it is asynchronous" in failed
    assert "each recorded run of it failed" in failed
    without = answer(recorded("ffi_replayed.py", ""))["failed"]
    assert without and all("Record them with --contents" in each["message"] for each in without)


def test_a_recording_of_jax_on_the_cpu_has_no_calls_to_replay(tmp_path: Path) -> None:
    done = replay(run_ffi("ffi_calls.py", folder=tmp_path, FRAMEDEX_CONTENTS="all", **CPU).capture)
    assert done.exit_code == 2 and "JAX's own CPU backend makes no PJRT calls" in done.stderr


def test_answers_of_jax_itself_are_not_kept() -> None:
    """LAPACK runs in the replay too."""
    plan = build_plan(RecordedCapture.read(recorded("ffi_calls.py")))
    assert not any(each.target.startswith("lapack") for each in plan.handler_results)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda each: replace(each, content="0123456789abcdef-4"), "the capture lacks buffers/0123456789abcdef-4"),
        (lambda each: replace(each, content="-"), "did not keep the answer of the FFI handler rms_norm"),
        (lambda each: replace(each, signature=0), "has no answer of the FFI handler rms_norm for this call"),
    ],
    ids=["missing", "not kept", "other call"],
)
def test_a_missing_answer_fails_its_execution(plan: Plan, change: object, message: str) -> None:
    assert callable(change)
    answers = tuple(change(each) if each.target == "rms_norm" else each for each in plan.handler_results)
    verdict = judge(replace(plan, handler_results=answers))
    assert verdict.failed and all(message in each.message for each in verdict.failed)
    assert not verdict.crashes and verdict.compared == 3


def test_a_damaged_content_fails_its_execution(plan: Plan, tmp_path: Path) -> None:
    shutil.copytree(recorded("ffi_replayed.py"), tmp_path / "capture")
    first = plan.handler_results[0]
    (tmp_path / "capture" / "buffers" / first.content).write_bytes(b"\1" * 32)
    verdict = judge(replace(plan, capture=tmp_path / "capture"))
    assert f"buffers/{first.content} is damaged" in verdict.failed[0].message and not verdict.crashes


def test_an_answer_of_another_size_fails_its_execution(plan: Plan) -> None:
    counter = next(each for each in plan.handler_results if each.target == "counter")
    answers = tuple(replace(each, content=counter.content) for each in plan.handler_results)
    verdict = judge(replace(plan, handler_results=answers))
    assert "the recorded answer of the FFI handler rms_norm has another size" in verdict.failed[0].message


@pytest.mark.parametrize(
    "line", ["answer 1 a", "answer 1 a x - -", f"answer 1 a {1 << 63} - -", "answer 1 a 1 - ../../secret"]
)
def test_a_malformed_answer_is_a_damaged_recording(tmp_path: Path, line: str) -> None:
    done = replay(recorded("ffi_replayed.py"), "--step", "1", "-o", tmp_path / "part")
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(tmp_path / "part.fdxreplay") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    description = json.loads(entries["recording.json"])
    description["plan"].insert(0, line)
    with zipfile.ZipFile(tmp_path / "part.fdxreplay", "w") as archive:
        for name, content in (entries | {"recording.json": json.dumps(description).encode()}).items():
            archive.writestr(name, content)
    (tmp_path / "unpacked").mkdir()
    with pytest.raises(DamagedRecordingError):
        read_recording(tmp_path / "part.fdxreplay", tmp_path / "unpacked")
    assert replay(tmp_path / "part.fdxreplay").exit_code == 2


def test_any_target_survives_the_text_of_a_plan() -> None:
    for target in ("scale", "my kernel", "a%2Fb\n", "größe", "\x00"):
        each = HandlerResult(3, target, -(2**63), "0123456789abcdef-4", "-")
        assert HandlerResult.parse(each.text()) == each
