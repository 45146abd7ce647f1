"""framedex without a JAX of its own: it records another environment's, or reports the missing packages."""

from __future__ import annotations

import subprocess
from pathlib import Path

from framedex.captures import capture_folders, project_captures_folder
from tests.hiding import JAX, python_without
from tests.pythons import ROOT
from tests.running import TIMEOUT, plain_environment

RUN = "from framedex.commands.main import cli; cli(prog_name='framedex')"


def framedex(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """framedex in an interpreter without JAX."""
    command = [*python_without(JAX, RUN), *arguments]
    environment = plain_environment()
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT)


def test_a_program_of_another_environment_is_recorded_and_indexed(tmp_path: Path, python: str) -> None:
    """That environment has no framedex: it only needs jaxlib."""
    done = framedex(tmp_path, "run", "--python", python, str(ROOT / "indexer/framedex/demo/device_put.py"))
    assert done.returncode == 0, done.stderr
    assert len(capture_folders(project_captures_folder(tmp_path))) == 1
    indexed = framedex(tmp_path, "index", "--lazy")
    assert indexed.returncode == 0, indexed.stderr
    trace = framedex(tmp_path, "trace", "PJRT_Client_BufferFromHostBuffer")
    assert trace.returncode == 0 and "device_put" in trace.stdout
