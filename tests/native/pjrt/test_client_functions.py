"""Functions of clients, devices and memories that JAX calls seldom or never, called through the table."""

from __future__ import annotations

from typing import Any

import pytest

from tests.running import run


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """`client_functions.py` run once, as the second of two hosts of four devices each."""
    settings = {"FRAMEDEX_DEVICE": "v5e:4x2", "FRAMEDEX_HOSTS": "2", "FRAMEDEX_HOST_ID": "1"}
    found: dict[str, Any] = run(
        "client_functions.py", folder=tmp_path_factory.mktemp("client"), FRAMEDEX_HBM="1048576", **settings
    ).result
    return found


def test_devices_are_found_by_global_and_local_id(result: dict[str, Any]) -> None:
    assert result["process_index"] == 1
    assert result["ids"] == [0, 1, 4, 5, 2, 3, 6, 7]
    assert result["local"] == result["found_by_hardware_id"] == [2, 3, 6, 7]
    assert result["hardware_ids"] == [-1] * 4 + [0, 1, 2, 3]
    assert result["found_by_id"] is True


def test_an_unknown_id_is_named(result: dict[str, Any]) -> None:
    assert result["no_such_id"] == ["INVALID_ARGUMENT", "no device with id 1000; there are 8 devices"]
    assert result["no_such_hardware_id"][0] == "INVALID_ARGUMENT"


def test_memories_have_the_same_kinds_as_on_a_tpu(result: dict[str, Any]) -> None:
    kinds = [["device", -569941144], ["pinned_host", -1650963262], ["unpinned_host", -2062524483]]
    assert [memory[1:3] for memory in result["memories"]] == kinds * 4
    assert [memory[0] for memory in result["memories"]] == list(range(12))
    assert result["memories"][0][3:] == ["TPU_2:device", [2]]


def test_devices_of_other_processes_have_no_local_memory(result: dict[str, Any]) -> None:
    foreign = result["foreign"]
    assert foreign.pop("memories") == []
    for name, (code, message) in foreign.items():
        assert code == "INVALID_ARGUMENT"
        assert message == (
            f"{name} is only supported for addressable devices; TPU_0(process=0,(0,0,0,0)) belongs to process 0."
        )


def test_programs_are_assigned_to_local_devices_if_enough(result: dict[str, Any]) -> None:
    assert result["assignments"]["local"] == result["local"]
    assert result["assignments"]["all"] == result["ids"]
    assert result["assignments"]["too many"][0] == "INVALID_ARGUMENT"


def test_reset_statistics_start_at_the_current_use(result: dict[str, Any]) -> None:
    assert result["statistics"] == {"before": [1024, 1024 + 5120, 2, 5120], "cleared": [1024, 1024, 0, 0]}


def test_memory_is_mapped_once_and_unmapped_once(result: dict[str, Any]) -> None:
    first, overlapping, beside, unmapped, again = result["dma"]
    assert (first, beside, unmapped) == ("ok", "ok", "ok")
    assert overlapping == ["INVALID_ARGUMENT", "PJRT_Client_DmaMap of memory that is mapped already."]
    assert again == ["INVALID_ARGUMENT", "PJRT_Client_DmaUnmap of memory that is not mapped."]


def test_a_tracking_event_is_made_and_destroyed(result: dict[str, Any]) -> None:
    assert result["tracking_event"] == [True, "ok"]
