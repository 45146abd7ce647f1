"""A recording is reduced to a small one that still shows a fault."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from framedex.base import untrusted
from framedex.base.regularfile import open_regular
from framedex.captures import content_name, read_stored_buffer, write_stored_buffer
from framedex.commands.launching.replayed import MOCK, find_reference, find_target
from framedex.commands.main import cli
from framedex.plugins.replay.comparison import Tolerance
from framedex.plugins.replay.plan import UNKNOWN, Machine, Operation, Plan
from framedex.plugins.replay.probes import EditedProgram
from framedex.plugins.replay.recorded_calls import RecordedCapture, build_plan
from framedex.plugins.replay.recording_file import DamagedRecordingError, StoredLines, read_recording, write_recording
from framedex.plugins.replay.reduction import Fault, Trial, reduce_plan
from framedex.plugins.replay.reduction import _find_cone as cone
from framedex.plugins.replay.runner import Array
from framedex.plugins.replay.standalone import SCRIPT_HEAD, build_standalone_script
from tests.indexer.plugins.replay.test_bisection import FAULTS
from tests.indexer.plugins.replay.test_bisection import recorded as recorded_for_bisection
from tests.indexer.plugins.replay.test_replay import CRASH, line_of, recorded
from tests.running import PROGRAMS, plain_environment

NAN_IN_THE_LAST = """\
import os
from framedex_native.behaviour import runs


@runs("jit_step")
def alter(program):
    program.run()
    *others, value = program.outputs
    if len(others) == 2 and value == float(os.environ["LAST"]):
        program.outputs = (*others, value * float("nan"))
