"""`framedex open`: the right editor at the right line, without a shell."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.base.errors import FramedexError
from framedex.commands.editor.editors import choose_editor, find_editor_command
from framedex.commands.inputs.files import FilePosition, parse_file_position
from framedex.commands.main import cli
from framedex.commands.output.terminal import Terminal, paint, render_location_line
from framedex.model import Location, LocationEvidence
from tests.running import plain_environment

AT = FilePosition(Path("/src/a b.cc"), 40, 3)


def test_known_editors_get_the_line_in_their_own_syntax() -> None:
    for editor, command in (
        ("code", ["code", "--goto", "/src/a b.cc:40:3"]),
        ("code -g", ["code", "-g", "/src/a b.cc:40:3"]),
        ("/usr/bin/codium --wait", ["/usr/bin/codium", "--wait", "--goto", "/src/a b.cc:40:3"]),
        ("pycharm-community", ["pycharm-community", "--line", "40", "--column", "3", "/src/a b.cc"]),
        ("goland64", ["goland64", "--line", "40", "--column", "3", "/src/a b.cc"]),
        ("/usr/bin/vim.basic", ["/usr/bin/vim.basic", "+call cursor(40,3)", "/src/a b.cc"]),
        ("emacs-nox", ["emacs-nox", "+40:3", "/src/a b.cc"]),
        ("code-server", ["code-server", "--goto", "/src/a b.cc:40:3"]),
        ("clion.sh", ["clion.sh", "--line", "40", "--column", "3", "/src/a b.cc"]),
        ("pycharm", ["pycharm", "--line", "40", "--column", "3", "/src/a b.cc"]),
        ("nvim", ["nvim", "+call cursor(40,3)", "/src/a b.cc"]),
        ("emacsclient -n", ["emacsclient", "-n", "+40:3", "/src/a b.cc"]),
        ("hx", ["hx", "/src/a b.cc:40:3"]),
        ("subl", ["subl", "/src/a b.cc:40:3"]),
        ("nano", ["nano", "+40,3", "/src/a b.cc"]),
        ("less", ["less", "+40", "/src/a b.cc"]),
        ("'/opt/my editor/ed'", ["/opt/my editor/ed", "/src/a b.cc"]),
    ):
        assert find_editor_command(shlex.split(editor), AT) == command


def test_any_editor_gets_the_line_if_its_command_has_a_placeholder() -> None:
    for editor, arguments in (
        ("ed --at={line}:{column} {file}", ["--at=40:3", "/src/a b.cc"]),
        ("ed +{line}", ["+40", "/src/a b.cc"]),
        ("ed '{file} {line}' {other}", ["/src/a b.cc 40", "{other}"]),
        ("code --wait --goto {file}:{line}", ["--wait", "--goto", "/src/a b.cc:40"]),
        ("nvim --server S --remote {file}", ["--server", "S", "--remote", "/src/a b.cc"]),
    ):
        assert find_editor_command(shlex.split(editor), AT)[1:] == arguments


def test_placeholders_inside_values_are_not_expanded(tmp_path: Path) -> None:
    at = FilePosition(tmp_path / "{line}$(touch x)", None, None)

    assert find_editor_command(["ed", "{file}:{line}:{column}"], at) == ["ed", f"{at.path}:1:1"]


@pytest.mark.parametrize("environment", [{}, {"EDITOR": "   "}, {"VISUAL": "vim 'unclosed"}])
def test_without_an_editor_the_variable_to_set_is_named(tmp_path: Path, environment: dict[str, str]) -> None:
    with pytest.raises(FramedexError) as raised:
        choose_editor({"TMPDIR": str(tmp_path), **environment})  # without a running editor

    assert "FRAMEDEX_EDITOR" in raised.value.remedy


def test_locations_are_parsed_as_compilers_print_them(tmp_path: Path) -> None:
    odd = tmp_path / "odd:12"
    odd.touch()

    assert parse_file_position("a.cc:40:3") == FilePosition(Path("a.cc"), 40, 3)
    assert parse_file_position("a.cc:40") == FilePosition(Path("a.cc"), 40, None)
    assert parse_file_position("a.cc#L40") == FilePosition(Path("a.cc"), 40, None)
    assert parse_file_position("a.cc:40:") == FilePosition(Path("a.cc"), 40, None)
    assert parse_file_position("a.cc#L40-L52") == FilePosition(Path("a.cc"), 40, None)
    assert parse_file_position("a.cc:0:0") == FilePosition(Path("a.cc"), None, None, is_line_zero=True)
    assert parse_file_position("a.cc") == FilePosition(Path("a.cc"), None, None)
    assert parse_file_position(str(odd)) == FilePosition(odd, None, None)


def test_a_real_editor_opens_the_location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that logs its arguments shows that no shell was involved."""
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


