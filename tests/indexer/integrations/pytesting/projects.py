"""Projects with their own tests, and pytest's output in a process that loads the plug-in by name."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.running import plain_environment

TIMEOUT = 900  # timeout in seconds: each recorded test starts a JAX process, and several share the processors
_OUTCOME = re.compile(
    r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (?:\[\d+\] )?test_\w+\.py::(.+?)(?: - .*)?$", re.MULTILINE
)


@dataclass(frozen=True)
class Outcome:
    """A finished run of pytest."""

    folder: Path
    status: int
    output: str

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each test by its name, without skipped ones."""
        return {name: outcome.lower() for outcome, name in _OUTCOME.findall(self.output)}

    def section(self, name: str) -> str:
        """The report of a failed test."""
        begin = rf"^_+ (?:ERROR at setup of )?{re.escape(name)} _+$"
        found = re.search(rf"{begin}(.*?)(?=^_{{3}}|^={{3}})", self.output, re.MULTILINE | re.DOTALL)
        assert found, self.output
        return found[1]


def pytest_in(folder: Path, *arguments: str, before: Sequence[str] = (), **environment: str) -> Outcome:
    """Run pytest in a folder on JAX's CPU platform; `before` are framedex arguments before `-m pytest`."""
    usual = {"JAX_PLATFORMS": "cpu", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    kept = {"TMPDIR": str(folder)}  # captures over a budget are kept
    command = [
        sys.executable,
        *before,
        "-m",
        "pytest",
        "-p",
        "framedex.integrations.pytesting.plugin",
        "-rA",
        *arguments,
    ]
    return outcome_of(command, folder, usual | kept | environment)


def outcome_of(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Outcome:
    """Run a command that runs pytest in a folder."""
    variables = plain_environment() | environment
    done = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT
    )
    return Outcome(folder, done.returncode, done.stdout)
