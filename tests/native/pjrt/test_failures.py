"""Injected failures: calls, events and devices fail by rules, and nothing else fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading import calls_of
from tests.running import Run, run

PUT = "PJRT_Client_BufferFromHostBuffer"
# Three puts on device 0, one on device 1; then for each array a wait and a read; then a move to device 1.
STEPS = 4 + 4 * 2 + 1


def failing(folder: Path, rules: str) -> Run:
    """`failing.py` under these rules, on three devices."""
    return run("failing.py", folder=folder, FRAMEDEX_DEVICES="3", FRAMEDEX_FAIL=rules)


def failures(done: Run) -> dict[int, str]:
    """The failed steps with their errors."""
    return {index: text for index, text in enumerate(done.result["steps"]) if text != "ok"}


def test_without_rules_nothing_fails(tmp_path: Path) -> None:
    done = failing(tmp_path, "")
    assert done.result == {"steps": ["ok"] * STEPS, "usable": True}


def test_the_nth_call_fails_and_is_recorded_as_the_functions_own_error(tmp_path: Path) -> None:
    done = failing(tmp_path, f"{PUT}:2=RESOURCE_EXHAUSTED:no room today")
    assert failures(done) == {1: "RESOURCE_EXHAUSTED: no room today"}
    assert done.result["usable"] is True
    calls = calls_of(done.capture, PUT)
    assert [call.error for call in calls] == [0, 8, 0, 0, 0]
    assert calls[1].arguments["error_message"] == "no room today"


def test_every_call_from_the_nth_on_fails(tmp_path: Path) -> None:
    done = failing(tmp_path, f"{PUT}:3+=INTERNAL;PJRT_Buffer_CopyToMemory=ABORTED;PJRT_Buffer_CopyToDevice=ABORTED")
    # The program ends with its last put, whose failure it does not handle.
    assert done.status == 1
    assert "INTERNAL: Injected failure (framedex run --fail 'PJRT_Client_BufferFromHostBuffer:3+" in done.stderr
    assert [call.error for call in calls_of(done.capture, PUT)] == [0, 0, 13, 13, 13]


def test_an_event_becomes_an_error(tmp_path: Path) -> None:
    done = failing(tmp_path, "event:PJRT_Buffer_ReadyEvent:1=DATA_LOSS:bits fell out")
    assert failures(done) == {4: "DATA_LOSS: bits fell out"}
    # The call that returns the event does not fail.
    assert {call.error for call in calls_of(done.capture, "PJRT_Buffer_ReadyEvent")} == {0}


def test_a_request_to_a_failed_device_is_unavailable(tmp_path: Path) -> None:
    done = failing(tmp_path, "device:1")
    text = "UNAVAILABLE: TPU_1 has failed. Injected failure (framedex run --fail 'device:1')."
    # The put on device 1, and the move to it; its array was never created.
    assert done.result["steps"].count("ok") == STEPS - 2 - 2
    assert failures(done) == {3: text, STEPS - 1 - 2: text}
    assert done.result["usable"] is True


def test_a_device_fails_after_a_given_time(tmp_path: Path) -> None:
    rules = "device:0@999999ms=INTERNAL;device:1@0ms=INTERNAL:melted"
    assert set(failures(failing(tmp_path, rules)).values()) == {"INTERNAL: TPU_1 has failed. melted"}


REFUSED = {
    "PJRT_Client_Compil=INTERNAL": "does not name a PJRT function that can fail",
    "PJRT_Error_Message=INTERNAL": "does not name a PJRT function that can fail",
    "PJRT_Client_Compile": "has no error code after '='; the codes are CANCELLED, UNKNOWN,",
    "PJRT_Client_Compile=OK": "has no error code after '='",
    "PJRT_Client_Compile:0=INTERNAL": "has no call number after the function, such as :3 or :3+",
    "PJRT_Client_Compile:x=INTERNAL": "has no call number after the function",
    "event:PJRT_Client_Compile=INTERNAL": "does not name a function that returns events; these functions do: PJRT_",
    "device:one": "has no device id after 'device:'",
    "device:1@soon": "has no time or count after '@', such as 100ms or 5executes",
}


@pytest.mark.exhaustive(keep=["PJRT_Client_Compil=INTERNAL", "device:1@soon"])
@pytest.mark.parametrize("rule", REFUSED)
def test_an_invalid_rule_is_refused_with_valid_ones(tmp_path: Path, rule: str) -> None:
    done = run("endings.py", "returns", folder=tmp_path, FRAMEDEX_FAIL=rule)
    assert f"framedex: the mock TPU cannot be opened: the failure '{rule}' {REFUSED[rule]}" in done.stderr


def programs(folder: Path, rules: str) -> dict[str, list[object]]:
    """The end states of the runs on devices 0 and 1."""
    completed: dict[str, list[object]] = run(
        "failing_programs.py", folder=folder, FRAMEDEX_DEVICES="2", FRAMEDEX_FAIL=rules
    ).result
    return completed


RIGHT = [1.0, 2.0, 3.0, 4.0]


def test_a_device_fails_after_a_number_of_programs(tmp_path: Path) -> None:
    completed = programs(tmp_path, "device:1@2executes")
    assert completed["0"] == [RIGHT] * 5
    # The second result is computed, but can no longer be read.
    assert completed["1"][0] == RIGHT
    assert all(str(error).startswith("UNAVAILABLE: TPU_1 has failed.") for error in completed["1"][1:])


def test_a_program_is_refused_by_a_rule(tmp_path: Path) -> None:
    completed = programs(tmp_path, "PJRT_LoadedExecutable_Execute:4=ABORTED:not this one")
    assert completed["0"] == [RIGHT, RIGHT, RIGHT, "ABORTED: not this one", RIGHT]
    assert completed["1"] == [RIGHT] * 5


def test_compiling_runs_out_of_memory_by_a_rule(tmp_path: Path) -> None:
    completed = programs(tmp_path, "PJRT_Client_Compile:1=RESOURCE_EXHAUSTED:too big")
    assert completed["0"] == ["RESOURCE_EXHAUSTED: too big", RIGHT, RIGHT, RIGHT, RIGHT]
