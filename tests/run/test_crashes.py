"""The stack of a crash is in the capture, and the program ends in the same way as without framedex."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from tests.run.invoking import framedex_run, plain_run, program

CRASHES = {
    "segfaults": signal.SIGSEGV,
    "aborts": signal.SIGABRT,
    "reads_beyond_the_end_of_a_file": signal.SIGBUS,
    "overflows_the_stack": signal.SIGSEGV,
}


def _line(comment: str) -> int:
    lines = Path(program("crashing.py")).read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))
    return number


def _capture(folder: Path) -> Path:
    (capture,) = (folder / ".framedex" / "captures").iterdir()
    return capture


@pytest.mark.parametrize("how", CRASHES)
def test_the_python_line_of_a_crash_is_shown_after_the_end(how: str, tmp_path: Path) -> None:
    ended = framedex_run(program("crashing.py"), how, folder=tmp_path)

    assert ended.status == -CRASHES[how]
    capture = _capture(tmp_path)
    text = (capture / "crash.txt").read_text()
    # A stack may also overflow where the function begins: Python's line of that is the decorator's, two lines above.
    lines = range(_line(how) - 2 * (how == "overflows_the_stack"), _line(how) + 1)
    assert text.startswith(f"*** {CRASHES[how].name} (@0x")
    for verb in ("live", "hang"):
        shown = CliRunner().invoke(cli, [verb, str(capture)]).stdout
        assert f"was killed by {CRASHES[how].name}" in shown
        (marked,) = (line for line in shown.splitlines() if line.startswith("  > "))
        assert marked.split()[1:] in [[how, f"{program('crashing.py')}:{line}"] for line in lines]
        assert "explain" in shown


def test_explain_names_the_native_frames_of_a_crash(tmp_path: Path) -> None:
    framedex_run(program("crashing.py"), "segfaults", folder=tmp_path)

    explained = CliRunner().invoke(cli, ["explain", str(_capture(tmp_path) / "crash.txt")]).stdout

    fault, evaluator = explained.index("strlen"), explained.index("  _PyEval_EvalFrameDefault  ")
    assert explained.index("  _ctypes_callproc  ") in range(fault, evaluator)
    assert f"  segfaults  {program('crashing.py')}:{_line('segfaults')}\n" in explained[evaluator:]


@pytest.mark.exhaustive(keep=["segfaults"])
@pytest.mark.parametrize("how", CRASHES)
def test_the_program_ends_as_without_framedex_and_faulthandler_reports_the_same(how: str, tmp_path: Path) -> None:
    plain = plain_run(program("crashing.py"), how, "faulthandler", folder=tmp_path)
    recorded = framedex_run(program("crashing.py"), how, "faulthandler", folder=tmp_path)

    assert recorded.status == plain.status == -CRASHES[how]
    assert recorded.stdout == plain.stdout
    fatal = [line for line in plain.stderr.decode().splitlines() if line.startswith("Fatal Python error")]
    assert fatal
    assert fatal == [line for line in recorded.stderr.decode().splitlines() if line.startswith("Fatal Python error")]
    assert (_capture(tmp_path) / "crash.txt").exists()


def test_damaged_frames_end_the_walk_and_not_the_report(tmp_path: Path) -> None:
    ended = framedex_run(program("crashing.py"), "damages_its_frames", folder=tmp_path)

    assert ended.status == -signal.SIGSEGV
    native, _, memory_map = (_capture(tmp_path) / "crash.txt").read_text().partition("\n\n")
    assert native.count("    @     0x") > 5
    assert "libpython3" in memory_map
    shown = CliRunner().invoke(cli, ["hang", str(_capture(tmp_path))]).stdout
    assert "It crashed. Its Python frames are unknown." in shown


def test_without_the_option_no_stack_is_kept(tmp_path: Path) -> None:
    ended = framedex_run("--on-crash", "off", program("crashing.py"), "segfaults", folder=tmp_path)

    assert ended.status == -signal.SIGSEGV
    assert not (_capture(tmp_path) / "crash.txt").exists()
