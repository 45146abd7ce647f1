"""Parse the words after `framedex run` into an interpreter and its arguments.

The meaning is the same as without framedex. A script is a file of the working folder or a path; any other name is a
command. A command is an interpreter in an absolute folder of the PATH, or a Python script according to its first line.
Scripts are searched beside framedex's own interpreter (or the named one), then on the PATH. Other programs are
rejected: the Python behind a shell script or binary is unknown, and so is whether it can be recorded.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from framedex.errors import FramedexError
from framedex.onpath import program_on_path
from framedex.plaintext import printable, shell_word
from framedex.regularfile import open_regular

_INTERPRETER = re.compile(r"(?:python|pypy)\d*(?:\.\d+)*t?(?:\.exe)?")
_PYTHON_SOURCES = (".py", ".pyw", ".pyz", ".pyc")
_LONGEST_START = 4096
# The first lines that pip and uv write if the interpreter's path is too long or has blanks (distlib's
# `_build_shebang`): a script that sh passes to Python.
_THROUGH_SH = re.compile(r"#!/bin/sh\n'''exec' (?P<words>.+) \"\$0\" \"\$@\"\n")


@dataclass(frozen=True, slots=True)
class Program:
    """An interpreter, its arguments, and a sentence about its choice, empty if the user named it."""

    python: str
    arguments: tuple[str, ...]
    why: str = ""


def program_of(words: Sequence[str], python: str, *, is_named: bool) -> Program:
    """The program that these words start; `python` is the named interpreter (`is_named`) or framedex's own.

    Raises FramedexError if the program cannot be recorded, and click.UsageError if it does not exist.
    """
    first, rest = words[0], tuple(words[1:])
    if first == "-":
        return Program(python, ("-", *rest))
    is_name = not os.path.dirname(first)  # noqa: PTH120 - no Path: a trailing slash matters
    command = _command(first, python) if is_name else None
    if os.path.exists(first) and not _is_mere_folder(first):  # noqa: PTH110 - Path.exists raises without permission
        if command is not None and not first.endswith(_PYTHON_SOURCES):
            raise FramedexError(
                f"{printable(first)} is a file of this folder, and a command: {printable(command)}.",
                f"Choose one: `framedex run {shell_word(f'./{first}')}`, or `framedex run {shell_word(command)}`.",
            )
        return _of_file(first, rest, python, is_named)
    if command is not None:
        return _of_command(command, rest, python, is_named)
    is_command = is_name and not first.endswith(_PYTHON_SOURCES)
    nor = f", and no such command on the PATH or beside {printable(python)}" if is_command else ""
    raise click.UsageError(f"There is no script '{printable(first)}'{nor}.")


def _command(name: str, python: str) -> str | None:
    """The path of a command.

    An interpreter is found on the PATH, as in a shell. Other commands are first searched beside `python`, which has
    JAX.
    """
    beside = os.path.join(os.path.dirname(python), name)  # noqa: PTH118, PTH120
    is_beside = os.path.isfile(beside) and os.access(beside, os.X_OK)  # noqa: PTH113
    if is_beside and not _INTERPRETER.fullmatch(name):
        return beside
    return program_on_path(name) or (beside if is_beside else None)


def _is_mere_folder(path: str) -> bool:
    """Whether a path is a folder that Python cannot run, such as a checkout of pytest beside the command pytest."""
    return os.path.isdir(path) and not os.path.isfile(os.path.join(path, "__main__.py"))  # noqa: PTH112, PTH113, PTH118


def _of_file(path: str, rest: tuple[str, ...], python: str, is_named: bool) -> Program:
    """The program for a file at a path.

    Python sources are run as `python FILE` runs them, whatever their first line says.
    """
    if os.path.isdir(path) or path.endswith(_PYTHON_SOURCES):  # noqa: PTH112
        return Program(python, (path, *rest))
    is_interpreter = _INTERPRETER.fullmatch(os.path.basename(path)) and os.access(path, os.X_OK)  # noqa: PTH119
    words = _interpreter_words(path)
    if words and words[0] == os.path.basename(words[0]) and _INTERPRETER.fullmatch(words[0]):  # noqa: PTH119
        return Program(python, (*words[1:], path, *rest))  # `env` takes the usual interpreter, which is ours here
    if is_interpreter or words or _start(path).startswith(b"\x7fELF"):
        return _of_command(path, rest, python, is_named)
    return Program(python, (path, *rest))


def _of_command(path: str, rest: tuple[str, ...], python: str, is_named: bool) -> Program:
    if _INTERPRETER.fullmatch(os.path.basename(path)):  # noqa: PTH119
        if is_named:
            raise FramedexError(
                f"--python names {printable(python)}, and the program another Python: {printable(path)}.",
                "Use one of them.",
            )
        return Program(path, rest)
    words = _interpreter_words(path)
    if not words or not _INTERPRETER.fullmatch(os.path.basename(words[0])):  # noqa: PTH119
        raise FramedexError(
            f"{printable(path)} is {_kind(path, words)}: framedex cannot tell which Python it starts.",
            "Name its program: `framedex run SCRIPT`, `framedex run -m MODULE`, or `framedex run python SCRIPT`.",
        )
    if is_named:
        return Program(python, (path, *rest))
    if not os.path.isabs(words[0]) and os.path.dirname(words[0]):  # noqa: PTH117, PTH120
        raise FramedexError(
            f"{printable(path)} names its Python by a relative path: {printable(words[0])}.",
            "Name it: `framedex run --python PATH SCRIPT`.",
        )
    interpreter = program_on_path(words[0])  # like `env`, but not in the working folder
    if interpreter is None:
        raise FramedexError(
            f"{printable(path)} names {printable(words[0])} as its Python, which is not on the PATH.",
            "Name one: `framedex run --python PATH SCRIPT`.",
        )
    why = f"{printable(path)} is run by {printable(interpreter)}, says its first line."
    return Program(interpreter, (*words[1:], path, *rest), why)


def _interpreter_words(path: str) -> list[str]:
    """The words of a script's first line that start it, without `env`; empty for other files."""
    match = _THROUGH_SH.match(_text(path))
    try:
        words = shlex.split(match["words"]) if match else _first_line(path).removeprefix("#!").split()
    except ValueError:  # unclosed quotes
        return []
    if match is None and not _first_line(path).startswith("#!"):
        return []
    if words and os.path.basename(words[0]) == "env":  # noqa: PTH119
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words


def _kind(path: str, words: Sequence[str]) -> str:
    if words:
        return f"a script for {printable(os.path.basename(words[0]))}"  # noqa: PTH119
    return "a program of its own, no script of Python"


def _first_line(path: str) -> str:
    return _text(path).split("\n", 1)[0]


def _text(path: str) -> str:
    return os.fsdecode(_start(path))


def _start(path: str) -> bytes:
    """The start of a file; empty for an unreadable file, which Python reports itself."""
    try:
        with open_regular(Path(path)) as file:
            return file.read(_LONGEST_START)
    except OSError:
        return b""
