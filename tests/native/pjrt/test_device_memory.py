"""The memory of a device: its limit, what is refused, what comes back, and how blocks are cut and joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reading import Call, calls_of
from tests.running import Run, run

MIB = 1 << 20


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`memory.py` run once on a device of 1 MiB."""
    return run("memory.py", folder=tmp_path_factory.mktemp("memory"), FRAMEDEX_HBM=str(MIB))


@pytest.fixture(scope="module")
def result(ran: Run) -> dict[str, Any]:
    """What it printed."""
    found: dict[str, Any] = ran.result
    return found


def test_the_limit_is_the_one_asked_for(result: dict[str, Any]) -> None:
    assert result["limit"] == MIB


def test_over_the_limit_is_resource_exhausted_and_says_what_is_in_use(result: dict[str, Any]) -> None:
    larger, one_more = (result["errors"][name] for name in ("larger than the device", "one byte too many"))
    assert larger.startswith("RESOURCE_EXHAUSTED: Out of memory allocating 1048577 bytes in TPU_0:device: 0 of 1048576")
    assert one_more.startswith(
        "RESOURCE_EXHAUSTED: Out of memory allocating 1 bytes in TPU_0:device: 1048576 of 1048576"
    )
    assert "framedex run --hbm" in larger


def test_a_refusal_changes_nothing(result: dict[str, Any]) -> None:
    assert result["in_use"]["after a refusal"] == 0
    assert result["in_use"]["full"] == MIB
    assert result["intact after refusals"] is True


def test_memory_comes_back_on_delete_and_when_the_last_reference_goes(result: dict[str, Any]) -> None:
    assert result["in_use"]["after delete"] == 0
    assert result["in_use"]["dropped by reference counting"] == 0
    assert result["in_use"]["at the end"] == 0
    assert result["usable to the end"] is True


def test_free_blocks_that_do_not_touch_hold_nothing_larger_than_one(result: dict[str, Any]) -> None:
    assert result["in_use"]["every other eighth"] == MIB // 2
    assert result["largest_free"]["every other eighth"] == MIB // 8
    assert "524288 of 1048576 bytes are in use, the largest free block has 131072" in result["errors"]["fragmented"]
    assert result["in_use"]["a hole filled"] == MIB * 5 // 8


def test_neighbours_are_joined_when_freed(result: dict[str, Any]) -> None:
    assert result["largest_free"]["three joined"] == MIB * 3 // 8
    assert result["largest_free"]["all joined"] == MIB
    assert result["largest_free"]["at the end"] == MIB


def test_a_place_is_a_multiple_of_512_bytes_even_for_nothing(result: dict[str, Any]) -> None:
    assert result["in_use"]["one, one, two and one pieces"] == 5 * 512


def test_arrays_keep_their_contents_while_others_come_and_go(result: dict[str, Any]) -> None:
    assert result["contents kept"] is True
    assert result["in_use"]["random"] == result["random expected"]


def test_the_highest_use_and_the_largest_array_are_remembered(result: dict[str, Any]) -> None:
    assert (result["peak"], result["largest"]) == (MIB, MIB)


def test_every_allocation_and_release_is_recorded(ran: Run) -> None:
    allocated, freed = (calls_of(ran.capture, f"DeviceMemory::{name}") for name in ("Allocate", "Free"))
    refused = [call for call in allocated if call.error]
    assert {call.error for call in refused} == {8}
    assert {call.arguments["address"] for call in refused} == {None}
    kept = live_addresses(allocated, freed)
    assert kept == set()


def test_donated_memory_is_told_to_be_a_results(tmp_path: Path) -> None:
    """Given runs whose results take over two of three arguments, then each says which result is where from then on."""
    capture = run("costs/memory_cases.py", "donates_some", folder=tmp_path).capture
    allocated, handed_over = (calls_of(capture, f"DeviceMemory::{name}") for name in ("Allocate", "HandOver"))
    places = {call.arguments["address"]: call.arguments["bytes"] for call in allocated}

    told = [(call.arguments["bytes"], call.arguments["result"]) for call in handed_over]
    assert sorted(told[:2]) == [(4096, 1), (8192, 0)]
    assert told[2:] == [(8192, 0)]
    assert all(places[call.arguments["address"]] == call.arguments["bytes"] for call in handed_over)
    assert handed_over[-1].arguments["address"] in [call.arguments["address"] for call in handed_over[:-1]]


def live_addresses(allocated: list[Call], freed: list[Call]) -> set[str]:
    """The addresses that are allocated after all calls, in the order of their starts."""
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
def test_a_setting_that_makes_no_sense_is_named(tmp_path: Path, setting: str, value: str) -> None:
    done = run("endings.py", "returns", folder=tmp_path, **{setting: value})
    assert f"framedex: the mock TPU cannot be opened: {setting}={value} is not a number of" in done.stderr
    # JAX goes on with the CPU.
    assert (done.status, done.stdout) == (0, "out\n")


def test_with_no_other_platform_allowed_the_reason_is_in_the_exception(tmp_path: Path) -> None:
    done = run("endings.py", "returns", folder=tmp_path, FRAMEDEX_DEVICES="0", JAX_PLATFORMS="tpu")
    assert done.status == 1
    assert "INVALID_ARGUMENT: FRAMEDEX_DEVICES=0 is not a number of devices from 1 to 16384." in done.stderr
