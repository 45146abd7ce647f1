"""Stacks with their weights: other readers find the same data as SQL in the index."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.indexer.export.exporting import export, hostile_index, run
from tests.indexer.export.pprof_message import PprofProfile
from tests.indexer.export.truth import Call, Frame, calls_of, sums
from tests.indexer.recorded import Project
from tests.run.costs.trained import index_of_training

WEIGHTS = ("time", "calls", "bytes")


@pytest.fixture(params=["hostile", "training"])
def index(request: pytest.FixtureRequest) -> Path:
    """An index of a program with hostile names, or of a real one."""
    if request.param == "training":
        return index_of_training()
    return hostile_index(request.getfixturevalue("project"))


@pytest.mark.exhaustive(keep=["hostile-calls", "training-time", "training-bytes"])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_collapsed_stacks_have_every_call(index: Path, weight: str, tmp_path: Path) -> None:
    text = export(index, "collapsed", tmp_path / "stacks", "--weight", weight).decode()
    found: Counter[Any] = Counter()
    for line in text.removesuffix("\n").split("\n") if text else ():
        stack, _, value = line.rpartition(" ")
        found[tuple(map(_unescaped, stack.split(";")))] += int(value)

    def key(call: Call) -> tuple[str, ...]:
        return call.thread, *map(_with_place, call.stack)

    assert found == sums(calls_of(index), weight, key=key)


def _with_place(frame: Frame) -> str:
    name, path, line, binary = frame
    place = f"{path}:{line}" if path else binary.rpartition("/")[2] if binary else ""
    return f"{name} ({place})" if place else name


def _unescaped(name: str) -> str:
    return re.sub("%(25|3B|[0189][0-9A-F]|7F)", lambda match: chr(int(match[1], 16)), name)


def test_speedscope_has_every_call(index: Path, tmp_path: Path) -> None:
    document = json.loads(export(index, "speedscope", tmp_path / "profile.json"))
    frames = [(frame["name"], frame.get("file"), frame.get("line")) for frame in document["shared"]["frames"]]
    assert len(set(frames)) > 4
    calls = calls_of(index)
    for weight in WEIGHTS:
        found: Counter[Any] = Counter()
        for profile in document["profiles"]:
            of, _, thread = profile["name"].partition(", ")
            if of == weight:
                assert profile["endValue"] == sum(profile["weights"])
                assert len(profile["samples"]) == len(profile["weights"])
                for sample, value in zip(profile["samples"], profile["weights"], strict=True):
                    found[thread, tuple(frames[number][0] for number in sample)] += value
        assert found == sums(calls, weight, key=lambda call: (call.thread, tuple(name for name, *_ in call.stack)))
    assert document["profiles"][0]["name"].startswith("time, ")


def test_pprof_has_every_call(index: Path, tmp_path: Path) -> None:
    profile = PprofProfile.FromString(gzip.decompress(export(index, "pprof", tmp_path / "profile.pb.gz")))
    texts = profile.string_table
    assert texts[0] == "" and len(set(texts)) == len(texts)
    assert [texts[each.type] for each in profile.sample_type] == list(WEIGHTS)
    functions = {each.id: each for each in profile.function}
    locations = {each.id: each for each in profile.location}
    mappings = {each.id: each for each in profile.mapping}
    assert 0 not in functions.keys() | locations.keys() | mappings.keys()
    assert all(each.mapping_id in mappings or not each.mapping_id for each in profile.location)
    calls = calls_of(index)
    for number, weight in enumerate(WEIGHTS):
        found: Counter[Any] = Counter()
        for sample in profile.sample:
            lines = [locations[each].line[0] for each in reversed(sample.location_id)]
            stack = tuple((texts[functions[line.function_id].name], line.line) for line in lines)
            labels = {texts[label.key]: texts[label.str] for label in sample.label}
            found[labels["thread"], labels["function"], labels.get("shape"), stack] += sample.value[number]
        assert +found == sums(calls, weight, key=_with_labels)


def _with_labels(call: Call) -> tuple[Any, ...]:
    arguments = json.loads(call.arguments)
    shape = (
        f"{arguments['type']}[{','.join(map(str, arguments['dims']))}]"
        if {"type", "dims"} <= arguments.keys()
        else None
    )
    return call.thread, call.function, shape, tuple((name, line or 0) for name, _, line, _ in call.stack)


@pytest.mark.exhaustive(keep=["pprof"])
@pytest.mark.parametrize("form", ["collapsed", "speedscope", "pprof"])
def test_a_filter_keeps_matching_calls(form: str, tmp_path: Path) -> None:
    """Given a filter that checks each call, when calls are exported, then only matching calls are counted."""
    index = index_of_training()
    calls = [call for call in calls_of(index) if call.duration > 20_000 and "Buffer" in call.function]
    options = ("--slower", "20us", "--function", "Buffer", "--weight", "calls")
    written = export(index, form, tmp_path / "profile", *options)
    if form == "collapsed":
        found = sum(int(line.rpartition(b" ")[2]) for line in written.splitlines())
    elif form == "speedscope":
        profiles = json.loads(written)["profiles"]
        found = sum(each["endValue"] for each in profiles if each["name"].startswith("calls, "))
    else:
        found = sum(sample.value[1] for sample in PprofProfile.FromString(gzip.decompress(written)).sample)
    assert 0 < found == len(calls) < len(calls_of(index))


def test_nothing_is_written_if_no_call_passes_the_filter(project: Project, tmp_path: Path) -> None:
    project.ingest().close()
    output = tmp_path / "profile"
    output.write_text("of before")
    done = run(project.index, "pprof", output, "--function", "no_such")
    assert done.exit_code == 1 and "no_such" in done.stderr
    assert output.read_text() == "of before"
    done = run(project.index, "csv", output, "--weight", "calls")
    assert done.exit_code == 2 and "--weight works with pprof, " in done.stderr
    done = run(project.index, "pprof", tmp_path / "no folder" / "profile")
    assert done.exit_code == 1 and "could not be written" in done.stderr
