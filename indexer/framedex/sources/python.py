"""Definitions of a Python file, with tree-sitter-python; names as `__qualname__` gives them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Query

from framedex.model import Definition
from framedex.sources.syntax import Grammar

_QUERY = """
(function_definition) @function
(class_definition) @class
(lambda) @lambda
"""


@dataclass(frozen=True, slots=True)
class _Scope:
    """A definition that names are inside of: where it ends, and what it puts before them."""

    end: int
    prefix: str
    is_class: bool = False


def definitions(source: bytes) -> tuple[Definition, ...]:
    """The functions, methods, lambdas and classes of a Python source, in the order in which they begin.

    `line` is that of `def` or `class`, after any decorators.

    Raises: ValueError when it is hopeless as such.
    """
    scopes = [_Scope(len(source) + 1, "")]
    found = []
    for start, _, kind, node in _grammar().capture(source):
        while scopes[-1].end <= start:
            scopes.pop()
        definition = _definition(kind, node, scopes[-1])
        found.append(definition)
        suffix = "." if kind == "class" else ".<locals>."
        scopes.append(_Scope(node.end_byte, definition.name + suffix, is_class=kind == "class"))
    return tuple(found)


def _definition(kind: str, node: Node, outer: _Scope) -> Definition:
    name = node.child_by_field_name("name")
    parameters = node.child_by_field_name("parameters")
    return Definition(
        name=outer.prefix + (_text(name) if name else "<lambda>"),
        kind="method" if kind == "function" and outer.is_class else kind,
        parameters=_text(parameters) if parameters and kind != "class" else None,
        line=node.start_point.row + 1,
        end_line=node.end_point.row + 1,
    )


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode("utf-8", "replace").split())


@cache
def _grammar() -> Grammar:
    language = Language(tree_sitter_python.language())
    return Grammar(language, Query(language, _QUERY))
