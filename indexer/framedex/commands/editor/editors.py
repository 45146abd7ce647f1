"""The user's editor, and the command line that opens a file at a line in it."""

from __future__ import annotations

import os
import re
import shlex
import socket
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.folders import absolute_folders, find_program
from framedex.base.regularfile import is_own_file, user_id
from framedex.commands.inputs.files import FilePosition, to_absolute_path

VSCODE_PROGRAMS = ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "code-server")
"""VS Code and its derivatives, by the names of their command-line programs."""

JETBRAINS_PROGRAMS = (
    *("clion", "pycharm", "idea", "intellij", "rustrover", "goland", "webstorm", "phpstorm", "rider", "rubymine"),
    *("dataspell", "datagrip", "aqua", "studio"),
)
"""The JetBrains IDEs, by the names of their launchers, without suffixes such as `64` and `.sh`."""

_GRAPHICAL_EDITORS = (
    *(name for name in VSCODE_PROGRAMS if name != "code-server"),
    *JETBRAINS_PROGRAMS,
    *("subl", "zed", "kate"),
)
_TERMINAL_EDITORS = ("nvim", "hx", "vim", "emacs", "micro", "nano", "vi")
_MAX_ANCESTORS = 32
_CONNECT_TIMEOUT_S = 0.1  # short, because the program is local

_REMEDY = "Set FRAMEDEX_EDITOR, for example `export FRAMEDEX_EDITOR=code` or `export FRAMEDEX_EDITOR=vim`."


def choose_editor(environment: Mapping[str, str]) -> list[str]:
    """The program and first arguments of the user's editor.

    The order is FRAMEDEX_EDITOR, the editor of this terminal, VISUAL, EDITOR, a running editor, an installed editor.
    Raises FramedexError if there is none, or if a variable is not a valid command.
    """
    editor = (
        _from_variable(environment, "FRAMEDEX_EDITOR")
        or _find_editor_of_terminal(environment)
        or _from_variable(environment, "VISUAL")
        or _from_variable(environment, "EDITOR")
        or _find_running_editor(environment)
        or _find_installed_editor(environment)
    )
    if editor is None:
        raise FramedexError("No editor is configured: FRAMEDEX_EDITOR, VISUAL and EDITOR are not set.", _REMEDY)
    return editor


def _from_variable(environment: Mapping[str, str], variable: str) -> list[str] | None:
    if not environment.get(variable):
        return None
    try:
        words = shlex.split(environment[variable])
    except ValueError as error:
        raise FramedexError(f"${variable} is not a valid command: {error}.", _REMEDY) from error
    if not words:
        raise FramedexError(f"${variable} is blank.", _REMEDY)
    return words


def _find_editor_of_terminal(environment: Mapping[str, str]) -> list[str] | None:
    """The editor in whose terminal this process runs, according to its environment variables.

    The variables may be stale: tmux outlives the editor in which it was started, and keeps its variables. So an editor
    counts only if it accepts a connection.
    """
    path = environment.get("PATH", "")
    return (
        _build_neovim_command(environment.get("NVIM", ""), path)
        or _build_neovim_command(
            environment.get("NVIM_LISTEN_ADDRESS", ""), path
        )  # set by Neovim before 0.8, or by the user
        or (_build_emacs_command(environment) if environment.get("INSIDE_EMACS") else None)
        or _build_vscode_command(environment, path)
        or _build_zed_command(environment, path)
        or _build_jetbrains_command(environment, path)
    )


def _build_zed_command(environment: Mapping[str, str], path: str) -> list[str] | None:
    program = _find_first_on_path(path, ("zed",)) if environment.get("TERM_PROGRAM") == "zed" else None
    return [program] if program else None


