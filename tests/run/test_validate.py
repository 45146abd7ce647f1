"""`framedex run --validate`: broken rules of the C API on stderr, at the call and after the program."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.run.invoking import framedex_run, program


def test_broken_rules_are_reported_with_both_stacks(tmp_path: Path) -> None:
    ended = framedex_run("--validate", program("misuse.py"), folder=tmp_path)
    assert ended.status == 0
    said = ended.stderr.decode()
    report = said.partition("error: use-after-destroy  1, broken by the client\n")[2].partition("\n\n")[0]
    use, destruction = report.index("PJRT_Buffer_IsOnCpu\n"), report.index("PJRT_Buffer_Destroy\n")
    assert use < report.index("misuse.py:", use) < destruction < report.index("misuse.py:", destruction)
    assert said.rstrip().endswith("Rules: docs/reference/validation.md")
    assert b"broken by" not in ended.stdout
    assert "framedex trace" not in report  # the index of the report is temporary


def test_a_correct_program_is_reported_as_correct(tmp_path: Path) -> None:
    ended = framedex_run("--validate", program("threads.py"), folder=tmp_path)
    assert ended.status == 0
    assert ended.stderr.decode().rstrip().endswith("No rule of the C API was broken in these calls.")


def test_the_status_is_the_programs(tmp_path: Path) -> None:
    code = "import jax; jax.device_put(1); raise SystemExit(7)"
    ended = framedex_run("--validate", "-c", code, folder=tmp_path)
    assert ended.status == 7
    assert "No rule" in ended.stderr.decode()


def test_a_program_without_recording_is_not_validated(tmp_path: Path) -> None:
    ended = framedex_run("--validate", "-c", "pass", folder=tmp_path)
    assert ended.status == 0
    assert "rule" not in ended.stderr.decode().lower()


def test_abort_ends_the_program_at_the_first_broken_rule(tmp_path: Path) -> None:
    ended = framedex_run("--validate=abort", program("misuse.py"), folder=tmp_path)
    assert ended.status == -signal.SIGABRT
    said = ended.stderr.decode()
    assert said.count(", broken by the client: PJRT_") == 1
    report = said.partition("error: use-after-destroy  1, broken by the client\n")[2].partition("\n\n")[0]
    use, destruction = report.index("PJRT_Buffer_IsOnCpu\n"), report.index("PJRT_Buffer_Destroy\n")
    assert use < report.index("misuse.py:", use) < destruction < report.index("misuse.py:", destruction)
