"""Programs and launchers killed while recording: the recorded data exists, and can be indexed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.captures import capture_folders, read_capture
from tests.reading import calls_of
from tests.run.invoking import program
from tests.running import plain_environment

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
PUT = "PJRT_Client_BufferFromHostBuffer"


@pytest.mark.exhaustive(keep=["1-both"])
@pytest.mark.parametrize("whom", ["program", "launcher", "both"])
@pytest.mark.parametrize("after", [1, 700])
def test_a_kill_loses_no_returned_call(whom: str, after: int, tmp_path: Path, times: int) -> None:
    """A recorded program prints each array that it has sent: after any kill, these are in the capture."""
    for trial in range(times):
        folder = tmp_path / str(trial)
        folder.mkdir()
        command = [FRAMEDEX, "run", "-o", "caps", program("endless.py")]
        with subprocess.Popen(
            command, cwd=folder, env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as launcher:
            assert launcher.stdout is not None
            for _ in range(after + trial):
                sent = int(launcher.stdout.readline())
            child = _program_of(launcher.pid)
            for each in {"program": [child], "launcher": [launcher.pid, child], "both": [child, launcher.pid]}[whom]:
                os.kill(each, signal.SIGKILL)
            _, told = launcher.communicate(timeout=60)
        if whom == "program":
            assert launcher.returncode == -signal.SIGKILL
            assert b"the program was ended by SIGKILL; recorded " in told
        (capture,) = capture_folders(folder / "caps")
        assert read_capture(capture).problems == ()
        sizes = [call.arguments["dims"][0] for call in calls_of(capture, PUT) if call.arguments.get("dims")]
        assert set(range(1, sent + 1)) <= set(sizes)
        indexed = subprocess.run([FRAMEDEX, "index", "caps"], cwd=folder, env=plain_environment(), capture_output=True)
        assert indexed.returncode == 0, indexed.stderr


def _program_of(launcher: int) -> int:
    """The process that runs the program; the launcher's other child is its signal monitor."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    (found,) = (int(each) for each in children if b"endless.py" in Path(f"/proc/{each}/cmdline").read_bytes())
    return found
