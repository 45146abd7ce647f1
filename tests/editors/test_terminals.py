"""The terminal set-ups in real terminals, if installed: a click opens the right line in the editor."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.editors.sessions import EDITORS

TERMINAL = EDITORS / "terminal"
PATIENCE = 30  # seconds, on a busy machine
CTRL_CLICK = 16  # xterm's button code, "Any-event tracking" with SGR coordinates

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pseudo-terminals as Linux has them")


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder with `framedex` and an editor that logs its arguments; both are on the PATH of `environment`."""

    folder: Path
    environment: dict[str, str]
    calls: int

    def opened(self) -> list[str]:
        """The arguments of the editor's next start."""
        assert select.select([self.calls], [], [], PATIENCE)[0], "no editor was started"
        return os.read(self.calls, 65536).decode().splitlines()

    def source(self, name: str = "a.cc") -> Path:
        """A file to open."""
        path = self.folder / name
        path.touch()
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    programs = tmp_path / "bin"
    programs.mkdir()
    calls = tmp_path / "calls"
    os.mkfifo(calls)
    # Only for framedex: kitty has its own Python.
    path = os.pathsep.join(entry for entry in sys.path if entry)
    start = f"{sys.executable} -c 'from framedex.commands.main import cli; cli()'"
    _script(programs / "framedex", f'PYTHONPATH={path} exec {start} "$@"')
    _script(programs / "vim", f'printf "%s\\n" "$@" > {calls}')
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("TMUX", "TERM", "KITTY"))},
        "PATH": f"{programs}:{os.environ['PATH']}",
        "FRAMEDEX_EDITOR": "vim",
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
    }
    reader = os.open(calls, os.O_RDWR)  # opened also for writing, so that reads never reach the end
    yield Desk(tmp_path, environment, reader)
    os.close(reader)


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class Tmux:
    """A separate tmux with the set-up, shown by a client in a pseudo-terminal of 200 columns."""

    def __init__(self, desk: Desk, shown: str, setup: Path = TERMINAL / "tmux.conf") -> None:
        self._desk = desk
        self._command = ["tmux", "-L", f"framedex-{uuid.uuid4().hex}"]
        text = desk.folder / "shown"
        text.write_text(shown)
        self._run("-f", setup, "new-session", "-d", "-x", "200", "-y", "20", f"cat {text} -")
        self._client, self._screen = self._attach()

    def __enter__(self) -> Tmux:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server")
        os.close(self._screen)
        os.waitpid(self._client, 0)

    def ctrl_click(self, row: int, column: int) -> None:
        """Press and release with Ctrl held, at 0-based coordinates."""
        for end in "Mm":
            os.write(self._screen, f"\x1b[<{CTRL_CLICK};{column + 1};{row + 1}{end}".encode())

    def wait_for(self, text: str) -> None:
        """Read the screen until this text is drawn."""
        seen = ""
        while text not in seen:
            assert select.select([self._screen], [], [], PATIENCE)[0], f"{text!r} is not in {seen!r}"
            seen += os.read(self._screen, 65536).decode(errors="replace")

    def _attach(self) -> tuple[int, int]:
        client, screen = pty.fork()
        if client == 0:
            os.execvpe("tmux", [*self._command, "attach"], self._desk.environment)
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 200, 0, 0))
        os.kill(client, signal.SIGWINCH)
        return client, screen

    def _run(self, *arguments: str | Path) -> None:
        subprocess.run([*self._command, *arguments], check=True, env=self._desk.environment, capture_output=True)


needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")


@needs_tmux
@pytest.mark.exhaustive(keep=["column"])
@pytest.mark.parametrize(
    ("place", "arguments"),
    [("{}:40", "40,1"), ("{}:40:3:", "40,3"), ("({}:7)", "7,1")],
    ids=["line", "column", "in brackets"],
)
def test_ctrl_click_in_tmux_opens_the_location_under_the_pointer(desk: Desk, place: str, arguments: str) -> None:
    source = desk.source()
    with Tmux(desk, f"READY\n  at {place.format(source)} in Client::Put\n") as tmux:
        tmux.wait_for("READY")
        tmux.ctrl_click(1, 20)

        assert desk.opened() == [f"+call cursor({arguments})", str(source)]


