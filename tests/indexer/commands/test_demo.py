"""`framedex demo`: its output, its capture folder, and what it leaves unchanged."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from framedex.commands.verbs.setup.demo import prepare_demo_folder
from tests.pythons import ROOT
from tests.running import TIMEOUT, plain_environment

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
PROGRAM = ROOT / "indexer" / "framedex" / "demo" / "device_put.py"
# Environment variables that users set for other purposes.
STEERING = {"FRAMEDEX_RECORD": "0", "FRAMEDEX_LIMIT": "1", "JAX_PLATFORMS": "cpu", "DEBUGINFOD_URLS": "http://[::1]:1"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose settings name another index, after the demo."""
    project = tmp_path_factory.mktemp("project")
    (project / "framedex.toml").write_text('index = "its.db"\nsources = ["/no/such/folder"]\n')
    done = demo(project, **STEERING)
    assert done.returncode == 0, done.stderr
    (project / "shown.txt").write_text(done.stdout)
    return project


def demo(here: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*FRAMEDEX, "demo", *arguments],
        cwd=here,
        env=plain_environment() | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


def captures(folder: Path) -> list[dict[str, object]]:
    asked = [*FRAMEDEX, "captures", "--json"]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True, timeout=TIMEOUT)
    found: list[dict[str, object]] = json.loads(done.stdout)["captures"]
    return found


def test_the_trace_leads_from_the_program_down_to_the_allocation(project: Path) -> None:
    shown = (project / "shown.txt").read_text()

    folder = project / "framedex-demo"
    commands = [line.split()[2] for line in shown.splitlines() if line.startswith("$ framedex ")]
    assert commands == ["run", "index", "trace", "trace"]
    assert f"{folder / 'device_put.py'}:12" in shown
    assert re.search(r"^  P device_put +/.*/jax/_src/api\.py:\d+$", shown, re.MULTILINE)
    assert re.search(r"^  N .*DeviceMemory::Allocate +/.*/device_memory\.cc:\d+$", shown, re.MULTILINE)
    assert f"(in {folder})" in shown
    assert "\x1b" not in shown
    assert "editors/" not in shown  # not part of an installation


def test_the_demo_is_its_own_project(project: Path) -> None:
    """If settings above name another index, it stays unchanged and verbs find the demo's."""
    assert not (project / "its.db").exists()
    assert not (project / ".framedex").exists()
    (capture,) = captures(project / "framedex-demo")[:1]
    assert str(capture["command"]).endswith(" device_put.py")


@pytest.mark.exhaustive
def test_concurrent_demos_record_in_one_folder(project: Path) -> None:
    with ThreadPoolExecutor() as pool:
        ended = list(pool.map(lambda _: demo(project), range(2)))

    assert [done.returncode for done in ended] == [0, 0], [done.stderr for done in ended]
    assert all("DeviceMemory::Allocate" in done.stdout for done in ended)
    assert len(captures(project / "framedex-demo")) == 3


def test_folders_created_by_concurrent_demos_count_as_demos(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(prepare_demo_folder, [tmp_path / "a" / "folder"] * 8))

    assert (tmp_path / "a" / "folder" / PROGRAM.name).read_bytes() == PROGRAM.read_bytes()


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    prepare_demo_folder(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["device_put.py", "framedex.toml"]


@pytest.mark.exhaustive(keep=["notes.txt"])
@pytest.mark.parametrize("name", ["notes.txt", ".git", PROGRAM.name, "framedex.toml"])
def test_a_foreign_folder_is_not_changed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("print('mine')\n")

    done = demo(tmp_path, "--folder", ".")

    assert done.returncode == 1
    assert f"{name}" in done.stderr and "framedex demo --folder DIR" in done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "print('mine')\n"}


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = demo(tmp_path, "--folder", "file/below")

    assert done.returncode == 1
    assert done.stderr.startswith(f"framedex: {tmp_path / 'file' / 'below'} cannot be created: ")
    assert "Traceback" not in done.stderr


def test_without_jax_the_demo_names_the_package_and_creates_nothing(tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)

    done = demo(tmp_path, "--python", str(tmp_path / "bare" / "bin" / "python"))

    assert done.returncode == 1
    assert "-m pip install jax" in done.stderr and "framedex demo --python PATH" in done.stderr
    assert not (tmp_path / "framedex-demo").exists()


def test_the_status_is_that_of_the_failing_step(tmp_path: Path) -> None:
    prepare_demo_folder(tmp_path / "framedex-demo")
    (tmp_path / "framedex-demo" / ".framedex").touch()  # where captures would be stored

    done = demo(tmp_path)

    assert done.returncode == 1
    assert "$ framedex run" in done.stdout and "$ framedex index" not in done.stdout
    assert done.stderr.endswith("The demo ends here: run failed.\n")


def test_ctrl_c_ends_the_demo(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*FRAMEDEX, "demo"],
        cwd=tmp_path,
        env=plain_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["\n", "$ framedex run device_put.py\n"]
    os.killpg(process.pid, signal.SIGINT)

    rest = process.stdout.read()

    assert process.wait(TIMEOUT) == 128 + signal.SIGINT
    assert "framedex index" not in rest
