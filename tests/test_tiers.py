"""Exhaustive tests are skipped on request, and a mark that keeps an unknown id is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.pythons import ROOT

TESTS = """
import pytest

@pytest.mark.exhaustive
def test_whole(): pass

@pytest.mark.exhaustive(keep=["KEPT"])
@pytest.mark.parametrize("value", ["one", "two"])
def test_part(value): pass

def test_plain(): pass
"""
PLUGIN = """
from tests import tiers

def pytest_addoption(parser):
    parser.addoption(tiers.OPTION, action="store_true")

def pytest_configure(config):
    config.addinivalue_line("markers", "exhaustive: for make test-all")

def pytest_collection_modifyitems(config, items):
    if config.getoption(tiers.OPTION):
        tiers.deselect_exhaustive(config, items)
"""


def collect(folder: Path, kept: str, *options: str, test: str = "test_some.py") -> subprocess.CompletedProcess[str]:
    """Collect the tests above, of which the second keeps the parameters with the id `kept`."""
    (folder / "conftest.py").write_text(PLUGIN)
    (folder / "test_some.py").write_text(TESTS.replace("KEPT", kept))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *options,
        test,
    ]
    return subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


def collected(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_nonexhaustive_tests_and_kept_parameters_are_selected(tmp_path: Path) -> None:
    done = collect(tmp_path, "two", "--skip-exhaustive")
    assert collected(done) == ["test_part[two]", "test_plain"], done.stdout


def test_without_the_option_every_test_is_selected(tmp_path: Path) -> None:
    done = collect(tmp_path, "two")
    assert collected(done) == ["test_whole", "test_part[one]", "test_part[two]", "test_plain"], done.stdout


def test_a_single_test_is_selected_by_its_id(tmp_path: Path) -> None:
    done = collect(tmp_path, "two", "--skip-exhaustive", test="test_some.py::test_part[two]")
    assert collected(done) == ["test_part[two]"], done.stderr
    done = collect(tmp_path, "two", "--skip-exhaustive", test="test_some.py::test_part[one]")
    assert collected(done) == [], done.stderr


def test_an_unknown_kept_id_is_an_error(tmp_path: Path) -> None:
    done = collect(tmp_path, "three", "--skip-exhaustive")
    assert done.returncode != 0
    assert "test_some.py::test_part has no parameters ['three']" in done.stderr
