"""Recording a program from the editor."""

from __future__ import annotations

import json
import shutil
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_recording_a_file_shows_its_lines(
    tmp_path: Path, project: Project, new_window: Callable[[Path], Workbench]
) -> None:
    program = tmp_path / "new.py"
    shutil.copy(project.program, program)
    window = new_window(tmp_path)
    window.load()
    window.open(program, project.put_scalar_line, 16)
    window.expect_server()
    window.run("Record this file")
    window.expect_captures("1 capture")
    window.run("Show or Focus Hover")
    expect(window.hover).to_contain_text("PJRT_Client_BufferFromHostBuffer")


def test_a_refused_program_is_not_reported_as_recorded(tmp_path: Path, new_window: Callable[[Path], Workbench]) -> None:
    venv.create(tmp_path / ".venv", symlinks=True)
    said = record(tmp_path, new_window, "import jax\n")
    expect(said("new.py was not run: ")).to_contain_text("has no jaxlib. Install it with")


def test_a_program_without_calls_is_not_reported_as_recorded(
    tmp_path: Path, new_window: Callable[[Path], Workbench]
) -> None:
    said = record(tmp_path, new_window, "raise SystemExit(3)\n")
    expect(said("new.py ended with status 3; ")).to_contain_text("nothing was recorded: the program never opened")


def test_a_program_runs_in_the_selected_interpreter(
    tmp_path: Path, project: Project, new_window: Callable[[Path], Workbench]
) -> None:
    environment = tmp_path / ".venv"
    venv.create(environment, symlinks=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(environment)})
    Path(packages, "jax.pth").write_text(sysconfig.get_path("purelib"))
    (tmp_path / ".vscode").mkdir()
    # Another interpreter's icon.
    (tmp_path / ".vscode" / "settings.json").write_text(json.dumps({"framedex.server.path": str(project.framedex)}))
    program = f"import jax, sys\njax.device_put(1)\nassert sys.prefix == {str(environment)!r}\n"
    said = record(tmp_path, new_window, program)
    expect(said("new.py was recorded.")).to_be_visible()


def test_the_record_key_is_unbound_where_recording_is_impossible(
    tmp_path: Path, new_window: Callable[[Path], Workbench]
) -> None:
    (tmp_path / "f.cc").write_text("int f();\n")
    window = new_window(tmp_path)
    window.load()
    window.open(tmp_path / "f.cc", 1)
    window.expect_server()
    window.press("Control+Alt+.", "r")
    expect(window.page.locator(".statusbar")).to_contain_text("is not a command")


def record(folder: Path, new_window: Callable[[Path], Workbench], text: str) -> Callable[[str], Locator]:
    """Record a program; return a function that waits for a message about it."""
    program = folder / "new.py"
    program.write_text(text)
    window = new_window(folder)
    window.load()
    window.open(program, 1)
    window.expect_server()
    window.run("Record this file")
    return window.message


ENDLESS = """\
import pathlib, signal, jax
jax.device_put(1)
{first}
pathlib.Path("ready").touch()
while True:
    signal.pause()
"""


@pytest.mark.parametrize(
    ("first", "signals"),
    [("", ["SIGINT"]), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", ["SIGINT", "SIGTERM"])],
    ids=["at once", "when asked twice"],
)
def test_a_recording_can_be_stopped_and_saved(
    tmp_path: Path, new_window: Callable[[Path], Workbench], first: str, signals: list[str]
) -> None:
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS.format(first=first))
    window = new_window(tmp_path)
    window.load()
    window.open(program, 1)
    window.expect_server()
    window.run("Record this file")
    expect(window.tree("Files Explorer").filter(has_text="ready")).to_be_visible()
    said = "recording endless.py"
    for signal in signals:
        window.answer_message(said, "Cancel")
        said = f"sent {signal}"
    expect(window.message(f"endless.py was ended by {signals[-1]}")).to_be_visible()
    window.expect_captures("1 capture")
