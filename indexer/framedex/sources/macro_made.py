"""Functions that a file's own macros define: `CALL(Compile)` where `#define CALL(m) Future<m##Response> Helper::m() {`.

A parser without a preprocessor sees a macro call and no function. Such macros are written and called in one file, so
each call is replaced here by what its macro says, on one line: lines stay true, columns on that line do not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from framedex.model import Definition

_LONGEST = 1 << 16  # of one expansion
_DEEPEST = 4  # macros that call macros
_MOST_CALLS = 2_000  # calls with names in one file; more are data

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w \t,.]*)\)((?:[^\n]*\\\r?\n)+[^\n]*)",
    re.M,
)
_CONTINUED = re.compile(rb"\\\r?\n")
_DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*(?:\\\r?\n[^\n]*)*", re.M)
_DEFINES = rb"(?:\b(?:struct|class)\s+(?:\w+\s*##\s*)?%(p)s\b|(?:##\s*)?\b%(p)s\b(?:\s*##\s*\w+)?\s*\()"

Macro = tuple[tuple[bytes, ...], bytes]
"""The names of its parameters, and its body on one line."""


def expanded(source: bytes) -> tuple[bytes, frozenset[int]]:
    """The source with such macro calls replaced, and the numbers of the lines where that was done."""
    macros = _macros(source)
    if not any(_makes_functions(*macro) for variants in macros.values() for macro in variants):
        return source, frozenset()
    names = b"|".join(
        re.escape(name) for name, variants in macros.items() if any(_makes_functions(*m) for m in variants)
    )
    call = re.compile(rb"^[ \t]*(%s)\(([^()\n;{}]*)\)[ \t]*;?[ \t]*$" % names, re.M)
    skipped = [match.span() for match in _DIRECTIVE.finditer(source)]
    pieces: list[bytes] = []
    lines: set[int] = set()
    done = at_line = 0
    line = 1
    for match in list(call.finditer(source))[:_MOST_CALLS]:
        if any(start <= match.start() < end for start, end in skipped):
            continue
        line += source.count(b"\n", at_line, match.start())
        at_line = match.start()
        lines.add(line)
        pieces += [source[done : match.start()], _expansion(match[1], match[2], macros, _DEEPEST)]
        done = match.end()
    return b"".join([*pieces, source[done:]]), frozenset(lines)


def macro_definitions(source: bytes) -> tuple[Definition, ...]:
    """The macros that look like functions and call something: a call of one is a call of what it calls."""
    found = []
    for match in _CALLING.finditer(source):
        line = source.count(b"\n", 0, match.start()) + 1
        end_line = line + match[0].count(b"\n")
        found.append(Definition(match[1].decode(), "macro", None, line, end_line))
    return tuple(found)


_CALLING = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Z_][A-Z0-9_]+)\((?=(?:[^\n]*\\\r?\n)*[^\n]*\w\()(?:[^\n]*\\\r?\n)*[^\n]*",
    re.M,
)


def _macros(source: bytes) -> dict[bytes, list[Macro]]:
    """The macros with parameters and bodies of several lines; a name has several under `#if`."""
    macros: dict[bytes, list[Macro]] = {}
    for match in _DEFINE.finditer(source):
        parameters = tuple(parameter.strip() for parameter in match[2].split(b","))
        macros.setdefault(match[1], []).append((parameters, _CONTINUED.sub(b" ", match[3])))
    return macros


def _makes_functions(parameters: tuple[bytes, ...], body: bytes) -> bool:
    """Whether a macro names something for its argument, and has or calls for a body."""
    if b"{" not in body and not re.search(rb"^\s*[A-Z]\w+\(", body):
        return False
    return any(re.search(_DEFINES % {b"p": re.escape(p)}, body) for p in parameters if p and p != b"...")


def _expansion(name: bytes, arguments: bytes, macros: Mapping[bytes, list[Macro]], depth: int) -> bytes:
    """What a call becomes; of a macro that has several definitions all are kept, since the parser takes no sides."""
    values = [argument.strip() for argument in arguments.split(b",")]
    texts = []
    for parameters, body in macros[name]:
        known = dict(zip(parameters, values, strict=False))
        pattern = rb"\s*##\s*|\b(?:%s)\b" % b"|".join(re.escape(parameter) for parameter in known)
        text = re.sub(pattern, lambda match, known=known: known.get(match[0], b""), body)  # type: ignore[misc]
        if depth:
            text = _INNER.sub(lambda match: _inner(match, macros, depth - 1), text)
        texts.append(text[:_LONGEST])
    return b" ".join(texts)[:_LONGEST]


_INNER = re.compile(rb"\b([A-Z][A-Z0-9_]{3,})\(([^()]*)\)")


def _inner(match: re.Match[bytes], macros: Mapping[bytes, list[Macro]], depth: int) -> bytes:
    return _expansion(match[1], match[2], macros, depth) if match[1] in macros else match[0]
