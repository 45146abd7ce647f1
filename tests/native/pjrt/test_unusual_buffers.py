"""Buffers that JAX makes seldom, made through the table: of errors, of other buffers, of memory, in parts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.running import run

DATA_LOSS = ["DATA_LOSS", "the disk is gone"]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The output of `unusual_buffers.py`, run once."""
    found: dict[str, Any] = run("unusual_buffers.py", folder=tmp_path_factory.mktemp("buffers")).result
    return found


def test_a_program_runs_on_an_ordinary_buffer(result: dict[str, Any]) -> None:
    assert result["program"] == [2, 3, 4]


def test_an_error_buffer_propagates_its_error(result: dict[str, Any]) -> None:
    error = result["error"]
    assert (error["reading"], error["computing"], error["copying"]) == (DATA_LOSS, DATA_LOSS, DATA_LOSS)


def test_an_error_keeps_its_payloads(result: dict[str, Any]) -> None:
    assert result["error"]["payloads"] == {"where": "rack 7"}


def test_creating_an_error_buffer_requires_an_error(result: dict[str, Any]) -> None:
    assert result["error"]["without one"] == "INVALID_ARGUMENT"


def test_users_of_an_alias_wait_until_it_is_fulfilled(result: dict[str, Any]) -> None:
    assert result["alias"]["before"] == [False, False]
    assert result["alias"]["after"] == [[4, 5, 6], [5, 6, 7]]


def test_an_alias_accepts_a_result_or_an_error_but_no_other_shape(result: dict[str, Any]) -> None:
    assert result["alias"]["of a result"] == [8, 9, 10]
    assert result["alias"]["of an error"] == DATA_LOSS
    assert result["alias"]["of another shape"] == "INVALID_ARGUMENT"


def test_a_view_reads_the_callers_memory_and_releases_it(result: dict[str, Any]) -> None:
    assert result["view"] == {"read": [10, 1, 2], "held": [], "given back": [[True, 42]]}


def test_a_bitcast_keeps_the_bytes_and_the_source(result: dict[str, Any]) -> None:
    one, two, three = 0x3F800000, 0x40000000, 0x40400000
    assert result["bitcast"] == {
        "bytes": [0, 0, 0x80, 0x3F],
        "of a result": [one, two, three],
        "source stays": [1, 2, 3],
        "another size": "INVALID_ARGUMENT",
        "small elements": "UNIMPLEMENTED",
    }


def test_a_dependent_donation_is_ready_once_its_condition_is_met(result: dict[str, Any]) -> None:
    assert result["donated"] == {
        "donor is deleted": True,
        "before": False,
        "after": [2, 3, 4],
        "twice": "FAILED_PRECONDITION",
        "failed": DATA_LOSS,
    }


def test_a_raw_copy_waits_for_its_target(result: dict[str, Any]) -> None:
    assert result["raw"] == {
        "before": False,
        "error": None,
        "after": [2, 3],
        "failed": DATA_LOSS,
        "beyond": "INVALID_ARGUMENT",
    }


def test_a_transfer_manager_describes_its_buffers(result: dict[str, Any]) -> None:
    transfer = result["transfer"]
    assert (transfer["count"], transfer["size"], transfer["device"]) == (3, 16, True)
    assert transfer["before"] == [False] * 4


def test_buffers_are_ready_after_their_last_part_or_error(result: dict[str, Any]) -> None:
    transfer = result["transfer"]
    assert (transfer["data"], transfer["literal"]) == ([1, 2, 3, 4], [1, 2, 3, 4])
    assert (transfer["error"], transfer["computed with it"]) == (DATA_LOSS, DATA_LOSS)


def test_an_invalid_transfer_is_refused(result: dict[str, Any]) -> None:
    transfer = result["transfer"]
    assert transfer["beyond"] == transfer["no such buffer"] == transfer["retrieved twice"] == "INVALID_ARGUMENT"
    assert transfer["more after the last"] == "FAILED_PRECONDITION"
