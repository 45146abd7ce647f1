"""Command lines that open a file at a line in each editor."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from framedex.commands.editor.choice import CODE, JETBRAINS
from framedex.commands.inputs.files import Place, absolute

Arguments = Callable[[str, int, int], list[str]]

_PLACEHOLDER = re.compile(r"\{(file|line|column)\}")
_VARIANT = re.compile(r"(?:64)?(?:[.-].*)?$")


def editor_command(editor: Sequence[str], place: Place) -> list[str]:
    """The program and arguments that open a place in an editor, to be run without a shell.

    The path is absolute, so that it is never parsed as an option. Raises FramedexError for a relative path if the
    working folder was deleted.
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
    """Whether a command of `editor_command` is a request to a running Neovim, so that it ends with the reply."""
    return "--remote-expr" in command


def can_tell_lines(editor: Sequence[str]) -> bool:
    """Whether this editor accepts a line number."""
    return _has_placeholders(editor) or _syntax(editor[0]) is not _file_only


def _has_placeholders(editor: Sequence[str]) -> bool:
    return any(map(_PLACEHOLDER.search, editor[1:]))


def _filled(editor: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command with its placeholders replaced; the file goes last if no argument has a placeholder for it."""
    arguments = [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in editor[1:]]
    has_file = any("{file}" in word for word in editor[1:])
    return [editor[0], *arguments, *([] if has_file else [values["file"]])]


def _syntax(program: str) -> Arguments:
    """The syntax of a program or one of its builds: `vim.basic`, `clion64`, `pycharm-community`."""
    name = Path(program).name
    return _SYNTAX.get(name) or _SYNTAX.get(_VARIANT.sub("", name), _file_only)


def _in_running_neovim(path: str, line: int | None, column: int) -> str:
    """A Vim expression that opens the place in a running Neovim, whose --remote accepts only files.

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
