"""Implicit calls, read from the text of a function: destructors, and constructors of members and bases.

Destructors run at the end of a scope, at a `delete`, and at the end of another destructor. Debug information has a
variable's destructor on the closing brace of its scope, however the scope is left: `return`, `break` or an exception.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Protocol

from framedex.model import CallSite, Definition

UNKNOWN_DESTRUCTOR = "~"
"""The destructor name of an object of unknown class."""


class ImpliedCall(NamedTuple):
    """An implicit call of a function.

    `position` is the byte offset in the text at which it runs; `line` is the line in debug information. The values of
    `kind`:
    - `destroy`: a destructor (`~Foo`, or `~` if the class is unknown)
    - `argument`: a destructor of an object that the destroyed one may hold (`~T` of `unique_ptr<T>`)
    - `delete`: a deallocation by `operator delete` or `operator delete[]`
    - `initializer`: a constructor of members and bases that the constructor does not name
    """

    position: int
    line: int
    kind: str
    callee: str


class WrittenCallLike(Protocol):
    """A written call: see `WrittenCall`."""

    @property
    def kind(self) -> str:
        """The kind of call, such as `new`."""

    @property
    def callee(self) -> str:
        """The name of the called function, without its scope."""


_COMMENT_OR_STRING = (
    rb'R"(?P<mark>[^()\s\\]{0,16})\(.*?(?:\)(?P=mark)"|\Z)|"(?:[^"\\\n]|\\.)*"'
    rb"|(?<!\w)'(?:[^'\\\n]|\\.)+'|//[^\n]*|/\*.*?(?:\*/|\Z)"
)
# The text is untrusted: repetitions are bounded, or extend to the end of the text, so that matching is linear.
_COMMENTS_AND_STRINGS = re.compile(_COMMENT_OR_STRING, re.S)
_BRACES = re.compile(rb"[{}]")
_DELETE = re.compile(rb"\bdelete\b\s*(\[\s*\])?\s*([^;{}]{0,400})[;)]")
_AUTO = re.compile(rb"\bauto\s+(?:const\s+)?\w+\s*[=({]\s*([^;{}]{0,400})")
_VALUE = re.compile(rb"(?:\w+\s*::\s*)*(\w+)\s*(<[^;{}()]*>)?\s*[({]|[^;]*?(<[^;{}()]*>)\s*\(|")
_IN_STATEMENT_HEAD = re.compile(rb"\b(?:for|if|while|switch)\s*(?:constexpr\s*)?\([^;{}]*$")
_STATIC_STORAGE = re.compile(rb"\b(?:static|thread_local|extern)\b")
_CAST = re.compile(rb"\w+_cast\s*<\s*(?:const\s+)?(?:\w+\s*::\s*)*(\w+)\s*(?:<[^;{}()]*>)?\s*\*\s*>")
_POINTER = re.compile(
    rb"\b(\w{1,200})\s{0,9}(?:<[^<>;{}()]{0,200}>)?\s{0,9}(?:\bconst\s{0,9})?\*\s{0,9}(?:const\s{1,9})?(\w{1,200})\b"
)
_ASSIGNED_RESULT = re.compile(rb"(?<=[;{})])\s{0,200}(\w{1,200})\s{0,9}=[^;={}()]{0,200}[\w>]\s{0,9}\([^;{}]{0,400};")
_MOVED_CLASSES = frozenset(("string", "vector", "map", "set", "deque", "list", "unordered_map", "unordered_set"))
_NEW = re.compile(rb"\bnew\b")
_NEW_ARRAY = re.compile(rb"\bnew\s{1,9}[\w:]{1,200}\s{0,9}(?:<[^<>;{}()]{0,200}>)?[\s*]{0,9}\[")
_WORD = re.compile(rb"\w+")
_TYPE = re.compile(rb"(?<![\w:])(?:\w+::)*([A-Za-z_]\w*)(?![\w:]|\s*[*&])")
_DECLARED = re.compile(
    rb"(?:^|[;{}(])[^\S\n]{0,200}(?:const\s{1,9})?(?:::)?(?:\w+::)*([A-Za-z_]\w*)\s{0,9}(<[^;{}()]{0,200}>)?\s{1,99}(?:\w+)"
    rb"\s{0,99}(?=[;({=\[])",
    re.M,
)
_KEYWORDS = frozenset(
    b"auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern"
    b" false float for friend goto if inline int long mutable namespace new noexcept nullptr operator private protected"
    b" public return short signed sizeof size_t static std struct switch template this throw true try typedef typename"
    b" union unsigned using virtual void volatile while".split()
)
_MAX_DECLARATION_BYTES = 400  # bytes


def find_implicit_calls(
    source: bytes, starts: Sequence[int], definition: Definition, sites: Sequence[CallSite]
) -> Iterator[ImpliedCall]:
    """The implicit calls of a function. `starts` has the offsets of the text's lines, `sites` the explicit calls."""
    begin = starts[definition.line]
    end = starts[definition.end_line + 1] if definition.end_line + 1 < len(starts) else len(source)
    body = _Body(blank_comments(source[begin:end]), begin, starts)
    found = chain(
        body.find_variable_destructors(sites),
        body.find_auto_destructors(),
        body.find_assigned_destructors(sites),
        body.find_deletions(_class_name(definition)),
    )
    yield from dict.fromkeys(found)
    class_name = _class_name(definition)
    if definition.kind == "method" and definition.name.endswith(
        (f"{class_name}::{class_name}", f"{class_name}::~{class_name}")
    ):
        # Members and bases. If the constructor of one throws, those already constructed are destroyed.
        yield ImpliedCall(end, definition.end_line, "destroy", UNKNOWN_DESTRUCTOR)
        yield ImpliedCall(end, definition.end_line, "argument", f"~{class_name}")
        if not definition.name.endswith(f"~{class_name}"):
            yield from body.find_member_constructors(class_name, sites)


