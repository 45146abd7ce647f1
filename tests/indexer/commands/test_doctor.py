"""`framedex doctor`."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.base.version import VERSION
from framedex.commands import doctor_checks
from framedex.commands.main import cli
from framedex.sources.release_maps import open_release_maps
from tests.hiding import JAX, NATIVE_PART, OF_X86, python_without
from tests.indexer.privileges import run_without_privileges


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, [*arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a good and a bad source file. Only its index is checked: other checks take a second."""
    for checks in ("list_software_checks", "list_recording_checks"):
        monkeypatch.setattr(doctor_checks, checks, lambda *_: ())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "good.py").write_text("def f():\n    g()\n")
    (tmp_path / "src" / "bad.cc").write_bytes(b"\0")
    assert run("index", "--source", "src")[0] == 0
    return tmp_path


def test_problems_are_counted_and_other_checks_are_listed(project: Path) -> None:
    code, out, _ = run("doctor")
    assert code == 0
    assert f"source folder {project / 'src'}" in out
    assert "Python: 1 file with 1 definition, 1 of them with calls" in out
    assert "1 file: It is a binary file and was not parsed." in out and "bad.cc" in out


def test_json_output_has_the_same_content(project: Path) -> None:
    document = json.loads(run("doctor", "--json")[1])
    (problem,) = document["sources"]["problems"]
    assert (problem["count"], problem["examples"]) == (1, [str(project / "src" / "bad.cc")])
    assert document["captures"] == []


def test_a_missing_folder_is_reported(project: Path) -> None:
    (project / "src").rename(project / "away")
    assert "(missing)" in run("doctor")[1]


def test_without_an_index_doctor_reports_the_installation_and_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = doctor_checks.list_software_checks()[:1]  # the others take seconds, and have their own tests
    monkeypatch.setattr(doctor_checks, "list_software_checks", lambda: first)
    code, out, errors = run("doctor", "--python", "/nowhere/python")
    assert code == 0 and "framedex run" in errors and "framedex index" in errors
    assert f"framedex      {VERSION}" in out and "cannot be run as Python" in out
    document = json.loads(run("doctor", "--json", "--python", "/nowhere/python")[1])
    assert (document["index"], document["sources"], document["captures"]) == (None, None, [])


def test_the_recording_support_of_this_machine_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "framedex.toml").write_text('sources = ["src"]\nno-such-key = 1\n')
    told = installation()
    found = {each["subject"]: each for each in told}
    assert found["jax"]["text"] == version("jax") and found["jaxlib"]["text"] == version("jaxlib")
    assert version("jaxlib") in found["release map"]["text"]
    for subject in ("framedex", "native part", "server", "mock TPU", "FFI kernels", "git", "cache"):
        assert found[subject]["is_well"], found[subject]
    assert str(tmp_path / "framedex.toml") in found["settings"]["text"]
    problems = [each for each in told if each["subject"] == "settings" and not each["is_well"]]
    assert ["no-such-key" in each["text"] for each in problems] == [True]


@pytest.mark.parametrize("jaxlib", [open_release_maps().releases[-1], "0.99.0"])
def test_the_release_map_for_a_jaxlib_is_named(jaxlib: str) -> None:
    latest = open_release_maps().nearest("xla", jaxlib)
    assert latest is not None
    found = doctor_checks.find_release_map(jaxlib)
    assert found.is_well and f"jaxlib {jaxlib} " in found.text
    if latest.is_nearest:
        assert f"those of {latest.release}, the nearest release" in found.text and "sources fetch" in found.remedy
    else:
        assert f"its own map, at XLA {latest.info.commit[:12]}" in found.text and not found.remedy


def test_an_unreadable_index_is_one_line_of_the_report(project: Path) -> None:
    index = project / ".framedex" / "index.db"
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("PRAGMA user_version = 1")
    code, out, _ = run("doctor")
    assert code == 0 and "has version 1" in out and "framedex index" in out
    index.write_bytes(b"no database")
    assert "--rebuild" in looked_at()["index"]["remedy"]
    with closing(sqlite3.connect(project / ".framedex" / "other.db")) as connection:
        connection.execute("CREATE TABLE people(name)")
    other = run("--index", str(project / ".framedex" / "other.db"), "doctor")[1]
    assert "not a framedex index" in other


