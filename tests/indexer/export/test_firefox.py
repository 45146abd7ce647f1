"""Firefox profiles: calls as markers, and their time as samples."""

from __future__ import annotations

import json
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from framedex.index import Index
from tests.indexer.export.exporting import export, hostile_index
from tests.indexer.export.truth import Call, calls_of, sums
from tests.run.costs.trained import PROGRAM, index_of_training, line_of

Stack = tuple[tuple[str, str, int | None], ...]


class Profile:
    """A profile with the shared tables of its threads."""

    def __init__(self, written: bytes) -> None:
        self.document = json.loads(written)
        self.threads = self.document["threads"]
        shared = self.document["shared"]
        self.texts = shared["stringArray"]
        tables = [each for each in shared.values() if isinstance(each, dict)]
        for table in [*tables, *(each[name] for each in self.threads for name in ("samples", "markers"))]:
            assert {len(column) for column in table.values() if isinstance(column, list)} == {table["length"]}
        self.stacks = self._stacks(shared)

    def _stacks(self, shared: dict[str, Any]) -> dict[int | None, Stack]:
        """All stacks, outermost function first, each with its path and line."""
        table, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
        found: dict[int | None, Stack] = {None: ()}
        for number, (prefix, frame) in enumerate(zip(table["prefix"], table["frame"], strict=True)):
            function = frames["func"][frame]
            source = functions["source"][function]
            path = "" if source is None else self.texts[shared["sources"]["filename"][source]]
            step = self.texts[functions["name"][function]], path, frames["line"][frame]
            found[number] = (*found[prefix], step)
        return found


@pytest.fixture(params=["hostile", "training"])
def index(request: pytest.FixtureRequest) -> Path:
    """An index of a program with hostile names, or of a real one."""
    if request.param == "training":
        return index_of_training()
    return hostile_index(request.getfixturevalue("project"))


def test_each_call_is_a_marker_with_its_stack(index: Path, tmp_path: Path) -> None:
    profile = Profile(export(index, "firefox", tmp_path / "profile.json"))
    calls = {call.id: call for call in calls_of(index)}
    for thread in profile.threads:
        markers = thread["markers"]
        columns = (markers[name] for name in ("name", "startTime", "endTime", "data"))
        for name, start, end, data in zip(*columns, strict=True):
            call = calls.pop(data["call"])
            assert (profile.texts[name], thread["name"]) == (call.function, call.thread)
            assert round(start * 1e6) == call.start
            assert end is None if call.duration < 0 else round(end * 1e6) == call.start + call.duration
            assert [name for name, *_ in profile.stacks[data["cause"]["stack"]]] == [name for name, *_ in call.stack]
            assert json.loads(data["arguments"]) == json.loads(call.arguments)
    assert not calls


def test_samples_have_the_time_of_every_call(index: Path, tmp_path: Path) -> None:
    profile = Profile(export(index, "firefox", tmp_path / "profile.json"))
    found: Counter[Any] = Counter()
    for thread in profile.threads:
        samples = thread["samples"]
        assert samples["weightType"] == "tracing-ms" and samples["time"] == sorted(samples["time"])
        for stack, weight in zip(samples["stack"], samples["weight"], strict=True):
            found[thread["name"], tuple((name, line) for name, _, line in profile.stacks[stack])] += round(weight * 1e6)

    def key(call: Call) -> tuple[Any, ...]:
        return call.thread, tuple((name, line) for name, _, line, _ in call.stack)

    assert +found == sums(calls_of(index), "time", key=key)


def test_calls_have_their_line_and_memory_is_a_counter(tmp_path: Path) -> None:
    profile = Profile(export(index_of_training(), "firefox", tmp_path / "profile.json"))
    line = line_of("params = step(")
    lines = Counter(data.get("line") for thread in profile.threads for data in thread["markers"]["data"])
    assert lines[f"training.py:{line} main"] >= 30
    assert any(("main", str(PROGRAM), line) in stack for stack in profile.stacks.values())
    (counter,) = profile.document["counters"]
    with Index.open(index_of_training()) as index:
        (device,) = index.memory()
    assert list(accumulate(counter["samples"]["count"])) == [used for _, used in device.over_time]


@pytest.mark.exhaustive
def test_columns_larger_than_memory_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given columns with a tiny memory limit, when calls are exported, then the profile is the same."""
    whole = export(index_of_training(), "firefox", tmp_path / "whole.json")
    for longest in (0, 50):
        monkeypatch.setattr("framedex.export.firefox_threads._MAX_CHARACTERS", longest)
        assert export(index_of_training(), "firefox", tmp_path / "parts.json") == whole
