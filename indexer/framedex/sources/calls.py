"""The calls in a C++ source: what is called by which name, on which line, in which function or lambda."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Query

from framedex.model import CallSite
from framedex.sources.macro_made import expanded
from framedex.sources.macros import scrub
from framedex.sources.syntax import Grammar

_QUERY = """
(call_expression) @call
(new_expression) @new
(compound_literal_expression) @braces
(declaration) @variable
(field_initializer) @initializer
(binary_expression) @operator
(unary_expression) @operator
(assignment_expression) @operator
(update_expression) @operator
(pointer_expression) @operator
(subscript_expression) @subscript
(function_definition) @scope
(lambda_expression) @scope
"""

Span = tuple[int, int]
"""The first and the last line of a function or lambda, as its `Definition` has them."""

_NAME = re.compile(rb"(~?\w+)\s*$")
_SHOUTED = re.compile(r"[A-Z][A-Z0-9_]+")
_WRAPPERS = frozenset(("parenthesized_expression", "dependent_name", "dependent_type"))


def call_sites(source: bytes) -> dict[Span, list[CallSite]]:
    """The calls of a C or C++ source by the innermost function or lambda around them.

    Those of one are in the order in which they are evaluated where nothing jumps. Calls in the arguments of a macro are
    on the line of the macro, as in debug information.

    Raises: ValueError when the source is hopeless as such.
    """
    text, _ = expanded(source)
    open_scopes: list[tuple[int, Span]] = []
    open_macros: list[tuple[int, int]] = []
    found: dict[Span, list[tuple[int, CallSite]]] = {}
    for start, end, kind, node in _grammar().capture(scrub(text)):
        while open_scopes and open_scopes[-1][0] <= start:
            open_scopes.pop()
        while open_macros and open_macros[-1][0] <= start:
            open_macros.pop()
        if kind == "scope":
            open_scopes.append((end, (node.start_point.row + 1, node.end_point.row + 1)))
        elif open_scopes and (site := _site(kind, node)):
            if open_macros:
                site = replace(site, line=open_macros[0][1])
            elif kind == "call" and _SHOUTED.fullmatch(site.callee):
                open_macros.append((end, site.line))
            found.setdefault(open_scopes[-1][1], []).append((end, site))
    return {span: [site for _, site in sorted(sites, key=lambda entry: entry[0])] for span, sites in found.items()}


def _site(kind: str, node: Node) -> CallSite | None:
    if kind == "operator":
        sign = node.child_by_field_name("operator")
        return _at(sign, kind, "operator" + (sign.text or b"").decode(), 1) if sign else None
    if kind == "subscript":
        return _at(node, "operator", "operator[]", 1)
    if kind == "variable" and not _constructs(node):
        return None
    called = node.child_by_field_name(_CALLED[kind]) if kind in _CALLED else node.named_child(0)
    named = _last_name(called)
    match = _NAME.search(named.text or b"") if named else None
    if called is None or named is None or match is None:
        return None
    # A debugger has a method's name, but the beginning of a function's, which may be qualified.
    place = named if called.type == "field_expression" else called
    return _at(place, kind, match[1].decode("utf-8", "replace"), _arguments(node, kind))


def _at(place: Node, kind: str, callee: str, arguments: int) -> CallSite:
    return CallSite(place.start_point.row + 1, place.start_point.column + 1, kind, callee, arguments)


_CALLED = {"call": "function", "new": "type", "braces": "type", "variable": "type"}


def _last_name(node: Node | None) -> Node | None:
    """The identifier that is called: `b` of `x->a::b<T>`."""
    while node is not None:
        kind = node.type
        if kind in ("qualified_identifier", "template_function", "template_type", "template_method"):
            node = node.child_by_field_name("name")
        elif kind == "field_expression":
            node = node.child_by_field_name("field")
        elif kind in _WRAPPERS:
            node = node.named_child(0)
        else:
            return node
    return None


def _arguments(node: Node, kind: str) -> int:
    holder = node.child_by_field_name("arguments")
    if holder is None and kind == "variable":
        declarator = node.child_by_field_name("declarator")
        holder = declarator.child_by_field_name("value") if declarator else None
    elif holder is None and kind == "initializer":
        holder = node.named_children[-1] if node.named_child_count > 1 else None
    elif holder is None and kind == "braces":
        holder = node.child_by_field_name("value")
    if holder is None:
        return 0
    if holder.type not in ("argument_list", "initializer_list"):
        return 1
    return sum(child.type != "comment" for child in holder.named_children)


def _constructs(node: Node) -> bool:
    """Whether a declaration can call a constructor: of a class type, and no pointer or reference."""
    kind = node.child_by_field_name("type")
    if kind is None or kind.type in ("primitive_type", "sized_type_specifier", "placeholder_type_specifier"):
        return False
    declarator = node.child_by_field_name("declarator")
    if declarator is not None and declarator.type == "init_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator is not None and declarator.type not in (
        "pointer_declarator",
        "reference_declarator",
        "function_declarator",
    )


@cache
def _grammar() -> Grammar:
    language = Language(tree_sitter_cpp.language())
    return Grammar(language, Query(language, _QUERY))
