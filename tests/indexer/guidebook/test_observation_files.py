"""Observations survive writing and reading, and malformed files are rejected with a remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.guidebook.observation_files import format_observations, read_observation_file
from framedex.model.guidebook import DisplayedLocation, Observations, PathNode, Step, StepCall, Task
from tests.indexer.guidebook.observed import observed_program

RUN = ["Run", 0, 0, 0, 0, 0, 0, [], 1, 0]
"""A run whose texts all refer to the first part."""


def test_written_data_is_read_back(tmp_path: Path) -> None:
    observations = observed_program().observations
    file = tmp_path / "observations.json"
    file.write_text(format_observations(observations))

    assert read_observation_file(file) == observations
    assert format_observations(read_observation_file(file)) == file.read_text()


def test_the_deepest_stack_paths_are_stored(tmp_path: Path) -> None:
    node = PathNode("f", "native", DisplayedLocation("f.cc:1", None, ""), 1, 0, ())
    for _ in range(160):  # more than are shown
        node = PathNode("f", "native", DisplayedLocation("f.cc:1", None, ""), 1, 0, (node,))
    run = observed_program().observations.runs[0]
    step = Step("", "", "", (StepCall("f", 0, "main", None, "", (node,), 0),), 0)
    observations = Observations((run,), (), (), (Task(run.key, "t", "t", "", (step,)),))
    file = tmp_path / "observations.json"
    file.write_text(format_observations(observations))

    assert read_observation_file(file) == observations


@pytest.mark.exhaustive(keep=["", "[]"])
@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"format": "framedex-trace"}', "[" * 100_000])
def test_foreign_files_are_rejected(tmp_path: Path, text: str) -> None:
    file = tmp_path / "observations.json"
    file.write_text(text)

    with pytest.raises(FramedexError, match="contains no observations") as refused:
        read_observation_file(file)
    assert refused.value.remedy


def test_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "observations.json"
    file.write_text(json.dumps({"format": "framedex-observations", "version": 99, "parts": []}))

    with pytest.raises(FramedexError, match="another version"):
        read_observation_file(file)


@pytest.mark.exhaustive(keep=["None", "parts4", "parts9", "parts16", "parts20"])
@pytest.mark.parametrize(
    "parts",
    [
        None,
        [],
        ["a text"],
        [["Observations", [], [], []]],
        [["Observations", [], [], [], [], []]],
        [["Observations", [0], [], [], []]],
        [["Observations", [1], [], [], []]],
        [["Observations", [-1], [], [], []]],
        [["Observations", "runs", [], [], []]],
        [["Path", "/"]],
        [[["Observations"], [], [], [], []]],
        ["text", ["NameCount", 0, "1"]],
        ["text", ["NameCount", 0, 1]],
        ["text", ["NameCount", 0, None], ["Observations", [], [], [], []]],
        ["text", ["NameCount", 0, True], ["Observations", [], [], [], []]],
        [7],
        [
            "main",
            ["DisplayedLocation", 0, None, 0],
            *(["PathNode", 0, 0, 1, 1, 0, [n] if n > 1 else []] for n in range(1, 9000)),
        ],
        [
            "main",
            ["DisplayedLocation", 0, None, 0],
            *(["PathNode", 0, 0, 1, 1, 0, [n, n] if n > 1 else []] for n in range(1, 99)),
        ],
        ["main", RUN, RUN, ["Observations", [1, 2], [], [], []]],
        ["main", ["Task", 0, 0, 0, 0, []], ["Observations", [], [], [], [1]]],
        ["main", [*RUN[:8], 1 << 63, 0], ["Observations", [1], [], [], []]],
    ],
)
def test_damaged_files_are_rejected(tmp_path: Path, parts: object) -> None:
    file = tmp_path / "observations.json"
    file.write_text(json.dumps({"format": "framedex-observations", "version": 2, "parts": parts}))

    with pytest.raises(FramedexError, match="is damaged"):
        read_observation_file(file)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FramedexError, match="cannot be read"):
        read_observation_file(tmp_path / "missing.json")
