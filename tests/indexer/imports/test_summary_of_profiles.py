"""`framedex summary` of imported profiles: weight by function, in the unit of the profile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.indexer.imports.profiles import framedex, pprof

COLLAPSED = "main;train;step;matmul 50\nmain;train;step 20\nmain;train;load 25\nmain;fib;fib;fib 15\n"

Sample = tuple[list[tuple[str, str, int]], tuple[int, int], dict[str, str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests import into an index in their own folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def profiles(*options: str) -> list[dict[str, Any]]:
    """The document's data on imported profiles."""
    found: list[dict[str, Any]] = json.loads(framedex("summary", "--json", *options).stdout)["profiles"]
    return found


def weights(profile: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Self and total weight of each function."""
    return {each["function"]["name"]: (each["self_weight"], each["total"]) for each in profile["functions"]}


def test_functions_have_their_own_weight_and_that_of_their_callees(here: Path) -> None:
    (here / "a.txt").write_text(COLLAPSED)
    framedex("import", "a.txt")
    (profile,) = profiles()
    assert (profile["value"], profile["weight"], profile["is_time"]) == ("samples (count)", 110, False)
    assert weights(profile) == {
        **{"matmul": (50, 50), "load": (25, 25), "step": (20, 70), "fib": (15, 15)},
        **{"train": (0, 95), "main": (0, 110)},
    }
    shown = framedex("summary").stdout.splitlines()
    assert shown[2:4] == ["samples (count)", "% self  self  % total  total  function"]
    assert shown[4].split() == ["45.5", "50", "45.5", "50", "matmul"]
    assert shown[-1].split() == ["100.0", "110", "total"]
    assert framedex("summary", "--sort", "total").stdout.splitlines()[4].split()[-1] == "main"


def test_times_have_units_and_functions_have_locations(here: Path) -> None:
    (here / "a.py").write_text("def f():\n    g()\n\n\ndef g():\n    pass\n")
    outer, inner = ("f", str(here / "a.py"), 2), ("g", str(here / "a.py"), 6)
    samples: list[Sample] = [([outer, inner], (2, 3_000_000), {}), ([outer], (1, 1_000_000), {})]
    (here / "a.pb").write_bytes(pprof(samples))
    framedex("import", "a.pb")
    (profile,) = profiles()
    assert profile["is_time"]
    assert weights(profile) == {"g": (3_000_000, 3_000_000), "f": (1_000_000, 4_000_000)}
    assert "75.0  3 ms     75.0   3 ms  g" in framedex("summary").stdout


def test_profiles_with_different_values_have_separate_tables(here: Path) -> None:
    (here / "a.txt").write_text(COLLAPSED)
    (here / "a.pb").write_bytes(pprof([([("f", "/a.py", 1)], (1, 5), {})]))
    framedex("import", "a.txt", "a.pb")
    assert {each["value"]: each["weight"] for each in profiles("--capture", "all")} == {
        "samples (count)": 110,
        "cpu (nanoseconds)": 5,
    }


def test_a_filter_keeps_matching_samples(here: Path) -> None:
    (here / "a.txt").write_text(COLLAPSED)
    framedex("import", "a.txt")
    (profile,) = profiles("--through", "load")
    assert weights(profile) == {"load": (25, 25), "train": (0, 25), "main": (0, 25)}
    assert profiles("--through", "nowhere") == []