def _build_vscode_command(environment: Mapping[str, str], path: str) -> list[str] | None:
    """The command of VS Code or a derivative; None in a remote window without that window's socket."""
    if window := environment.get(
        "VSCODE_IPC_HOOK_CLI"
    ):  # in code-server or a remote window, the first one on the PATH is right
        program = _find_in_first_folder(VSCODE_PROGRAMS, path) if _is_listening(window) else None
    else:
        program = _find_first_on_path(path, VSCODE_PROGRAMS) if environment.get("TERM_PROGRAM") == "vscode" else None
    return [program] if program else None


def _build_jetbrains_command(environment: Mapping[str, str], path: str) -> list[str] | None:
    if not environment.get("TERMINAL_EMULATOR", "").startswith("JetBrains"):
        return None
    above = next(filter(None, map(_find_launcher, _find_ancestor_programs())), None)
    launcher = above or _find_first_on_path(os.pathsep.join([path, *_toolbox_folders(environment)]), _launcher_names())
    return [launcher] if launcher else None


def _find_running_editor(environment: Mapping[str, str]) -> list[str] | None:
    """A running Neovim or Emacs of this user that accepts commands; the newest of several Neovims.

    The folder of the socket must belong to the user, too. In a foreign folder in /tmp, the socket could be replaced
    after the check of its owner, and our `nvim` would obey its replacement.
    """
    runtime, temporary = environment.get("XDG_RUNTIME_DIR"), environment.get("TMPDIR") or "/tmp"
    user = environment.get("USER") or environment.get("LOGNAME") or "*"
    shared = Path(temporary)
    own = filter(_is_own_folder, (*shared.glob(f"nvim.{user}"), *shared.glob("nvim??????")))
    neovims = [
        *(Path(runtime).glob("nvim.*.0") if runtime else ()),
        *(address for folder in own for at in ("*/nvim.*.0", "0") for address in folder.glob(at)),  # "0": before 0.8
    ]
    by_age = sorted(neovims, key=_modification_time, reverse=True)
    path = environment.get("PATH", "")
    neovim = next(filter(None, (_build_neovim_command(str(address), path) for address in by_age)), None)
    return neovim or _build_emacs_command(environment)


def _build_neovim_command(address: str, path: str) -> list[str] | None:
    """The command for the Neovim that listens at an address; None if there is none."""
    return ["nvim", "--server", address] if _is_listening(address) and _find_first_on_path(path, ("nvim",)) else None


def _build_emacs_command(environment: Mapping[str, str]) -> list[str] | None:
    """The command for the Emacs that `emacsclient` would reach, by the rules of emacsclient.c (set_socket)."""
    if not _find_first_on_path(environment.get("PATH", ""), ("emacsclient",)):
        return None
    name = environment.get("EMACS_SOCKET_NAME") or "server"
    runtime, temporary = environment.get("XDG_RUNTIME_DIR"), environment.get("TMPDIR") or "/tmp"
    folders = [*([Path(runtime, "emacs")] if runtime else []), Path(temporary, f"emacs{user_id()}")]
    for address in [Path(name)] if "/" in name else [folder / name for folder in folders if _is_own_folder(folder)]:
        if _is_listening(str(address)):
            return ["emacsclient", "--no-wait", f"--socket-name={address}"]
    home = Path(environment.get("HOME", "/"))
    configurations = (home / ".emacs.d", Path(environment.get("XDG_CONFIG_HOME") or home / ".config", "emacs"))
    named = environment.get("EMACS_SERVER_FILE") or "server"  # a server that listens on a TCP port
    for file in (folder / "server" / named for folder in configurations):
        if _is_listening(_read_server_address(file)):
            return ["emacsclient", "--no-wait", f"--server-file={file}"]
    return None


def _find_installed_editor(environment: Mapping[str, str]) -> list[str] | None:
    path = environment.get("PATH", "")
    has_windows = sys.platform == "darwin" or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    found = _find_first_on_path(path, _GRAPHICAL_EDITORS) if has_windows else None
    if found is None and os.isatty(0) and os.isatty(1):
        found = _find_first_on_path(path, _TERMINAL_EDITORS)
    return [found] if found else None


