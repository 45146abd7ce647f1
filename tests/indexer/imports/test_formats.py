"""`framedex import` of recorders' files: every sample is imported with its stack."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import CallFilter
from tests.indexer.imports.profiles import FIXTURES, fixture, framedex, pprof

# For each fixture: its format, and the counted unit.
WHAT = {
    "py_spy.txt": ("collapsed", "samples (count)"),
    "py_spy.speedscope.json": ("speedscope", "time (nanoseconds)"),
    "austin.txt": ("collapsed", "wall (microseconds)"),
    "austin_full.txt": ("collapsed", "wall (microseconds)"),
    "memray.csv": ("memray csv", "memory (bytes)"),
    "memray.gprof2dot.json": ("memray gprof2dot", "memory (bytes)"),
    "memray.speedscope.json": ("speedscope", "weight (bytes)"),
    "perf.txt": ("perf script", "cpu-clock (nanoseconds)"),
}
WITH_PROGRAM = [name for name in WHAT if name.startswith(("py_spy", "austin"))]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Index]:
    """Import a fixture, and open the index."""
    monkeypatch.chdir(tmp_path)

    def import_fixture(name: str) -> Index:
        result = framedex("import", fixture(name, tmp_path))
        assert result.exit_code == 0, result.output
        return Index.open(tmp_path / ".framedex" / "index.db")

    return import_fixture


@pytest.mark.parametrize("name", WHAT)
def test_a_profile_becomes_a_capture_of_its_unit(imported: Callable[[str], Index], name: str) -> None:
    form, counted = WHAT[name]
    with imported(name) as index:
        (capture,) = index.captures()
        (totals,) = index.calls.totals(CallFilter())
    assert capture.command == f"imported '{form}' {name}" if " " in form else f"imported {form} {name}"
    assert totals.function == counted
    assert (totals.calls, totals.total) == _counted_by_hand(name)


def test_stacks_without_a_time_are_sorted_by_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks weighted by bytes have no order in time: a query about a line shows the largest first."""
    monkeypatch.chdir(tmp_path)
    sizes = [(7919 * number) % 300 + 1 for number in range(300)]
    stacks = [[("main", "/app/held.py", 1), ("keep", "/app/held.py", size)] for size in sizes]
    (tmp_path / "a.pb.gz").write_bytes(
        pprof([(stack, [size], {}) for stack, size in zip(stacks, sizes, strict=True)], [("space", "bytes")])
    )
    assert framedex("import", "a.pb.gz").exit_code == 0
    for place in ("/app/held.py:1", "/app/held.py"):
        found = json.loads(framedex("where", place, "--limit", "3", "--json").stdout)["stacks"]
        assert [each["calls"] for each in found] == [300, 299, 298]
    assert "stacks, most calls first:" in framedex("where", "/app/held.py:1").stdout


@pytest.mark.parametrize("name", WITH_PROGRAM)
def test_program_lines_are_found_in_a_profile(imported: Callable[[str], Index], name: str) -> None:
    program = (FIXTURES / "busy.py").read_text().splitlines()
    with imported(name):
        result = framedex("where", "busy.py", "--json")
    found = {row["line"] for row in json.loads(result.stdout)["lines"]}
    assert program.index("            outer()") + 1 in found
    callers = framedex("callers", "outer", "--json")
    (function,) = json.loads(callers.stdout)["functions"]
    assert function["function"]["name"] == "outer"
    assert [row["function"]["name"] for row in function["callers"]] == ["Worker.run"]


def _counted_by_hand(name: str) -> tuple[int, int]:
    """The samples of a fixture and their time in ns, counted without the reader under test."""
    text = (FIXTURES / name).read_text()
    if name == "py_spy.txt":
        return sum(int(line.rpartition(" ")[2]) for line in text.splitlines()), 0
    if name.startswith("austin"):
        rows = [line for line in text.splitlines() if line.startswith("P") and line.count(";") > 1]
        times = [int(line.rpartition(" ")[2].partition(",")[0]) for line in rows]
        return len([time for time in times if time]), 1000 * sum(times)
    if name == "perf.txt":
        periods = re.findall(r": +(\d+) cpu-clock: *$", text, re.MULTILINE)
        return len(periods), sum(map(int, periods))
    if name == "memray.csv":
        return sum(int(line.split(",")[2]) for line in text.splitlines()[1:]), 0
    document = json.loads(text)
    if name == "memray.gprof2dot.json":
        return sum(event["cost"][0] for event in document["events"]), 0
    unit = document["profiles"][0]["unit"]
    weights = [weight for each in document["profiles"] if each["unit"] == unit for weight in each["weights"]]
    return (sum(weights), 0) if unit == "bytes" else (len(weights), sum(round(each * 1e9) for each in weights))
