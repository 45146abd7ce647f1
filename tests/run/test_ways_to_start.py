"""Every way to start a Python program works after `framedex run`; unsupported ones are refused with the reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.invoking import FRAMEDEX, environment, framedex_run

# Its argv, its name and its arguments; then one call into the runtime, and an unusual exit status.
PROGRAM = """\
import sys
print(__name__, sys.argv, sys.stdin.read())
import jax
jax.device_put(1.0)
sys.exit(3)
"""
TEST = "import jax\n\ndef test_put():\n    assert jax.device_put(1.0) == 1.0\n"
STDIN = b"what it is given"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "test_put.py").write_text(TEST)
    (tmp_path / "commands").mkdir()
    return tmp_path


def command(folder: Path, name: str, first_line: str, text: str = PROGRAM) -> Path:
    """An executable script on the current PATH."""
    script = folder / "commands" / name
    script.write_text(f"{first_line}\n{text}")
    script.chmod(0o755)
    return script


def test_code_runs_as_with_python(folder: Path) -> None:
    ended = framedex_run("-c", PROGRAM, "--epochs", "3", "-o", "x", folder=folder, stdin=STDIN)
    assert (ended.status, ended.stdout) == (3, b"__main__ ['-c', '--epochs', '3', '-o', 'x'] what it is given\n")
    assert (folder / ended.capture).is_dir()


def test_a_program_is_read_from_stdin(folder: Path) -> None:
    ended = framedex_run("-", "a", "--b", folder=folder, stdin=PROGRAM.replace("sys.stdin.read()", "'-'").encode())
    assert (ended.status, ended.stdout) == (3, b"__main__ ['-', 'a', '--b'] -\n")
    assert (folder / ended.capture).is_dir()


@pytest.mark.exhaustive(keep=["python3"])
@pytest.mark.parametrize("python", ["python", "python3", sys.executable])
def test_an_interpreter_runs_with_its_arguments(folder: Path, python: str) -> None:
    arguments = ("-X", "dev", "-W", "ignore", "program.py", "--x")
    ended = framedex_run(python, *arguments, folder=folder, stdin=STDIN, PATH=_path(Path(sys.executable).parent))
    assert (ended.status, ended.stdout) == (3, b"__main__ ['program.py', '--x'] what it is given\n")
    assert (folder / ended.capture).is_dir()


def test_a_command_beside_the_interpreter_is_found_off_the_path(folder: Path) -> None:
    """A folder with its name, as in a checkout, is not mistaken for it."""
    (folder / "pytest").mkdir()
    ended = framedex_run("pytest", "-q", "-p", "no:cacheprovider", "test_put.py", folder=folder, PATH="/usr/bin:/bin")
    assert (ended.status, b"1 passed" in ended.stdout) == (0, True), ended
    assert (folder / ended.capture).is_dir()


@pytest.mark.exhaustive(keep=["#!/usr/bin/env python3"])
@pytest.mark.parametrize(
    "first_line",
    [
        f"#!{sys.executable}",
        f"#! {sys.executable} -B",
        "#!/usr/bin/env python3",
        "#!/usr/bin/env -S python3 -B",
        f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''",
    ],
)
def test_a_command_on_the_path_runs_in_its_shebang_python(folder: Path, first_line: str) -> None:
    script = command(folder, "launch-it", first_line)
    path = _path(Path(sys.executable).parent, script.parent)
    ended = framedex_run("launch-it", "--nproc", "2", folder=folder, stdin=STDIN, PATH=path)
    plain = subprocess.run(
        [script, "--nproc", "2"], env=environment(PATH=path, JAX_PLATFORMS="cpu"), input=STDIN, capture_output=True
    )
    assert (ended.status, ended.stdout) == (plain.returncode, plain.stdout)
    assert ended.status == 3, ended.stderr
    assert (folder / ended.capture).is_dir()


@pytest.mark.exhaustive
def test_a_script_path_runs_in_our_python_unless_its_shebang_names_one(folder: Path) -> None:
    for name, first_line in (("plain", "# no line for a shell"), ("usual", "#!/usr/bin/env python3")):
        script = command(folder, name, first_line)
        ended = framedex_run(f"commands/{script.name}", folder=folder, stdin=STDIN, PATH="/usr/bin:/bin")
        assert ended.status == 3, ended.stderr


@pytest.mark.exhaustive(keep=["#!/bin/sh-a script for sh"])
@pytest.mark.parametrize(
    ("first_line", "kind"),
    [("#!/bin/sh", "a script for sh"), ("#!/usr/bin/env bash", "a script for bash"), ("#!/usr/bin/perl", "for perl")],
)
def test_another_script_is_refused_with_the_reason(folder: Path, first_line: str, kind: str) -> None:
    script = command(folder, "start", first_line, "touch ran\n")
    for word in (str(script), "start"):
        ended = framedex_run(word, folder=folder, PATH=_path(script.parent))
        assert ended.status == 1
        assert f"{kind}" in ended.stderr.decode() and "framedex run python SCRIPT`" in ended.stderr.decode()
    ended = framedex_run("ls", folder=folder)
    assert "not a Python script" in ended.stderr.decode()
    assert not (folder / "ran").exists() and not (folder / ".framedex").exists()


def test_an_ambiguous_file_or_command_name_is_refused(folder: Path) -> None:
    script = command(folder, "launch", f"#!{sys.executable}", "open('command-ran', 'w')\n")
    (folder / "launch").write_text("open('file-ran', 'w')\n")
    ended = framedex_run("launch", folder=folder, PATH=_path(script.parent))
    assert ended.status == 1
    assert re.search(rf"framedex run \./launch`, or `\S*framedex run {script}`", ended.stderr.decode())
    assert not list(folder.glob("*-ran"))


@pytest.mark.exhaustive(keep=["commands"])
@pytest.mark.parametrize("path", ["", ".", ":/usr/bin", "commands"])
def test_the_working_folder_is_not_on_the_path(folder: Path, path: str) -> None:
    script = command(folder, "strange", f"#!{sys.executable}", "open('ran', 'w')\n")
    ended = framedex_run("strange", folder=script.parent, PATH=path)
    # ... if it is a named script, and none beside it is meant.
    assert ended.status == 0
    (script.parent / "ran").unlink()
    ended = framedex_run("strange", folder=folder, PATH=path)
    assert (ended.status, b"There is no script 'strange'" in ended.stderr) == (2, True)


@pytest.mark.exhaustive
def test_a_command_is_never_run_by_a_python_in_the_working_folder(folder: Path) -> None:
    script = command(folder, "launch-it", "#!/usr/bin/env python3")
    planted = folder / "python3"
    planted.write_text("#!/bin/sh\ntouch planted-ran\n")
    planted.chmod(0o755)
    ended = framedex_run("launch-it", folder=folder, stdin=STDIN, PATH=f":{_path(script.parent)}")
    assert ended.status != 0 and not (folder / "planted-ran").exists()
    path = f":{_path(Path(sys.executable).parent, script.parent)}"
    ended = framedex_run("launch-it", folder=folder, stdin=STDIN, PATH=path)
    assert (ended.status, (folder / "planted-ran").exists()) == (3, False), ended.stderr


def test_an_unrecordable_python_of_a_command_is_reported_with_the_command(folder: Path) -> None:
    script = command(folder, "start", "#!/nowhere/bin/python3")
    ended = framedex_run("start", folder=folder, PATH=_path(script.parent))
    assert ended.status == 1
    assert "/nowhere/bin/python3 cannot be run as Python: No such file or directory." in ended.stderr.decode()
    assert f"The first line of {script} selects /nowhere/bin/python3." in ended.stderr.decode()


def test_the_error_of_a_failing_interpreter_is_shown(folder: Path) -> None:
    """Like pyenv's: a script in the place of a missing Python."""
    shim = command(folder, "python3.12", "#!/bin/sh", "echo 'pyenv: python3.12: command not found' >&2\nexit 127\n")
    for arguments in (("--python", str(shim), "program.py"), ("python3.12", "program.py")):
        ended = framedex_run(*arguments, folder=folder, PATH=_path(shim.parent))
        assert ended.status == 1
        said = f"{shim} cannot be run as Python: pyenv: python3.12: command not found."
        assert said in ended.stderr.decode()


