"""The table itself: every entry exists, is traced, and returns an error if unimplemented."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.pythons import ROOT
from tests.reading import calls_of
from tests.running import Run, run


@pytest.fixture(scope="module")
def program_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`table.py` run once: it calls every function that the mock's sources do not assign."""
    sources = "".join(path.read_text() for path in sorted((ROOT / "native" / "pjrt" / "mock").rglob("*.cc")))
    implemented = set(re.findall(r"\bapi\.(PJRT_\w+) =", sources))
    functions = re.findall(r'"name": "(PJRT_\w+)",\s+"args"', (ROOT / "native/abi/pjrt_c_api.json").read_text())
    return run(
        "table.py", *(name for name in functions if name not in implemented), folder=tmp_path_factory.mktemp("table")
    )


@pytest.fixture(scope="module")
def result(program_run: Run) -> dict[str, Any]:
    """The program's output."""
    found: dict[str, Any] = program_run.result
    return found


def test_no_entry_of_the_table_is_null(result: dict[str, Any]) -> None:
    assert result["slots"] == result["functions"]
    assert len(result["slots"]) == 138


def test_an_unimplemented_function_says_so_by_name(result: dict[str, Any]) -> None:
    assert result["answers"]
    assert result["answers"] == {
        name: ["UNIMPLEMENTED", f"{name} is not implemented by framedex's mock TPU."] for name in result["answers"]
    }


def test_the_process_continues_after_all_of_them(result: dict[str, Any]) -> None:
    assert result["devices_after"] == 1


def test_every_unimplemented_call_is_recorded_with_its_error(program_run: Run, result: dict[str, Any]) -> None:
    recorded = {call.function: call for call in calls_of(program_run.capture) if call.error == 12}
    assert set(recorded) == set(result["answers"])
    assert all(call.arguments["error_message"].startswith(name) for name, call in recorded.items())


def test_nothing_is_written_beyond_the_callers_struct(result: dict[str, Any]) -> None:
    assert result["written_beyond"] is False
