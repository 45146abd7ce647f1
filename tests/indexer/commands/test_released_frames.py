"""Crash texts of JAX without a recording or an index: the shipped release maps resolve their frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from tests.crash_corpus import corpus

TEXTS = {(text.producer, text.name): text.text for text in corpus()}
XLA = "https://github.com/openxla/xla/blob/5a9e73cbd92530cac2ac36f4736a774b2412afe2"
STATED = "jaxlib==0.10.2\n"


@pytest.fixture(autouse=True)
def without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(verb: str, text: str, *options: str) -> Result:
    result = CliRunner().invoke(cli, [verb, *options], input=text)
    assert result.exit_code == 0, result.output
    return result


def explained(text: str) -> dict[str, dict[str, Any]]:
    """The location of each function in a text that has one."""
    document = json.loads(run("explain", text, "--json").stdout)
    frames = [frame for stack in document["stacks"] for frame in stack["frames"]]
    return {frame["function"]: frame["location"] for frame in frames if frame["location"]}


def test_a_tpu_crash_text_leads_to_the_sources_of_its_stated_release() -> None:
    found = explained(STATED + TEXTS["absl", "tpu-crash"])
    assert {name: place["url"] for name, place in found.items()} == {
        "xla::PjRtCApiClient::InitAttributes()": f"{XLA}/xla/pjrt/c_api_client/pjrt_c_api_client.cc#L331",
        "tsl::(anonymous namespace)::PThread::ThreadFn()": f"{XLA}/xla/tsl/platform/default/env.cc#L112",
    }
    assert {place["how"] for place in found.values()} == {"definition"}


def test_only_the_xla_frames_of_a_check_failure_are_located() -> None:
    found = explained(STATED + TEXTS["absl", "check-failure"])
    assert list(found) == ["xla::PjRtCApiClient::LookupDevice()", "xla::Service::Compile()::{lambda()#1}::operator()()"]


def test_without_a_release_every_location_is_marked_as_nearest() -> None:
    result = run("explain", TEXTS["absl", "tpu-crash"])
    placed = [line for line in result.stdout.splitlines() if "https://" in line]
    assert len(placed) == 3 and all("nearest release" in line for line in placed)
    assert "The jaxlib release of these frames is unknown" in result.stderr


def test_a_source_location_trace_leads_to_the_commit_of_the_release() -> None:
    found = run("explain", STATED + TEXTS["xla", "failed-precondition"]).stdout
    assert f"{XLA}/xla/service/service.cc#L690 [not here]" in found
