"""Recording and indexing in unusual places: they work, or report the reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.captures import capture_folders, read_capture
from tests.run.invoking import program
from tests.running import plain_environment, run

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))


def test_a_file_size_limit_does_not_end_a_recorded_program(tmp_path: Path) -> None:
    """If a file of the recorder hits the size limit that would kill the program, the program continues."""
    done = run("full_disk.py", "killed", folder=tmp_path)
    assert done.result == {"sent": 2000}
    assert read_capture(done.capture).stops


@pytest.mark.exhaustive(keep=["folder"])
@pytest.mark.parametrize("kind", ["folder", "loop", "fifo", "device"])
def test_a_special_file_is_not_an_index_and_unchanged(tmp_path: Path, captures: Path, kind: str) -> None:
    path = tmp_path / ".framedex" / "index.db"
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    before = path.lstat()
    for arguments in (["index", str(captures)], ["--index", str(path), "captures"], ["index", "--rebuild"]):
        done = _framedex(arguments, tmp_path)
        assert done.returncode in (1, 2), done
        assert str(path) in done.stderr or "Nothing to index" in done.stderr, done
    assert path.lstat().st_ino == before.st_ino
    assert [each.name for each in path.parent.iterdir()] == ["index.db"]


@pytest.mark.exhaustive
def test_a_seal_that_would_block_is_skipped(tmp_path: Path, captures: Path) -> None:
    assert _framedex(["--index", "i.db", "index", str(min(captures.iterdir()))], tmp_path).returncode == 0
    seal = tmp_path / "i.db.seal"
    seal.unlink()
    os.mkfifo(seal)
    for arguments in (["captures"], ["index"], ["captures"]):
        done = _framedex(["--index", "i.db", *arguments], tmp_path)
        assert (done.returncode, "changed" in done.stderr) == (0, False), done


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / ".framedex").write_text("mine")
    done = _framedex(["run", program("endings.py"), "returns"], tmp_path)
    assert done.returncode == 1
    assert "cannot be made: " in done.stderr
    assert (tmp_path / ".framedex").read_text() == "mine"


@pytest.mark.exhaustive
def test_recording_works_without_home_locale_and_utf8_names(tmp_path: Path) -> None:
    """Recording and indexing work in a folder with undecodable bytes and without a home folder."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 \x1b[31m"))
    folder.mkdir()
    (folder / "program.py").write_text("import jax\njax.device_put(1.0)\n")
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/dev/null/home", "LANG": "C", "LC_ALL": "C"}
    done = _framedex(["run", "-o", "caps", "program.py"], folder, bare)
    assert done.returncode == 0, done.stderr
    assert done.stderr.rstrip().endswith("framedex index caps")
    for arguments in (["index", "caps"], ["captures"], ["calls"], ["where", "program.py"]):
        done = _framedex(arguments, folder, bare)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.exhaustive
def test_the_proposed_command_can_be_typed_unchanged(tmp_path: Path) -> None:
    """In folders with unusual names, the suggested next command works in a shell."""
    (tmp_path / "program.py").write_text("import jax\njax.device_put(1.0)\n")
    for name in ("-o", "it's $HOME; here", "\x1b[31mred", "a/b/../c"):
        done = _framedex(["run", f"--output={name}", "program.py"], tmp_path)
        command = done.stderr.rstrip().rpartition("Next: ")[2]
        typed = ["bash", "-c", command.replace("framedex ", f"'{FRAMEDEX}' --index 'i {len(name)}.db' ", 1)]
        indexed = subprocess.run(typed, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True)
        assert indexed.returncode == 0, (command, indexed.stderr)
        assert "calls, " in indexed.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("mask", [0o077, 0o777])
def test_the_umask_is_respected(tmp_path: Path, mask: int) -> None:
    (tmp_path / "program.py").write_text("import jax\njax.device_put(1.0)\n")
    for arguments in (["run", "program.py"], ["index"], ["captures"]):
        done = subprocess.run(
            [FRAMEDEX, *arguments],
            cwd=tmp_path,
            env=plain_environment(),
            capture_output=True,
            text=True,
            umask=mask,
        )
        assert "Traceback" not in done.stderr
        if mask == 0o077:
            assert done.returncode == 0, done.stderr
    made = [path for path in (tmp_path / ".framedex").rglob("*") if not path.is_dir()]
    assert [path for path in made if path.stat().st_mode & mask] == []


def test_deleting_the_working_folder_of_a_recording_keeps_the_program_running(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "program.py").write_text(
        "import shutil, os, jax\njax.device_put(1.0)\nshutil.rmtree(os.getcwd())\n"
        "for size in range(3000): jax.device_put(float(size))\nprint('through')\n"
    )
    done = _framedex(["run", "../program.py"], here)
    assert (done.returncode, done.stdout) == (0, "through\n"), done.stderr
    assert "never opened" not in done.stderr
    assert "was removed while the program ran" in done.stderr


@pytest.mark.exhaustive
def test_a_clock_set_back_changes_no_answer(tmp_path: Path, captures: Path) -> None:
    """Files with future times are indexed again without reading them twice and without doubtful marks."""
    for path in (captures, *captures.rglob("*")):
        os.utime(path, (4e9, 4e9))
    assert _framedex(["index", str(captures)], tmp_path).returncode == 0
    os.utime(tmp_path / ".framedex" / "index.db", (4e9, 4e9))
    done = _framedex(["index", str(captures)], tmp_path)
    assert (done.returncode, "No new captures." in done.stdout) == (0, True), done.stdout
    assert "changed" not in _framedex(["captures"], tmp_path).stderr


@pytest.mark.exhaustive
def test_a_path_of_maximum_length_is_recorded(tmp_path: Path) -> None:
    """A folder too deep for a capture's path is reported when a program is recorded there."""
    deep = tmp_path
    while len(os.fspath(deep)) < 3900:
        deep = deep / ("d" * 150)
    deep.mkdir(parents=True)
    (tmp_path / "program.py").write_text("import jax\njax.device_put(1.0)\nprint('through')\n")
    for length in (60, 110, 150):
        folder = deep / ("e" * length)
        done = _framedex(["run", "-o", str(folder), str(tmp_path / "program.py")], tmp_path)
        assert "Traceback" not in done.stderr
        assert "recorded" in done.stderr or "cannot be made" in done.stderr or "nothing was recorded: c" in done.stderr
        assert "never opened" not in done.stderr
        assert (done.stdout == "through\n") is (done.returncode == 0)
    assert all(read_capture(capture) for capture in capture_folders(deep / ("e" * 60)))


def _framedex(
    arguments: list[str], folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FRAMEDEX, *arguments],
        cwd=folder,
        env=environment or plain_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