def _find_first_on_path(path: str, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if find_program(name, path)), None)


def _find_in_first_folder(names: tuple[str, ...], path: str) -> str | None:
    return next(filter(None, (_find_first_on_path(folder, names) for folder in absolute_folders(path))), None)


def _launcher_names() -> tuple[str, ...]:
    return tuple(f"{name}{suffix}" for suffix in ("", "64", ".sh") for name in JETBRAINS_PROGRAMS)


def _toolbox_folders(environment: Mapping[str, str]) -> list[str]:
    """The folder in which JetBrains Toolbox installs its launchers."""
    home = Path(environment.get("HOME", "/"))
    folder = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return [str(home / folder / "JetBrains" / "Toolbox" / "scripts")]


def _find_ancestor_programs() -> Iterator[Path]:
    """The programs of this process's ancestors, nearest first; empty without /proc."""
    process = os.getppid()
    for _ in range(_MAX_ANCESTORS):
        try:
            yield Path(os.readlink(f"/proc/{process}/exe"))  # noqa: PTH115 - one call, for up to 32 ancestors
            status = Path(f"/proc/{process}/stat").read_bytes()
        except OSError:
            return
        process = int(status.rpartition(b")")[2].split()[1])  # the program name before it may contain any character
        if process <= 1:
            return


def _find_launcher(program: Path) -> str | None:
    """The launcher of a JetBrains program; for its bundled Java runtime, the launcher of the IDE around it."""
    if program.name in _launcher_names():
        return str(program)
    if program.name == "java" and program.parent.parent.name == "jbr":
        scripts = (program.parents[2] / "bin" / f"{name}.sh" for name in JETBRAINS_PROGRAMS)
        return next((str(script) for script in scripts if script.is_file()), None)
    return None


def _modification_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _is_own_folder(folder: Path) -> bool:
    """Whether a folder belongs to this user and is not a symbolic link."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and is_own_file(status)


def _read_server_address(file: Path) -> str:
    """The HOST:PORT in an Emacs server file; empty if the file is missing, malformed or of another user."""
    try:
        return file.read_text("ascii").split(maxsplit=1)[0] if _is_own_folder(file.parent) else ""
    except (OSError, ValueError, IndexError):
        return ""


def _is_listening(address: str) -> bool:
    """Whether a process listens at HOST:PORT, or on a Unix socket of this user."""
    host, _, port = address.rpartition(":")
    try:
        if host and "/" not in host and port.isdecimal():
            with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_TIMEOUT_S):
                return True
        if not address or not is_own_file(os.stat(address)):  # noqa: PTH116 - the path may be invalid
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_CONNECT_TIMEOUT_S)
            probe.connect(address)
    except (OSError, ValueError, OverflowError):
        return False
    return True


Arguments = Callable[[str, int, int], list[str]]

_PLACEHOLDER = re.compile(r"\{(file|line|column)\}")
_VARIANT = re.compile(r"(?:64)?(?:[.-].*)?$")


def find_editor_command(editor: Sequence[str], position: FilePosition) -> list[str]:
    """The program and arguments that open a file position in an editor, without a shell.

    The path is absolute, so that it is never parsed as an option. Raises FramedexError for a relative path if the
    working folder was deleted.
    """
    path, line, column = str(to_absolute_path(position.path)), position.line, position.column or 1
    if _has_placeholders(editor):
        return _fill_placeholders(editor, {"file": path, "line": str(line or 1), "column": str(column)})
    if Path(editor[0]).name == "nvim" and "--server" in editor:
        return [*editor, "--remote-expr", _build_neovim_expression(path, line, column)]
    if line is None:
        return [*editor, path]
    added = _editor_family(editor[0])(path, line, column)
    if editor[-1] in {"-g", "--goto"} and added[0] == "--goto":
        added = added[1:]
    return [*editor, *added]


def is_neovim_request(command: Sequence[str]) -> bool:
    """Whether a command of `find_editor_command` is a request to a running Neovim, which ends with the reply."""
    return "--remote-expr" in command


def accepts_line(editor: Sequence[str]) -> bool:
    """Whether this editor accepts a line number."""
    return _has_placeholders(editor) or _editor_family(editor[0]) is not _build_file_arguments


def _has_placeholders(editor: Sequence[str]) -> bool:
    return any(map(_PLACEHOLDER.search, editor[1:]))


def _fill_placeholders(editor: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command with its placeholders replaced; the file goes last if no argument has a placeholder for it."""
    arguments = [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in editor[1:]]
    has_file = any("{file}" in word for word in editor[1:])
    return [editor[0], *arguments, *([] if has_file else [values["file"]])]