class _Body:
    """The text of a function without comments and strings; `begin` is its offset in the file."""

    def __init__(self, text: bytes, begin_offset: int, starts: Sequence[int]) -> None:
        self._text = text
        self._begin, self._starts = begin_offset, starts

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        return sorted(_find_blocks(self._text))

    @cached_property
    def _innermost_ends(self) -> tuple[list[int], list[int | None]]:
        return _find_innermost_ends(self._text, dict(self._blocks))

    @cached_property
    def _pointers(self) -> dict[bytes, bytes]:
        """The pointee class of each pointer variable, by name; the first declaration of a name counts."""
        found: dict[bytes, bytes] = {}
        for match in _POINTER.finditer(self._text):
            found.setdefault(match[2], match[1])
        return found

    def find_variable_destructors(self, sites: Sequence[CallSite]) -> Iterator[ImpliedCall]:
        """The destructor calls at the ends of the scopes of variables with an explicit type."""
        for site in reversed(sites):
            at = self._starts[site.line] + site.column - 1 - self._begin if site.line < len(self._starts) else -1
            if site.kind != "variable" or not 0 <= at < len(self._text):
                continue
            declaration = self._text[self._statement_start(at) : at]
            if _STATIC_STORAGE.search(declaration):
                continue
            yield from self._destructors_at_scope_end(at, declaration, site.callee.encode(), declaration)

    def find_auto_destructors(self) -> Iterator[ImpliedCall]:
        """The destructor calls at the ends of the scopes of `auto` variables."""
        for match in reversed([*_AUTO.finditer(self._text)]):
            value = _VALUE.match(match[1])
            name = value[1] if value and value[1] else b""
            arguments = (value and (value[2] or value[3])) or b""
            declaration = self._text[self._statement_start(match.start()) : match.start()]
            yield from self._destructors_at_scope_end(match.start(), declaration, name, arguments)
            if not value or not value[1]:
                yield from self._destructors_at_scope_end(match.start(), declaration, b"", b"")

    def find_assigned_destructors(self, sites: Sequence[CallSite]) -> Iterator[ImpliedCall]:
        """The destructor calls of results that are assigned to a variable with an explicit type.

        Standard strings and containers are moved: nothing is left to free in the result.
        """
        classes: dict[bytes, str] = {}
        for site in sites:
            at = self._starts[site.line] + site.column - 1 - self._begin if site.line < len(self._starts) else -1
            if site.kind == "variable" and 0 <= at < len(self._text) and (name := _WORD.match(self._text, at)):
                classes.setdefault(name[0], site.callee)
        for match in _ASSIGNED_RESULT.finditer(self._text) if classes else ():
            if classes.get(match[1], "string") not in _MOVED_CLASSES:
                line = self._line_at(match.start(1))
                yield ImpliedCall(self._begin + match.end(), line, "destroy", f"~{classes[match[1]]}")

    def find_deletions(self, own_class: str) -> Iterator[ImpliedCall]:
        """The destructor and `operator delete` calls of each `delete`. `own_class` is the class of the function."""
        for match in _DELETE.finditer(self._text) if b"delete" in self._text else ():
            operand = match[2].strip()
            cast = _CAST.match(operand)
            if operand == b"this":
                name = own_class
            elif cast:
                name = cast[1].decode()
            elif _WORD.fullmatch(operand) and (declared := self._pointers.get(operand)):
                name = declared.decode() if declared not in _KEYWORDS else ""
            else:
                name = ""
            yield ImpliedCall(self._begin + match.end(), self._line_at(match.start()), "destroy", f"~{name}")
            operator = "operator delete[]" if match[1] else "operator delete"
            yield ImpliedCall(self._begin + match.end(), self._line_at(match.start()), "delete", operator)

    def find_member_constructors(self, class_name: str, sites: Sequence[CallSite]) -> Iterator[ImpliedCall]:
        """The constructor calls of members and bases without an initializer.

        clang puts them on the line of the constructor's name, gcc on the line of the last initializer.
        """
        name = re.search(rb"\b%s\s*\(" % re.escape(class_name.encode()), self._text)
        position = self._begin + (name.start() if name else 0)
        yield ImpliedCall(position, self._line_at(position - self._begin), "initializer", class_name)
        lines = [site.line for site in sites if site.kind == "initializer"]
        if lines and max(lines) != self._line_at(position - self._begin):
            yield ImpliedCall(position, max(lines), "initializer", class_name)

    def _destructors_at_scope_end(
        self, offset: int, declaration: bytes, name: bytes, arguments: bytes
    ) -> Iterator[ImpliedCall]:
        """The destructor calls at the end of the scope of a variable declared at `offset`.

        `name` is its class, `arguments` its template arguments.
        """
        for position in self._scope_ends(offset, declaration):
            position_and_line = self._begin + position, self._line_at(position)
            yield ImpliedCall(*position_and_line, "destroy", f"~{name.decode('utf-8', 'replace')}")
            for held in _find_value_types(arguments[arguments.find(b"<") :] if b"<" in arguments else b""):
                yield ImpliedCall(*position_and_line, "argument", f"~{held}")

    def _scope_ends(self, offset: int, declaration: bytes) -> Iterator[int]:
        if _IN_STATEMENT_HEAD.search(declaration):
            yield offset
            following = bisect_right(self._blocks, offset, key=lambda block: block[0])
            if following < len(self._blocks):
                yield self._blocks[following][1]
            return
        braces, ends = self._innermost_ends
        before = bisect_right(braces, offset)
        if before and (close := ends[before - 1]) is not None:
            yield close

    def _statement_start(self, offset: int) -> int:
        """The start of the statement that contains `offset`."""
        first = max(offset - _MAX_DECLARATION_BYTES, 0)
        return max(self._text.rfind(sign, first, offset) for sign in (b";", b"{", b"}")) + 1

    def _line_at(self, position: int) -> int:
        return bisect_right(self._starts, self._begin + position, lo=1) - 1


