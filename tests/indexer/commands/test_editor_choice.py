"""The editor that `framedex open` uses by default: the terminal's, a running one, or an installed one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.commands.editor.editors import JETBRAINS_PROGRAMS, choose_editor


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@contextmanager
def listening(address: Path) -> Iterator[Path]:
    address.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        server.listen()
        yield address


def test_a_terminal_of_vscode_or_a_fork_uses_that_editor(tmp_path: Path) -> None:
    program(tmp_path, "code-server")
    terminal = {"TERM_PROGRAM": "vscode", "PATH": str(tmp_path)}

    assert choose_editor(terminal) == ["code-server"]
    program(tmp_path, "code")
    assert choose_editor(terminal) == ["code"]


def test_a_code_server_terminal_prefers_its_own_program(tmp_path: Path) -> None:
    """In code-server's terminal, its programs win over VS Code on the desktop."""
    program(tmp_path / "remote-cli", "code-server")
    program(tmp_path / "desktop", "code")
    path = f"{tmp_path / 'remote-cli'}:{tmp_path / 'desktop'}"
    terminal = {"TERM_PROGRAM": "vscode", "PATH": path, "EDITOR": "nano"}

    with listening(tmp_path / "x.sock") as window:
        assert choose_editor({**terminal, "VSCODE_IPC_HOOK_CLI": str(window)}) == ["code-server"]
    assert choose_editor({**terminal, "VSCODE_IPC_HOOK_CLI": str(window)}) == ["nano"]


def test_the_most_specific_setting_chooses_the_editor(tmp_path: Path) -> None:
    for name in ("nvim", "emacsclient", "code"):
        program(tmp_path, name)
    with listening(tmp_path / "nvim.sock") as neovim, listening(tmp_path / "emacs" / "server"):
        every = {
            "FRAMEDEX_EDITOR": "hx",
            "NVIM": str(neovim),
            "INSIDE_EMACS": "29.1,comint",
            "TERM_PROGRAM": "vscode",
            "VISUAL": "emacs",
            "EDITOR": "nano",
        }
        around = {"PATH": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}

        chosen = []
        while every:
            chosen.append(choose_editor(every | around)[0])
            every.pop(next(iter(every)))

    assert chosen == ["hx", "nvim", "emacsclient", "code", "emacs", "nano"]


@pytest.mark.parametrize(
    "left_over",
    [
        {"NVIM": "/no/such/socket"},
        {"NVIM": "127.0.0.1:1"},
        {"INSIDE_EMACS": "29.1,comint"},
        {"TERM_PROGRAM": "vscode"},
        {"TERM_PROGRAM": "zed"},
    ],
    ids=str,
)
def test_the_terminal_of_a_closed_editor_is_ignored(tmp_path: Path, left_over: dict[str, str]) -> None:
    """A tmux keeps the variables of a closed editor: then the next choice is used."""
    for name in ("nvim", "emacsclient"):
        program(tmp_path, name)

    assert choose_editor({**left_over, "PATH": str(tmp_path), "TMPDIR": str(tmp_path), "EDITOR": "nano"}) == ["nano"]


def test_a_neovim_socket_without_its_program_is_unreachable(tmp_path: Path) -> None:
    with listening(tmp_path / "nvim") as address:
        assert choose_editor({"NVIM": str(address), "PATH": str(tmp_path / "bin"), "EDITOR": "nano"}) == ["nano"]


def test_a_neovim_or_emacs_on_a_port_is_reached(tmp_path: Path) -> None:
    for name in ("nvim", "emacsclient"):
        program(tmp_path, name)
    server_file = tmp_path / ".emacs.d" / "server" / "server"
    server_file.parent.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        server_file.write_text(f"{address} 4711\nkey")
        around = {"PATH": str(tmp_path), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}

        assert choose_editor({"NVIM": address, **around}) == ["nvim", "--server", address]
        assert choose_editor({"INSIDE_EMACS": "29.1", **around})[2] == f"--server-file={server_file}"


@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim")
def test_a_running_neovim_is_used(tmp_path: Path) -> None:
    address = tmp_path / "nvim.sock"
    environment = {"NVIM": str(address), "PATH": os.environ["PATH"], "EDITOR": "nano"}
    # It reports when it listens.
    ready = ["--cmd", "call chansend(v:stderr, 'ready')"]
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "--listen", str(address), *ready]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as neovim:
        assert neovim.stderr and neovim.stderr.read(5) == b"ready"
        assert choose_editor(environment) == ["nvim", "--server", str(address)]
        neovim.kill()
    assert address.exists()
    assert choose_editor(environment) == ["nano"]


