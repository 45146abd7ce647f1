"""What the words behind `framedex run` mean: which interpreter runs, with which arguments.

As without framedex: a script is one of the working folder or at a path; any other name is a command's. A command is an
interpreter, of the PATH's absolute folders, or a Python script, as its first line says, which is looked for beside
framedex's own interpreter (or the one named) and then on the PATH. Nothing else is started: of a shell script or a
binary nobody can say which Python it would lead to, and whether that can be recorded.
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
# What pip and uv write where the interpreter's path is too long or has blanks (distlib's `_build_shebang`): a script
# that sh hands on to Python.
_THROUGH_SH = re.compile(r"#!/bin/sh\n'''exec' (?P<words>.+) \"\$0\" \"\$@\"\n")


@dataclass(frozen=True, slots=True)
class Program:
    """The interpreter that runs, its arguments, and how it came to be chosen where nobody named it: a sentence."""

    python: str
    arguments: tuple[str, ...]
    why: str = ""


def program_of(words: Sequence[str], python: str, *, is_named: bool) -> Program:
    """What these words start; `python` is the interpreter that was named (`is_named`), or framedex's own.

    Raises FramedexError where they name what cannot be recorded, click.UsageError where there is nothing of that name.
    """
    first, rest = words[0], tuple(words[1:])
    if first == "-":
        return Program(python, ("-", *rest))
    is_name = not os.path.dirname(first)  # noqa: PTH120 - no Path: a trailing slash counts
    command = _command(first, python) if is_name else None
    if os.path.exists(first) and not _is_mere_folder(first):  # noqa: PTH110 - Path.exists raises where it may not look
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
    """Where a command is: an interpreter's name means what it does in a shell, others have JAX beside them."""
    beside = os.path.join(os.path.dirname(python), name)  # noqa: PTH118, PTH120
    is_beside = os.path.isfile(beside) and os.access(beside, os.X_OK)  # noqa: PTH113
    if is_beside and not _INTERPRETER.fullmatch(name):
        return beside
    return program_on_path(name) or (beside if is_beside else None)


def _is_mere_folder(path: str) -> bool:
    """Whether it is a folder that Python cannot run: a checkout of pytest is none, where its command is meant."""
    return os.path.isdir(path) and not os.path.isfile(os.path.join(path, "__main__.py"))  # noqa: PTH112, PTH113, PTH118


def _of_file(path: str, rest: tuple[str, ...], python: str, is_named: bool) -> Program:
    """A file at a path. Python sources are run as `python FILE` does, whatever their first line says."""
    if os.path.isdir(path) or path.endswith(_PYTHON_SOURCES):  # noqa: PTH112
        return Program(python, (path, *rest))
    is_interpreter = _INTERPRETER.fullmatch(os.path.basename(path)) and os.access(path, os.X_OK)  # noqa: PTH119
    words = _interpreter_words(path)
    if words and words[0] == os.path.basename(words[0]) and _INTERPRETER.fullmatch(words[0]):  # noqa: PTH119
        return Program(python, (*words[1:], path, *rest))  # `env` takes the one that is usual here: ours
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
    interpreter = program_on_path(words[0])  # as `env` looks for it, but not in the working folder
    if interpreter is None:
        raise FramedexError(
            f"{printable(path)} names {printable(words[0])} as its Python, which is not on the PATH.",
            "Name one: `framedex run --python PATH SCRIPT`.",
        )
    why = f"{printable(path)} is run by {printable(interpreter)}, says its first line."
    return Program(interpreter, (*words[1:], path, *rest), why)


def _interpreter_words(path: str) -> list[str]:
    """The words that the first line of a script starts it by, `env` left out; none of what is no script."""
    match = _THROUGH_SH.match(_text(path))
    try:
        words = shlex.split(match["words"]) if match else _first_line(path).removeprefix("#!").split()
    except ValueError:  # quotes that nobody closed
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
    """The beginning of a file; nothing of one that cannot be read, of which Python will say so."""
    try:
        with open_regular(Path(path)) as file:
            return file.read(_LONGEST_START)
    except OSError:
        return b""
