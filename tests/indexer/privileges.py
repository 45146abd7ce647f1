"""Running a command that permissions stop, even if the tests run as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest


def dropping_privileges() -> list[str]:
    """The command prefix that makes permissions apply even to root."""
    if os.getuid() != 0:
        return []
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if not shutil.which("setpriv") or subprocess.run([*drop, "true"], check=False).returncode:
        pytest.skip("root cannot give up its privileges here")
    return drop


def run_without_privileges(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in this process's Python environment."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.run([*dropping_privileges(), *command], capture_output=True, text=True, env=environment)
