"""Findings of `check` in programs that died by a signal, ran out of memory, or donated in vain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.captures import CaptureStream, read_capture_state
from framedex.commands.main import cli
from tests.indexer.unplaced import index_without_sources
from tests.run.costs.cases import line_marked
from tests.run.costs.compiling import NOTED
from tests.run.invoking import framedex_run
from tests.running import PROGRAMS, run

_NOISE = ("alive", "leak")


def findings(index: Path) -> list[dict[str, Any]]:
    """The findings of an index, without objects left at program exit."""
    ignored = [word for kind in _NOISE for word in ("--ignore", kind)]
    done = CliRunner().invoke(cli, ["--index", str(index), "check", "--json", *ignored])
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


def ended(folder: Path, how: str) -> list[dict[str, Any]]:
    """The findings of `endings.py HOW`."""
    made = framedex_run(str(PROGRAMS / "endings.py"), how, folder=folder)
    index_without_sources(folder / "index.db", folder / made.capture)
    return findings(folder / "index.db")


def test_a_crash_in_a_call_is_an_error_with_its_line(tmp_path: Path) -> None:
    (crash,) = ended(tmp_path, "segfaults_in_a_call")
    assert (crash["kind"], crash["severity"]) == ("crash", "error")
    assert crash["function"] == "PJRT_Client_BufferFromHostBuffer"
    assert crash["message"] == "had not returned when SIGSEGV ended the program"
    assert crash["line"]["function"] == "segfaults_in_a_call"


def test_a_crash_between_calls_is_an_error(tmp_path: Path) -> None:
    (crash,) = ended(tmp_path, "aborts")
    assert (crash["kind"], crash["severity"], crash["count"]) == ("crash", "error", 1)
    assert crash["message"] == "was the latest call before SIGABRT ended the program"


@pytest.mark.exhaustive
def test_a_terminated_program_did_not_crash(tmp_path: Path) -> None:
    assert ended(tmp_path, "is_terminated") == []


def test_a_capture_indexed_before_the_end_is_updated(tmp_path: Path) -> None:
    made = framedex_run(str(PROGRAMS / "endings.py"), "aborts", folder=tmp_path)
    capture, index = tmp_path / made.capture, tmp_path / "index.db"
    end = (capture / "end.json").read_text()
    (capture / "end.json").unlink()
    before = read_capture_state(capture)
    index_without_sources(index, capture)
    assert findings(index) == []
    (capture / "end.json").write_text(end)
    assert read_capture_state(capture).signature != before.signature
    index_without_sources(index, capture)
    assert [each["kind"] for each in findings(index)] == ["crash"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"signal": 11}', "null"])
def test_a_malformed_end_counts_as_missing(tmp_path: Path, content: str) -> None:
    capture = tmp_path / "capture"
    capture.mkdir()
    metadata = {"format": "framedex-capture", "version": 3}
    (capture / "capture.json").write_text(json.dumps(metadata))
    (capture / "end.json").write_text(content)
    assert CaptureStream(capture).capture.metadata.ended_by is None


def test_exhausted_device_memory_is_an_error(tmp_path: Path) -> None:
    rule = "PJRT_Client_BufferFromHostBuffer:3=RESOURCE_EXHAUSTED:no room"
    made = run("endings.py", "returns", folder=tmp_path, FRAMEDEX_FAIL=rule)
    index_without_sources(tmp_path / "index.db", made.capture)
    (found,) = findings(tmp_path / "index.db")
    assert (found["kind"], found["severity"]) == ("error", "error")
    assert found["message"] == "returned RESOURCE_EXHAUSTED: no room"


def test_unusable_donations_are_found(tmp_path: Path) -> None:
    made = run("donations.py", folder=tmp_path, **NOTED)
    assert made.status == 0, made.stderr
    index_without_sources(tmp_path / "index.db", made.capture)
    by_function = {each["function"]: each for each in findings(tmp_path / "index.db")}
    expected = {
        "left_to_xla": ("left to XLA", "4 KiB; the result of its size has another type, float32[4,256]"),
        "other_type": ("other type", "argument p: float32[1024], 4 KiB; no other result has its size"),
        "refused_by_jax": ("refused", "2 donated arguments"),
    }
    assert set(by_function) == set(expected)
    for function, (case, text) in expected.items():
        found = by_function[function]
        assert (found["kind"], found["severity"]) == ("donation", "warning")
        assert text in found["message"]
        assert found["line"]["location"]["line"] == line_marked(PROGRAMS / "donations.py", f"case: {case}")
    message = by_function["refused_by_jax"]["message"]
    assert "argument state: float32[1024], 4 KiB; no other result has its size\nargument scale: float32[4]" in message
