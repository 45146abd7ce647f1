"""Which editor `framedex open` takes where nobody has named one: the terminal's, one that runs, one that is there."""

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

from framedex.commands.editor.editors import JETBRAINS_PROGRAMS, choose_editor
from framedex.errors import FramedexError


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


def test_in_a_terminal_of_vscode_or_a_relative_the_one_that_is_there_is_taken(tmp_path: Path) -> None:
    program(tmp_path, "code-server")
    terminal = {"TERM_PROGRAM": "vscode", "PATH": str(tmp_path)}

    assert choose_editor(terminal) == ["code-server"]
    program(tmp_path, "code")
    assert choose_editor(terminal) == ["code"]


def test_in_a_terminal_of_code_server_its_own_program_is_taken_before_a_desktops(tmp_path: Path) -> None:
    """Given VS Code on the desktop too, when the terminal is of code-server, which puts its programs first."""
    program(tmp_path / "remote-cli", "code-server")
    program(tmp_path / "desktop", "code")
    path = f"{tmp_path / 'remote-cli'}:{tmp_path / 'desktop'}"
    terminal = {"TERM_PROGRAM": "vscode", "PATH": path, "EDITOR": "nano"}

    with listening(tmp_path / "x.sock") as window:
        assert choose_editor({**terminal, "VSCODE_IPC_HOOK_CLI": str(window)}) == ["code-server"]
    assert choose_editor({**terminal, "VSCODE_IPC_HOOK_CLI": str(window)}) == ["nano"]


def test_the_editor_is_chosen_from_the_most_particular_wish_to_the_most_general(tmp_path: Path) -> None:
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
def test_the_terminal_of_an_editor_that_has_gone_does_not_count(tmp_path: Path, left_over: dict[str, str]) -> None:
    """Given a tmux that outlives its editor, whose variables it keeps, then the next wish counts."""
    for name in ("nvim", "emacsclient"):
        program(tmp_path, name)

    assert choose_editor({**left_over, "PATH": str(tmp_path), "TMPDIR": str(tmp_path), "EDITOR": "nano"}) == ["nano"]


def test_a_neovim_without_its_program_cannot_be_reached(tmp_path: Path) -> None:
    with listening(tmp_path / "nvim") as address:
        assert choose_editor({"NVIM": str(address), "PATH": str(tmp_path / "bin"), "EDITOR": "nano"}) == ["nano"]


def test_a_neovim_or_an_emacs_on_a_port_is_reached_there(tmp_path: Path) -> None:
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
def test_a_real_neovim_is_taken_while_it_runs(tmp_path: Path) -> None:
    address = tmp_path / "nvim.sock"
    environment = {"NVIM": str(address), "PATH": os.environ["PATH"], "EDITOR": "nano"}
    # It says so once it listens.
    ready = ["--cmd", "call chansend(v:stderr, 'ready')"]
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "--listen", str(address), *ready]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as neovim:
        assert neovim.stderr and neovim.stderr.read(5) == b"ready"
        assert choose_editor(environment) == ["nvim", "--server", str(address)]
        neovim.kill()
    assert address.exists()
    assert choose_editor(environment) == ["nano"]


@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs Emacs")
def test_a_real_emacs_is_taken_where_its_server_has_a_name_that_the_terminal_tells(tmp_path: Path) -> None:
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
def test_in_a_terminal_of_jetbrains_an_ide_that_is_there_is_taken(tmp_path: Path, launcher: str) -> None:
    program(tmp_path, launcher)
    terminal = {"TERMINAL_EMULATOR": "JetBrains-JediTerm", "PATH": str(tmp_path), "EDITOR": "nano"}

    assert choose_editor(terminal) == [launcher]
    assert choose_editor({**terminal, "PATH": ""}) == ["nano"]