"""


def reduce(tmp_path: Path, keep: str, name: str) -> Result:
    return CliRunner().invoke(cli, ["reduce", str(recorded(name)), "--keep", keep, "-o", str(tmp_path / "small")])


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["replay", *map(str, arguments)])


@pytest.mark.exhaustive
def test_a_difference_is_reduced_to_one_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(PROGRAMS / "op_fault.py"))
    monkeypatch.setenv("FAULT", f"tanh@{line_of('jnp.tanh(x @ weights')}")
    done = reduce(tmp_path, "differs", "trained")
    assert done.exit_code == 0, done.stderr
    assert "4 executions to 1 execution" in done.stdout and "ops to 1" in done.stdout
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--json").stdout)
    assert (found["status"], found["executions"], len(found["differences"])) == (1, 1, 1)
    origin = found["bisection"]["origin"]
    assert origin["op"]["kind"] == "stablehlo.tanh"
    assert origin["op"]["line"]["location"]["line"] == line_of("jnp.tanh(x @ weights")
    monkeypatch.delenv("FRAMEDEX_BEHAVIOUR")
    assert replay(tmp_path / "small.fdxreplay").exit_code == 0
    script = [sys.executable, str(tmp_path / "small.py")]
    shown = subprocess.run(
        script, env=plain_environment() | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, check=True
    )
    here, expected = shown.stdout.split("expected")
    assert (
        here.removeprefix("here").split() == expected.split()
        and "stablehlo.tanh" in (tmp_path / "small.py").read_text()
    )


@pytest.mark.exhaustive
def test_a_nan_is_reduced_to_one_op(tmp_path: Path) -> None:
    done = reduce(tmp_path, "nan", "not_a_number")
    assert "3 executions to 1 execution" in done.stdout and "op to 1\n" in done.stdout
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--find-nan", "--json").stdout)
    assert found["bisection"]["origin"]["op"]["kind"] == "stablehlo.log"


def trial_at_the_mock(fault: Fault) -> Trial:
    target = find_target(MOCK, sys.executable)
    return Trial(fault, (target, target), Tolerance(), 0, is_recorded=True)


def test_an_infinity_is_reduced_to_one_op(tmp_path: Path) -> None:
    plan = build_plan(RecordedCapture.read(recorded_for_bisection("nan_ops.py"))).restrict(4, 4)
    reduction = reduce_plan(plan, trial_at_the_mock(Fault.NAN), tmp_path)
    assert reduction.problem == "" and reduction.ops == (3, 1)
    assert "stablehlo.exponential" in reduction.text


def test_a_fault_that_probes_hide_is_reduced_to_its_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = build_plan(RecordedCapture.read(recorded("trained")))
    (last,) = np.frombuffer(read_stored_buffer(plan.capture, list(plan.reads.values())[-1]) or b"", np.float32)
    (tmp_path / "fault.py").write_text(NAN_IN_THE_LAST)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "fault.py"))
    monkeypatch.setenv("LAST", str(float(last)))
    done = reduce(tmp_path, "nan", "trained")
    assert "4 executions to 1 execution" in done.stdout, done.stderr
    assert "not cut: with the values inside it as results, its own result is right" in done.stdout


def test_a_failing_execution_is_isolated_also_if_the_reference_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRAMEDEX_FAIL", "PJRT_LoadedExecutable_Execute=INTERNAL:lost")
    plan = build_plan(RecordedCapture.read(recorded("trained")))
    reduction = reduce_plan(plan, trial_at_the_mock(Fault.ERROR), tmp_path)
    assert reduction.problem == "lost"
    assert len(reduction.plan.executions) == 1 and set(reduction.plan.reads.values()) == {UNKNOWN}


def test_an_op_whose_value_cannot_be_an_argument_is_kept() -> None:
    ops = [("custom_call", [0], [1]), ("custom_call", [1], [2]), ("negate", [2], [3])]
    described = {
        "ops": [
            {"kind": f"stablehlo.{kind}", "location": "", "operands": operands, "results": results, "passes": False}
            for kind, operands, results in ops
        ],
        "values": [{"op": number, "size": size} for number, size in enumerate((4, -1, -1, 4), -1)],
        "returned": [3],
        "edited": [],
    }
    assert cone(EditedProgram.parse(described), 3, 1) == ([0], 3)


@pytest.mark.exhaustive(keep=["tanh@execute@crash", "tanh@compile@error"])
@pytest.mark.parametrize(
    "fails", [f"tanh@{when}@{how}" for when in ("compile", "execute") for how in ("crash", "error")]
)
def test_a_failure_is_reduced_to_the_op_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(PROGRAMS / "op_failure.py"))
    monkeypatch.setenv("FAILS", fails)
    _, when, how = fails.split("@")
    done = reduce(tmp_path, how, "trained")
    assert done.exit_code == 0, done.stderr
    assert f"4 executions to {int(when == 'execute')} execution" in done.stdout and "ops to 1\n" in done.stdout
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--json").stdout)
    shown = [each["reason"] for each in found["crashes"]] + [each["message"] for each in found["failed"]]
    assert len(shown) == 1 and ("SIGABRT" if how == "crash" else "tanh fails") in shown[0]
    assert "stablehlo.tanh" in (tmp_path / "small.py").read_text()
    monkeypatch.delenv("FRAMEDEX_BEHAVIOUR")
    assert replay(tmp_path / "small.fdxreplay").exit_code == 0


@pytest.mark.exhaustive(keep=["while_loop-execute"])
@pytest.mark.parametrize(
    ("name", "when"), [("while_loop", "execute"), ("nested_loops", "execute"), ("branch_in_loop", "compile")]
)
def test_a_failure_in_a_body_is_reduced_to_the_op(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, when: str
) -> None:
    number, kind = FAULTS[name]
    plan = build_plan(RecordedCapture.read(recorded_for_bisection("faulty_ops.py"))).restrict(number, number)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(PROGRAMS / "op_failure.py"))
    monkeypatch.setenv("FAILS", f"{kind}@{when}@error")
    target = find_target(MOCK, sys.executable)
    trial = Trial(Fault.ERROR, (target, find_reference(target)), Tolerance(), 0, is_recorded=True)
    reduction = reduce_plan(plan, trial, tmp_path)
    assert reduction.problem == "" and reduction.ops is not None and reduction.ops[1] == 1, reduction.text
    assert f"stablehlo.{kind}" in reduction.text
    assert not any(each in reduction.text for each in ("stablehlo.while", "stablehlo.case"))


@pytest.mark.exhaustive
def test_a_crash_is_reduced_to_its_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crash.py").write_text(CRASH)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "crash.py"))
    done = reduce(tmp_path, "crash", "trained")
    assert "4 executions to 1 execution" in done.stdout, done.stderr
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--json").stdout)
    assert "SIGABRT" in found["crashes"][0]["reason"]
    assert found["crashes"][0]["call"]["line"]["location"]["line"] == line_of("weights, value = step(")


def test_a_compile_error_is_reduced_to_the_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_FAIL", "PJRT_Client_Compile=RESOURCE_EXHAUSTED:too large")
    done = reduce(tmp_path, "error", "trained")
    assert "4 executions to 0 executions" in done.stdout, done.stderr
    assert "too large" in replay(tmp_path / "small.fdxreplay").stdout


def test_a_recording_without_the_fault_is_refused(tmp_path: Path) -> None:
    done = reduce(tmp_path, "differs", "jitted")
    assert done.exit_code == 2 and "does not show this fault: differs" in done.stderr
    assert not list(tmp_path.iterdir())


GOOD = {"format": "framedex-recording", "version": 1, "command": "", "machine": ["", 1], "plan": [], "seed": 3}
GOOD |= {"reads": {}, "programs": {}, "calls": {}}


def write(file: Path, changed: dict[str, Any], entries: dict[str, bytes] | None = None) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("recording.json", json.dumps(GOOD | changed))
        for name, content in (entries or {}).items():
            archive.writestr(name, content)


def test_a_damaged_file_ends_in_a_message(tmp_path: Path) -> None:
    file = tmp_path / "small.fdxreplay"
    changes: list[dict[str, Any]] = [
        {"version": 2},
        {"plan": ["execute 1 2"]},
        {"plan": ["execute 1 2 0 -1 -1 -1 1"]},
        {"plan": ["execute 1 2 0 -1 9 9 9 1"]},
        {"plan": ["send 1 5"]},
        {"plan": ["send 1 5 0 - F32 - 0", "read 2 5 -", "read 2 5 -"]},
        {"plan": ["copy 1 5 5 0 -"]},
        {"plan": ["send 1 5 0 - F32 - 0", "copy 2 6 5 0 -", "copy 3 5 6 0 -"]},
        {"plan": ["send 1 5 0 - F32 ../../secret 0"]},
        {"plan": ["send 1 5 0 - F32\nread - 0"]},
        {"plan": 5},
        {"machine": 3},
        {"machine": ["TPU\0", 1]},
        {"machine": ["TPU \udc80", 1]},
        {"machine": ["TPU", float("inf")]},
        {"reads": []},
        {"calls": {"a": 1}},
    ]
    for changed in changes:
        write(file, changed)
        with pytest.raises(DamagedRecordingError):
            read_recording(file, tmp_path / "capture")
    file.write_bytes(file.read_bytes()[:-30])
    done = replay(file)
    assert done.exit_code == 2 and "is not a recording, or is damaged" in done.stderr
    assert {each.name for each in tmp_path.iterdir()} <= {"small.fdxreplay", "capture"}


def test_a_file_of_another_version_names_both(tmp_path: Path) -> None:
    write(tmp_path / "small.fdxreplay", {"version": 2})
    done = replay(tmp_path / "small.fdxreplay")
    assert done.exit_code == 2
    assert "its format has version 2, and this framedex reads version 1" in " ".join(done.stderr.split())


def test_an_entry_is_only_what_its_name_says(tmp_path: Path) -> None:
    file, content = tmp_path / "small.fdxreplay", b"content"
    name = content_name(content)
    write(file, {}, {f"buffers/{name}": content})
    assert read_recording(file, tmp_path / "good")[3] == 3
    zeros = bytes(64 << 20)  # they compress to a thousandth
    bad = (f"buffers/{name}", b"changed"), ("buffers/../../out", content), (f"buffers/{content_name(zeros)}", zeros)
    for entry, changed in bad:
        write(file, {}, {entry: changed})
        with pytest.raises(DamagedRecordingError):
            read_recording(file, tmp_path / "bad")
    assert {each.name for each in tmp_path.iterdir()} == {"small.fdxreplay", "good", "bad"}


def test_a_file_is_not_opened_for_each_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, opened = tmp_path / "small.fdxreplay", []
    contents = [bytes([each]) for each in range(20)]
    write(file, {}, {f"buffers/{content_name(each)}": each for each in contents})

    def count(path: Path) -> IO[bytes]:
        opened.append(path)
        return open_regular(path)

    monkeypatch.setattr(untrusted, "open_regular", count)
    read_recording(file, tmp_path / "capture")
    assert len(opened) < len(contents)
    assert [read_stored_buffer(tmp_path / "capture", content_name(each)) for each in contents] == contents


def test_zeros_and_the_seed_return_from_a_file(tmp_path: Path) -> None:
    zeros, source = bytes(20 << 20), tmp_path / "source"
    name = write_stored_buffer(source, zeros)
    send, unknown = (Operation.parse(f"send {number} {number} 0 - S8 {of} 1 7") for number, of in ((5, name), (6, "-")))
    plan = Plan(source, Machine("", 1), (send, unknown), (), {}, {})
    with (tmp_path / "small.fdxreplay").open("wb") as file:
        write_recording(file, plan, StoredLines({}), "train", 7)
    found, _, command, seed = read_recording(tmp_path / "small.fdxreplay", tmp_path / "read")
    assert (found.operations, found.seeded, command, seed) == (plan.operations, 1, "train", 7)
    assert read_stored_buffer(tmp_path / "read", name) == zeros


def test_a_script_executes_nothing_of_its_texts() -> None:
    evil = '"""\nraise SystemExit("evil")\n"""\u2028\\'
    array = Array(0, 0, "F32", "1", "", bytes(4))
    script = build_standalone_script(evil, evil, [array], None)
    assert script is not None and script.startswith(SCRIPT_HEAD)
    assert {"COMMAND": evil, "PROGRAM": evil}.items() <= {
        each.targets[0].id: ast.literal_eval(each.value)
        for each in ast.parse(script).body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id.isupper()
    }.items()
    assert not [each for each in ast.walk(ast.parse(script)) if isinstance(each, ast.Raise)]
    assert build_standalone_script("", "", [], Array(0, 0, "F32", "1", "", bytes(2 << 20))) is None


def test_a_file_of_the_user_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("import jax\n")
    done = reduce(tmp_path, "nan", "trained")
    assert done.exit_code == 2 and "small.py exists, and framedex did not write it." in done.stderr
    assert (tmp_path / "small.py").read_text() == "import jax\n"
