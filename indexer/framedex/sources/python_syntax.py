"""The syntax tree and the loops of a Python file.

Loops are `for` and `while` statements. Other code evaluates an expression repeatedly.

A loop is a statement of the program. A comprehension, generator expression or `map` also repeats calls, but within one
statement. It is not a loop, and calls within it do not show the iterations of the enclosing loop.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from framedex.base.lazy import compile_on_use

_MAGIC_LINE = compile_on_use(
    r"^([ \t]*)(?:[!%][^\n]*|\?{0,2}[\w.*]{1,200}\?{1,2}[ \t]*|\?{1,2}[\w.*]{1,200})$", re.MULTILINE
)
_MAGIC_VALUE = compile_on_use(r"^([ \t]*[\w., \t\[\]*]{1,200}=[ \t]*)[!%][^\n]*$", re.MULTILINE)

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


_Loop = ast.For | ast.AsyncFor | ast.While
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_REPEATING_FUNCTIONS = frozenset({"map", "filter", "starmap", "reduce", "functools", "itertools"})


@dataclass(frozen=True, slots=True)
class StatementPart:
    """A statement, or the header of a compound one; `last_line` is inclusive.

    `repeats`: it contains a comprehension or `map`. `is_certain`: each run of the block reaches it.
    """

    first_line: int
    last_line: int
    is_loop: bool
    repeats: bool
    is_certain: bool


@dataclass(frozen=True, slots=True)
class StatementBlock:
    """Statements that run one after another, in line order; compound statements are split into parts."""

    parts: tuple[StatementPart, ...]

    def place(self, line: int) -> int:
        """The index of the part that contains a line, plus 1; 0 if none does."""
        found = [place for place, part in enumerate(self.parts, 1) if part.first_line <= line <= part.last_line]
        return found[-1] if found else 0

    def part(self, index: int) -> StatementPart | None:
        """The part at a place; None at place 0."""
        return self.parts[index - 1] if index else None


@dataclass(frozen=True, slots=True)
class SourceLoop:
    """A `for` or `while` statement. In `body`, lines of the header have the place 0."""

    line: int
    last_line: int
    body: StatementBlock
    is_while: bool
    is_in_generator: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The code of one function, class or module: all its statements, and its loops."""

    block: StatementBlock
    loops: tuple[SourceLoop, ...]

    def loops_around(self, line: int) -> list[SourceLoop]:
        """The loops whose header or body contains a line, innermost first."""
        return sorted((loop for loop in self.loops if loop.line <= line <= loop.last_line), key=lambda each: -each.line)


class PythonScopes:
    """The scopes of a Python file; none if the file cannot be parsed."""

    def __init__(self, content: bytes) -> None:
        self._code: dict[tuple[str, int], list[Sequence[ast.stmt] | ast.Lambda]] = {}
        self._scopes: dict[tuple[str, int], Scope | None] = {}
        module = parse_python(content)
        if module is None:
            return
        self._code["<module>", 1] = [module.body]
        for node in ast.walk(module):
            if isinstance(node, Definition):
                self._code.setdefault((node.name, first_line(node)), []).append(node.body)
            elif isinstance(node, ast.Lambda):
                self._code.setdefault(("<lambda>", node.lineno), []).append(node)

    def scope(self, name: str, first_line: int) -> Scope | None:
        """The scope with the name and first line of a code object; None if there is none."""
        key = name, first_line
        if key not in self._scopes:
            self._scopes[key] = _build_scope(self._code[key]) if key in self._code else None
        return self._scopes[key]


def find_repeated_lines(content: bytes) -> frozenset[int]:
    """The lines in the bodies of loops and in comprehensions, without functions defined there; empty for invalid code.

    The header of a loop is not repeated.
    """
    module = parse_python(content)
    found: set[int] = set()
    for node in ast.walk(module) if module is not None else ():
        body = node.body if isinstance(node, _Loop) else [node] if isinstance(node, _COMPREHENSIONS) else []
        for each in _walk_scope(body):
            if isinstance(each, ast.expr) or (isinstance(each, ast.stmt) and not _inner_blocks(each)):
                found.update(range(each.lineno, _find_last_line(each) + 1))
    return frozenset(found)


def _build_scope(code: Iterable[Sequence[ast.stmt] | ast.Lambda]) -> Scope:
    """The scope of all code objects with one name and first line, such as two lambdas."""
    parts: list[StatementPart] = []
    loops: list[SourceLoop] = []
    for each in code:
        if isinstance(each, ast.Lambda):
            parts.append(
                StatementPart(each.lineno, _find_last_line(each), False, _has_repetition([each.body]), is_certain=True)
            )
            continue
        parts += _split_block(each)
        nodes = list(_walk_scope(each))
        is_generator = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
        for node in nodes:
            if isinstance(node, _Loop):
                body = StatementBlock(tuple(_split_block(node.body)))
                last_line = _find_last_line(node.body[-1])
                loops.append(SourceLoop(node.lineno, last_line, body, isinstance(node, ast.While), is_generator))
    return Scope(StatementBlock(tuple(parts)), tuple(loops))


def _walk_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """These nodes and their descendants, without the code of inner functions and classes."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def _split_block(statements: Sequence[ast.stmt]) -> Iterator[StatementPart]:
    """The parts of a block, without recursion: nested `elif`s may exceed Python's recursion limit."""
    pending = [*_with_certainty(statements, is_certain=True)][::-1]
    while pending:
        statement, is_certain = pending.pop()
        last_line = _find_last_line(statement)
        if isinstance(statement, _Loop):
            yield StatementPart(statement.lineno, last_line, is_loop=True, repeats=False, is_certain=is_certain)
            pending += [(each, False) for each in reversed(statement.orelse)]
            continue
        inner = _inner_blocks(statement)
        end = min([last_line, *(block[0].lineno - 1 for block in inner)])
        expressions = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
        yield StatementPart(
            first_line(statement), max(end, statement.lineno), False, _has_repetition(expressions), is_certain
        )
        for block in reversed(inner):
            is_reached = isinstance(statement, ast.With | ast.AsyncWith) or block is getattr(statement, "body", ())
            is_reached = is_reached and not isinstance(statement, ast.If | ast.Match)
            pending += [*_with_certainty(block, is_certain=is_certain and is_reached)][::-1]


def _with_certainty(statements: Sequence[ast.stmt], *, is_certain: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Each statement of a block, and whether each run of the block reaches it: no `continue` is before it."""
    for statement in statements:
        yield statement, is_certain
        is_certain = is_certain and not any(isinstance(each, ast.Continue) for each in _walk_scope([statement]))


def _inner_blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement that run in the scope of the statement, in order of their lines."""
    if isinstance(statement, Definition):
        return []
    blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        blocks.append(part.body)
    return sorted((block for block in blocks if block), key=lambda block: block[0].lineno)


def _has_repetition(nodes: Iterable[ast.AST]) -> bool:
    """Whether expressions contain a comprehension, or a function such as `map` that calls another repeatedly."""
    for node in _walk_scope(node for node in nodes if not isinstance(node, ast.ExceptHandler | ast.match_case)):
        is_named = isinstance(node, ast.Name) and node.id in _REPEATING_FUNCTIONS
        if is_named or isinstance(node, _COMPREHENSIONS):
            return True
    return False


def _find_last_line(node: ast.stmt | ast.expr) -> int:
    return node.end_lineno or node.lineno