def test_two_pythons_are_refused(folder: Path) -> None:
    ended = framedex_run("--python", sys.executable, "python3", "program.py", folder=folder)
    assert (ended.status, b"Use one of them." in ended.stderr) == (1, True)
    ended = framedex_run("-m", "-c", "x", folder=folder)
    assert ended.status == 2


@pytest.mark.exhaustive
def test_captures_show_the_command(folder: Path) -> None:
    framedex_run("-c", "import jax; jax.device_put(1.0)", folder=folder)
    listed = subprocess.run(
        [FRAMEDEX, "index"], cwd=folder, env=environment(), capture_output=True, check=True
    ) and subprocess.run([FRAMEDEX, "captures"], cwd=folder, env=environment(), capture_output=True, text=True)
    assert "-c 'import jax; jax.device_put(1.0)'" in listed.stdout


def _path(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])


def test_a_nested_run_records_and_the_outer_one_says_so(folder: Path) -> None:
    (folder / "ones.py").write_text("import jax\njax.numpy.ones(3)\n")
    ended = framedex_run(FRAMEDEX, "run", "ones.py", folder=folder)
    assert ended.status == 0, ended.stderr
    inner, outer = ended.said
    assert "framedex: recorded " in inner
    assert outer == "framedex: the run inside the program reports the recording."