def destroys(site: WrittenCallLike, destructor: str) -> bool:
    """Whether the call at a site destroys an object of the class of `destructor` (`~Foo`)."""
    if site.kind in ("call", "braces"):  # a temporary, destroyed at the end of its expression
        return site.callee == destructor[1:]
    return site.kind == "destroy" and site.callee == destructor


def may_own(site: WrittenCallLike, destructor: str) -> bool:
    """Whether the object destroyed at a site may hold an object of the class of `destructor`."""
    return site.kind == "argument" and site.callee == destructor


def is_deletion(site: WrittenCallLike, operator: str) -> bool:
    """Whether a site frees memory by this operator: `operator delete` or `operator delete[]`."""
    return site.kind == "delete" and site.callee == operator


def destroys_unknown_class(site: WrittenCallLike) -> bool:
    """Whether a site destroys an object of unknown class."""
    return site.kind == "destroy" and site.callee == UNKNOWN_DESTRUCTOR


def count_implicit_names(text: bytes, definition: Definition) -> Counter[str]:
    """The names of constructors and destructors that a function's text calls implicitly, with counts."""
    text = blank_comments(text)
    found: Counter[str] = Counter()
    for match in _DECLARED.finditer(text):
        if match[1] not in _KEYWORDS:
            found[match[1].decode()] += 1
            found[f"~{match[1].decode()}"] += 1
            found.update(f"~{held}" for held in _find_value_types(match[2] or b""))
    body = _Body(text, 0, (0, 0))
    found.update(
        each.callee for each in body.find_deletions(_class_name(definition)) if each.callee != UNKNOWN_DESTRUCTOR
    )
    if b"new" in text:
        arrays = len(_NEW_ARRAY.findall(text))
        found["operator new"] += len(_NEW.findall(text)) - arrays
        found["operator new[]"] += arrays
    return +found


