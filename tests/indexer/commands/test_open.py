"""`framedex open`: the right editor, told the right line, without a shell."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.editors import editor_command
from framedex.commands.files import Place, parse_place
from framedex.commands.main import cli
from framedex.commands.terminal import Terminal, paint, place_line
from framedex.errors import FramedexError
from framedex.model import How, Location

AT = Place(Path("/src/a b.cc"), 40, 3)


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("code", ["code", "--goto", "/src/a b.cc:40:3"]),
        ("code -g", ["code", "-g", "/src/a b.cc:40:3"]),
        ("/usr/bin/codium --wait", ["/usr/bin/codium", "--wait", "--goto", "/src/a b.cc:40:3"]),
        ("clion.sh", ["clion.sh", "--line", "40", "--column", "3", "/src/a b.cc"]),
        ("pycharm", ["pycharm", "--line", "40", "--column", "3", "/src/a b.cc"]),
        ("nvim", ["nvim", "+call cursor(40,3)", "/src/a b.cc"]),
        ("emacsclient -n", ["emacsclient", "-n", "+40:3", "/src/a b.cc"]),
        ("hx", ["hx", "/src/a b.cc:40:3"]),
        ("subl", ["subl", "/src/a b.cc:40:3"]),
        ("nano", ["nano", "+40,3", "/src/a b.cc"]),
        ("less", ["less", "+40", "/src/a b.cc"]),
        ("'/opt/my editor/ed'", ["/opt/my editor/ed", "/src/a b.cc"]),
    ],
)
def test_known_editors_are_told_the_line_in_their_own_way(editor: str, command: list[str]) -> None:
    assert editor_command(AT, {"FRAMEDEX_EDITOR": editor}) == command


def test_the_editor_is_chosen_from_the_most_particular_wish_to_the_most_general() -> None:
    every = {
        "FRAMEDEX_EDITOR": "hx",
        "NVIM": "/run/nvim",
        "INSIDE_EMACS": "29.1,comint",
        "TERM_PROGRAM": "vscode",
        "VISUAL": "emacs",
        "EDITOR": "nano",
    }

    chosen = []
    while every:
        chosen.append(editor_command(AT, every)[0])
        every.pop(next(iter(every)))

    assert chosen == ["hx", "nvim", "emacsclient", "code", "emacs", "nano"]


@pytest.mark.parametrize("environment", [{}, {"EDITOR": "   "}, {"VISUAL": "vim 'unclosed"}])
def test_without_an_editor_the_variable_to_set_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(FramedexError) as raised:
        editor_command(AT, environment)

    assert "FRAMEDEX_EDITOR" in raised.value.remedy


def test_places_are_read_as_compilers_print_them(tmp_path: Path) -> None:
    odd = tmp_path / "odd:12"
    odd.touch()

    assert parse_place("a.cc:40:3") == Place(Path("a.cc"), 40, 3)
    assert parse_place("a.cc:40") == Place(Path("a.cc"), 40, None)
    assert parse_place("a.cc:40:") == Place(Path("a.cc"), 40, None)
    assert parse_place("a.cc") == Place(Path("a.cc"), None, None)
    assert parse_place(str(odd)) == Place(odd, None, None)


def test_a_real_editor_program_is_started_with_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an editor that writes down its arguments, when a place is opened, then nothing went through a shell."""
    log = tmp_path / "log"
    editor = tmp_path / "vim"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {log}\n')
    editor.chmod(0o755)
    source = tmp_path / "$(touch pwned); a.py"
    source.write_text("")
    monkeypatch.setenv("FRAMEDEX_EDITOR", str(editor))
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(cli, ["open", f"{source}:7"])

    assert result.exit_code == 0, result.stderr
    assert log.read_text().splitlines() == ["+call cursor(7,1)", str(source)]
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(("editor", "message"), [("no-such-editor-here", "cannot be started"), ("false", "status 1")])
def test_an_editor_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, message: str
) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", editor)
    (tmp_path / "a.py").touch()

    result = CliRunner().invoke(cli, ["open", str(tmp_path / "a.py")])

    assert result.exit_code == 1
    assert editor in result.stderr and message in result.stderr


