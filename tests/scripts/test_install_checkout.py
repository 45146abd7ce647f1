"""scripts/install_checkout.py: pip's arguments, and the progress shown while the checkout compiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import install_checkout
from tests.pythons import ROOT
from tests.running import TIMEOUT

PROJECT = """
[build-system]
requires = ["scikit-build-core>=0.11"]
build-backend = "scikit_build_core.build"
[project]
name = "small"
version = "1"
"""
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(small C)
add_library(small SHARED small.c)
install(TARGETS small LIBRARY DESTINATION small)
"""


def test_extras_that_refer_to_each_other_are_expanded() -> None:
    project = {
        "name": "small",
        "dependencies": ["click>=8.1"],
        "optional-dependencies": {"record": ["jax>=0.8"], "dev": ["small[record]", "mypy"], "other": ["rich"]},
    }

    assert list(install_checkout.expand_requirements(project, [])) == ["click>=8.1"]
    assert list(install_checkout.expand_requirements(project, ["dev"])) == ["click>=8.1", "jax>=0.8", "mypy"]
    with pytest.raises(KeyError):
        list(install_checkout.expand_requirements(project, ["nonsense"]))


def test_all_requirements_of_this_project_are_external() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    requirements = list(install_checkout.expand_requirements(project, ["dev"]))

    assert any(each.startswith("jax>=") for each in requirements)
    assert any(each.startswith("pytest>=") for each in requirements)
    assert not any(each.startswith("framedex") for each in requirements)


def test_pip_compiles_modules_only_if_imports_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    assert install_checkout.byte_code_options() == ["--no-compile"]
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert install_checkout.byte_code_options() == []


def test_a_terminal_shows_the_ninja_counter_in_place(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["  Configuring\n", "  [1/12] Building a.o\n", "  [2/12] Building b.o\n", "  error: no\n"]

    assert list(install_checkout.NinjaProgress(True).track(lines)) == ["  Configuring\n", "  error: no\n"]
    assert capsys.readouterr().out.split("\r\x1b[K") == [
        "",
        "set-up: compiling, 1 of 12",
        "set-up: compiling, 2 of 12",
        "",
    ]


def test_a_log_has_a_line_per_tenth_and_per_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    """With 60 files, one of which takes half a minute, log lines still appear regularly."""
    now = 0.0

    def built() -> Iterator[str | None]:
        nonlocal now
        for number in range(1, 61):
            for _ in range(3 if number == 58 else 0):
                now += 10.0
                yield None
            now += 0.1
            yield f"  [{number}/60] Building {number}.o\n"

    counter = install_checkout.NinjaProgress(False, "wheels", lambda: now)
    assert list(counter.track(built())) == []
    counter.print_success()
    assert capsys.readouterr().out.splitlines() == [
        *(f"wheels: compiling, {done} of 60 ({round(done / 10)} s)" for done in range(6, 55, 6)),
        *(f"wheels: compiling, 57 of 60 ({seconds} s)" for seconds in (16, 26, 36)),
        "wheels: compiled in 36 s",
    ]


@pytest.mark.parametrize(
    ("available_gib", "processors", "jobs"), [(22, 2, None), (4, 2, None), (3, 2, "3"), (2, 8, "2"), (0.3, 2, "1")]
)
def test_jobs_follow_the_available_memory(available_gib: float, processors: int, jobs: str | None) -> None:
    """With 1 GiB for each job, memory limits the jobs, but never below one."""
    meminfo = f"MemTotal: 99999999 kB\nMemAvailable:  {int(available_gib * (1 << 20))} kB\n"

    limit = install_checkout.parallel_level(meminfo, processors)

    assert limit == ({"CMAKE_BUILD_PARALLEL_LEVEL": jobs} if jobs else {})


def test_jobs_are_not_limited_where_the_available_memory_is_unknown() -> None:
    assert install_checkout.parallel_level("MemTotal: 2048 kB\n", 8) == {}


def test_lines_appear_as_they_are_written() -> None:
    assert list(install_checkout.lines_with_silences(["one\n", "two\n"])) == ["one\n", "two\n"]


@pytest.mark.parametrize("on_terminal", [True, False])
def test_nothing_is_printed_if_there_is_nothing_to_do(on_terminal: bool, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["  Configuring\n", "  ninja: no work to do.\n"]
    counter = install_checkout.NinjaProgress(on_terminal)

    assert list(counter.track(lines)) == lines
    counter.print_success()
    assert capsys.readouterr().out == ""


def test_slow_pip_steps_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    said: deque[str] = deque(maxlen=2)
    lines = [
        "Collecting jax>=0.8\n",
        "  Downloading jaxlib-0.12.0-cp313-cp313-manylinux_2_27_x86_64.whl (88.1 MB)\n",
        "  Downloading click-8.5.1-py3-none-any.whl (0.1 MB)\n",
        "Installing collected packages: jaxlib, click, jax\n",
    ]

    install_checkout.print_slow_pip_steps(lines, said)

    assert list(said) == lines[-2:]
    assert capsys.readouterr().out == "set-up: downloading jaxlib (88.1 MB)\nset-up: installing 3 packages\n"


def test_a_duration_is_formatted_for_people() -> None:
    times = map(install_checkout.format_duration, (0.4, 59.4, 60, 125))
    assert list(times) == ["0 s", "59 s", "1 min 0 s", "2 min 5 s"]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("OSError: [Errno 28] No space left on device\n", "the disk is full"),
        (
            "WARNING: Retrying: NewConnectionError('Failed to establish a new connection')\n",
            "cannot reach the package index",
        ),
        ("g++: fatal error: Killed signal terminated program cc1plus\n", "ran out of memory"),
    ],
)
def test_a_known_cause_is_the_only_line(line: str, cause: str, capsys: pytest.CaptureFixture[str]) -> None:
    install_checkout.report_failure("framedex could not be compiled", ["Building\n", line, "error: failed\n"])

    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith("set-up: framedex could not be compiled: ")
    assert cause in told


def test_an_unknown_cause_is_shown_with_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    install_checkout.report_failure("framedex could not be compiled", ["a.cc:1: error: wrong\n"])

    assert capsys.readouterr().err == "a.cc:1: error: wrong\nset-up: framedex could not be compiled; see above\n"


@pytest.mark.exhaustive
def test_a_compilation_failure_is_shown_with_a_status(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(install_checkout.__file__, tmp_path / "scripts")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "small.c").write_text("int small(void) { return wrong; }\n")

    environment = {**os.environ, "PIP_NO_INDEX": "1"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=TIMEOUT)

    assert done.returncode == 1
    assert "small.c:1:26: error: " in done.stderr
    assert done.stderr.endswith("set-up: framedex could not be compiled; see above\n")
    assert "compiled" not in done.stdout
