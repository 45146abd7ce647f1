"""Syntax trees of Python files of the user."""

from __future__ import annotations

import ast
import warnings

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse_python(content: str | bytes) -> ast.Module | None:
    """The syntax tree of a Python file; None for invalid code. It prints no warnings about the code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(node: ast.stmt | ast.expr) -> int:
    """The first line of a statement or expression with its decorators, as code objects count it."""
    decorators = node.decorator_list if isinstance(node, Definition) else ()
    return min([node.lineno, *(each.lineno for each in decorators)])
