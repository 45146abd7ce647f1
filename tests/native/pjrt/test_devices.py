"""The simulated machine: its devices, the arrays on them, and its unsupported features."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.reading import calls_of
from tests.running import Run, run


@pytest.fixture(scope="module")
def program_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`devices.py` run once, with eight devices."""
    return run("devices.py", folder=tmp_path_factory.mktemp("devices"), FRAMEDEX_DEVICES="8")


@pytest.fixture(scope="module")
def result(program_run: Run) -> dict[str, Any]:
    """The program's output."""
    found: dict[str, Any] = program_run.result
    return found


def test_eight_devices_form_two_columns(result: dict[str, Any]) -> None:
    places = [[x, y, 0] for y in range(4) for x in range(2)]
    assert result["platform"] == "tpu"
    assert result["devices"] == [[i, "tpu", "TPU v5 lite", place, 0, 0] for i, place in enumerate(places)]


def test_every_device_has_its_memories(result: dict[str, Any]) -> None:
    assert result["memories"] == [["device", "pinned_host", "unpinned_host"]] * 8
    assert result["default_memory"] == "device"


def test_the_version_names_the_mock_and_its_build_date(result: dict[str, Any]) -> None:
    assert "framedex mock TPU\n" in result["version"]
    assert re.search(r"Built on \w{3} \d{2} \d{4} \d{2}:\d{2}:\d{2}", result["version"])


def test_copies_shards_replicas_and_host_memories_keep_their_values(result: dict[str, Any]) -> None:
    assert result["problems"] == []


def test_a_deleted_array_is_unreadable(result: dict[str, Any]) -> None:
    assert "has been deleted" in result["deleted"]


def test_a_kernel_for_real_tpus_is_refused_with_a_remedy(result: dict[str, Any]) -> None:
    assert result["compile"].startswith("UNIMPLEMENTED: framedex's mock TPU does not run Mosaic kernels")
    assert "interpret=True" in result["compile"]


def test_a_refusal_is_recorded_with_its_message(program_run: Run) -> None:
    refused = [call for call in calls_of(program_run.capture, "PJRT_Client_Compile") if call.error]
    assert [call.error for call in refused] == [12]
    assert refused[0].arguments["error_message"].startswith("framedex's mock TPU does not run Mosaic kernels")


def test_an_array_moves_between_devices_without_the_host(program_run: Run) -> None:
    moves = [
        call.arguments
        for call in calls_of(program_run.capture)
        if re.match("PJRT_Buffer_CopyTo(Memory|Device)", call.function)
    ]
    assert len(moves) >= 4
    assert all(move["dst_buffer"] for move in moves)