def count_member_types(text: bytes) -> Counter[str]:
    """The possible class names of the members and bases of a class, from its text."""
    text = blank_comments(text)
    first = text.find(b"{")
    depth, outer = 0, [text[:first] if first > 0 else b""]
    last = first + 1
    for match in _BRACES.finditer(text, first + 1) if first >= 0 else ():
        if depth == 0:
            outer.append(text[last : match.start()])
        depth += 1 if match.group() == b"{" else -1
        last = match.end()
        if depth < 0:
            break
    names = Counter[str]()
    for declaration in re.split(rb"[;{}]|\)\s", b";".join(outer[1:])):
        if b"(" not in declaration:
            names.update(_find_value_types(declaration))
    bases = outer[0].rpartition(b":")[2] if b":" in outer[0].replace(b"::", b"") else b""
    names.update(_find_value_types(bases))
    return names


def blank_comments(text: bytes) -> bytes:
    """Replace comments and strings with spaces, without changing offsets."""
    if not any(mark in text for mark in (b'"', b"'", b"//", b"/*")):
        return text
    return _COMMENTS_AND_STRINGS.sub(lambda match: b"\n".join(b" " * len(line) for line in match[0].split(b"\n")), text)


def _find_value_types(text: bytes) -> list[str]:
    """The possible class names of objects held by value in a text, not through a pointer or reference."""
    return [match[1].decode() for match in _TYPE.finditer(text) if match[1] not in _KEYWORDS]


def _find_blocks(text: bytes) -> Iterator[tuple[int, int]]:
    """The start and end offset of each block."""
    opened: list[int] = []
    for match in _BRACES.finditer(text):
        if match.group() == b"{":
            opened.append(match.start())
        elif opened:
            yield opened.pop(), match.start()


def _find_innermost_ends(text: bytes, blocks: dict[int, int]) -> tuple[list[int], list[int | None]]:
    """Return the offsets of the braces, and for each the end of the innermost block open after it (None: no block)."""
    braces: list[int] = []
    ends: list[int | None] = []
    opened: list[int] = []
    for match in _BRACES.finditer(text):
        at = match.start()
        if match.group() == b"}":
            del opened[-1:]
        elif at in blocks:
            opened.append(blocks[at])
        braces.append(at)
        ends.append(opened[-1] if opened else None)
    return braces, ends


def _class_name(definition: Definition) -> str:
    return definition.name.rpartition("::")[0].rpartition("::")[2]
