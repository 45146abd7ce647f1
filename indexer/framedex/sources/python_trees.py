"""Syntax trees of the user's Python files."""

from __future__ import annotations

import ast
import re
import warnings

from framedex.patterns import compiled_on_use

_MAGIC_LINE = compiled_on_use(
    r"^([ \t]*)(?:[!%][^\n]*|\?{0,2}[\w.*]{1,200}\?{1,2}[ \t]*|\?{1,2}[\w.*]{1,200})$", re.MULTILINE
)
_MAGIC_VALUE = compiled_on_use(r"^([ \t]*[\w., \t\[\]*]{1,200}=[ \t]*)[!%][^\n]*$", re.MULTILINE)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse_python(content: str | bytes) -> ast.Module | None:
    """Parse a Python file or an IPython cell without printing warnings; None for invalid code.

    Magics and shell commands in a cell become `pass`, or None if their value is assigned.
    """
    tree = _parse(content)
    if tree is not None:
        return tree
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    replaced = _MAGIC_VALUE.sub(r"\1None", _MAGIC_LINE.sub(r"\1pass", text))
    return _parse(replaced) if replaced != text else None


def _parse(content: str | bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(node: ast.stmt | ast.expr) -> int:
    """The first line of a statement or expression, including decorators, as in its code object."""
    decorators = node.decorator_list if isinstance(node, Definition) else ()
    return min([node.lineno, *(each.lineno for each in decorators)])
