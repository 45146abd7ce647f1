"""Definitions of a C or C++ file, with tree-sitter-cpp.

One compiled query finds the nodes that open a scope or are a definition; walking every node from Python would take ten
times as long. Their names are put together from the scopes that enclose them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Query

from framedex.binaries.names import ANONYMOUS, LAMBDA, parse_name
from framedex.model import Definition
from framedex.sources.ffi_macros import handler_definitions
from framedex.sources.macros import scrub
from framedex.sources.syntax import Grammar

_QUERY = """
(namespace_definition) @namespace
(linkage_specification) @linkage
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @class
(union_specifier body: (_)) @class
(function_definition) @function
(lambda_expression) @lambda
(ERROR) @error
"""

_PLAIN = re.compile(r"[\w~]+(?:::[\w~]+)*")
_SCOPE = re.compile(r"\s*::\s*")
_KEYWORDS = frozenset(("if", "for", "while", "switch", "catch", "return", "else", "do", "sizeof", "defined"))
_SHOUTED = re.compile(r"[A-Z][A-Z0-9_]*")
_TEST = re.compile(r"[A-Z0-9_]*TEST(?:_[A-Z]+)*")
_ARGUMENT = re.compile(r"\w+")
# The functions that module macros define, by the macro's first argument (nanobind/nb_defs.h, pybind11/detail/common.h).
_MODULES = {"NB_MODULE": "nanobind_{}_exec_impl", "PYBIND11_MODULE": "pybind11_init_{}"}


@dataclass(frozen=True, slots=True)
class _Scope:
    """A node that names are inside of: where it ends, the path to it, and whether its functions are methods."""

    end: int
    path: tuple[str, ...]
    is_class: bool = False


def definitions(source: bytes) -> tuple[Definition, ...]:
    """The functions, methods, lambdas and classes of a C++ source, in the order in which they begin.

    Raises: ValueError when it is hopeless as such.
    """
    captured = _grammar().capture(scrub(source))
    broken = [scope for *_, kind, node in captured if kind == "error" for scope in _broken_scopes(node)]
    entries: list[tuple[int, int, str, Node | None]] = [entry for entry in captured if entry[2] != "error"]
    entries += [(start, end, name, None) for start, end, name in broken]
    extraction = _Extraction(source)
    for start, end, kind, node in sorted(entries, key=lambda entry: (entry[0], -entry[1])):
        extraction.add(start, end, kind, node)
    handlers = handler_definitions(source)
    return tuple(sorted((*extraction.found, *handlers), key=lambda d: d.line) if handlers else extraction.found)


class _Extraction:
    """The definitions found so far and the scopes open at the current place."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[Definition] = []
        self._scopes = [_Scope(len(source) + 1, ())]

    def add(self, start: int, end: int, kind: str, node: Node | None) -> None:
        """Add the node of a capture; without a node, `kind` is the name of a scope that lost its own."""
        while self._scopes[-1].end <= start:
            self._scopes.pop()
        outer = self._scopes[-1]
        scope = _ADD[kind](self, node, outer) if node else _Scope(end, (*outer.path, *_path(kind)))
        if scope:
            self._scopes.append(scope)

    def _namespace(self, node: Node, outer: _Scope) -> _Scope | None:
        name = node.child_by_field_name("name")
        if name is None:
            return _Scope(node.end_byte, (*outer.path, ANONYMOUS))
        if node.children[0].type == "inline":  # never written in a name
            return None
        path = [part.strip() for part in self._text(name).split("::")]
        return _Scope(node.end_byte, (*outer.path, *(part for part in path if not part.startswith("inline "))))

    def _linkage(self, node: Node, outer: _Scope) -> _Scope | None:
        """`extern "C"` functions have bare symbols, whatever namespace they are written in."""
        return _Scope(node.end_byte, ())

    def _class(self, node: Node, outer: _Scope) -> _Scope | None:
        name = node.child_by_field_name("name")
        if name is None:
            return _Scope(node.end_byte, outer.path, is_class=True)
        path = (*outer.path, *_path(self._text(name)))
        self._found(path, "class", None, node)
        return _Scope(node.end_byte, path, is_class=True)

    def _lambda(self, node: Node, outer: _Scope) -> _Scope | None:
        path = (*outer.path, LAMBDA)
        declarator = node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator else None
        is_mutable = declarator is not None and b"mutable" in (declarator.text or b"").rpartition(b")")[2]
        self._found(path, "lambda", parameters, node, is_const=not is_mutable)
        return _Scope(node.end_byte, path)

    def _function(self, node: Node, outer: _Scope) -> _Scope | None:
        declared = _declared(node)
        if declared is None or any(child.type == "delete_method_clause" for child in node.children):
            return None
        name, parameters, function = declared
        written = self._text(name)
        path = _path(written)
        if not path or path[-1] in _KEYWORDS:
            return None
        if len(path) == 1 and _is_macro(node, path[0]) and not outer.is_class:
            path = self._macro_path(path[-1], parameters)
            if not path:
                return _Scope(node.end_byte, outer.path)
        if node.parent and node.parent.type == "friend_declaration":  # a function of the namespace around the class
            outer = next(scope for scope in reversed(self._scopes) if not scope.is_class)
        is_method = outer.is_class or len(path) > 1
        path = path if written.startswith("::") else (*outer.path, *path)
        self._found(path, "method" if is_method else "function", parameters, node, is_const=_is_const(function))
        return _Scope(node.end_byte, path)

    def _macro_path(self, macro: str, parameters: Node | None) -> tuple[str, ...]:
        """The function that `TEST(Suite, Name) {` or `NB_MODULE(name, m) {` defines, () for other macros."""
        arguments = _ARGUMENT.findall(self._text(parameters)) if parameters else []
        if _TEST.fullmatch(macro) and len(arguments) >= 2:
            return (f"{arguments[0]}_{arguments[1]}_Test", "TestBody")
        if macro in _MODULES and arguments:
            return (_MODULES[macro].format(arguments[0]),)
        return ()

    def _found(
        self, path: tuple[str, ...], kind: str, parameters: Node | None, node: Node, is_const: bool = False
    ) -> None:
        self.found.append(
            Definition(
                name="::".join(path),
                kind=kind,
                parameters=self._text(parameters).replace("( ", "(", 1) if parameters else None,
                line=node.start_point.row + 1,
                end_line=node.end_point.row + 1,
                is_const=is_const,
            )
        )

    def _text(self, node: Node) -> str:
        """A node's text as written, before macros were blanked, on one line."""
        return " ".join(self.source[node.start_byte : node.end_byte].decode("utf-8", "replace").split())


