"""Proposed commands, in the form in which the user can type them.

Messages, remedies and results name a command in backquotes: `framedex index caps`. All output passes through this
module, which inserts the words that started this process (`.venv/bin/framedex`, `python -m framedex`) and the value of
--index. The user fills in words in capitals, as in `framedex run SCRIPT`. A test finds every proposal in the sources,
and checks it against the verbs and their options.
"""

from __future__ import annotations

import os
import re
import shlex
import sys

import click

from framedex.commands.output.terminal import Line, Span
from framedex.onpath import program_on_path
from framedex.plaintext import printable, shell_word, visible

_NAME = "framedex"
PROPOSAL = re.compile(rf"`{_NAME} (?P<words>[^`]+)`")
"""A proposed command within a text."""

_IS_NAMED = "framedex.commands.output.proposals"
_WITHOUT_INDEX = frozenset({"run", "--index"})


def called_as() -> str:
    """The words that started this process, quoted for a shell in the same folder."""
    script = sys.argv[0]
    if os.path.basename(script) == "__main__.py" and "-m" in sys.orig_argv:  # noqa: PTH119 - a text from the shell
        words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
        return shlex.join([_typed_interpreter(words[0]), *words[1:]])
    if os.path.basename(script) != _NAME or _is_on_path(_NAME, script):  # noqa: PTH119
        return _NAME
    return shell_word(script)


def called_from_anywhere() -> str:
    """The words that started this process, quoted for a shell in any folder."""
    first, *more = shlex.split(_called())
    return shlex.join([os.path.abspath(first) if os.sep in first else first, *more])  # noqa: PTH100


def command(*words: str) -> str:
    """A framedex command with these words, for output without backquotes."""
    return _as_called(" ".join(map(shell_word, words)))


def trace_command(call: int) -> str:
    """The `framedex trace` command of a call, in short form for rows of a table.

    If the user has to type other words for `framedex`, stderr names them once, below the output.
    """
    context = click.get_current_context(silent=True)
    typed = _typed_name("trace")
    if context is not None and typed != _NAME and _IS_NAMED not in context.meta:
        context.meta[_IS_NAMED] = True
        context.find_root().call_on_close(lambda: click.echo(f"Type `{typed}` for `{_NAME}` in these rows.", err=True))
    return f"{_NAME} trace {call}"


def as_typed(text: str) -> str:
    """The text with its proposals in the form that the user types."""
    return PROPOSAL.sub(lambda match: f"`{_as_called(match['words'])}`", text)


def proposing(text: str, style: str = "") -> Line:
    """A line of text whose proposals are never broken; texts from captures become printable."""
    return _spans(printable(as_typed(text)), style)


def noting(text: str) -> Line:
    """A line of text for people only, which escapes less than `proposing`."""
    return _spans(visible(as_typed(text)), "")


def _spans(text: str, style: str) -> Line:
    return tuple(Span(part, style, whole=part.startswith("`")) for part in re.split(r"(`[^`]+`[.,;:)]*)", text) if part)


def _as_called(words: str) -> str:
    return f"{_typed_name(words.split(maxsplit=1)[0])} {words}"


def _typed_name(first: str) -> str:
    """The words for `framedex` before a verb or an option: the command that was used, and --index if it was given."""
    root = _root()
    index = f" --index {shell_word(os.fspath(root.obj))}" if root is not None and root.obj else ""
    return _called() + (index if first not in _WITHOUT_INDEX else "")


def _called() -> str:
    root = _root()
    return (root.info_name if root is not None else None) or _NAME


def _root() -> click.Context | None:
    context = click.get_current_context(silent=True)
    return context.find_root() if context is not None else None


def _typed_interpreter(word: str) -> str:
    """The interpreter as the user typed it if that leads to it, otherwise its path."""
    named = program_on_path(word)
    return word if named is not None and _is_same(named, sys.executable) else sys.executable  # noqa: TID251


def _is_on_path(name: str, script: str) -> bool:
    found = program_on_path(name)
    return found is not None and _is_same(found, script)


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False
