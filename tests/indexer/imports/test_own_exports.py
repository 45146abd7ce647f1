"""framedex's exports, imported again without loss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import CallFilter
from tests.indexer.export.exporting import export
from tests.indexer.export.truth import calls_of
from tests.indexer.imports.profiles import framedex
from tests.run.costs.trained import PROGRAM, index_of_training, line_of


@pytest.mark.exhaustive(keep=["pprof"])
@pytest.mark.parametrize("form", ["perfetto", "pprof", "speedscope", "collapsed"])
def test_times_and_callers_survive_export_and_import(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export of a real program has the same total time below the same line."""
    monkeypatch.chdir(tmp_path)
    export(index_of_training(), form, tmp_path / "exported")
    expected = sum(max(call.own, 0) for call in calls_of(index_of_training()))
    result = framedex("import", "exported")
    assert result.exit_code == 0, result.output
    with Index.open(tmp_path / ".framedex" / "index.db") as index:
        totals = index.calls.totals(CallFilter())
    assert sum(each.total or each.calls for each in totals) == expected
    lines = json.loads(framedex("where", PROGRAM, "--json").stdout)["lines"]
    assert line_of("params = step(") in {line["line"] for line in lines}
