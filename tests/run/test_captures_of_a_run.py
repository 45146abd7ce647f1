"""The location of a run's capture, framedex's messages about it, and machine settings."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framedex.captures import capture_folders, read_capture, read_metadata
from framedex.captures.metadata import read_program_end
from tests.once import made_once
from tests.reading import calls_of
from tests.run.invoking import Ended, framedex_run, program


def test_output_devices_and_memory_options_are_respected(tmp_path: Path) -> None:
    ended = framedex_run(
        "-o", "there/captures", "--devices", "8", "--hbm", "1MiB", program("devices.py"), folder=tmp_path
    )
    assert ended.status == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert len(result["devices"]) == 8
    assert ended.capture.parent == Path("there/captures")
    (created,) = calls_of(tmp_path / ended.capture, "PJRT_Client_Devices")
    assert len(created.arguments["devices"]) == 8
    limits = {call.arguments["bytes_limit"] for call in calls_of(tmp_path / ended.capture, "PJRT_Device_MemoryStats")}
    assert limits == {1 << 20}


def test_kind_shape_and_host_options_are_respected(tmp_path: Path) -> None:
    settings = ["--device", "v5e:2x2", "--slices", "2", "--hosts", "2", "--host-id", "1"]
    ended = framedex_run(*settings, program("machine.py"), folder=tmp_path)
    result = json.loads(ended.stdout)
    assert result["process"] == [1, 2]
    assert result["local"] == [200000, 200001, 200002, 200003]


def test_failure_rules_are_applied(tmp_path: Path) -> None:
    rules = ["PJRT_Client_BufferFromHostBuffer:1=INTERNAL:one", "PJRT_Client_BufferFromHostBuffer:3=ABORTED:three"]
    options = [word for rule in rules for word in ("--fail", rule)]
    ended = framedex_run("--devices", "3", *options, program("failing.py"), folder=tmp_path)
    errors = [call.error for call in calls_of(tmp_path / ended.capture, "PJRT_Client_BufferFromHostBuffer")]
    assert errors[:4] == [13, 0, 10, 0]


@pytest.fixture(scope="module")
def plain() -> tuple[Path, Ended]:
    """A run without options, and its folder."""
    return made_once(
        "plain-run", lambda folder: (folder, framedex_run(program("endings.py"), "returns", folder=folder))
    )


def test_the_last_line_counts_the_recorded_calls(plain: tuple[Path, Ended]) -> None:
    folder, ended = plain
    read = read_capture(folder / ended.capture)
    assert f"recorded {len(read.calls):,} calls on {len(read.threads):,} thread" in ended.said[-1]


def test_the_capture_has_the_exit_status_and_the_time_of_the_end(tmp_path: Path) -> None:
    before = time.time_ns()
    ended = framedex_run(program("endings.py"), "exits", folder=tmp_path)
    end = read_program_end(tmp_path / ended.capture)
    assert end is not None
    assert (end.status, end.signal) == (ended.status, None) == (3, None)
    assert end.ended_unix_ns is not None
    assert before < end.ended_unix_ns < time.time_ns()
    began = read_metadata(tmp_path / ended.capture).started_clock_ns
    assert end.ended_clock_ns is not None
    assert began is not None
    assert began < end.ended_clock_ns < time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def test_a_run_that_reached_its_limit_says_so(tmp_path: Path) -> None:
    ended = framedex_run("--limit", "64KiB", program("many_puts.py"), "1000", folder=tmp_path)
    warning, recorded = ended.said
    made = int(re.search(r"recorded ([\d,]+) calls", recorded)[1].replace(",", ""))  # type: ignore[index]
    missing = int(re.search(r"Missing: ([\d,]+) later calls of 1 thread", warning)[1].replace(",", ""))  # type: ignore[index]
    assert "Recording stopped early: the limit for its size was reached." in warning
    assert "Raise --limit, or keep the newest calls with --ring." in warning
    whole = framedex_run(program("many_puts.py"), "1000", folder=tmp_path)
    assert f"recorded {made + missing:,} calls" in whole.said[-1]


def test_a_run_without_selected_calls_names_the_selection(tmp_path: Path) -> None:
    ended = framedex_run("--include", "Nope*", program("endings.py"), "returns", folder=tmp_path)
    assert "recorded no calls in" in ended.said[-1]
    assert ended.said[-1].endswith("none matches --include.")


def test_the_capture_contains_the_command(plain: tuple[Path, Ended]) -> None:
    folder, ended = plain
    metadata = read_capture(folder / ended.capture).metadata
    assert metadata.argv[1:] == (program("endings.py"), "returns")
    assert metadata.cwd == str(folder)
    assert metadata.launch is not None and metadata.launch.arguments == (program("endings.py"), "returns")


@pytest.mark.exhaustive
def test_another_python_runs_the_program(tmp_path: Path, python: str) -> None:
    ended = framedex_run("--python", python, program("endings.py"), "returns", folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"out\n")
    assert read_capture(tmp_path / ended.capture).metadata.argv[0] == python


def test_a_fork_is_counted_as_a_second_capture(tmp_path: Path) -> None:
    ended = framedex_run(program("forking.py"), "plain", folder=tmp_path)
    assert ended.status == 0
    assert " and 1 more. Next: framedex index" in ended.said[-1]
    assert len(capture_folders(tmp_path / ".framedex" / "captures")) == 2


@pytest.mark.exhaustive
def test_two_runs_at_once_into_one_folder_each_name_their_own_capture(tmp_path: Path) -> None:
    endings = ["returns", "exits"] * 2
    with ThreadPoolExecutor(len(endings)) as pool:
        ended = list(pool.map(lambda ending: framedex_run(program("endings.py"), ending, folder=tmp_path), endings))
    assert len({run.capture for run in ended}) == len(endings)
    for ending, run in zip(endings, ended, strict=True):
        assert read_capture(tmp_path / run.capture).metadata.argv[-1] == ending


def test_a_program_that_never_opens_devices_is_reported(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('no JAX here')\n")
    ended = framedex_run("program.py", folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"no JAX here\n")
    assert ended.said == [
        "framedex: nothing was recorded: the program never opened JAX's TPU "
        "(jax.devices() or jax.device_put does), or ended before that."
    ]


def test_the_users_jax_platforms_is_respected(tmp_path: Path) -> None:
    ended = framedex_run(program("endings.py"), "returns", folder=tmp_path, JAX_PLATFORMS="cpu")
    assert (ended.status, ended.stdout) == (0, b"out\n")
    assert ended.said == [
        "framedex: nothing was recorded: JAX_PLATFORMS=cpu keeps JAX off the TPU. "
        "Unset it, or use JAX_PLATFORMS=tpu,cpu."
    ]


def test_recording_can_be_switched_off(tmp_path: Path) -> None:
    ended = framedex_run(program("endings.py"), "raises_in_jax", folder=tmp_path, FRAMEDEX_RECORD="0")
    # The mock still runs it.
    assert b"Array has been deleted" in ended.stderr
    assert ended.said == ["framedex: nothing is recorded (FRAMEDEX_RECORD=0)."]
    assert capture_folders(tmp_path / ".framedex" / "captures") == []


def test_a_run_stores_the_identities_of_its_binaries(plain: tuple[Path, Ended], tmp_path: Path) -> None:
    folder, ended = plain
    capture = Path(shutil.copytree(folder / ended.capture, tmp_path / "capture"))
    modules = [module for module in read_capture(capture).modules if module.file is not None]
    assert len(modules) >= 3
    for module in modules:
        with Path(module.path).open("rb") as file:
            assert module.content == hashlib.file_digest(file, "sha256").hexdigest()
    for damage in ("", "{", "[]", '{"sha256": 3}', '{"sha256": {"a": 3}}', "[" * 100_000):
        (capture / "contents.json").write_text(damage)
        read = read_capture(capture)
        assert (read.problems, {module.content for module in read.modules}) == ((), {""})
