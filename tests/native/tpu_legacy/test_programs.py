"""Programs of JAX 0.4.13: run by jaxlib's own CPU client, or refused; never a wrong result."""

from __future__ import annotations

from typing import Any

import pytest

from framedex.model import MergeOutcome
from tests.native.tpu_legacy.conftest import RunLegacy
from tests.reading import Call
from tests.running import Run

pytestmark = pytest.mark.exhaustive

CORES = 8


@pytest.fixture(scope="module")
def program_run(run_legacy: RunLegacy, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`legacy_programs.py` run once on eight cores."""
    return run_legacy("legacy_programs.py", folder=tmp_path_factory.mktemp("programs"), FRAMEDEX_DEVICES=str(CORES))


def test_results_are_correct(result: dict[str, Any]) -> None:
    assert result["several results"] == [[[4, 4], [13, 13]], 15, {"positive": [[0, 1, 1], [1, 1, 1]]}]
    assert result["gradient"] == [0, 3, 12]
    assert result["scan"] == [10, [0, 0, 2, 9, 24]]
    assert result["bfloat16"] == [1, 2, 3]
    assert result["no elements"] == [0, 3]


def test_concurrent_compilations_and_runs_do_not_interfere(result: dict[str, Any], calls: list[Call]) -> None:
    assert result["threads"] == []
    assert {call.outcome for call in calls} == {MergeOutcome.MERGED}


def test_a_donated_argument_is_deleted_and_its_memory_freed(result: dict[str, Any], calls: list[Call]) -> None:
    assert result["donated"] == [[0, 2, 4, 6], True, CORES - 1]
    allocated = [call.arguments["returned"] for call in calls if call.function == "TpuExecutor_Allocate"]
    freed = [call.arguments["memory"] for call in calls if call.function == "TpuExecutor_Deallocate"]
    assert sorted(allocated) == sorted(freed)


def test_each_core_runs_its_part_of_a_pmap(result: dict[str, Any], calls: list[Call]) -> None:
    assert result["each core"] == [10 * core for core in range(CORES)]
    executions = [call.arguments for call in calls if call.function == "TpuExecutable_ExecuteAsyncOnStream"]
    ordinals = [arguments["se_output.result.device_ordinal"] for arguments in executions]
    assert set(ordinals) == set(range(CORES))


@pytest.mark.parametrize(
    ("program", "reason"),
    [("collective", "has all-reduce"), ("custom call", "has custom-call"), ("partitioned", "one is for several cores")],
)
def test_programs_that_leave_one_core_are_refused(result: dict[str, Any], program: str, reason: str) -> None:
    assert "UNIMPLEMENTED: The mock TPU runs programs of JAX 0.4.13 that stay on one core" in result[program]
    assert reason in result[program]


def test_program_arguments_and_results_are_decoded(calls: list[Call]) -> None:
    execution = next(
        call.arguments
        for call in calls
        if call.function == "TpuExecutable_ExecuteAsyncOnStream" and "f32[2,3]" in call.arguments["se_arguments"]
    )
    assert execution["se_arguments"] == "f32[2,3]{1,0}, f32[3,2]{1,0}"
    assert execution["se_output.result.shape"] == "(f32[2,2]{1,0}, f32[], pred[2,3]{1,0})"
    assert len(execution["se_output.result.bases"]) == 4
    refused = [call for call in calls if call.function == "TpuCompiler_RunBackend" and call.error]
    assert {call.error for call in refused} == {12}
    assert all("stay on one core" in call.arguments["error_message"] for call in refused)
