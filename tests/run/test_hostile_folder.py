"""`framedex run` in a folder with hostile modules and commands: only the user's own program may load them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.sources.git import Git
from tests import pythons
from tests.hostile import HostileFolder, make_hostile
from tests.run.invoking import FRAMEDEX
from tests.running import TIMEOUT


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    return make_hostile(tmp_path / "workspace")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program outside of the folder, which loads none of its modules."""
    path = tmp_path / "program.py"
    path.write_text("print('it ran')\n")
    return path


def framedex(hostile: HostileFolder, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FRAMEDEX, *arguments],
        cwd=hostile.folder,
        env=hostile.environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


def test_another_python_is_queried_without_running_anything_of_the_folder(
    hostile: HostileFolder, program: Path, python: str
) -> None:
    done = framedex(hostile, "run", "--python", python, str(program))
    assert (done.returncode, done.stdout) == (0, "it ran\n"), done.stderr
    assert hostile.ran() == []


def test_a_program_gets_the_pythonpath_hidden_by_an_editor(hostile: HostileFolder, program: Path) -> None:
    program.write_text("import os\nprint(os.environ['PYTHONPATH'], 'FRAMEDEX_PROGRAM_PYTHONPATH' in os.environ)\n")
    kept = {"PYTHONPATH": "/opt/mine", "FRAMEDEX_PROGRAM_PYTHONPATH": "src:/opt/mine"}
    done = framedex(hostile, "run", str(program), **kept)
    assert done.stdout.endswith(":src:/opt/mine False\n"), done.stderr


def test_a_python_name_is_not_searched_in_the_folder(hostile: HostileFolder, program: Path) -> None:
    done = framedex(hostile, "run", "--python", "python3", str(program))
    assert hostile.ran() == [], done.stderr
    done = framedex(hostile, "run", "--python", "framedex-no-such-python", str(program))
    assert "There is no framedex-no-such-python on the PATH" in done.stderr


@pytest.mark.exhaustive
def test_a_launcher_does_not_find_a_python_in_the_folder(hostile: HostileFolder, tmp_path: Path) -> None:
    """Scripts that search the interpreter on the PATH, such as pyenv's."""
    launcher = tmp_path / "launcher"
    launcher.write_text(f'#!/bin/sh\nexport PATH="$PATH:{Path(sys.executable).parent}"\nexec python3 "$@"\n')
    launcher.chmod(0o755)
    query = (
        "from framedex.base.interpreters import query_interpreter\n"
        f"print(query_interpreter({str(launcher)!r}, 'print(json.dumps(sys.version_info[0]))'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", query],
        cwd=hostile.folder,
        env=hostile.environment(),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "3\n", done.stderr
    assert hostile.ran() == []


@pytest.mark.exhaustive
def test_plugins_are_searched_without_running_anything_of_the_folder(hostile: HostileFolder, program: Path) -> None:
    for python in (sys.executable, str(Path(sys.executable).parent / "python")):
        done = framedex(hostile, "run", "--python", python, "--plugin", "no-such-plug-in", str(program))
        assert done.returncode == 1 and "no plug-in called 'no-such-plug-in'" in done.stderr
    assert hostile.ran() == []


@pytest.mark.exhaustive(keep=["verb0"])
@pytest.mark.parametrize(
    "verb", [["index", "."], ["captures"], ["summary"], ["doctor"], ["check"], ["sources"], ["find", "x"], ["cmake"]]
)
def test_no_verb_runs_anything_of_the_folder(hostile: HostileFolder, verb: list[str]) -> None:
    done = framedex(hostile, *verb)
    assert "Traceback" not in done.stderr
    assert hostile.ran() == []


@pytest.mark.exhaustive(keep=["file://{folder}"])
@pytest.mark.parametrize("mirror", ["./", "file://{folder}", "ext::sh -c {folder}/git", "--upload-pack={folder}/git"])
def test_fetching_runs_nothing_of_the_folder_or_of_a_named_clone(
    hostile: HostileFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    address = mirror.format(folder=hostile.folder)
    (hostile.folder / "framedex.toml").write_text(f"[mirrors]\njax = {json.dumps(address)}\n")
    arguments = ("sources", "fetch", f"jax@{'5a' * 20}", "--reference", ".")
    shown = framedex(hostile, *arguments)
    assert shown.returncode == 1 and "Nothing was fetched" in shown.stderr
    if mirror in ("./", "file://{folder}"):
        done = framedex(hostile, *arguments, "--yes", "--mirrors")
        assert done.returncode == 1 and "does not have the commit" in done.stderr
    else:
        assert "mirrors.jax is invalid" in shown.stderr
    assert hostile.ran() == []


def test_git_is_not_taken_from_the_folder_and_runs_nothing_it_configures(
    hostile: HostileFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", hostile.environment()["PATH"])
    monkeypatch.chdir(hostile.folder)
    git = Git(hostile.folder)
    assert git.text("rev-parse", "--show-toplevel") == f"{hostile.folder}\n", git.error
    git.text("ls-files")
    assert hostile.ran() == []


def test_a_python_imports_the_same_modules_as_for_its_user(tmp_path: Path) -> None:
    """Packages of an absolute PYTHONPATH and of the user count, in that order, and are not imported."""
    from framedex.base.interpreters import query_interpreter

    for number, place in enumerate(("python-path", "user/lib/python{}.{}/site-packages".format(*sys.version_info[:2]))):
        for name in ("one",) if number == 0 else ("one", "two"):
            package = tmp_path / place / f"framedex_test_{name}"
            package.mkdir(parents=True)
            (package / "__init__.py").write_text("raise SystemExit('imported')")
            metadata = tmp_path / place / f"framedex_test_{name}-{number}.dist-info" / "METADATA"
            metadata.parent.mkdir()
            metadata.write_text(f"Metadata-Version: 2.1\nName: framedex-test-{name}\nVersion: {number}\n")
    query = "print(json.dumps([importlib.metadata.version('framedex-test-' + name) for name in ('one', 'two')]))"
    base = pythons.ROOT / "nowhere" if sys.prefix == sys.base_prefix else Path(sys.base_prefix) / "bin" / "python3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path / 'python-path'}::relative")
        patch.setenv("PYTHONUSERBASE", str(tmp_path / "user"))
        assert query_interpreter(str(base if base.exists() else sys.executable), query) == ["0", "1"]


def test_an_old_python_is_reported(tmp_path: Path) -> None:
    old = next((each for version in ("3.9", "3.10", "3.8") for each in pythons.found(version)), None)
    if old is None:
        pytest.skip("no older Python here")
    program = tmp_path / "program.py"
    program.touch()
    done = subprocess.run(
        [FRAMEDEX, "run", "--python", old.path, str(program)], capture_output=True, text=True, cwd=tmp_path
    )
    assert f"is Python {old.version}" in done.stderr
