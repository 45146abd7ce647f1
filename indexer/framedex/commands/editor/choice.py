"""The choice of the user's editor: configured, owner of this terminal, running, or installed."""

from __future__ import annotations

import os
import shlex
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from framedex.errors import FramedexError
from framedex.onpath import absolute_folders, program_on_path
from framedex.portable import is_mine, user_id

CODE = ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "code-server")
"""VS Code and its derivatives, by the names of their command-line programs."""

JETBRAINS = (
    *("clion", "pycharm", "idea", "intellij", "rustrover", "goland", "webstorm", "phpstorm", "rider", "rubymine"),
    *("dataspell", "datagrip", "aqua", "studio"),
)
"""The JetBrains IDEs, by the names of their launchers, without suffixes such as `64` and `.sh`."""

_WITH_WINDOWS = (*(name for name in CODE if name != "code-server"), *JETBRAINS, "subl", "zed", "kate")
_IN_TERMINALS = ("nvim", "hx", "vim", "emacs", "micro", "nano", "vi")
_MOST_ANCESTORS = 32
_PATIENCE = 0.1  # seconds, for a connection to a local program

_REMEDY = "Set FRAMEDEX_EDITOR, for example `export FRAMEDEX_EDITOR=code` or `export FRAMEDEX_EDITOR=vim`."


def chosen_editor(environment: Mapping[str, str]) -> list[str]:
    """The program and first arguments of the user's editor.

    The order is FRAMEDEX_EDITOR, the editor of this terminal, VISUAL, EDITOR, a running editor, an installed editor.
    Raises FramedexError if there is none, or if a variable is not a valid command.
    """
    editor = (
        _named(environment, "FRAMEDEX_EDITOR")
        or _of_this_terminal(environment)
        or _named(environment, "VISUAL")
        or _named(environment, "EDITOR")
        or _that_runs(environment)
        or _installed(environment)
    )
    if editor is None:
        raise FramedexError("No editor is configured: FRAMEDEX_EDITOR, VISUAL and EDITOR are not set.", _REMEDY)
    return editor


def _named(environment: Mapping[str, str], variable: str) -> list[str] | None:
    if not environment.get(variable):
        return None
    try:
        words = shlex.split(environment[variable])
    except ValueError as error:
        raise FramedexError(f"${variable} is not a command: {error}.", _REMEDY) from error
    if not words:
        raise FramedexError(f"${variable} is blank.", _REMEDY)
    return words


def _of_this_terminal(environment: Mapping[str, str]) -> list[str] | None:
    """The editor in whose terminal this process runs, according to its environment variables.

    The variables may be stale: tmux outlives the editor in which it was started, and keeps its variables. So an editor
    counts only if it can be reached.
    """
    path = environment.get("PATH", "")
    return (
        _neovim(environment.get("NVIM", ""), path)
        or _neovim(environment.get("NVIM_LISTEN_ADDRESS", ""), path)  # Neovim before 0.8, or set by hand
        or (_emacs(environment) if environment.get("INSIDE_EMACS") else None)
        or _vscode(environment, path)
        or ([zed] if environment.get("TERM_PROGRAM") == "zed" and (zed := _first_on(path, ("zed",))) else None)
        or _jetbrains(environment, path)
    )


def _vscode(environment: Mapping[str, str], path: str) -> list[str] | None:
    """VS Code or a derivative. In a remote window it needs that window's socket: None without it."""
    if window := environment.get("VSCODE_IPC_HOOK_CLI"):  # code-server or a remote window: the first on the PATH
        program = _first_folder_with(CODE, path) if _listens(window) else None
    else:
        program = _first_on(path, CODE) if environment.get("TERM_PROGRAM") == "vscode" else None
    return [program] if program else None


def _jetbrains(environment: Mapping[str, str], path: str) -> list[str] | None:
    if not environment.get("TERMINAL_EMULATOR", "").startswith("JetBrains"):
        return None
    above = next(filter(None, map(_launcher_of, _ancestors())), None)
    launcher = above or _first_on(os.pathsep.join([path, *_toolbox(environment)]), _launchers())
    return [launcher] if launcher else None


def _that_runs(environment: Mapping[str, str]) -> list[str] | None:
    """A running Neovim or Emacs of this user that accepts commands; the newest of several Neovims.

    The folder of the socket must belong to the user, too. In a foreign folder in /tmp, the socket could be replaced
    after the check of its owner, and our `nvim` would obey its replacement.
    """
    runtime, temporary = environment.get("XDG_RUNTIME_DIR"), environment.get("TMPDIR") or "/tmp"
    user = environment.get("USER") or environment.get("LOGNAME") or "*"
    shared = Path(temporary)
    own = filter(_is_own, (*shared.glob(f"nvim.{user}"), *shared.glob("nvim??????")))
    neovims = [
        *(Path(runtime).glob("nvim.*.0") if runtime else ()),
        *(address for folder in own for at in ("*/nvim.*.0", "0") for address in folder.glob(at)),  # "0": before 0.8
    ]
    by_age = sorted(neovims, key=_made, reverse=True)
    path = environment.get("PATH", "")
    return next(filter(None, (_neovim(str(address), path) for address in by_age)), None) or _emacs(environment)


