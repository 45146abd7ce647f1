"""A device's memory: its limit, refused and freed allocations, and splitting and merging of blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reading import Call, calls_of
from tests.running import Run, run

MIB = 1 << 20


@pytest.fixture(scope="module")
def program_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`memory.py` run once on a device of 1 MiB."""
    return run("memory.py", folder=tmp_path_factory.mktemp("memory"), FRAMEDEX_HBM=str(MIB))


@pytest.fixture(scope="module")
def result(program_run: Run) -> dict[str, Any]:
    """The program's output."""
    found: dict[str, Any] = program_run.result
    return found


def test_the_memory_limit_is_configurable(result: dict[str, Any]) -> None:
    assert result["limit"] == MIB


def test_an_allocation_over_the_limit_is_resource_exhausted_with_the_memory_in_use(result: dict[str, Any]) -> None:
    larger, one_more = (result["errors"][name] for name in ("larger than the device", "one byte too many"))
    assert larger.startswith("RESOURCE_EXHAUSTED: Out of memory allocating 1048577 bytes in TPU_0:device: 0 of 1048576")
    assert one_more.startswith(
        "RESOURCE_EXHAUSTED: Out of memory allocating 1 bytes in TPU_0:device: 1048576 of 1048576"
    )
    assert "framedex run --hbm" in larger


def test_a_refused_allocation_changes_nothing(result: dict[str, Any]) -> None:
    assert result["in_use"]["after a refusal"] == 0
    assert result["in_use"]["full"] == MIB
    assert result["intact after refusals"] is True


def test_memory_is_freed_on_delete_and_with_the_last_reference(result: dict[str, Any]) -> None:
    assert result["in_use"]["after delete"] == 0
    assert result["in_use"]["dropped by reference counting"] == 0
    assert result["in_use"]["at the end"] == 0
    assert result["usable to the end"] is True


def test_nonadjacent_free_blocks_are_not_merged(result: dict[str, Any]) -> None:
    assert result["in_use"]["every other eighth"] == MIB // 2
    assert result["largest_free"]["every other eighth"] == MIB // 8
    assert "524288 of 1048576 bytes are in use, the largest free block has 131072" in result["errors"]["fragmented"]
    assert result["in_use"]["a hole filled"] == MIB * 5 // 8


def test_adjacent_freed_blocks_are_merged(result: dict[str, Any]) -> None:
    assert result["largest_free"]["three joined"] == MIB * 3 // 8
    assert result["largest_free"]["all joined"] == MIB
    assert result["largest_free"]["at the end"] == MIB


def test_an_allocation_is_a_multiple_of_512_bytes_even_if_empty(result: dict[str, Any]) -> None:
    assert result["in_use"]["one, one, two and one pieces"] == 5 * 512


def test_arrays_keep_their_contents_while_others_are_allocated_and_freed(result: dict[str, Any]) -> None:
    assert result["contents kept"] is True
    assert result["in_use"]["random"] == result["random expected"]


def test_peak_use_and_largest_allocation_are_counted(result: dict[str, Any]) -> None:
    assert (result["peak"], result["largest"]) == (MIB, MIB)


def test_every_allocation_and_release_is_recorded(program_run: Run) -> None:
    allocated, freed = (calls_of(program_run.capture, f"DeviceMemory::{name}") for name in ("Allocate", "Free"))
    refused = [call for call in allocated if call.error]
    assert {call.error for call in refused} == {8}
    assert {call.arguments["address"] for call in refused} == {None}
    kept = live_addresses(allocated, freed)
    assert kept == set()


def test_donated_memory_is_recorded_as_that_of_the_result(tmp_path: Path) -> None:
    """If the results of runs take over two of three arguments, each run says which result is where."""
    capture = run("costs/memory_cases.py", "donates_some", folder=tmp_path).capture
    allocated, handed_over = (calls_of(capture, f"DeviceMemory::{name}") for name in ("Allocate", "HandOver"))
    places = {call.arguments["address"]: call.arguments["bytes"] for call in allocated}

    told = [(call.arguments["bytes"], call.arguments["result"]) for call in handed_over]
    assert sorted(told[:2]) == [(4096, 1), (8192, 0)]
    assert told[2:] == [(8192, 0)]
    assert all(places[call.arguments["address"]] == call.arguments["bytes"] for call in handed_over)
    assert handed_over[-1].arguments["address"] in [call.arguments["address"] for call in handed_over[:-1]]


def live_addresses(allocated: list[Call], freed: list[Call]) -> set[str]:
    """The addresses allocated after all calls, in order of their starts."""
    live: set[str] = set()
    for call in sorted([*(call for call in allocated if not call.error), *freed], key=lambda call: call.start):
        address = call.arguments["address"]
        assert (address in live) == (call.function == "DeviceMemory::Free")
        live ^= {address}
    return live


@pytest.mark.exhaustive(keep=["FRAMEDEX_DEVICES-eight", "FRAMEDEX_HBM--1"])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("FRAMEDEX_DEVICES", "0"),
        ("FRAMEDEX_DEVICES", "16385"),
        ("FRAMEDEX_DEVICES", "eight"),
        ("FRAMEDEX_HBM", "-1"),
        ("FRAMEDEX_HBM", "16GiB"),
        ("FRAMEDEX_HBM", "99999999999999999999"),
    ],
)
def test_a_malformed_setting_is_named(tmp_path: Path, setting: str, value: str) -> None:
    done = run("endings.py", "returns", folder=tmp_path, **{setting: value})
    assert f"framedex: the mock TPU cannot be opened: {setting}={value} is not a number of" in done.stderr
    # JAX falls back to the CPU.
    assert (done.status, done.stdout) == (0, "out\n")


def test_the_exception_has_the_reason_if_no_other_platform_is_allowed(tmp_path: Path) -> None:
    done = run("endings.py", "returns", folder=tmp_path, FRAMEDEX_DEVICES="0", JAX_PLATFORMS="tpu")
    assert done.status == 1
    assert "INVALID_ARGUMENT: FRAMEDEX_DEVICES=0 is not a number of devices from 1 to 16384." in done.stderr
