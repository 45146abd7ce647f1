"""Parse the words after `framedex run` into an interpreter and its arguments.

The meaning is the same as without framedex. A script is a file of the working folder or a path; any other name is a
command. A command is an interpreter in an absolute folder of the PATH, or a Python script according to its first line.
Scripts are looked up in the folder of framedex's own interpreter (or the named one), then on the PATH. Other programs
are rejected: the Python behind a shell script or binary is unknown, so it may not support recording.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from framedex.base.errors import FramedexError
from framedex.base.folders import find_program
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.regularfile import open_regular

_INTERPRETER = re.compile(r"(?:python|pypy)\d*(?:\.\d+)*t?(?:\.exe)?")
_PYTHON_SOURCES = (".py", ".pyw", ".pyz", ".pyc")
_START_BYTES = 4096
# The first lines that pip and uv write if the interpreter's path is too long or has blanks (distlib's
# `_build_shebang`): a script that sh passes to Python.
_SH_WRAPPER = re.compile(r"#!/bin/sh\n'''exec' (?P<words>.+) \"\$0\" \"\$@\"\n")


@dataclass(frozen=True, slots=True)
class Program:
    """An interpreter, its arguments, and the reason for this interpreter; empty if the user named it."""

    python: str
    arguments: tuple[str, ...]
    reason: str = ""


def parse_program(words: Sequence[str], python: str, *, is_named: bool) -> Program:
    """Parse the words into a program; `python` is the interpreter that the user named (`is_named`), or framedex's own.

    Raises FramedexError if the program cannot be recorded, and click.UsageError if it does not exist.
    """
    first, rest = words[0], tuple(words[1:])
    if first == "-":
        return Program(python, ("-", *rest))
    is_name = not os.path.dirname(first)  # noqa: PTH120 - no Path: a trailing slash matters
    command = _find_command(first, python) if is_name else None
    if os.path.exists(first) and not _is_plain_folder(first):  # noqa: PTH110 - Path.exists raises without permission
        if command is not None and not first.endswith(_PYTHON_SOURCES):
            raise FramedexError(
                f"{make_printable(first)} is both a file in this folder and a command: {make_printable(command)}.",
                f"Choose one: `framedex run {quote_shell_word(f'./{first}')}`,"
                f" or `framedex run {quote_shell_word(command)}`.",
            )
        return _resolve_file(first, rest, python, is_named)
    if command is not None:
        return _resolve_command(command, rest, python, is_named)
    is_command = is_name and not first.endswith(_PYTHON_SOURCES)
    nor = f", and no such command on the PATH or beside {make_printable(python)}" if is_command else ""
    raise click.UsageError(f"There is no script '{make_printable(first)}'{nor}.")


def _find_command(name: str, python: str) -> str | None:
    """The path of a command.

    An interpreter is searched on the PATH, as in a shell. Other commands are first searched in the folder of `python`,
    which has JAX.
    """
    beside = os.path.join(os.path.dirname(python), name)  # noqa: PTH118, PTH120
    is_beside = os.path.isfile(beside) and os.access(beside, os.X_OK)  # noqa: PTH113
    if is_beside and not _INTERPRETER.fullmatch(name):
        return beside
    return find_program(name) or (beside if is_beside else None)


def _is_plain_folder(path: str) -> bool:
    """Whether a path is a folder without __main__.py, such as a checkout of pytest: the command pytest is meant."""
    return os.path.isdir(path) and not os.path.isfile(os.path.join(path, "__main__.py"))  # noqa: PTH112, PTH113, PTH118


def _resolve_file(path: str, rest: tuple[str, ...], python: str, is_named: bool) -> Program:
    """The program that runs a file.

    A Python source is run like `python FILE`; its first line is ignored.
    """
    if os.path.isdir(path) or path.endswith(_PYTHON_SOURCES):  # noqa: PTH112
        return Program(python, (path, *rest))
    is_interpreter = _INTERPRETER.fullmatch(os.path.basename(path)) and os.access(path, os.X_OK)  # noqa: PTH119
    words = _parse_shebang(path)
    if words and words[0] == os.path.basename(words[0]) and _INTERPRETER.fullmatch(words[0]):  # noqa: PTH119
        return Program(python, (*words[1:], path, *rest))  # for `env python`, the interpreter is `python`
    if is_interpreter or words or _read_head_bytes(path).startswith(b"\x7fELF"):
        return _resolve_command(path, rest, python, is_named)
    return Program(python, (path, *rest))


def _resolve_command(path: str, rest: tuple[str, ...], python: str, is_named: bool) -> Program:
    if _INTERPRETER.fullmatch(os.path.basename(path)):  # noqa: PTH119
        if is_named:
            raise FramedexError(
                f"--python names {make_printable(python)}, but the program is another Python: {make_printable(path)}.",
                "Use one of them.",
            )
        return Program(path, rest)
    words = _parse_shebang(path)
    if not words or not _INTERPRETER.fullmatch(os.path.basename(words[0])):  # noqa: PTH119
        raise FramedexError(
            f"{make_printable(path)} is {_describe_file(path, words)}: framedex cannot tell which Python it starts.",
            "Name its program: `framedex run SCRIPT`, `framedex run -m MODULE`, or `framedex run python SCRIPT`.",
        )
    if is_named:
        return Program(python, (path, *rest))
    if not os.path.isabs(words[0]) and os.path.dirname(words[0]):  # noqa: PTH117, PTH120
        raise FramedexError(
            f"The first line of {make_printable(path)} names its Python by a relative path: "
            f"{make_printable(words[0])}.",
            "Name it: `framedex run --python PATH SCRIPT`.",
        )
    interpreter = find_program(words[0])  # like `env`, but not in the working folder
    if interpreter is None:
        raise FramedexError(
            f"The first line of {make_printable(path)} names {make_printable(words[0])}, which is not on the PATH.",
            "Name one: `framedex run --python PATH SCRIPT`.",
        )
    reason = f"The first line of {make_printable(path)} selects {make_printable(interpreter)}."
    return Program(interpreter, (*words[1:], path, *rest), reason)


def _parse_shebang(path: str) -> list[str]:
    """The command in a script's first line, without `env`; empty for other files."""
    match = _SH_WRAPPER.match(_read_head(path))
    try:
        words = shlex.split(match["words"]) if match else _read_first_line(path).removeprefix("#!").split()
    except ValueError:  # unclosed quotes
        return []
    if match is None and not _read_first_line(path).startswith("#!"):
        return []
    if words and os.path.basename(words[0]) == "env":  # noqa: PTH119
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words


def _describe_file(path: str, words: Sequence[str]) -> str:
    if words:
        return f"a script for {make_printable(os.path.basename(words[0]))}"  # noqa: PTH119
    return "not a Python script"


def _read_first_line(path: str) -> str:
    return _read_head(path).split("\n", 1)[0]


def _read_head(path: str) -> str:
    return os.fsdecode(_read_head_bytes(path))


def _read_head_bytes(path: str) -> bytes:
    """The first bytes of a file; empty for an unreadable file, which Python reports itself."""
    try:
        with open_regular(Path(path)) as file:
            return file.read(_START_BYTES)
    except OSError:
        return b""