@pytest.mark.exhaustive(keep=["exits"])
@pytest.mark.parametrize(
    ("broken", "subject", "told"),
    [
        ({"jax/__init__.py": "raise RuntimeError('half of it is missing')"}, "jax", "half of it is missing"),
        ({"jax/__init__.py": "import os\nos._exit(3)"}, "JAX", "it ended with status 3"),
        ({"jax/__init__.py": "print('a greeting on stdout')"}, "jax", "9.9"),
        ({"jaxlib/__init__.py": ""}, "mock TPU", "jaxlib 9.9 is not supported"),
    ],
    ids=["raises", "exits", "prints", "another version"],
)
def test_a_broken_jax_is_one_line_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: dict[str, str], subject: str, told: str
) -> None:
    """Another JAX version shadows the installed one, whatever its import does."""
    monkeypatch.chdir(tmp_path)
    packages = tmp_path / "packages"
    for name, text in ({"jax/__init__.py": "", "jaxlib/__init__.py": ""} | broken).items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text)
    for name in ("jax", "jaxlib"):
        (packages / f"{name}-9.9.dist-info").mkdir()
        (packages / f"{name}-9.9.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n"
        )
    python = Path(sys.executable)
    found = looked_at("--python", f"{python.parent}/../{python.parent.name}/{python.name}", PYTHONPATH=str(packages))
    assert told in found[subject]["text"], found
    assert found["server"]["is_well"]


def test_an_empty_machine_is_reported_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without JAX, native part, git, writable home, and packages; in an unreadable folder."""
    monkeypatch.chdir(tmp_path)
    code = "from framedex.commands.main import cli; cli(['doctor', '--json'])"
    command = python_without((*JAX, *NATIVE_PART, *OF_X86), code)
    environment = {"PATH": str(tmp_path), "HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    found = {each["subject"]: each for each in json.loads(done.stdout)["installation"]}
    for subject in ("native part", "mock TPU", "FFI kernels", "symbolic", "git", "cache"):
        assert not found[subject]["is_well"] and found[subject]["remedy"], found[subject]


def test_another_interpreter_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "python").write_text("#!/bin/sh\necho no JSON\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(doctor_checks, "list_software_checks", lambda: ())
    found = looked_at("--python", str(tmp_path / "python"))
    assert "cannot be run as Python" in found["mock TPU"]["text"]
    found = looked_at("--python", "/nowhere/python")
    assert not found["JAX"]["is_well"] and not found["plug-ins"]["is_well"]


def installation(*arguments: str, **environment: str) -> list[dict[str, Any]]:
    """The output of `doctor --json` on the installation."""
    result = CliRunner(env=environment).invoke(cli, ["doctor", "--json", *arguments])
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)["installation"]
    return found


def looked_at(*arguments: str, **environment: str) -> dict[str, dict[str, Any]]:
    """The same by subject."""
    return {each["subject"]: each for each in installation(*arguments, **environment)}


def test_unreadable_folders_are_counted(project: Path) -> None:
    (project / "src" / "locked").mkdir(mode=0)
    try:
        code = (
            "from framedex.commands import doctor_checks; from framedex.commands.main import cli\n"
            "doctor_checks.software_checks = doctor_checks.recording_checks = lambda *_: ()\n"
            "cli()"
        )
        told = run_without_privileges([sys.executable, "-c", code, "doctor"])
        indexing = run_without_privileges([sys.executable, "-c", code, "index"])
    finally:
        (project / "src" / "locked").chmod(0o700)
    assert "1 folder: It cannot be read" in told.stdout and str(project / "src" / "locked") in told.stdout
    assert f"The folder {project / 'src' / 'locked'} cannot be read" in indexing.stdout


def test_unread_files_are_counted(project: Path) -> None:
    assert "has not been read yet" not in run("doctor")[1]
    (project / "src" / "new.py").write_text("def new():\n    pass\n")
    out = run("doctor")[1]
    assert "1 file: It has not been read yet" in out and str(project / "src" / "new.py") in out


def test_problems_that_differ_only_in_numbers_are_merged(project: Path) -> None:
    for name, content in (("a.py", b"x = '\xff'\n"), ("b.py", b"xy = '\xff'\n"), ("large.cc", b"int x;\n" * 700_000)):
        (project / "src" / name).write_bytes(content)
    run("index")
    out = run("doctor")[1]
    assert "1 file: It is larger than 4 MiB" in out
    assert "2 files: It is not valid UTF-8 (first at byte …)" in out