@pytest.mark.skipif(sys.platform != "linux", reason="where the Toolbox has its launchers on Linux")
def test_launchers_of_the_toolbox_are_known(tmp_path: Path) -> None:
    program(tmp_path / ".local/share/JetBrains/Toolbox/scripts", "clion")

    assert choose_editor({"TERMINAL_EMULATOR": "JetBrains-JediTerm", "HOME": str(tmp_path)}) == ["clion"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_of_several_ides_the_one_whose_terminal_this_is_is_taken(tmp_path: Path) -> None:
    """Given a program named as an IDE's launcher that runs a shell, then that very program is the editor."""
    ide = tmp_path / "opt" / "goland"
    ide.parent.mkdir()
    shutil.copy(shutil.which("sh") or "/bin/sh", ide)
    program(tmp_path / "bin", "clion")
    script = "import os; from framedex.commands.editor.editors import choose_editor; print(*choose_editor(os.environ))"
    environment = {"TERMINAL_EMULATOR": "JetBrains-JediTerm", "PATH": str(tmp_path / "bin")}

    # The second command keeps the shell from handing its process over to the first.
    told = subprocess.run(
        [ide, "-c", '"$0" -c "$1"; :', sys.executable, script],
        env={**environment, "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.strip() == str(ide)


def test_a_neovim_that_runs_is_taken_where_nothing_names_an_editor(tmp_path: Path) -> None:
    """Given one that has gone and left its socket, and one that listens, then it is the latter."""
    with listening(tmp_path / "nvim.1.0"):
        pass
    with listening(tmp_path / "nvim.2.0") as address:
        around = {"PATH": str(program(tmp_path / "bin", "nvim").parent)}
        environment = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path), **around}

        assert choose_editor(environment) == ["nvim", "--server", str(address)]
        assert choose_editor({**environment, "EDITOR": "nano"}) == ["nano"]


def test_a_neovim_is_only_taken_from_a_folder_of_the_users_own(tmp_path: Path) -> None:
    """Given one in the shared folder for temporary files, where anybody may make a link of that name."""
    path = str(program(tmp_path / "bin", "nvim").parent)
    environment = {"USER": "me", "TMPDIR": str(tmp_path), "EDITOR": "", "PATH": path}
    with listening(tmp_path / "nvim.me" / "a" / "nvim.1.0") as address:
        assert choose_editor(environment) == ["nvim", "--server", str(address)]

        (tmp_path / "nvim.me").rename(tmp_path / "mine")
        (tmp_path / "nvim.me").symlink_to(tmp_path / "mine")
        with pytest.raises(FramedexError, match="No editor is configured"):
            choose_editor(environment)


def test_a_neovim_before_0_8_that_runs_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "nvimb9zDED").mkdir()
    with listening(tmp_path / "nvimb9zDED" / "0") as address:
        path = str(program(tmp_path / "bin", "nvim").parent)
        assert choose_editor({"TMPDIR": str(tmp_path), "PATH": path}) == ["nvim", "--server", str(address)]


def test_the_address_that_neovim_was_given_counts_while_somebody_listens(tmp_path: Path) -> None:
    with listening(tmp_path / "nvim") as address:
        path = str(program(tmp_path / "bin", "nvim").parent)
        environment = {"NVIM_LISTEN_ADDRESS": str(address), "EDITOR": "nano", "PATH": path}

        assert choose_editor(environment) == ["nvim", "--server", str(address)]
    assert choose_editor(environment) == ["nano"]


def test_an_emacs_server_is_taken_where_nothing_names_an_editor(tmp_path: Path) -> None:
    with listening(tmp_path / "emacs" / "server") as address:
        path = str(program(tmp_path / "bin", "emacsclient").parent)
        environment = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": path}

        assert choose_editor(environment) == ["emacsclient", "--no-wait", f"--socket-name={address}"]


def test_at_last_an_editor_with_windows_is_taken_that_is_installed(tmp_path: Path) -> None:
    program(tmp_path, "clion")
    environment = {"PATH": str(tmp_path), "DISPLAY": ":0", "TMPDIR": str(tmp_path)}

    assert choose_editor(environment) == ["clion"]
    if sys.platform != "darwin":
        with pytest.raises(FramedexError, match="No editor is configured"):
            choose_editor({**environment, "DISPLAY": ""})


def test_every_ide_of_jetbrains_is_told_the_line(tmp_path: Path) -> None:
    from framedex.commands.editor.editors import editor_command
    from framedex.commands.inputs.files import FilePosition

    for name in JETBRAINS_PROGRAMS:
        for launcher in (name, f"{name}64", f"{name}.sh"):
            command = editor_command([launcher], FilePosition(Path("/a.cc"), 4, None))
            assert command == [launcher, "--line", "4", "--column", "1", "/a.cc"]
