"""scripts/install_checkout.py: what pip is asked for, and what is shown while the checkout compiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
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


def test_extras_that_name_one_another_give_what_they_need() -> None:
    project = {
        "name": "small",
        "dependencies": ["click>=8.1"],
        "optional-dependencies": {"record": ["jax>=0.8"], "dev": ["small[record]", "mypy"], "other": ["rich"]},
    }

    assert list(install_checkout.needed(project, [])) == ["click>=8.1"]
    assert list(install_checkout.needed(project, ["dev"])) == ["click>=8.1", "jax>=0.8", "mypy"]
    with pytest.raises(KeyError):
        list(install_checkout.needed(project, ["nonsense"]))


def test_of_this_project_everything_is_of_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    requirements = list(install_checkout.needed(project, ["dev"]))

    assert any(each.startswith("jax>=") for each in requirements)
    assert any(each.startswith("pytest>=") for each in requirements)
    assert not any(each.startswith("framedex") for each in requirements)


def test_modules_are_compiled_by_pip_only_where_imports_keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    assert install_checkout.no_byte_code() == ["--no-compile"]
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert install_checkout.no_byte_code() == []


def test_a_terminal_sees_ninjas_counter_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["  Configuring\n", "  [1/12] Building a.o\n", "  [2/12] Building b.o\n", "  error: no\n"]

    assert list(install_checkout.watched(lines, True)) == ["  Configuring\n", "  error: no\n"]
    assert capsys.readouterr().out.split("\r\x1b[K") == [
        "",
        "set-up: compiling, 1 of 12",
        "set-up: compiling, 2 of 12",
        "",
    ]
    assert list(install_checkout.watched(lines, False)) == ["  Configuring\n", "  error: no\n"]
    assert capsys.readouterr().out == ""


def test_what_cannot_be_compiled_is_shown_with_a_status(tmp_path: Path) -> None:
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
    assert done.stdout == ""
