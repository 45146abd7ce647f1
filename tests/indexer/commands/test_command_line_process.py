"""The command line as a process: real terminals, closed pipes, and start time."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from framedex.commands.main import cli
from tests.indexer.recorded import Project

_ADVICE = "without source here"
FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


@pytest.fixture
def indexed(indexed_once: Project) -> Project:
    """The project that all tests read."""
    return indexed_once


@pytest.fixture
def unsourced(project: Project) -> Project:
    """The project, indexed without the sources of its libraries."""
    project.ingest().close()
    return project


def test_a_terminal_with_links_gets_frames_as_links(indexed: Project) -> None:
    shown = _in_terminal(indexed, "trace", "1", TERM="xterm-kitty")

    line = indexed.line("transfer(1)")
    assert f"\x1b]8;;file://{os.uname().nodename}{indexed.program}#{line}\x1b\\" in shown
    assert "\x1b[" in shown


@pytest.mark.exhaustive(keep=["vscode"])
@pytest.mark.parametrize(
    "environment",
    [{"TERM_PROGRAM": "vscode"}, {"TERMINAL_EMULATOR": "JetBrains-JediTerm"}, {"TERM": "xterm"}],
    ids=["vscode", "jetbrains", "xterm"],
)
def test_terminals_that_detect_paths_get_plain_paths(indexed: Project, environment: dict[str, str]) -> None:
    shown = _in_terminal(indexed, "trace", "1", watched=False, **{"TERM": "xterm-kitty", **environment})

    assert "\x1b]8" not in shown
    assert f"{indexed.program}:{indexed.line('transfer(1)')}" in shown


def test_the_text_does_not_depend_on_a_wide_terminal(indexed: Project) -> None:
    plain = _piped(indexed, "trace", "1").stdout

    assert "\x1b" not in plain
    shown = _in_terminal(indexed, "trace", "1", TERM="xterm", NO_COLOR="1", COLUMNS="500")
    assert shown.replace("\r\n", "\n") == plain


def test_a_closed_pipe_is_not_an_error(indexed: Project) -> None:
    """A pipe that closes at once (`framedex calls | head -0`) causes no message."""
    process = subprocess.Popen(
        [*FRAMEDEX, "calls"],
        cwd=indexed.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()

    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()


def test_a_limited_encoding_gets_escapes_instead_of_a_traceback(indexed: Project) -> None:
    done = _piped(indexed, "trace", "1", PYTHONIOENCODING="ascii")

    assert done.returncode == 0
    assert "demo.py" in done.stdout


@pytest.mark.exhaustive
def test_a_verb_imports_only_the_modules_it_uses(indexed: Project) -> None:
    script = (
        "import sys; from framedex.commands.main import cli; cli(['calls'], standalone_mode=False);"
        "print([name for name in ('numpy', 'sqlite_utils', 'tree_sitter', 'symbolic') if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=indexed.folder,
        capture_output=True,
        text=True,
        check=True,
        env=_environment(),
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_verb_in_the_order_of_a_first_visit(indexed: Project) -> None:
    shown = _piped(indexed, "--help").stdout

    positions = [shown.index(f"\n  {verb} ") for verb in ("run", "index", "calls", "trace", "where", "open", "serve")]
    assert positions == sorted(positions)


def test_every_verb_and_option_has_help() -> None:
    context = click.Context(cli)
    for verb in cli.list_commands(context):
        command = cli.get_command(context, verb)

        assert command is not None and command.help, verb
        assert all(option.help for option in command.params if isinstance(option, click.Option)), verb


def test_a_terminal_user_gets_advice_after_a_trace_once_a_day(unsourced: Project, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, second = (_in_terminal(unsourced, "trace", "1", XDG_CACHE_HOME=str(cache), watched=True) for _ in range(2))
    (given,) = (cache / "framedex" / "advice").iterdir()
    os.utime(given, (0, time.time() - 25 * 60 * 60))
    next_day = _in_terminal(unsourced, "trace", "1", XDG_CACHE_HOME=str(cache), watched=True)

    assert [_ADVICE in shown for shown in (first, second, next_day)] == [True, False, True]


@pytest.mark.exhaustive
def test_advice_repeats_if_its_time_cannot_be_stored(unsourced: Project, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    shown = [_in_terminal(unsourced, "trace", "1", XDG_CACHE_HOME=str(tmp_path / "cache"), watched=True) for _ in "12"]

    assert all(_ADVICE in each for each in shown)


def test_redirected_output_has_the_advice_each_time(unsourced: Project, tmp_path: Path) -> None:
    done = [_piped(unsourced, "trace", "1", XDG_CACHE_HOME=str(tmp_path)) for _ in "12"]

    assert all(_ADVICE in each.stderr for each in done)


def _in_terminal(project: Project, *arguments: str, watched: bool = False, **environment: str) -> str:
    """A program's output with a real (pseudo) terminal as stdout, and as stderr if captured."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*FRAMEDEX, *arguments],
        cwd=project.folder,
        stdout=terminal,
        stderr=terminal if watched else subprocess.DEVNULL,
        env=_environment(**environment),
    )
    os.close(terminal)
    shown = bytearray()
    while chunk := _read(controller):
        shown += chunk
    os.close(controller)
    assert process.wait() == 0
    return shown.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux reports EIO after the last writer has closed the terminal
        return b""


def _piped(project: Project, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*FRAMEDEX, *arguments], cwd=project.folder, capture_output=True, text=True, env=_environment(**environment)
    )


def _environment(**changes: str) -> dict[str, str]:
    hidden = ("TERM", "NO_COLOR", "FORCE_HYPERLINK", "VTE_VERSION", "KONSOLE_VERSION", "WT_SESSION")
    kept = {name: value for name, value in os.environ.items() if name not in hidden and "TERM" not in name}
    return {**kept, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry), **changes}