_ADD = {
    "namespace": _Extraction._namespace,
    "linkage": _Extraction._linkage,
    "class": _Extraction._class,
    "lambda": _Extraction._lambda,
    "function": _Extraction._function,
}


def _broken_scopes(error: Node) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of the namespaces and classes whose own node was lost to a syntax error inside them.

    Their tokens are then among the children of the error: `namespace`, a name, `{`, and perhaps a `}` much later.
    """
    opened: list[tuple[int, str | None]] = []
    keyword, name = "", ""
    for child in error.children:
        if child.type in ("namespace", "class", "struct"):
            keyword, name = child.type, ANONYMOUS if child.type == "namespace" else ""
        elif child.type.endswith("identifier") or child.type in ("nested_namespace_specifier", "template_type"):
            if keyword and name in ("", ANONYMOUS):
                name = (child.text or b"").decode("utf-8", "replace")
        elif child.type == "{":
            opened.append((child.start_byte, name if keyword and name else None))
            keyword = ""
        elif child.type == "}" and opened:
            start, closed = opened.pop()
            if closed:
                yield start, child.end_byte, closed
        elif child.type != "base_class_clause":
            keyword = ""
    yield from ((start, error.end_byte, name) for start, name in opened if name)


def _declared(node: Node) -> tuple[Node, Node | None, Node] | None:
    """The name, the parameter list and the function declarator of a function definition."""
    function: Node | None = None
    current = node.child_by_field_name("declarator")
    while current is not None:
        if current.type == "function_declarator":
            function = current
        elif current.type == "operator_cast":
            break
        elif current.type == "qualified_identifier":
            cast = current.child_by_field_name("name")
            while cast is not None and cast.type == "qualified_identifier":
                cast = cast.child_by_field_name("name")
            if cast is not None and cast.type == "operator_cast":
                return current, *_cast_parameters(cast)
            break
        elif not current.type.endswith("_declarator"):
            break
        current = current.child_by_field_name("declarator") or next(iter(current.named_children[-1:]), None)
    if current is None:
        return None
    if current.type == "operator_cast":
        return current, *_cast_parameters(current)
    return (current, function.child_by_field_name("parameters"), function) if function else None


def _is_macro(node: Node, name: str) -> bool:
    """Whether a definition is a macro's call before a body: in capitals, and with no type in front."""
    return node.child_by_field_name("type") is None and _SHOUTED.fullmatch(name) is not None


def _cast_parameters(cast: Node) -> tuple[Node | None, Node]:
    function = cast.child_by_field_name("declarator") or cast
    while function.type.startswith("abstract_") and function.type != "abstract_function_declarator":
        inner = function.child_by_field_name("declarator")
        if inner is None:
            break
        function = inner
    return function.child_by_field_name("parameters"), function


def _is_const(function: Node) -> bool:
    return any(child.type == "type_qualifier" and child.text == b"const" for child in function.children)


def _path(text: str) -> tuple[str, ...]:
    """The parts of a declared name, template arguments left out."""
    if _PLAIN.fullmatch(text) and "operator" not in text:
        return tuple(text.split("::"))
    return parse_name(_SCOPE.sub("::", text)).key


@cache
def _grammar() -> Grammar:
    language = Language(tree_sitter_cpp.language())
    return Grammar(language, Query(language, _QUERY))
