"""Proposed commands, in the form in which the user can type them.

Messages, remedies and results propose a command in backquotes: `framedex index caps`. All output passes through this
module. It replaces `framedex` by the words that started this process (`.venv/bin/framedex`, `python -m framedex`) and
adds the value of --index. The user fills in words in capitals, as in `framedex run SCRIPT`. A test finds every
proposal in the sources, and checks it against the verbs and their options.
"""

from __future__ import annotations

import os
import re
import shlex
import sys

import click

from framedex.base.folders import find_program
from framedex.base.plaintext import make_printable, make_visible, quote_shell_word
from framedex.commands.output.terminal import Line, Span

_NAME = "framedex"
PROPOSAL = re.compile(rf"`{_NAME} (?P<words>[^`]+)`")
"""A proposed command within a text."""

_IS_PREFIX_SHOWN = "framedex.commands.output.proposals"
_WITHOUT_INDEX = frozenset({"run", "--index"})


def read_typed_command() -> str:
    """The words that started this process, quoted for a shell in the same folder."""
    script = sys.argv[0]
    if os.path.basename(script) == "__main__.py" and "-m" in sys.orig_argv:  # noqa: PTH119 - a text from the shell
        words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
        return shlex.join([_typed_interpreter(words[0]), *words[1:]])
    if os.path.basename(script) != _NAME or _is_on_path(_NAME, script):  # noqa: PTH119
        return _NAME
    return quote_shell_word(script)


def absolute_typed_command() -> str:
    """The words that started this process, quoted for a shell in any folder."""
    first, *more = shlex.split(_invoked_name())
    return shlex.join([os.path.abspath(first) if os.sep in first else first, *more])  # noqa: PTH100


def format_command(*words: str) -> str:
    """Format a framedex command with these words, for output without backquotes."""
    return _prefix_command(" ".join(map(quote_shell_word, words)))


def build_trace_command(call: int) -> str:
    """The `framedex trace` command of a call, in short form for rows of a table.

    If the user must type something other than `framedex`, stderr shows it once, below the output.
    """
    context = click.get_current_context(silent=True)
    typed = _typed_name("trace")
    if context is not None and typed != _NAME and _IS_PREFIX_SHOWN not in context.meta:
        context.meta[_IS_PREFIX_SHOWN] = True
        context.find_root().call_on_close(lambda: click.echo(f"Type `{typed}` for `{_NAME}` in these rows.", err=True))
    return f"{_NAME} trace {call}"


def rewrite_proposals(text: str) -> str:
    """Rewrite the proposals in a text to the commands that the user has to type."""
    return PROPOSAL.sub(lambda match: f"`{_prefix_command(match['words'])}`", text)


def render_proposal_line(text: str, style: str = "") -> Line:
    """A line of text with its proposals rewritten and never broken; texts from captures become printable."""
    return _split_proposals(make_printable(rewrite_proposals(text)), style)


def note_line(text: str) -> Line:
    """A line like `render_proposal_line`, but for people only: it escapes fewer characters."""
    return _split_proposals(make_visible(rewrite_proposals(text)), "")


def _split_proposals(text: str, style: str) -> Line:
    return tuple(
        Span(part, style, is_unbreakable=part.startswith("`")) for part in re.split(r"(`[^`]+`[.,;:)]*)", text) if part
    )


def _prefix_command(words: str) -> str:
    return f"{_typed_name(words.split(maxsplit=1)[0])} {words}"


def _typed_name(first: str) -> str:
    """The words before a verb or an option: the command that the user typed, and --index if it was given."""
    root = _root_context()
    index = f" --index {quote_shell_word(os.fspath(root.obj))}" if root is not None and root.obj else ""
    return _invoked_name() + (index if first not in _WITHOUT_INDEX else "")


def _invoked_name() -> str:
    root = _root_context()
    return (root.info_name if root is not None else None) or _NAME


def _root_context() -> click.Context | None:
    context = click.get_current_context(silent=True)
    return context.find_root() if context is not None else None


def _typed_interpreter(word: str) -> str:
    """The interpreter as the user typed it if the PATH finds it, otherwise its path."""
    found = find_program(word)
    return word if found is not None and _is_same_file(found, sys.executable) else sys.executable  # noqa: TID251


def _is_on_path(name: str, script: str) -> bool:
    found = find_program(name)
    return found is not None and _is_same_file(found, script)


def _is_same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except OSError:
        return False