@needs_tmux
@pytest.mark.exhaustive(keep=["behind it"])
@pytest.mark.parametrize("column", [1, 10, 190], ids=["before it", "on a word of it", "behind it"])
def test_ctrl_click_in_tmux_anywhere_on_a_frame_opens_the_frame(desk: Desk, column: int) -> None:
    source = desk.source("a $b;'c.py")
    with Tmux(desk, f'READY\n    In call: File "{source}", line 12, in <module>\n') as tmux:
        tmux.wait_for("READY")
        tmux.ctrl_click(1, column)

        assert desk.opened() == ["+call cursor(12,1)", str(source)]


@needs_tmux
def test_a_terminal_editor_gets_its_own_tmux_window(desk: Desk) -> None:
    """The second form of the set-up, a comment, works once uncommented."""
    source, setup = desk.source("a$x.cc"), desk.folder / "tmux.conf"
    setup.write_text(re.sub(r"^# (?=bind .*new-window)", "", (TERMINAL / "tmux.conf").read_text(), flags=re.MULTILINE))
    with Tmux(desk, f"READY\n{source}:40 in `it`;\n", setup) as tmux:
        tmux.wait_for("READY")
        tmux.ctrl_click(1, 3)

        assert desk.opened() == ["+call cursor(40,1)", str(source)]


@needs_tmux
@pytest.mark.exhaustive(keep=["0", "6"])
@pytest.mark.parametrize(
    "text",
    [
        *(
            "`touch${IFS}pwned`",
            ";touch${IFS}pwned;:",
            "'$IFS;touch${IFS}pwned;'",
            "&&touch${IFS}pwned",
            "|touch\tpwned",
        ),
        *(
            "$'\\n'touch${IFS}pwned",
            "#{run-shell:touch${IFS}pwned}",
            "--version;touch${IFS}pwned",
            "\\`touch${IFS}pwned`",
        ),
    ],
    ids=range(9),
)
def test_a_click_never_runs_program_output(desk: Desk, text: str) -> None:
    """Clicks on hostile output only make framedex report a missing file."""
    with Tmux(desk, f"READY\n{text}\n") as tmux:
        tmux.wait_for("READY")
        tmux.ctrl_click(1, 3)

        tmux.wait_for("There is no file")
    assert not list(desk.folder.rglob("pwned")) and not Path("pwned").exists()


class Kitty:
    """A real kitty on a screen in memory, with the set-up."""

    def __init__(self, desk: Desk, shown: str) -> None:
        number, self._screen = self._start_screen()
        self._environment = {**desk.environment, "DISPLAY": f":{number}", "LIBGL_ALWAYS_SOFTWARE": "1"}
        folder = desk.folder / "kitty"
        shutil.copytree(TERMINAL / "kitty", folder)
        actions = folder / "open-actions.conf"
        actions.write_text(actions.read_text().replace("FRAMEDEX_EDITOR=code", "FRAMEDEX_EDITOR=vim"))
        (desk.folder / "shown").write_text(shown)
        # The terminal reports the cursor after it has processed all earlier output.
        drawn = desk.folder / "drawn"
        os.mkfifo(drawn)
        self._drawn = os.open(drawn, os.O_RDWR)
        program = f"cat {desk.folder / 'shown'}; printf '\\033[6n'; head -c 6 > {drawn}; exec cat > /dev/null"
        _script(desk.folder / "show", f"stty raw -echo; {program}")
        self._kitty = subprocess.Popen(
            ["kitty", "--start-as=fullscreen", desk.folder / "show"],
            env={**self._environment, "KITTY_CONFIG_DIRECTORY": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Kitty:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._kitty, self._screen):
            process.terminate()
            process.wait()
        os.close(self._drawn)

    def wait(self) -> None:
        """Return when all printed text is clickable."""
        assert select.select([self._drawn], [], [], PATIENCE)[0], "kitty has drawn nothing"

    def click(self, x: int, y: int) -> None:
        """Click with Ctrl and Shift held, which opens links even if the program captures the mouse; in pixels."""
        keys = ["keydown", "ctrl", "keydown", "shift", "click", "1", "keyup", "shift", "keyup", "ctrl"]
        for command in (["mousemove", "--sync", str(x), str(y)], keys):
            subprocess.run(["xdotool", *command], check=True, env=self._environment, timeout=PATIENCE)

    @staticmethod
    def _start_screen() -> tuple[int, subprocess.Popen[bytes]]:
        reading, writing = os.pipe()
        screen = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "800x600x24"],
            pass_fds=[writing],
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading) as numbers:
            return int(numbers.readline()), screen