def _neovim(address: str, path: str) -> list[str] | None:
    """The Neovim that listens at an address; None if there is none."""
    return ["nvim", "--server", address] if _listens(address) and _first_on(path, ("nvim",)) else None


def _emacs(environment: Mapping[str, str]) -> list[str] | None:
    """The Emacs that `emacsclient` would reach, by the rules of emacsclient.c (set_socket)."""
    if not _first_on(environment.get("PATH", ""), ("emacsclient",)):
        return None
    name = environment.get("EMACS_SOCKET_NAME") or "server"
    runtime, temporary = environment.get("XDG_RUNTIME_DIR"), environment.get("TMPDIR") or "/tmp"
    folders = [*([Path(runtime, "emacs")] if runtime else []), Path(temporary, f"emacs{user_id()}")]
    for address in [Path(name)] if "/" in name else [folder / name for folder in folders if _is_own(folder)]:
        if _listens(str(address)):
            return ["emacsclient", "--no-wait", f"--socket-name={address}"]
    home = Path(environment.get("HOME", "/"))
    configurations = (home / ".emacs.d", Path(environment.get("XDG_CONFIG_HOME") or home / ".config", "emacs"))
    named = environment.get("EMACS_SERVER_FILE") or "server"  # a server that listens on a TCP port
    for file in (folder / "server" / named for folder in configurations):
        if _listens(_address_in(file)):
            return ["emacsclient", "--no-wait", f"--server-file={file}"]
    return None


def _installed(environment: Mapping[str, str]) -> list[str] | None:
    path = environment.get("PATH", "")
    has_windows = sys.platform == "darwin" or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    found = _first_on(path, _WITH_WINDOWS) if has_windows else None
    if found is None and os.isatty(0) and os.isatty(1):
        found = _first_on(path, _IN_TERMINALS)
    return [found] if found else None


def _first_on(path: str, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if program_on_path(name, path)), None)


def _first_folder_with(names: tuple[str, ...], path: str) -> str | None:
    return next(filter(None, (_first_on(folder, names) for folder in absolute_folders(path))), None)


def _launchers() -> tuple[str, ...]:
    return tuple(f"{name}{suffix}" for suffix in ("", "64", ".sh") for name in JETBRAINS)


def _toolbox(environment: Mapping[str, str]) -> list[str]:
    """The folder in which JetBrains Toolbox installs its launchers."""
    home = Path(environment.get("HOME", "/"))
    folder = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return [str(home / folder / "JetBrains" / "Toolbox" / "scripts")]


def _ancestors() -> Iterator[Path]:
    """The programs of this process's ancestors, nearest first; empty without /proc."""
    process = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        try:
            yield Path(os.readlink(f"/proc/{process}/exe"))  # noqa: PTH115 - one call, for up to 32 ancestors
            status = Path(f"/proc/{process}/stat").read_bytes()
        except OSError:
            return
        process = int(status.rpartition(b")")[2].split()[1])  # the name before it may have any characters
        if process <= 1:
            return


def _launcher_of(program: Path) -> str | None:
    """The launcher of a JetBrains program; for its bundled Java runtime, the launcher of the IDE around it."""
    if program.name in _launchers():
        return str(program)
    if program.name == "java" and program.parent.parent.name == "jbr":
        scripts = (program.parents[2] / "bin" / f"{name}.sh" for name in JETBRAINS)
        return next((str(script) for script in scripts if script.is_file()), None)
    return None


def _made(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _is_own(folder: Path) -> bool:
    """Whether a folder belongs to this user and is not a symbolic link."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and is_mine(status)


def _address_in(file: Path) -> str:
    """The HOST:PORT in an Emacs server file; empty if the file is missing, malformed or of another user."""
    try:
        return file.read_text("ascii").split(maxsplit=1)[0] if _is_own(file.parent) else ""
    except (OSError, ValueError, IndexError):
        return ""


def _listens(address: str) -> bool:
    """Whether a process listens at HOST:PORT, or on a Unix socket of this user."""
    host, _, port = address.rpartition(":")
    try:
        if host and "/" not in host and port.isdecimal():
            with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE):
                return True
        if not address or not is_mine(os.stat(address)):  # noqa: PTH116 - the path may be invalid
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_PATIENCE)
            probe.connect(address)
    except (OSError, ValueError, OverflowError):
        return False
    return True
