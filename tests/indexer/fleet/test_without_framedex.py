"""The examples of docs/how-to/fleet.md read a store without framedex, and find each counted call once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from framedex.base.progress import SilentProgress
from framedex.fleet.adding import AddedCapture
from framedex.fleet.compacting import compact
from framedex.fleet.drops import write_drop
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet.fleets import JOB, add_to_store, copy_capture, job, run_query
from tests.pythons import ROOT


def test_documented_examples_count_the_same_as_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compacted captures, one of which has grown since, and a job whose drop is incomplete."""
    place = StoreRoot(str(tmp_path / "store"))
    grown, dropped = copy_capture(job()[0], tmp_path / "grown"), copy_capture(job()[1], tmp_path / "dropped")
    (stream,) = grown.glob("thread-0.fdx")
    whole = stream.read_bytes()
    stream.write_bytes(whole[: len(whole) // 2])
    told = json.loads((dropped / "capture.json").read_text())
    told |= {"identity": "3" * 16, "job": {"FRAMEDEX_JOB": "dropped"}}
    (dropped / "capture.json").write_text(json.dumps(told))
    assert all(isinstance(each, AddedCapture) for each in add_to_store(place.address, grown, job()[1], dropped))
    compact(place, SilentProgress())
    stream.write_bytes(whole)
    assert all(isinstance(each, AddedCapture) for each in add_to_store(place.address, grown))
    write_drop(place, None, "dropped")
    expected = dict(run_query(place.address, "SELECT function, count(*) FROM calls GROUP BY 1"))
    example = re.search(r"```python\n(import json\n.*?)```", (ROOT / "docs/how-to/fleet.md").read_text(), re.DOTALL)
    assert example is not None
    monkeypatch.chdir(tmp_path)

    names: dict[str, Any] = {}
    exec(example[1], names)

    assert names["calls"]["function"].value_counts().to_dict() == expected
    assert dict(names["functions"].rows()) == expected
    assert names["jobs"] == [(JOB, sum(expected.values()))]