@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs Emacs")
def test_an_emacs_server_named_by_the_terminal_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    environment = {"INSIDE_EMACS": "29.1", "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "EDITOR": "nano"}
    start = f'(progn (setq server-name "mine" server-socket-dir "{folder}") (server-start) (message "ready"))'
    waiting = "(while t (accept-process-output nil 1))"
    command = ["emacs", "-Q", "--batch", "--eval", "(require 'server)", "--eval", start, "--eval", waiting]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as emacs:
        assert emacs.stderr
        assert any(line == "ready\n" for line in emacs.stderr)
        assert choose_editor(environment) == ["nano"]
        named = environment | {"EMACS_SOCKET_NAME": str(folder / "mine")}
        assert choose_editor(named) == ["emacsclient", "--no-wait", f"--socket-name={folder / 'mine'}"]
        emacs.kill()
    assert choose_editor(named) == ["nano"]


@pytest.mark.parametrize("launcher", ["clion", "pycharm.sh", "rustrover64"])
def test_a_jetbrains_terminal_uses_an_installed_ide(tmp_path: Path, launcher: str) -> None:
    program(tmp_path, launcher)
    terminal = {"TERMINAL_EMULATOR": "JetBrains-JediTerm", "PATH": str(tmp_path), "EDITOR": "nano"}

    assert choose_editor(terminal) == [launcher]
    assert choose_editor({**terminal, "PATH": ""}) == ["nano"]


@pytest.mark.skipif(sys.platform != "linux", reason="where the Toolbox has its launchers on Linux")
def test_toolbox_launchers_are_found(tmp_path: Path) -> None:
    program(tmp_path / ".local/share/JetBrains/Toolbox/scripts", "clion")

    assert choose_editor({"TERMINAL_EMULATOR": "JetBrains-JediTerm", "HOME": str(tmp_path)}) == ["clion"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_ide_that_owns_the_terminal_is_preferred(tmp_path: Path) -> None:
    """A program with the name of an IDE's launcher that runs a shell is used as the editor itself."""
    ide = tmp_path / "opt" / "goland"
    ide.parent.mkdir()
    shutil.copy(shutil.which("sh") or "/bin/sh", ide)
    program(tmp_path / "bin", "clion")
    script = "import os; from framedex.commands.editor.editors import choose_editor; print(*choose_editor(os.environ))"
    environment = {"TERMINAL_EMULATOR": "JetBrains-JediTerm", "PATH": str(tmp_path / "bin")}

    # The second command prevents the shell from replacing its process with the first.
    told = subprocess.run(
        [ide, "-c", '"$0" -c "$1"; :', sys.executable, script],
        env={**environment, "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.strip() == str(ide)


def test_a_running_neovim_is_the_default_without_a_setting(tmp_path: Path) -> None:
    """Of a closed editor with a leftover socket and a listening one, the latter is used."""
    with listening(tmp_path / "nvim.1.0"):
        pass
    with listening(tmp_path / "nvim.2.0") as address:
        around = {"PATH": str(program(tmp_path / "bin", "nvim").parent)}
        environment = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path), **around}

        assert choose_editor(environment) == ["nvim", "--server", str(address)]
        assert choose_editor({**environment, "EDITOR": "nano"}) == ["nano"]


def test_a_neovim_socket_must_be_in_the_users_own_folder(tmp_path: Path) -> None:
    """A socket link in the shared folder for temporary files, where anyone may create it."""
    path = str(program(tmp_path / "bin", "nvim").parent)
    environment = {"USER": "me", "TMPDIR": str(tmp_path), "EDITOR": "", "PATH": path}
    with listening(tmp_path / "nvim.me" / "a" / "nvim.1.0") as address:
        assert choose_editor(environment) == ["nvim", "--server", str(address)]

        (tmp_path / "nvim.me").rename(tmp_path / "mine")
        (tmp_path / "nvim.me").symlink_to(tmp_path / "mine")
        with pytest.raises(FramedexError, match="No editor is configured"):
            choose_editor(environment)


def test_a_neovim_before_0_8_is_found(tmp_path: Path) -> None:
    (tmp_path / "nvimb9zDED").mkdir()
    with listening(tmp_path / "nvimb9zDED" / "0") as address:
        path = str(program(tmp_path / "bin", "nvim").parent)
        assert choose_editor({"TMPDIR": str(tmp_path), "PATH": path}) == ["nvim", "--server", str(address)]


def test_the_configured_neovim_address_counts_while_it_listens(tmp_path: Path) -> None:
    with listening(tmp_path / "nvim") as address:
        path = str(program(tmp_path / "bin", "nvim").parent)
        environment = {"NVIM_LISTEN_ADDRESS": str(address), "EDITOR": "nano", "PATH": path}

        assert choose_editor(environment) == ["nvim", "--server", str(address)]
    assert choose_editor(environment) == ["nano"]


def test_an_emacs_server_is_the_default_without_a_setting(tmp_path: Path) -> None:
    with listening(tmp_path / "emacs" / "server") as address:
        path = str(program(tmp_path / "bin", "emacsclient").parent)
        environment = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": path}

        assert choose_editor(environment) == ["emacsclient", "--no-wait", f"--socket-name={address}"]


def test_an_installed_graphical_editor_is_the_last_choice(tmp_path: Path) -> None:
    program(tmp_path, "clion")
    environment = {"PATH": str(tmp_path), "DISPLAY": ":0", "TMPDIR": str(tmp_path)}

    assert choose_editor(environment) == ["clion"]
    if sys.platform != "darwin":
        with pytest.raises(FramedexError, match="No editor is configured"):
            choose_editor({**environment, "DISPLAY": ""})


def test_every_jetbrains_ide_gets_the_line(tmp_path: Path) -> None:
    from framedex.commands.editor.editors import find_editor_command
    from framedex.commands.inputs.files import FilePosition

    for name in JETBRAINS_PROGRAMS:
        for launcher in (name, f"{name}64", f"{name}.sh"):
            command = find_editor_command([launcher], FilePosition(Path("/a.cc"), 4, None))
            assert command == [launcher, "--line", "4", "--column", "1", "/a.cc"]