def _editor_family(program: str) -> Arguments:
    """The argument syntax of an editor, also of its builds such as `vim.basic`, `clion64` and `pycharm-community`."""
    name = Path(program).name
    return _SYNTAX.get(name) or _SYNTAX.get(_VARIANT.sub("", name), _build_file_arguments)


def _build_neovim_expression(path: str, line: int | None, column: int) -> str:
    """A Vim expression that opens the position in a running Neovim, whose --remote accepts only files.

    From a terminal window it first goes to the previous window, so that the terminal stays visible. The path is a
    string in the expression and never part of a command: no escaping in Neovim is safe for every name.
    """
    quoted = path.replace("'", "''")
    commands = [
        "'if &buftype ==# \"terminal\" | wincmd p | endif'",
        "'call win_gotoid(get(win_findbuf(' . n . '), 0, win_getid()))'",
        "'if bufnr() != ' . n . ' | if &modified && !&hidden | split | endif | buffer ' . n . ' | endif'",
        "'call setbufvar(' . n . ', \"&buflisted\", 1)'",
        *([f"'call cursor({line},{column})'", "'normal! zv'"] if line else []),
    ]
    return f"{{n -> execute([{', '.join(commands)}])}}(bufadd('{quoted}'))"


def _build_goto_arguments(path: str, line: int, column: int) -> list[str]:
    return ["--goto", f"{path}:{line}:{column}"]


def _build_path_line_column_arguments(path: str, line: int, column: int) -> list[str]:
    return [f"{path}:{line}:{column}"]


def _build_option_arguments(path: str, line: int, column: int) -> list[str]:
    return ["--line", str(line), "--column", str(column), path]


def _build_vim_arguments(path: str, line: int, column: int) -> list[str]:
    return [f"+call cursor({line},{column})", path]


def _build_line_colon_column_arguments(path: str, line: int, column: int) -> list[str]:
    return [f"+{line}:{column}", path]


def _build_line_comma_column_arguments(path: str, line: int, column: int) -> list[str]:
    return [f"+{line},{column}", path]


def _build_line_arguments(path: str, line: int, column: int) -> list[str]:
    return [f"+{line}", path]


def _build_file_arguments(path: str, line: int, column: int) -> list[str]:
    return [path]


_SYNTAX: dict[str, Arguments] = {
    **dict.fromkeys(VSCODE_PROGRAMS, _build_goto_arguments),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), _build_path_line_column_arguments),
    **dict.fromkeys((*JETBRAINS_PROGRAMS, "kate"), _build_option_arguments),
    **dict.fromkeys(("vim", "nvim", "vi", "gvim", "mvim"), _build_vim_arguments),
    **dict.fromkeys(("emacs", "emacsclient", "kak"), _build_line_colon_column_arguments),
    **dict.fromkeys(("nano",), _build_line_comma_column_arguments),
    **dict.fromkeys(("less", "micro", "joe", "gedit"), _build_line_arguments),
    "nvim-qt": _build_file_arguments,
}
