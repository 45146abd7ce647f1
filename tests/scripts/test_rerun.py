"""`make test RERUN=1` runs failed tests once more, and only where all tests have run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.pythons import ROOT
from tests.running import TIMEOUT

RUN = """\
echo "$*" >>ran
test "$*" = all && exit FIRST
exit AGAIN
"""


@pytest.mark.parametrize(
    ("rerun", "first", "again", "runs", "passes"),
    [
        (1, 0, 1, 1, True),
        (1, 1, 0, 2, True),
        (1, 1, 1, 2, False),
        (1, 3, 0, 1, False),  # an internal error of pytest: it has not run all tests
        (0, 1, 0, 1, False),
    ],
)
def test_failed_tests_run_once_more(
    tmp_path: Path, rerun: int, first: int, again: int, runs: int, passes: bool
) -> None:
    (tmp_path / "run").write_text(RUN.replace("FIRST", str(first)).replace("AGAIN", str(again)))
    target = f"probe:\n\t@cd {tmp_path} && $(call with_rerun,sh ./run all)"

    command = ["make", f"--eval={target}", "probe", f"RERUN={rerun}"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT)

    assert (made.returncode == 0) is passes, made.stdout + made.stderr
    ran = (tmp_path / "ran").read_text().splitlines()
    assert ran == ["all", "all -n 0 --last-failed --last-failed-no-failures none"][:runs]
    assert ("Rerunning" in made.stdout) is (runs == 2)