@pytest.mark.parametrize("path", ["/no/such/file.py", f"/{'x' * 300}/file.py"])
def test_a_missing_file_is_named(path: str) -> None:
    result = CliRunner().invoke(cli, ["open", f"{path}:3"])

    assert result.exit_code == 1
    assert f"There is no file {path}" in result.stderr


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("file:///src/a%20b.cc#40", Place(Path("/src/a b.cc"), 40, None)),
        (f"file://{socket.gethostname().upper()}/a.cc#L40", Place(Path("/a.cc"), 40, None)),
        ("file://localhost/a.cc#40:3", Place(Path("/a.cc"), 40, 3)),
        ("framedex://localhost/a.cc#40,3", Place(Path("/a.cc"), 40, 3)),
        ("file:///a.cc", Place(Path("/a.cc"), None, None)),
        ("file:///a.cc#top", Place(Path("/a.cc"), None, None)),
        ("file:///a%23b.cc#40", Place(Path("/a#b.cc"), 40, None)),
        ("file:///a%0Ab.cc#40", Place(Path("/a\nb.cc"), 40, None)),
    ],
)
def test_links_of_terminals_are_places(url: str, place: Place) -> None:
    assert parse_place(url) == place


def test_what_frames_link_to_is_opened_again(tmp_path: Path) -> None:
    """Given a path of any kind, when its link is read, then it is the place that was linked."""
    path = tmp_path / "a b#1?%41;$(x)ü.cc"
    path.touch()
    location = Location(str(path), 7, How.EXACT)

    for environment in ({}, {"FRAMEDEX_LINK_SCHEME": "framedex"}):
        terminal = Terminal.of(True, {"TERM": "xterm-kitty", **environment})
        (link,) = re.findall(r"\x1b]8;;(.+?)\x1b", paint(place_line(location), terminal))
        assert link.startswith(environment.get("FRAMEDEX_LINK_SCHEME", "file"))
        assert parse_place(link) == Place(path, 7, None)


def test_the_link_of_another_machine_is_refused_and_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", "no-such-editor-here")

    result = CliRunner().invoke(cli, ["open", "file://other.example/etc/hosts#1"])

    assert result.exit_code == 1
    assert "on the machine other.example" in result.stderr


def test_open_starts_without_what_only_an_index_needs() -> None:
    """It is a click: half a second of imports would be felt."""
    script = "import sys; from framedex.commands.open import open_source; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()

    assert not {"numpy", "sqlite3", "framedex.index", "elftools", "rich"} & set(modules)


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("external/xla/xla/shape.cc:3", "xla-src/xla/shape.cc"),
        ("/proc/self/cwd/external/xla/xla/shape.cc:3", "xla-src/xla/shape.cc"),
        ("bazel-out/k8-opt/bin/../../../xla/shape.cc:3", "xla-src/xla/shape.cc"),
        ("/builder/jax/numpy/core.py:3", "jax-src/numpy/core.py"),
        ("/build/third_party/core.py:3", "tsl/core.py"),
        ("only.cc:3", "xla-src/only.cc"),
    ],
)
def test_paths_of_builds_and_other_machines_are_found_below_the_source_folders(
    sources: Path, monkeypatch: pytest.MonkeyPatch, place: str, found: str
) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", str(sources / "vim"))

    result = CliRunner().invoke(cli, ["open", place])

    assert result.exit_code == 0, result.stderr
    assert (sources / "log").read_text().splitlines() == ["+call cursor(3,1)", str(sources / found)]


@pytest.mark.parametrize(
    "place", ["/other/core.py:3", "numpy/twice.py:3", "../../../../etc/shape.cc:3", "\x1b]0;a\x07:3"]
)
def test_what_proves_nothing_is_refused_and_says_where_it_was_looked_for(sources: Path, place: str) -> None:
    result = CliRunner().invoke(cli, ["open", place])

    assert result.exit_code == 1
    assert "There is no file" in result.stderr and "\x1b" not in result.stderr
    assert str(sources / "jax-src") in result.stderr.replace("\n", "").replace("  ", " ")
    assert "framedex sources add" in result.stderr and "path-map" in result.stderr
    assert not (sources / "log").exists()


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the user is: settings with source folders and a rule, and an editor that writes a log."""
    for name in (
        *("xla-src/xla/shape.cc", "xla-src/only.cc", "xla-src/numpy/twice.py"),
        *("jax-src/numpy/core.py", "jax-src/numpy/twice.py", "tsl/core.py"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "framedex.toml").write_text(
        'sources = ["xla-src", "jax-src"]\n[[path-map]]\nfrom = "/build/third_party"\nto = "tsl"\n'
    )
    editor = tmp_path / "vim"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path / "log"}\n')
    editor.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_in_a_terminal_of_vscode_or_a_relative_the_one_that_is_there_is_taken(tmp_path: Path) -> None:
    (tmp_path / "code-server").touch(mode=0o755)
    terminal = {"TERM_PROGRAM": "vscode", "PATH": str(tmp_path)}

    assert editor_command(AT, terminal)[0] == "code-server"
    (tmp_path / "code").touch(mode=0o755)
    assert editor_command(AT, terminal)[0] == "code"
