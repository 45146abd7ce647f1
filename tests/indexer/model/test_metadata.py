"""The run data in capture.json, from any writer."""

from __future__ import annotations

import json

import pytest

from framedex.model import LaunchInfo, Metadata


def test_recorder_and_launcher_metadata_are_parsed() -> None:
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
def test_missing_fields_are_none_and_unknown_fields_are_ignored(text: str) -> None:
    assert Metadata.parse(text) == Metadata(text=text)


def test_an_implausible_time_counts_as_missing() -> None:
    cases: list[str] = ['"soon"', "null", "1.5", "1e400", "-1", "123456789012345678901234567890", "[]", "true"]
    for value in cases:
        assert Metadata.parse(f'{{"started_unix_ns": {value}}}').started_unix_ns is None


def test_a_malformed_launcher_counts_as_missing() -> None:
    for launcher in [None, "", "[]", "{", "[" * 100_000, 7]:
        assert Metadata.parse(json.dumps({"launcher": launcher})).launch is None


@pytest.mark.parametrize("packages", [3, ["jax"], None])
def test_malformed_packages_count_as_missing(packages: object) -> None:
    metadata = Metadata.parse(json.dumps({"launcher": json.dumps({"run": "7", "packages": packages})}))
    assert metadata.launch == LaunchInfo(run="7")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_invalid_json_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Metadata.parse(text)


def test_the_launcher_names_a_notebook_cell() -> None:
    metadata = Metadata.parse(json.dumps({"launcher": json.dumps({"run": "7", "cell": "train.ipynb:In[3]"})}))
    assert metadata.launch == LaunchInfo(run="7", cell="train.ipynb:In[3]")