def test_an_editor_without_line_support_is_named_with_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown editor gets the line's file, and the user gets a hint."""
    log = tmp_path / "log"
    wrapper = tmp_path / "my-wrapper"
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {log}\n')
    wrapper.chmod(0o755)
    (tmp_path / "a.py").touch()
    monkeypatch.chdir(tmp_path)

    monkeypatch.setenv("EDITOR", str(wrapper))
    monkeypatch.setenv("FRAMEDEX_EDITOR", str(wrapper))
    result = CliRunner().invoke(cli, ["open", "a.py:7"])
    assert (result.exit_code, log.read_text()) == (0, f"{tmp_path}/a.py\n")
    told = " ".join(result.stderr.split())
    assert "without line 7" in told and "FRAMEDEX_EDITOR='" in told and "{file}:{line}'" in told

    assert CliRunner().invoke(cli, ["open", "a.py"]).stderr == ""
    monkeypatch.setenv("FRAMEDEX_EDITOR", f"{wrapper} {{file}}:{{line}}")
    assert CliRunner().invoke(cli, ["open", "a.py:7"]).stderr == ""
    assert log.read_text() == f"{tmp_path}/a.py:7\n"


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("no-such-editor-here", "cannot be started"),
        ("false", "status 1"),
        ("sh -c 'kill -KILL $$'", "was ended by SIGKILL."),
        ("sh -c 'kill -35 $$'", "was ended by signal 35."),
    ],
)
def test_a_failing_editor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, message: str) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", editor)
    (tmp_path / "a.py").touch()

    result = CliRunner().invoke(cli, ["open", str(tmp_path / "a.py")])

    assert result.exit_code == 1
    assert f"'{editor.split()[0]}'" in result.stderr and message in result.stderr


def test_ctrl_c_goes_to_the_editor(tmp_path: Path) -> None:
    """framedex waits for an editor that ignores Ctrl-C, like Vim."""
    editor = tmp_path / "ed"
    editor.write_text("#!/bin/sh\ntrap 'echo a key' INT\necho ready\nread line || read line\necho \"$line\"\n")
    editor.chmod(0o755)
    (tmp_path / "a.py").touch()
    command = [sys.executable, "-c", "from framedex.commands.main import cli; cli()", "open", str(tmp_path / "a.py")]
    environment = plain_environment() | {"FRAMEDEX_EDITOR": str(editor)}

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True, text=True
    ) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        process.stdin.write("saved\n")
        process.stdin.close()
        assert process.stdout.read().endswith("saved\n")
        assert process.wait(60) == 0


def test_an_editor_ended_by_ctrl_c_ends_the_verb_silently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", "sh -c 'kill -INT $$'")
    (tmp_path / "a.py").touch()

    result = CliRunner().invoke(cli, ["open", str(tmp_path / "a.py")])

    assert (result.exit_code, result.output) == (130, "")


@pytest.mark.parametrize("path", ["/no/such/file.py", f"/{'x' * 300}/file.py"])
def test_a_missing_file_is_named(path: str) -> None:
    result = CliRunner().invoke(cli, ["open", f"{path}:3"])

    assert result.exit_code == 1
    assert f"There is no file {path}" in result.stderr


def test_a_path_that_is_not_a_file_is_described(tmp_path: Path) -> None:
    assert f"{tmp_path} is a folder." in CliRunner().invoke(cli, ["open", str(tmp_path)]).stderr.replace("\n  ", "")
    assert "There is nothing to open." in CliRunner().invoke(cli, ["open", " "]).stderr


def test_a_hidden_character_is_escaped_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert "There is no file a\\u202e.cc." in CliRunner().invoke(cli, ["open", "a\u202e.cc:3"]).stderr


