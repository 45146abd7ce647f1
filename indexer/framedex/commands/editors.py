"""Which editor the user has, and how that editor is told a line."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from framedex.commands.files import Place
from framedex.errors import FramedexError

Arguments = Callable[[str, int, int], list[str]]

_CODE = ("code", "code-insiders", "codium", "vscodium", "cursor", "code-server")
"""VS Code and its relatives, by the names of their command-line programs."""

_REMEDY = "Set FRAMEDEX_EDITOR, for example `export FRAMEDEX_EDITOR=code` or `export FRAMEDEX_EDITOR=vim`."


def editor_command(place: Place, environment: Mapping[str, str]) -> list[str]:
    """The program and arguments that open the place, for running without a shell.

    Raises FramedexError where the environment names no editor, or names one that cannot be read as a command.
    """
    editor = _editor(environment)
    path = str(place.path.absolute())
    if _program(editor) == "nvim" and "--server" in editor:
        return [*editor, "--remote-expr", _in_running_neovim(path, place.line, place.column or 1)]
    if place.line is None:
        return [*editor, path]
    arguments = _SYNTAX.get(_program(editor), _file_only)
    added = arguments(path, place.line, place.column or 1)
    if editor[-1] in {"-g", "--goto"} and added[0] == "--goto":
        added = added[1:]
    return [*editor, *added]


def _editor(environment: Mapping[str, str]) -> list[str]:
    if environment.get("FRAMEDEX_EDITOR"):
        return _split("FRAMEDEX_EDITOR", environment)
    if environment.get("NVIM"):  # Neovim tells the programs in its terminals where it listens
        return ["nvim", "--server", environment["NVIM"]]
    if environment.get("INSIDE_EMACS"):
        return ["emacsclient", "--no-wait"]
    if environment.get("TERM_PROGRAM") == "vscode":
        path = environment.get("PATH", "")
        return [next((name for name in _CODE if shutil.which(name, path=path)), _CODE[0])]
    for variable in ("VISUAL", "EDITOR"):
        if environment.get(variable):
            return _split(variable, environment)
    raise FramedexError("No editor is known: none of FRAMEDEX_EDITOR, VISUAL and EDITOR is set.", _REMEDY)


def _split(variable: str, environment: Mapping[str, str]) -> list[str]:
    try:
        words = shlex.split(environment[variable])
    except ValueError as error:
        raise FramedexError(f"${variable} is no command: {error}.", _REMEDY) from error
    if not words:
        raise FramedexError(f"${variable} is blank.", _REMEDY)
    return words


def _program(editor: list[str]) -> str:
    return Path(editor[0]).name.removesuffix(".sh")


def _in_running_neovim(path: str, line: int | None, column: int) -> str:
    """An expression by which a running Neovim opens the place: its --remote takes files alone."""
    quoted = path.replace("'", "''")
    commands = [f"'drop ' . fnameescape('{quoted}')", *([f"'call cursor({line},{column})'"] if line else [])]
    return f"execute([{', '.join(commands)}])"


def _goto(path: str, line: int, column: int) -> list[str]:
    return ["--goto", f"{path}:{line}:{column}"]


def _colons(path: str, line: int, column: int) -> list[str]:
    return [f"{path}:{line}:{column}"]


def _jetbrains(path: str, line: int, column: int) -> list[str]:
    return ["--line", str(line), "--column", str(column), path]


def _vim(path: str, line: int, column: int) -> list[str]:
    return [f"+call cursor({line},{column})", path]


def _plus_colon(path: str, line: int, column: int) -> list[str]:
    return [f"+{line}:{column}", path]


def _plus_comma(path: str, line: int, column: int) -> list[str]:
    return [f"+{line},{column}", path]


def _plus(path: str, line: int, column: int) -> list[str]:
    return [f"+{line}", path]


def _file_only(path: str, line: int, column: int) -> list[str]:
    return [path]


_SYNTAX: dict[str, Arguments] = {
    **dict.fromkeys(_CODE, _goto),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), _colons),
    **dict.fromkeys(("clion", "idea", "pycharm"), _jetbrains),
    **dict.fromkeys(("vim", "nvim", "vi", "gvim", "mvim"), _vim),
    **dict.fromkeys(("emacs", "emacsclient", "kak"), _plus_colon),
    **dict.fromkeys(("nano",), _plus_comma),
    **dict.fromkeys(("less", "micro", "joe", "gedit"), _plus),
}
