"""Extract the calls in the source of functions, for comparison with machine code.

The extractor returns the name and position of each call. This module adds the evaluation order, the number of
arguments and the line that a debugger reports. It reads them from the surrounding text, only for queried files.

For a call that spans several lines, the line numbers of gcc's debug information differ from those of clang's. clang
records the start of the callee's name. gcc records the opening parenthesis, or for a constructed object the end of its
arguments. If the call is an argument, or another call is chained to its result, gcc often records the line of the other
call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from framedex.model import CallSite, Definition
from framedex.sources.implicit import find_implicit_calls

_Found = TypeVar("_Found")

Span = tuple[int, int]
"""The first and last line of a function or lambda, as in its `Definition`."""

BODIES = frozenset(("function", "method", "macro"))
"""The kinds of definitions whose calls can appear in another function by inlining."""

_FUNCTIONS = BODIES - {"macro"}

_MAX_CALL_BYTES = 1 << 14  # bytes from a name to the end of its arguments
_MACRO_NAME = re.compile(r"[A-Z][A-Z0-9_]+|assert")
_TEMPLATE_ARGUMENTS = re.compile(rb"\s*<[^<>(){};]*(?:<[^<>(){};]*>[^<>(){};]*)*>")
_QUALIFIED = re.compile(rb"(?:(?:\w+(?:<[^<>;]*>)?\s*)?::\s*)+$")
_TOKENS = re.compile(
    rb'R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/|[()\[\]{},]', re.S
)
_COMMENTS_AND_DIRECTIVES = re.compile(
    rb"//[^\n]*|/\*.*?\*/|(?m:^)[ \t]*#(?:[^\n\\]|\\.)*", re.S
)  # comments and directives
_WORD = re.compile(rb"\w*")
_KEYWORDS = frozenset((b"return", b"else", b"do", b"throw", b"new", b"delete", b"case", b"co_await", b"co_return"))
_NUMBER = re.compile(
    rb"(?<=[(,])\s*(-?(?:0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)|true|false|nullptr|NULL|'(?:[^'\\\n]|\\[ntr0\\'])')\s*(?=[),])"
)
_NAMED_CONSTANTS = {b"true": 1, b"false": 0, b"nullptr": 0, b"NULL": 0}
_LITERAL = re.compile(rb'"((?:[^"\\\n]|\\.)*)"')
_ESCAPE = re.compile(rb"\\(.)", re.S)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0"}
_MEMBER_ACCESS = re.compile(r"(?:->|\.)\w+(?:<.*>)?$")
_LITERAL_OPERAND = re.compile(rb'\s{0,200}"((?:[^"\\\n]|\\.)*)"')
_OPERAND_TOKENS = re.compile(_TOKENS.pattern + rb"|;", re.S)
_ASSIGNMENTS = frozenset(f"operator{sign}=" for sign in ("", *"+-*/%&|^", "<<", ">>"))
_STATEMENT_END = re.compile(rb"\s*;\s*(\}|return\s*;)?")
_RETURN = re.compile(rb"[^;{}]*\breturn\b")
_MAX_STATEMENT_BYTES = 1 << 10  # bytes
_MAX_QUALIFIER_BYTES = 200  # bytes
_MAX_LINE_BYTES = (
    1 << 12
)  # bytes searched for qualifiers; bounded because each call of a one-line file searches its line
_CLOSING = {b"(": b")", b"{": b"}"}


def is_macro(name: str) -> bool:
    """Whether a name is in capitals, the style of macro names, or is `assert`."""
    return _MACRO_NAME.fullmatch(name) is not None


def callable_kinds(is_member: bool) -> frozenset[str]:
    """The kinds of definitions that a call can have; a member call excludes free functions."""
    return BODIES - {"function"} if is_member else BODIES


class WrittenCall(NamedTuple):
    """A call as written. `line` is the line that a debugger reports; `arguments` is None if their number is unknown.

    `kind` comes from the `CallSite`, or from the `ImpliedCall` for an implicit call. `numbers` are integer arguments.
    `is_last`: the function ends with this call, so it may be compiled to a jump. `is_member`: a call through an object
    or pointer. `is_qualified`: its name has a namespace or class. `gcc_lines` has the lines in gcc's debug information,
    most likely first; empty if only `line`, which is clang's. `texts` has the literals in the arguments. For a macro,
    `texts` also has the arguments, because a macro can stringify them.
    """

    line: int
    kind: str
    callee: str
    arguments: int | None
    numbers: frozenset[int] = frozenset()
    is_last: bool = False
    is_member: bool = False
    texts: frozenset[bytes] = frozenset()
    is_qualified: bool = False
    gcc_lines: tuple[int, ...] = ()

    @property
    def is_macro_call(self) -> bool:
        """Whether this looks like a macro call: in capitals, without namespace or object."""
        return self.kind == "call" and not self.is_member and not self.is_qualified and is_macro(self.callee)


class WrittenCalls(Mapping[Span, Sequence[WrittenCall]], Generic[_Found]):
    """The calls of a file in evaluation order without jumps, by the innermost enclosing function or lambda.

    Each function is processed on first access, because most are never queried.
    """

    def __init__(self, found: Mapping[Span, _Found], arrange: Callable[[_Found], Sequence[WrittenCall]]) -> None:
        """`found` has the input of `arrange` for each function and lambda; `arrange` returns its calls."""
        self._found, self._arrange = found, arrange
        self._arranged: dict[Span, Sequence[WrittenCall]] = {}

    def __getitem__(self, span: Span) -> Sequence[WrittenCall]:
        if span not in self._arranged:
            self._arranged[span] = self._arrange(self._found[span])
        return self._arranged[span]

    def __iter__(self) -> Iterator[Span]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def written_calls(source: bytes, definitions: Iterable[Definition]) -> Mapping[Span, Sequence[WrittenCall]]:
    """The calls in a text. Calls in the arguments of a macro are on the line of the macro."""
    starts = find_line_starts(source)
    # A macro may define several functions on the same lines: the last of them has the calls.
    ordered = sorted(definitions, key=lambda each: bool(each.calls))
    inside = {(each.line, each.end_line): each for each in ordered if each.line < len(starts)}
    calling = {span: each for span, each in inside.items() if each.calls or each.kind in _FUNCTIONS}
    return WrittenCalls(calling, partial(find_calls, source, starts))


def find_calls(source: bytes, starts: Sequence[int], definition: Definition) -> list[WrittenCall]:
    """The calls of one function or lambda in evaluation order, including implicit calls.

    `starts` is the result of `find_line_starts` for the text.
    """
    calls = [*_locate_calls(source, starts, definition.calls)]
    if definition.kind in _FUNCTIONS:
        calls += [
            (place.position, WrittenCall(place.line, place.kind, place.callee, 0))
            for place in find_implicit_calls(source, starts, definition, definition.calls)
        ]
    return [call for _, call in sorted(calls, key=lambda entry: entry[0])]


def find_calls_from_map(definitions: Iterable[Definition]) -> Mapping[Span, Sequence[WrittenCall]]:
    """The calls from a source map, without the text: in written order, with unknown arguments."""
    return WrittenCalls(
        {(each.line, each.end_line): each.calls for each in definitions if each.calls}, _build_calls_without_text
    )


def _build_calls_without_text(sites: Sequence[CallSite]) -> list[WrittenCall]:
    return [
        WrittenCall(
            site.line,
            site.kind,
            site.callee,
            None,
            is_member=_MEMBER_ACCESS.search(site.written) is not None,
            is_qualified=site.written.endswith(f"::{site.callee}"),
        )
        for site in sites
    ]


def find_line_starts(source: bytes) -> list[int]:
    """The byte offset of each line, indexed by line number; the first line is 1."""
    return [0, 0, *(match.end() for match in re.finditer(b"\n", source))]


def _locate_calls(source: bytes, starts: Sequence[int], sites: Sequence[CallSite]) -> Iterator[tuple[int, WrittenCall]]:
    """The explicit calls, each with the offset of its end in the text."""
    macro_end, macro_line = 0, 0
    gcc = GccLines(source, starts)
    for site in sorted(sites, key=lambda site: (site.line, site.column)):
        if site.line >= len(starts):
            continue
        at = starts[site.line] + site.column - 1
        end, arguments = _measure_call(source, at, site)
        line = site.line
        is_member = source[at - 1 : at] == b"." or source[at - 2 : at] == b"->"
        qualifiers = b"" if is_member else _find_qualifiers(source, at)
        gcc_lines = gcc.lines(site, at, end)
        if at < macro_end:
            line = macro_line
            gcc_lines = (line,)
        elif site.kind == "call":
            # Debug information has the line of a method's name, but of the first qualifier of a function.
            line -= qualifiers.count(b"\n")
            if is_macro(site.callee) and not qualifiers and not is_member:
                macro_end, macro_line = end, site.line
                gcc_lines = (line,)
        numbers = _parse_numbers(source[at:end]) if arguments else frozenset()
        texts = _parse_strings(source[at:end], is_macro(site.callee)) if arguments else frozenset()
        if site.kind == "operator":
            texts = _parse_operand(source, at, site.callee)
            end = _find_operand_end(source, at) if site.callee in _ASSIGNMENTS else end
        is_last = site.kind == "call" and _is_last(source, at, end)
        call = WrittenCall(
            line,
            site.kind,
            site.callee,
            arguments,
            numbers,
            is_last,
            is_member,
            texts,
            bool(qualifiers),
            () if gcc_lines == (line,) else gcc_lines,
        )
        yield end, call


def _measure_call(source: bytes, offset: int, site: CallSite) -> tuple[int, int | None]:
    """Return the end of a call and its number of arguments."""
    end = offset + len(site.callee.encode())
    if site.kind in ("operator", "argument"):
        return offset, None
    if site.kind == "variable" and (name := _WORD.match(source, offset)):  # the class name precedes the variable
        end = name.end()
    if match := _TEMPLATE_ARGUMENTS.match(source, end):
        end = match.end()
    while source[end : end + 1].isspace():
        end += 1
    opening = source[end : end + 1]
    if opening not in _CLOSING:
        return end, 0 if site.kind in ("variable", "new") else None
    depth, commas, last = 0, 0, end
    for match in _TOKENS.finditer(source, end, end + _MAX_CALL_BYTES):
        piece = match.group()
        if piece in (b"(", b"[", b"{"):
            depth += 1
        elif piece in (b")", b"]", b"}"):
            depth -= 1
            if depth == 0:
                is_empty = not commas and not source[end + 1 : match.start()].strip()
                return match.end(), 0 if is_empty else commas + 1
        elif piece == b"," and depth == 1:
            commas += not _is_in_template(source[last + 1 : match.start()])
            last = match.start()
    return end, None


def _find_operand_end(source: bytes, offset: int) -> int:
    """The end of the right operand of an assignment: it runs first."""
    depth = 0
    for match in _OPERAND_TOKENS.finditer(source, offset, offset + _MAX_STATEMENT_BYTES):
        piece = match.group()
        if piece in (b"(", b"[", b"{"):
            depth += 1
        elif piece in (b")", b"]", b"}"):
            depth -= 1
        if depth < 0 or (depth == 0 and piece in (b";", b",")):
            return match.start()
    return offset


def _parse_operand(source: bytes, offset: int, operator: str) -> frozenset[bytes]:
    """The string after an operator."""
    match = _LITERAL_OPERAND.match(source, offset + len(operator) - len("operator"))
    return frozenset((_ESCAPE.sub(_unescape, match[1]),)) if match else frozenset()


def _is_last(source: bytes, offset: int, end: int) -> bool:
    """Whether a call is returned, or ends a block."""
    following = _STATEMENT_END.match(source, end)
    if following is None:
        return False
    begins = max(source.rfind(sign, max(offset - _MAX_STATEMENT_BYTES, 0), offset) for sign in (b";", b"{", b"}"))
    return following[1] is not None or _RETURN.match(source, begins + 1, offset) is not None


def _parse_numbers(arguments: bytes) -> frozenset[int]:
    """The integer literals that are whole arguments, as unsigned 32-bit values."""
    return frozenset(_parse_number(text) & 0xFFFFFFFF for text in _NUMBER.findall(arguments))


def _parse_strings(call: bytes, is_macro_call: bool) -> frozenset[bytes]:
    """The strings in the arguments of a call, unescaped as in compiled code."""
    found = {_ESCAPE.sub(_unescape, text) for text in _LITERAL.findall(call)} if b'"' in call else set()
    if is_macro_call:
        inside = call.partition(b"(")[2][:-1]
        found |= {b" ".join(text.split()) for text in (inside, *inside.split(b","))}
    return frozenset(found)


def _unescape(match: re.Match[bytes]) -> bytes:
    return _ESCAPED.get(match[1], match[1])


def _parse_number(text: bytes) -> int:
    if text in _NAMED_CONSTANTS:
        return _NAMED_CONSTANTS[text]
    if text.startswith(b"'"):
        return ord(_ESCAPE.sub(_unescape, text[1:-1]))
    return int(text, 16 if b"x" in text.lower() else 10)


def _is_in_template(text: bytes) -> bool:
    """Whether the text since the last comma opens template arguments without closing them, as in `f<a, b>()`."""
    return bool(re.search(rb"\w<[^<>()]*$", text))


def _find_qualifiers(source: bytes, offset: int) -> bytes:
    """The namespaces and classes before a name, with the whitespace between."""
    if source[offset - 1 : offset] not in (b":", b" ", b"\n", b"\t"):
        return b""
    first = max(offset - _MAX_LINE_BYTES, 0)
    begins = max(source.rfind(b"\n", first, max(offset - _MAX_QUALIFIER_BYTES, 0)) + 1, first)
    if b"::" not in (before := source[begins:offset]):
        return b""
    before = _COMMENTS_AND_DIRECTIVES.sub(_keep_newlines, before)
    match = _QUALIFIED.search(before, before.rfind(b";") + 1) if before.rstrip().endswith(b"::") else None
    if match is None:
        return b""
    found = match.group()
    return found[found.index(b"::") :] if _WORD.findall(found)[0] in _KEYWORDS else found


def _keep_newlines(match: re.Match[bytes]) -> bytes:
    """The newlines of a match, or one space if it has none."""
    return b"\n" * match.group().count(b"\n") or b" "


_ARROW = re.compile(rb"\s*->\s*\w+\s*")
_CONSTRUCTING_KINDS = ("variable", "new")


class GccLines:
    """The gcc lines of the calls of one function. Call `lines` for the calls in the order of the source."""

    def __init__(self, source: bytes, starts: Sequence[int]) -> None:
        """`starts` has the offsets of the lines of the text."""
        self._source, self._starts = source, starts
        self._enclosing: list[tuple[int, tuple[int, ...]]] = []  # the ends and lines of the enclosing calls

    def lines(self, site: CallSite, begin: int, end: int) -> tuple[int, ...]:
        """The possible lines of the call from offset `begin` to `end`, most likely first."""
        while self._enclosing and self._enclosing[-1][0] <= begin:
            self._enclosing.pop()
        outer_lines = self._enclosing[-1][1] if self._enclosing else ()
        if site.kind in ("operator", "argument"):
            own_lines: tuple[int, ...] = (site.line,)
            if not self._source[self._starts[site.line] : begin].strip():  # gcc may record the line of the left operand
                own_lines = (site.line, site.line - 1)
        elif site.kind in _CONSTRUCTING_KINDS:
            own_lines = (self._line(end - 1) if self._source[end - 1 : end] in (b")", b"}") else site.line,)
        else:
            opening = self._source.find(b"(", begin, end)
            own_lines = (self._line(opening if opening >= 0 else begin),)
            if site.callee[:1].isupper():  # maybe a type: gcc may record its last line
                own_lines = tuple(dict.fromkeys((*own_lines, self._line(end - 1))))
        through = _ARROW.match(self._source, end)
        chained_line = (self._line(through.end()),) if through else ()
        is_argument = self._source[end : end + 1] in (b",", b")")
        lines = (*chained_line, *outer_lines, *own_lines) if is_argument or chained_line else (*own_lines, *outer_lines)
        found = tuple(dict.fromkeys(lines))
        if site.kind not in ("operator", "argument"):
            self._enclosing.append((end, found))
        return found

    def _line(self, offset: int) -> int:
        """The line of an offset in the text."""
        return bisect_right(self._starts, offset, 1) - 1