def test_terminal_links_are_accepted_as_locations() -> None:
    for url, place in (
        ("file:///src/a%20b.cc#40", FilePosition(Path("/src/a b.cc"), 40, None)),
        (f"file://{socket.gethostname().upper()}/a.cc#L40", FilePosition(Path("/a.cc"), 40, None)),
        ("file://localhost/a.cc#40:3", FilePosition(Path("/a.cc"), 40, 3)),
        ("framedex://localhost/a.cc#40,3", FilePosition(Path("/a.cc"), 40, 3)),
        ("file:///a.cc#L40-L52", FilePosition(Path("/a.cc"), 40, None)),
        ("file:///a.cc", FilePosition(Path("/a.cc"), None, None)),
        ("file:///a.cc#top", FilePosition(Path("/a.cc"), None, None)),
        ("file://localhost/a.cc:40", FilePosition(Path("/a.cc"), 40, None)),
        ("file://localhost/a.cc:40:3", FilePosition(Path("/a.cc"), 40, 3)),
        ("FILE://LOCALHOST/a.cc#L40", FilePosition(Path("/a.cc"), 40, None)),
        ("file://127.0.0.1/a.cc#40", FilePosition(Path("/a.cc"), 40, None)),
        ("<file://[::1]/a.cc#40>", FilePosition(Path("/a.cc"), 40, None)),
        ("file:///a%23b.cc#40", FilePosition(Path("/a#b.cc"), 40, None)),
        ("file:///a%0Ab.cc#40", FilePosition(Path("/a\nb.cc"), 40, None)),
    ):
        assert parse_file_position(url) == place


def test_links_of_frames_can_be_opened(tmp_path: Path) -> None:
    """The link of any path parses back to the linked location."""
    path = tmp_path / "a b#1?%41;$(x)ü.cc"
    path.touch()
    location = Location(str(path), 7, LocationEvidence.EXACT)

    for environment in ({}, {"FRAMEDEX_LINK_SCHEME": "framedex"}):
        terminal = Terminal.detect(True, {"TERM": "xterm-kitty", **environment})
        (link,) = re.findall(r"\x1b]8;;(.+?)\x1b", paint(render_location_line(location), terminal))
        assert link.startswith(environment.get("FRAMEDEX_LINK_SCHEME", "file"))
        assert parse_file_position(link) == FilePosition(path, 7, None)


def test_the_link_of_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", "no-such-editor-here")

    result = CliRunner().invoke(cli, ["open", "file://other.example/etc/hosts#1"])

    assert result.exit_code == 1
    assert "on the machine other.example" in result.stderr


def test_open_starts_without_index_modules() -> None:
    """A click: half a second of imports would be noticeable."""
    script = "import sys; from framedex.commands.verbs.editors.open import open_source; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()

    assert not {"numpy", "sqlite3", "framedex.index", "elftools"} & set(modules)


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
def test_build_paths_and_foreign_paths_are_found_in_the_source_folders(
    sources: Path, monkeypatch: pytest.MonkeyPatch, place: str, found: str
) -> None:
    monkeypatch.setenv("FRAMEDEX_EDITOR", str(sources / "vim"))

    result = CliRunner().invoke(cli, ["open", place])

    assert result.exit_code == 0, result.stderr
    assert (sources / "log").read_text().splitlines() == ["+call cursor(3,1)", str(sources / found)]


@pytest.mark.parametrize(
    "place", ["/other/core.py:3", "../../../../etc/shape.cc:3", "\x1b]0;a\x07:3", "a\nb\u202e.cc:3"]
)
def test_an_unproven_match_is_refused_with_the_searched_folders(sources: Path, place: str) -> None:
    result = CliRunner().invoke(cli, ["open", place])

    assert result.exit_code == 1
    assert "There is no file" in result.stderr
    assert not {"\x1b", "\u202e", "a\nb"} & {part for part in ("\x1b", "\u202e", "a\nb") if part in result.stderr}
    assert str(sources / "jax-src") in result.stderr.replace("\n", "").replace("  ", " ")
    assert "framedex sources add" in result.stderr and "path-map" in result.stderr
    assert not (sources / "log").exists()


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder: settings with source folders and a rule, and an editor that writes a log."""
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
