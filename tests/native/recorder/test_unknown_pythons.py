"""A Python with an unknown frame layout: only its native frames are recorded, or the mock refuses it."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from framedex.captures import read_capture
from framedex.model import MergeOutcome
from tests import pythons
from tests.reading import calls_of
from tests.running import PROGRAMS, Run, run

PUT = "PJRT_Client_BufferFromHostBuffer"
FREE_THREADED = "3.14.4 free-threading build (main, Apr  8 2026) [GCC 12.2.0]"


@pytest.fixture(scope="module")
def other_version(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library that makes a Python report another version."""
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("this Python is not linked against a library that another can stand before")
    library = tmp_path_factory.mktemp("other_version") / "other_version.so"
    subprocess.run(["g++", "-shared", "-fPIC", str(PROGRAMS / "other_version.cc"), "-o", str(library)], check=True)
    return str(library)


def says(version: str, folder: Path, other_version: str) -> Run:
    """A run under a Python with a fake version, without JAX's dependency that reads the version: cloudpickle."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "cloudpickle.py").write_text("raise ImportError\n")
    told = {"LD_PRELOAD": other_version, "PYTHON_SAYS": version, "PYTHONPATH": str(folder / "hidden")}
    return run("endings.py", "returns", folder=folder, **told)


def test_a_newer_python_is_recorded_without_python_frames(tmp_path: Path, other_version: str) -> None:
    done = says("3.99.0 (main)", tmp_path, other_version)
    assert done.status == 0, done.stderr
    calls = calls_of(done.capture, PUT)
    assert len(calls) > 0
    assert not any(call.python_frames for call in calls)
    assert {call.outcome for call in calls} == {MergeOutcome.MERGED}
    problem = read_capture(done.capture).metadata.python_problem
    assert problem == "Python 3.99.0 (main) is not supported (3.11 to 3.15 are)"


def test_the_mock_refuses_to_open_without_the_gil(tmp_path: Path, other_version: str) -> None:
    done = says(FREE_THREADED, tmp_path, other_version)
    assert done.status == 0  # JAX falls back to the CPU, as with any plug-in that fails to open
    assert f"framedex: the mock TPU does not run under free-threaded Python: this is {FREE_THREADED}\n" in done.stderr
    assert not done.captures


@pytest.mark.parametrize("version", ["3.13t", "3.14t"])
def test_a_free_threaded_python_does_not_load_the_mock(tmp_path: Path, version: str) -> None:
    python = pythons.with_jax(version)
    if python is None:
        pytest.skip(f"no Python {version} with JAX here")
    done = run("endings.py", "returns", folder=tmp_path, python=python.path)
    assert done.status == 0
    assert "the mock TPU does not run under free-threaded Python" in done.stderr
