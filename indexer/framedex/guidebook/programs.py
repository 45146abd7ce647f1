"""Parse programs with steps: a docstring, and comments `# step: TITLE` at the beginning of each step."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator

from framedex.model.guidebook.programs import Program, ProgramStep
from framedex.sources.python_trees import parse_python

_STEP = re.compile(r"\s*# step: (?P<title>.*\S)\s*")
_COMMENT = re.compile(r"\s*#(?: (?P<text>.*))?")


def read_program(source: str) -> Program | None:
    """Return the steps of a Python program; None if it cannot be parsed or has no steps.

    The docstring's first line, without its full stop, is the title. Comments right below a step comment are its text.
    """
    source = io.StringIO(source, newline=None).getvalue()  # normalizes line endings as Python does
    module = parse_python(source)
    if module is None:
        return None
    try:
        comments = list(_comment_lines(source))
    except (SyntaxError, tokenize.TokenError):
        return None
    lines = source.rstrip("\n").split("\n")  # the tokenizer's line numbers
    starts = [line - 1 for line in comments if _STEP.fullmatch(lines[line - 1])]
    if not starts:
        return None
    title, _, text = (ast.get_docstring(module) or "").partition("\n")
    ends = [*starts[1:], len(lines)]
    steps = tuple(_step(lines[start:end], start + 1) for start, end in zip(starts, ends, strict=True))
    return Program(title.strip().removesuffix("."), text.strip(), steps)


def _comment_lines(source: str) -> Iterator[int]:
    """Yield the lines (1-based) with a comment. The tokenizer excludes `#` inside strings."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0]


def _step(lines: list[str], first: int) -> ProgramStep:
    match = _STEP.fullmatch(lines[0])
    assert match is not None
    text = []
    for line in lines[1:]:
        comment = _COMMENT.fullmatch(line)
        if comment is None:
            break
        text.append(comment["text"] or "")
    code = textwrap.dedent("\n".join(lines[1 + len(text) :])).strip("\n")
    return ProgramStep(match["title"], "\n".join(text), code, first, first + len(lines) - 1)
