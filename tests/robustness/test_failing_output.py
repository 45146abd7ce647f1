"""Every verb with unwritable output: a sentence and an error status, never a traceback or a false success."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from framedex.commands.main import cli
from tests.indexer.recorded import Project
from tests.running import plain_environment

# Each command in its own process with all imports done: starting Python for each takes a minute.
EACH = """
import json, os, sys
from framedex.commands.main import cli
import framedex.index
commands, closed, unbuffered, folder = json.loads(sys.argv[1]), sys.argv[2] == ">&-", sys.argv[3] == "1", sys.argv[4]
results = []
for place, command in enumerate(commands):
    report = os.path.join(folder, f"report-{place}")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(report, os.O_WRONLY | os.O_CREAT), 2)
        if closed:
            os.close(1)
            sys.stdout = sys.__stdout__ = None
        else:
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
            sys.stdout = sys.__stdout__ = open(1, "w", buffering=-1, closefd=False)
            sys.stdout.reconfigure(write_through=unbuffered)
        cli(command, prog_name="framedex")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    results.append([status, open(report).read()])
print(json.dumps(results))
"""

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))


def _commands(group: click.Group, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every verb, and the subcommands of verbs."""
    found: list[tuple[str, ...]] = [before]
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        here = (*before, name)
        found += _commands(command, here) if isinstance(command, click.Group) else [here]
    return found


COMMANDS = _commands(cli)

# Arguments that make a verb print; other verbs print without arguments. `run` and `open` have the program's output.
ARGUMENTS = {
    "captures": ["--all"],  # this folder has none
    "trace": ["1"],
    "where": ["demo.py"],
    "find": ["put"],
    "callers": ["put"],
    "callees": ["main"],
    "explain": ["crash.txt"],
    "import": ["stacks.txt"],
    "share": ["2"],  # the imported capture
    "resolve": ["demo.py"],
    "sources fetch": ["--list"],
    "cmake": [".", "-o", "ide"],
    "completion show": ["bash"],
    "diff": ["latest"],
    "report": ["-o", "-"],
    "export": ["--format", "csv", "-o", "-"],
    "fleet query": ["--store", "store"],
    "fleet compact": ["--store", "store"],
}
SILENT = {
    "sources",
    "run",
    "demo",
    "open",
    "serve",
    "sources add",
    "sources remove",
    "sources export",
    "sources import",
    "captures rm",
    "captures keep",
    "completion",
    "completion install",
    "fleet",
    "fleet add",  # reports real captures
    "fleet ranks",  # needs a job: tests/indexer/fleet/test_ranks.py has it
    "fleet pull",
    "fleet drop",
    "completion remove",
    "cmake",
    "guidebook",
    "mcp",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
def test_every_verb_reports_a_failure_to_print_help(redirected: str, unbuffered: str, tmp_path: Path) -> None:
    asked = [[*command, "--help"] for command in COMMANDS] + [["--version"]]
    ended = _each(asked, redirected, tmp_path, tmp_path, unbuffered)
    for arguments, (status, report) in zip(asked, ended, strict=True):
        assert status == 1, (arguments, report)
        assert report.startswith("framedex: stdout cannot be written: "), (arguments, report)
        assert "Traceback" not in report, arguments
    done = _shell(["--help"], redirected, tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == tuple(ended[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
def test_every_verb_reports_a_failure_to_print_output(
    redirected: str, project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = [name for command in COMMANDS[1:] if (name := " ".join(command)) not in SILENT]
    names.sort(key=lambda name: name == "share")  # `share` needs the capture that `import` adds
    _check_output(names, redirected, project, tmp_path_factory.mktemp("report"))


def test_some_verbs_report_a_full_disk(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    _check_output(["calls", "trace", "diff"], ">/dev/full", project, tmp_path_factory.mktemp("report"))


def _check_output(names: Sequence[str], redirected: str, project: Project, told_in: Path) -> None:
    """Each of these verbs reports that its output was not written, and fails."""
    project.ingest().close()
    (project.folder / "crash.txt").write_text("#0  0x0000000000401136 in runtime::allocate (size=4) at runtime.cc:11\n")
    (project.folder / "stacks.txt").write_text("main;put 3\n")
    (project.folder / "store").mkdir()
    (project.folder / "store" / "framedex-fleet.json").write_text('{"format": "framedex-fleet", "version": 1}')
    asked = [[*name.split(), *ARGUMENTS.get(name, [])] for name in names]
    ended = _each(asked, redirected, project.folder, told_in)
    for name, (status, report) in zip(names, ended, strict=True):
        assert status == 1, (name, report)
        assert "stdout cannot be written" in report, (name, report)
        assert "Traceback" not in report, (name, report)


def test_a_closed_reader_is_not_an_error(project: Project) -> None:
    project.ingest().close()
    for command in (["calls"], ["--help"]):
        done = _shell(command, "| true", project.folder)
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


@pytest.mark.exhaustive(keep=["2>/dev/full"])
@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-"])
def test_messages_to_a_full_or_closed_stderr_are_lost_and_the_status_kept(redirected: str, tmp_path: Path) -> None:
    assert _shell(["captures"], redirected, tmp_path).returncode == 1
    assert _shell(["--help"], redirected, tmp_path).returncode == 0
    assert _shell(["nonsense"], redirected, tmp_path).returncode != 0


@pytest.mark.exhaustive
def test_no_file_replaces_a_closed_stdout(project: Project) -> None:
    """With a closed stdout, output of a verb that opens files never ends up in a file."""
    project.ingest().close()
    before = {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}
    for command in (["resolve", "demo.py"], ["calls"], ["trace", "1"]):
        _shell(command, ">&-", project.folder)
    assert {path: path.read_bytes() for path in before} == before


def _each(
    commands: Sequence[Sequence[str]], redirected: str, folder: Path, report: Path, unbuffered: str = ""
) -> list[tuple[int, str]]:
    """Run every command with such an output; return status and stderr of each."""
    done = subprocess.run(
        [sys.executable, "-c", EACH, json.dumps(commands), redirected, unbuffered, str(report)],
        cwd=folder,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [(status, text) for status, text in json.loads(done.stdout)]


def _shell(arguments: list[str], redirected: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirected}', "sh", FRAMEDEX, *arguments],
        cwd=folder,
        env=plain_environment() | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