@pytest.mark.skipif(
    not all(map(shutil.which, ("kitty", "Xvfb", "xdotool"))), reason="kitty, Xvfb or xdotool is missing"
)
def test_a_click_on_a_link_in_kitty_opens_it(desk: Desk) -> None:
    source = desk.source("a b;$(touch pwned).cc")
    link = f"\x1b]8;;file://{os.uname().nodename}{quote(str(source))}#40\x1b\\{'x' * 40}\x1b]8;;\x1b\\\r\n"
    with Kitty(desk, link * 12) as kitty:
        kitty.wait()
        kitty.click(100, 60)

        assert desk.opened() == ["+call cursor(40,1)", str(source)]
    assert not list(desk.folder.rglob("pwned"))


LUA = """
local spawned = {}
local handler
package.preload.wezterm = function()
  return {
    on = function(_, callback) handler = callback end,
    background_child_process = function(command) table.insert(spawned, command) end,
    default_hyperlink_rules = function() return {} end,
    action = { SpawnCommandInNewTab = function(spawn) return spawn.args end },
  }
end
local config = {}
dofile(vim.env.WEZTERM_SETUP)(config)
local kept = { handler({}, {}, "https://example.org/#L3"), handler({}, {}, "file://host/a.cc") }
local answer = handler({}, {}, "file://host/a%20b.cc#40")
local report = { spawned = spawned, answer = answer, kept = #kept, rule = config.hyperlink_rules[1] }
vim.fn.writefile({ vim.fn.json_encode(report) }, vim.env.REPORT)
"""


@pytest.mark.skipif(not shutil.which("nvim"), reason="Neovim, which has Lua, is not installed")
def test_the_wezterm_configuration_opens_only_links_to_lines(tmp_path: Path) -> None:
    """WezTerm itself is not started: a plain Lua runs its Lua file with a stub of WezTerm's API."""
    (tmp_path / "run.lua").write_text(LUA)
    report = tmp_path / "report.json"
    environment = {**os.environ, "WEZTERM_SETUP": str(TERMINAL / "wezterm.lua"), "REPORT": str(report)}
    subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-c", f"luafile {tmp_path / 'run.lua'}", "-c", "qa!"],
        check=True,
        env=environment,
        capture_output=True,
        timeout=PATIENCE,
    )

    told = json.loads(report.read_text())
    assert told["answer"] is False and told["kept"] == 0
    assert told["spawned"] == [["env", "FRAMEDEX_EDITOR=code", "framedex", "open", "--", "file://host/a%20b.cc#40"]]
    found = re.search(told["rule"]["regex"], 'error at "/src/a.cc:12: oops')
    assert found and found.groups() == ("/src/a.cc", "12")
    assert told["rule"]["format"] == "file://$1#$2"


@pytest.mark.parametrize("opener", [["gio", "open"], ["xdg-open"]], ids=["gio, as GNOME's", "xdg-open, as others'"])
def test_the_desktop_opens_framedex_links_with_their_line(desk: Desk, opener: list[str]) -> None:
    if not all(map(shutil.which, (opener[0], "xdg-mime"))):
        pytest.skip(f"{opener[0]} or xdg-mime is not installed")
    entry = TERMINAL / "framedex-open.desktop"
    applications = desk.folder / ".local" / "share" / "applications"
    applications.mkdir(parents=True)
    shutil.copy(entry, applications)
    environment = {name: value for name, value in desk.environment.items() if not name.startswith("XDG_")}
    environment["DISPLAY"] = ":0"  # nothing connects to it, but xdg-open only uses scheme handlers if it is set
    source = desk.source("a b;$(touch pwned).cc")
    subprocess.run(["xdg-mime", "default", entry.name, "x-scheme-handler/framedex"], check=True, env=environment)

    link = f"framedex://{os.uname().nodename}{quote(str(source))}#40"
    subprocess.run([*opener, link], check=True, env=environment, timeout=PATIENCE, cwd=desk.folder)

    assert desk.opened() == ["+call cursor(40,1)", str(source)]
    assert not list(desk.folder.rglob("pwned"))


