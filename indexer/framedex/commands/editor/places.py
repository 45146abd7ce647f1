"""How an editor is told a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from framedex.commands.editor.choice import CODE, JETBRAINS
from framedex.commands.reading.files import Place, absolute

Arguments = Callable[[str, int, int], list[str]]

_PLACEHOLDER = re.compile(r"\{(file|line|column)\}")
_VARIANT = re.compile(r"(?:64)?(?:[.-].*)?$")


def editor_command(editor: Sequence[str], place: Place) -> list[str]:
    """The program and arguments that open the place in this editor, for running without a shell.

    The path is absolute there, so that no name is taken for an option. Raises FramedexError where it counts from a
    working folder that has been deleted.
    """
    path, line, column = str(absolute(place.path)), place.line, place.column or 1
    if _has_placeholders(editor):
        return _filled(editor, {"file": path, "line": str(line or 1), "column": str(column)})
    if Path(editor[0]).name == "nvim" and "--server" in editor:
        return [*editor, "--remote-expr", _in_running_neovim(path, line, column)]
    if line is None:
        return [*editor, path]
    added = _syntax(editor[0])(path, line, column)
    if editor[-1] in {"-g", "--goto"} and added[0] == "--goto":
        added = added[1:]
    return [*editor, *added]


def only_asks(command: Sequence[str]) -> bool:
    """Whether a command of `editor_command` asks a Neovim that runs already, and so ends as soon as that answers."""
    return "--remote-expr" in command


def can_tell_lines(editor: Sequence[str]) -> bool:
    """Whether this editor is told the line of a place, and not the file alone."""
    return _has_placeholders(editor) or _syntax(editor[0]) is not _file_only


def _has_placeholders(editor: Sequence[str]) -> bool:
    return any(map(_PLACEHOLDER.search, editor[1:]))


def _filled(editor: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command with the values inside its arguments; the file goes last where no argument says where it goes."""
    arguments = [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in editor[1:]]
    has_file = any("{file}" in word for word in editor[1:])
    return [editor[0], *arguments, *([] if has_file else [values["file"]])]


def _syntax(program: str) -> Arguments:
    """That of the program, or of the one that it is a build of: `vim.basic`, `clion64`, `pycharm-community`."""
    name = Path(program).name
    return _SYNTAX.get(name) or _SYNTAX.get(_VARIANT.sub("", name), _file_only)


def _in_running_neovim(path: str, line: int | None, column: int) -> str:
    """An expression by which a running Neovim opens the place: its --remote takes files alone.

    From its terminal it goes to the window that was used before, so that the terminal stays in sight. The path is a
    string there and no part of a command: no escaping of Neovim's holds for every name.
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


def _goto(path: str, line: int, column: int) -> list[str]:
    return ["--goto", f"{path}:{line}:{column}"]


def _colons(path: str, line: int, column: int) -> list[str]:
    return [f"{path}:{line}:{column}"]


def _options(path: str, line: int, column: int) -> list[str]:
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
    **dict.fromkeys(CODE, _goto),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), _colons),
    **dict.fromkeys((*JETBRAINS, "kate"), _options),
    **dict.fromkeys(("vim", "nvim", "vi", "gvim", "mvim"), _vim),
    **dict.fromkeys(("emacs", "emacsclient", "kak"), _plus_colon),
    **dict.fromkeys(("nano",), _plus_comma),
    **dict.fromkeys(("less", "micro", "joe", "gedit"), _plus),
    "nvim-qt": _file_only,
}
