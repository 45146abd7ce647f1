"""What capture.json says of a run, whoever wrote it."""

from __future__ import annotations

import json

import pytest

from framedex.model import LaunchInfo, Metadata


def test_what_the_recorder_and_the_launcher_write_is_read() -> None:
    launcher = {"run": "7", "arguments": ["a.py"], "packages": {"jax": "0.10.2"}}
    told = {
        "started_unix_ns": 17,
        "pid": 4,
        "argv": ["python", "a.py"],
        "cwd": "/here",
        "folder": "/here/.framedex/captures/1",
        "launcher": json.dumps(launcher),
    }
    text = json.dumps(told)

    assert Metadata.parse(text) == Metadata(
        started_unix_ns=17,
        pid=4,
        argv=("python", "a.py"),
        cwd="/here",
        folder="/here/.framedex/captures/1",
        launch=LaunchInfo("7", ("a.py",), {"jax": "0.10.2"}),
        text=text,
    )


@pytest.mark.parametrize(
    "text", ["{}", "[]", "null", '{"of": "a later version", "python_problem": "", "launcher": ""}']
)
def test_what_is_not_said_is_none_and_what_is_not_known_is_ignored(text: str) -> None:
    assert Metadata.parse(text) == Metadata(text=text)


def test_a_time_that_makes_no_sense_counts_as_not_said() -> None:
    cases: list[str] = ['"soon"', "null", "1.5", "1e400", "-1", "123456789012345678901234567890", "[]", "true"]
    for value in cases:
        assert Metadata.parse(f'{{"started_unix_ns": {value}}}').started_unix_ns is None


def test_a_launcher_that_makes_no_sense_counts_as_none() -> None:
    for launcher in [None, "", "[]", "{", "[" * 100_000, 7]:
        assert Metadata.parse(json.dumps({"launcher": launcher})).launch is None


@pytest.mark.parametrize("packages", [3, ["jax"], None])
def test_packages_that_make_no_sense_count_as_none(packages: object) -> None:
    metadata = Metadata.parse(json.dumps({"launcher": json.dumps({"run": "7", "packages": packages})}))
    assert metadata.launch == LaunchInfo(run="7")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Metadata.parse(text)


def test_a_cell_of_a_notebook_is_named_by_its_launcher() -> None:
    metadata = Metadata.parse(json.dumps({"launcher": json.dumps({"run": "7", "cell": "train.ipynb:In[3]"})}))
    assert metadata.launch == LaunchInfo(run="7", cell="train.ipynb:In[3]")