@pytest.mark.skipif(not shutil.which("nvim"), reason="Neovim is not installed")
@pytest.mark.exhaustive(keep=["plain-from elsewhere", "command-from its terminal"])
@pytest.mark.parametrize("variable", ["NVIM", "XDG_RUNTIME_DIR"], ids=["from its terminal", "from elsewhere"])
@pytest.mark.parametrize(
    "name",
    ["a.cc", "a b'; call system('touch pwned') |\"%#.cc", "a\ncall system('touch pwned') \".cc"],
    ids=["plain", "command", "second line"],
)
def test_a_running_neovim_opens_the_location(desk: Desk, name: str, variable: str) -> None:
    """In Neovim's terminal, or without a configured editor, opening a location moves this Neovim's cursor."""
    source = desk.source(name)
    source.write_text("one\ntwo\nthree\n")
    socket = desk.folder / "nvim.1.0"
    ready = desk.folder / "ready"
    os.mkfifo(ready)
    neovim = subprocess.Popen(
        ["nvim", "--headless", "-u", "NONE", "--listen", str(socket), "-c", f"call writefile(['ready'], '{ready}')"],
        env=desk.environment,
        cwd=desk.folder,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert ready.read_text() == "ready\n"
        told_of = {"NVIM": str(socket), "XDG_RUNTIME_DIR": str(desk.folder), "TMPDIR": str(desk.folder)}
        environment = {**desk.environment, "FRAMEDEX_EDITOR": "", "VISUAL": "", "EDITOR": "", "TERM_PROGRAM": ""}
        environment |= {variable: told_of[variable], "TMPDIR": told_of["TMPDIR"]}
        subprocess.run(["framedex", "open", f"{source}:2:3"], check=True, env=environment, timeout=PATIENCE)
        asked = ["nvim", "--server", str(socket), "--remote-expr", "json_encode([expand('%:p'), line('.'), col('.')])"]
        told = subprocess.run(asked, check=True, env=desk.environment, capture_output=True, text=True, timeout=PATIENCE)
    finally:
        neovim.terminate()
        neovim.wait()

    assert json.loads(told.stdout or told.stderr) == [str(source), 2, 3]
    assert not list(desk.folder.rglob("pwned"))


@pytest.mark.exhaustive
@pytest.mark.skipif(not shutil.which("nvim"), reason="Neovim is not installed")
def test_a_swap_file_prompt_in_neovim_does_not_block_the_click(desk: Desk) -> None:
    source = desk.source("a.cc")
    started = []
    terminal, inside = pty.openpty()
    try:
        for name, arguments in (("first", [str(source)]), ("second", [])):
            ready = desk.folder / f"{name}.ready"
            os.mkfifo(ready)
            listening = ["--listen", str(desk.folder / name), "-c", f"call writefile(['ready'], '{ready}')"]
            command = ["nvim", "-u", "NONE", *listening, *arguments]
            environment = {**desk.environment, "TERM": "xterm"}
            started.append(
                subprocess.Popen(command, env=environment, cwd=desk.folder, stdin=inside, stdout=inside, stderr=inside)
            )
            assert ready.read_text() == "ready\n"
        environment = {**desk.environment, "FRAMEDEX_EDITOR": "", "NVIM": str(desk.folder / "second")}
        done = subprocess.run(
            ["framedex", "open", f"{source}:2"], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    finally:
        for neovim in started:
            neovim.kill()
            neovim.wait()
        os.close(terminal)
        os.close(inside)

    assert done.returncode == 1
    assert "did not answer" in done.stderr and "waiting at a prompt" in done.stderr
