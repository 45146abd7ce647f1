"""The mock's cores in JAX 0.4.13: listing, transfers, threads, memory, and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from framedex.model import MergeOutcome
from tests.native.tpu_legacy.conftest import RunLegacy
from tests.reading import Call
from tests.running import Run

pytestmark = pytest.mark.exhaustive

MIB = 1 << 20
TOO_LARGE = 3 * MIB


@pytest.fixture(scope="module")
def program_run(run_legacy: RunLegacy, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`legacy_transfers.py` run once on eight cores of 2 MiB."""
    folder = tmp_path_factory.mktemp("cores")
    return run_legacy("legacy_transfers.py", str(TOO_LARGE), folder=folder, FRAMEDEX_HBM=str(2 * MIB))


def test_eight_cores_are_two_per_chip(result: dict[str, Any]) -> None:
    chips = [[x, y, 0] for y in range(2) for x in range(2)]
    expected = [[2 * chip + core, "TPU v3", place, core] for chip, place in enumerate(chips) for core in range(2)]
    assert result["devices"] == expected


def test_values_survive_a_round_trip(result: dict[str, Any]) -> None:
    assert set(result["kinds"].values()) == {True}
    assert set(result["shapes"].values()) == {True}
    assert result["copied"] == [0, 1, 2, 3, 4, 5]


def test_eight_threads_do_not_interfere(result: dict[str, Any], calls: list[Call]) -> None:
    assert result["threads"] == []
    assert {call.outcome for call in calls} == {MergeOutcome.MERGED}


def test_an_allocation_over_the_limit_is_resource_exhausted_and_others_continue(
    result: dict[str, Any], calls: list[Call]
) -> None:
    assert "RESOURCE_EXHAUSTED: Failed to allocate request for 3.00MiB" in result["too large"]
    assert result["after that"] is True
    failed = [call for call in calls if call.function == "TpuExecutor_Allocate" and call.error]
    assert [(call.error, call.arguments["size"], call.arguments["error_message"]) for call in failed] == [
        (8, TOO_LARGE, "no free block is large enough")
    ]


def test_memory_is_freed(calls: list[Call]) -> None:
    allocated = [call for call in calls if call.function == "TpuExecutor_Allocate" and not call.error]
    assert len(allocated) == len([call for call in calls if call.function == "TpuExecutor_Deallocate"])


def test_arguments_are_decoded(calls: list[Call]) -> None:
    transfers = [call.arguments for call in calls if call.function == "TpuTransferManager_TransferLiteralToDeviceAsync"]
    shapes = {(arguments["literal.shape"], arguments["literal.bytes"]) for arguments in transfers}
    assert {("s32[]", 4), ("f32[0,3]{1,0}", 0), ("c64[3,5]{1,0}", 120), ("s32[2,2,2,2,2,2,2,2]", 1024)} <= {
        (shape.removesuffix("{7,6,5,4,3,2,1,0}"), size) for shape, size in shapes
    }
    cores = [call.arguments for call in calls if call.function == "TpuTopology_NumCores"]
    assert {(arguments["tpu_core_type"], arguments["returned"]) for arguments in cores} == {("TensorCore", 8)}


@pytest.mark.parametrize("cores", [1, 3])
def test_fewer_cores_are_supported(run_legacy: RunLegacy, tmp_path: Path, cores: int) -> None:
    settings = {"FRAMEDEX_DEVICES": str(cores), "FRAMEDEX_DEVICE": "v2"}
    result = run_legacy("legacy_transfers.py", "1", folder=tmp_path, **settings).result
    assert [device[:2] for device in result["devices"]] == [[core, "TPU v2"] for core in range(cores)]
    assert result["threads"] == []


def test_an_impossible_machine_is_a_jax_error(run_legacy: RunLegacy, tmp_path: Path) -> None:
    done = run_legacy("legacy_transfers.py", "1", folder=tmp_path, FRAMEDEX_DEVICES="9", JAX_PLATFORMS="tpu")
    assert done.status == 1
    assert "FRAMEDEX_DEVICES=9 is not a number of cores from 1 to 8" in done.stderr
