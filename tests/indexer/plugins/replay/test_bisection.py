"""The op where a NaN or a difference begins is found with its line, also in loops, branches and shards."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.commands.launching.replayed import MOCK, find_target
from framedex.commands.main import cli
from framedex.plugins.replay.bisection import build_non_finite_mask
from framedex.plugins.replay.isolation import isolate
from framedex.plugins.replay.origins import find_origin
from framedex.plugins.replay.probes import Edit, EditedProgram, Prober
from framedex.plugins.replay.recorded_calls import RecordedCapture, build_plan
from tests.once import made_once
from tests.running import PROGRAMS, Run, run

FAULTY = (PROGRAMS / "faulty_ops.py").read_text()
FAULT_OF_FUNCTION = re.compile(r"^def (\w+)\(x\):(?:.(?!\ndef))*?# fault: (\w+)", re.M | re.S)
FAULTS = {name: (number, kind) for number, (name, kind) in enumerate(FAULT_OF_FUNCTION.findall(FAULTY), 1)}
NOT_A_NUMBER = (PROGRAMS / "nan_ops.py").read_text()


def recorded(program: str) -> Path:
    """The capture of a program. No test changes it."""

    def record(folder: Path) -> Run:
        done = run(program, folder=folder, FRAMEDEX_CONTENTS="all", FRAMEDEX_DEVICES="4")
        assert done.status == 0, done.stderr
        return done

    return made_once(f"bisected {program}", record).capture


def answer(*arguments: str | Path) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["replay", *map(str, arguments), "--json"])
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def marked_line(text: str, name: str) -> int:
    """The line of the first comment `# fault` or `# begins` in a function."""
    start = text.index(f"def {name}(")
    place = re.compile(r"# (?:fault|begins):").search(text, start)
    assert place is not None
    return text.count("\n", 0, place.start()) + 1


def check_origin(found: dict[str, Any], kind: str, line: int) -> dict[str, Any]:
    bisection = found["bisection"]
    assert bisection["problem"] == "", found
    origin: dict[str, Any] = bisection["origin"]
    assert (origin["op"]["kind"], origin["op"]["line"]["location"]["line"]) == (f"stablehlo.{kind}", line), origin
    return origin


def test_there_are_20_faults() -> None:
    assert len(FAULTS) == 20


@pytest.mark.exhaustive(keep=["elementwise", "gradient", "sharded"])
@pytest.mark.parametrize("name", FAULTS)
def test_an_altered_op_is_found_with_its_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    number, kind = FAULTS[name]
    line = marked_line(FAULTY, name)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(PROGRAMS / "op_fault.py"))
    monkeypatch.setenv("FAULT", f"{kind}@{line}")
    found = answer(recorded("faulty_ops.py"), "--step", str(number))
    assert found["status"] == 1
    check_origin(found, kind, line)


def test_a_nan_is_followed_into_a_loop_past_one_that_is_not_used() -> None:
    origin = check_origin(answer(recorded("nan_ops.py"), "--find-nan"), "sqrt", marked_line(NOT_A_NUMBER, "unused_nan"))
    assert origin["element"]["texts"] == ["nan"] and float(origin["operands"][0]["texts"][0]) < 0
    ((loop, iteration),) = [(each["kind"], each["iteration"]) for each in origin["loops"]]
    assert loop == "stablehlo.while" and iteration == 3  # sqrt(sqrt(7 - 2) - 2) - 2 < 0


@pytest.mark.exhaustive
def test_a_nan_inside_shard_map_is_found() -> None:
    found = answer(recorded("nan_ops.py"), "--find-nan", "--step", "2")
    origin = check_origin(found, "subtract", marked_line(NOT_A_NUMBER, "in_shards"))
    assert origin["operands"] == [{"type": "F32", "shape": "4x1", "texts": ["inf"]}] and origin["index"] == 2


def test_a_nan_in_an_argument_names_it() -> None:
    bisection = answer(recorded("nan_ops.py"), "--find-nan", "--step", "3")["bisection"]
    assert bisection["origin"]["op"] is None and bisection["origin"]["argument"] == 0
    assert answer(recorded("nan_ops.py"), "--find-nan", "--step", "3", "--no-bisect")["bisection"] is None


@pytest.mark.exhaustive
def test_a_difference_inside_a_fusion_names_the_fused_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a result of its own, the product ends the fusion at both plug-ins, and the difference disappears."""
    text = (PROGRAMS / "fused_ops.py").read_text()
    fused = text.count("\n", 0, text.index("# fused")) + 1
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(PROGRAMS / "op_fault.py"))
    monkeypatch.setenv("FAULT", f"multiply@{fused}@barrier")
    origin = check_origin(answer(recorded("fused_ops.py")), "add", marked_line(text, "contracted"))
    ((kind, line),) = [(each["kind"], each["line"]["location"]["line"]) for each in origin["fused"]]
    assert (kind, line) == ("stablehlo.multiply", fused)


class CountingProber(Prober):
    described = 0

    def program(self, edits: Sequence[Edit]) -> EditedProgram:
        self.described += 1
        return super().program(edits)


def test_the_search_for_an_iteration_describes_the_program_once(tmp_path: Path) -> None:
    plan = build_plan(RecordedCapture.read(recorded("nan_ops.py")))
    target = find_target(MOCK, sys.executable)
    isolated = isolate(plan, plan.executions[0], target, 0, tmp_path)
    prober = CountingProber(isolated, [target])
    with prober:
        find_origin(prober, 0, build_non_finite_mask(has_nan=True))
    assert prober.described == 3  # as it is, with a limit of iterations, and with the third unrolled


def test_an_op_also_has_the_values_that_its_branches_use(tmp_path: Path) -> None:
    plan = build_plan(RecordedCapture.read(recorded("faulty_ops.py")))
    number = next(number for number, name in enumerate(FAULTS, 1) if name == "branch")
    target = find_target(MOCK, sys.executable)
    isolated = isolate(plan, plan.executions[number - 1], target, 0, tmp_path)
    with Prober(isolated, [target]) as prober:
        program = prober.program(())
    (case,) = (each for each in program.ops if each.kind == "stablehlo.case")
    assert len(case.operands) > 1 and set(case.operands[1:]) <= set(range(min(case.results)))
