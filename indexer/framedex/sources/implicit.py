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
from typing import NamedTuple, Protocol

from framedex.model import CallSite, Definition

UNKNOWN = "~"
"""The destructor name of an object of unknown class."""


class ImpliedCall(NamedTuple):
    """An implicit call of a function.

    `position` is the byte offset in the text at which it runs; `line` is the line in debug information. The values of
    `kind`:
    - `destroy`: a destructor (`~Foo`, or `~` if the class is unknown)
    - `argument`: a destructor of an object that the destroyed one may hold (`~T` of `unique_ptr<T>`)
    - `delete`: a deallocation
    - `initializer`: a constructor of members and bases that the constructor does not name
    """

    position: int
    line: int
    kind: str
    callee: str


class Written(Protocol):
    """A written call: see `WrittenCall`."""

    @property
    def kind(self) -> str: ...
    @property
    def callee(self) -> str: ...


_OPAQUE = (
    rb'R"(?P<mark>[^()\s\\]{0,16})\(.*?(?:\)(?P=mark)"|\Z)|"(?:[^"\\\n]|\\.)*"'
    rb"|(?<!\w)'(?:[^'\\\n]|\\.)+'|//[^\n]*|/\*.*?(?:\*/|\Z)"
)
# The text is untrusted: repetitions are bounded, or extend to the end of the text, so that matching is linear.
_BLANKED = re.compile(_OPAQUE, re.S)
_BRACES = re.compile(rb"[{}]")
_DELETE = re.compile(rb"\bdelete\b\s*(?:\[\s*\]\s*)?([^;{}]{0,400})[;)]")
_AUTO = re.compile(rb"\bauto\s+(?:const\s+)?\w+\s*[=({]\s*([^;{}]{0,400})")
_VALUE = re.compile(rb"(?:\w+\s*::\s*)*(\w+)\s*(<[^;{}()]*>)?\s*[({]|[^;]*?(<[^;{}()]*>)\s*\(|")
_IN_PARENTHESES = re.compile(rb"\b(?:for|if|while|switch)\s*(?:constexpr\s*)?\([^;{}]*$")
_STORED = re.compile(rb"\b(?:static|thread_local|extern)\b")
_CAST = re.compile(rb"\w+_cast\s*<\s*(?:const\s+)?(?:\w+\s*::\s*)*(\w+)\s*(?:<[^;{}()]*>)?\s*\*\s*>")
_POINTER = re.compile(
    rb"\b(\w{1,200})\s{0,9}(?:<[^<>;{}()]{0,200}>)?\s{0,9}(?:\bconst\s{0,9})?\*\s{0,9}(?:const\s{1,9})?(\w{1,200})\b"
)
_NEW = re.compile(rb"\bnew\b")
_WORD = re.compile(rb"\w+")
_TYPE = re.compile(rb"(?<![\w:])(?:\w+::)*([A-Za-z_]\w*)(?![\w:]|\s*[*&])")
_DECLARED = re.compile(
    rb"(?:^|[;{}])[^\S\n]{0,200}(?:const\s{1,9})?(?:\w+::)*([A-Za-z_]\w*)\s{0,9}(<[^;{}()]{0,200}>)?\s{1,99}(?:\w+)"
    rb"\s{0,99}(?=[;({=\[])",
    re.M,
)
_NO_TYPES = frozenset(
    b"auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern"
    b" false float for friend goto if inline int long mutable namespace new noexcept nullptr operator private protected"
    b" public return short signed sizeof size_t static std struct switch template this throw true try typedef typename"
    b" union unsigned using virtual void volatile while".split()
)
_LONGEST_DECLARATION = 400  # bytes


def implied_calls(
    source: bytes, starts: Sequence[int], definition: Definition, sites: Sequence[CallSite]
) -> Iterator[ImpliedCall]:
    """The implicit calls of a function. `starts` has the offsets of the text's lines, `sites` the explicit calls."""
    begin = starts[definition.line]
    end = starts[definition.end_line + 1] if definition.end_line + 1 < len(starts) else len(source)
    body = _Body(source[begin:end], begin, starts)
    found = {
        *body.of_variables(sites),
        *body.of_placeholders(),
        *body.of_deletions(_class_of(definition)),
    }
    yield from found
    own = _class_of(definition)
    if definition.kind == "method" and definition.name.endswith((f"{own}::{own}", f"{own}::~{own}")):
        # Members and bases. A constructor destroys the constructed ones if a later one throws.
        yield ImpliedCall(end, definition.end_line, "destroy", UNKNOWN)
        yield ImpliedCall(end, definition.end_line, "argument", f"~{own}")
        if not definition.name.endswith(f"~{own}"):
            yield from body.of_constructor(own, sites)


class _Body:
    """The text of a function without comments and strings; `begin` is its offset in the file."""

    def __init__(self, text: bytes, begin: int, starts: Sequence[int]) -> None:
        self._text = blanked(text)
        self._begin, self._starts = begin, starts
        self._blocks = sorted(_blocks(self._text))
        self._begins = [begin for begin, _ in self._blocks]
        self._braces, self._innermost = _innermost(self._text, dict(self._blocks))

    @cached_property
    def _pointers(self) -> dict[bytes, bytes]:
        """The pointee class of each pointer variable, by name; the first declaration of a name counts."""
        found: dict[bytes, bytes] = {}
        for match in _POINTER.finditer(self._text):
            found.setdefault(match[2], match[1])
        return found

    def of_variables(self, sites: Sequence[CallSite]) -> Iterator[ImpliedCall]:
        """The destructor calls at the ends of the scopes of variables with an explicit type."""
        for site in sites:
            at = self._starts[site.line] + site.column - 1 - self._begin if site.line < len(self._starts) else -1
            if site.kind != "variable" or not 0 <= at < len(self._text):
                continue
            declaration = self._text[self._statement(at) : at]
            if _STORED.search(declaration):
                continue
            yield from self._at_end(at, declaration, site.callee.encode(), declaration)

    def of_placeholders(self) -> Iterator[ImpliedCall]:
        """The destructor calls at the ends of the scopes of `auto` variables."""
        for match in _AUTO.finditer(self._text):
            value = _VALUE.match(match[1])
            name = value[1] if value and value[1] else b""
            arguments = (value and (value[2] or value[3])) or b""
            declaration = self._text[self._statement(match.start()) : match.start()]
            yield from self._at_end(match.start(), declaration, name, arguments)
            if not value or not value[1]:
                yield from self._at_end(match.start(), declaration, b"", b"")

    def of_deletions(self, own: str) -> Iterator[ImpliedCall]:
        """The destructor and `operator delete` calls of each `delete`. `own` is the class of the function."""
        for match in _DELETE.finditer(self._text):
            operand = match[1].strip()
            cast = _CAST.match(operand)
            if operand == b"this":
                name = own
            elif cast:
                name = cast[1].decode()
            elif _WORD.fullmatch(operand) and (declared := self._pointers.get(operand)):
                name = declared.decode() if declared not in _NO_TYPES else ""
            else:
                name = ""
            yield ImpliedCall(self._begin + match.end(), self._line(match.start()), "destroy", f"~{name}")
            yield ImpliedCall(self._begin + match.end(), self._line(match.start()), "delete", "operator delete")

    def of_constructor(self, own: str, sites: Sequence[CallSite]) -> Iterator[ImpliedCall]:
        """The constructor calls of members and bases without an initializer.

        clang puts them on the line of the constructor's name, gcc on the line of the last initializer.
        """
        name = re.search(rb"\b%s\s*\(" % re.escape(own.encode()), self._text)
        at = self._begin + (name.start() if name else 0)
        yield ImpliedCall(at, self._line(at - self._begin), "initializer", own)
        lines = [site.line for site in sites if site.kind == "initializer"]
        if lines and max(lines) != self._line(at - self._begin):
            yield ImpliedCall(at, max(lines), "initializer", own)

    def _at_end(self, at: int, declaration: bytes, name: bytes, arguments: bytes) -> Iterator[ImpliedCall]:
        """The destructor calls at the end of the scope of a variable declared at `at`.

        `name` is its class, `arguments` its template arguments.
        """
        for position in self._ends(at, declaration):
            place = self._begin + position, self._line(position)
            yield ImpliedCall(*place, "destroy", f"~{name.decode('utf-8', 'replace')}")
            for held in _held(arguments[arguments.find(b"<") :] if b"<" in arguments else b""):
                yield ImpliedCall(*place, "argument", f"~{held}")

    def _ends(self, at: int, declaration: bytes) -> Iterator[int]:
        if _IN_PARENTHESES.search(declaration):
            yield at
            following = bisect_right(self._begins, at)
            if following < len(self._blocks):
                yield self._blocks[following][1]
            return
        braces = bisect_right(self._braces, at)
        if braces and (close := self._innermost[braces - 1]) is not None:
            yield close

    def _statement(self, at: int) -> int:
        """The start of the statement that contains `at`."""
        first = max(at - _LONGEST_DECLARATION, 0)
        return max(self._text.rfind(sign, first, at) for sign in (b";", b"{", b"}")) + 1

    def _line(self, position: int) -> int:
        return bisect_right(self._starts, self._begin + position, lo=1) - 1


def destroys(site: Written, destructor: str) -> bool:
    """Whether a written call destroys an object of the class of `destructor` (`~Foo`)."""
    if site.kind in ("call", "braces"):  # a temporary, destroyed at the end of its expression
        return site.callee == destructor[1:]
    return site.kind == "destroy" and site.callee == destructor


def may_hold(site: Written, destructor: str) -> bool:
    """Whether the object destroyed at a site may hold an object of the class of `destructor`."""
    return site.kind == "argument" and site.callee == destructor


def is_deletion(site: Written) -> bool:
    """Whether a site may free the memory of an object created by `new`."""
    return site.kind == "delete"


def is_unknown(site: Written) -> bool:
    """Whether a site destroys an object of unknown class."""
    return site.kind == "destroy" and site.callee == UNKNOWN


def implied_names(text: bytes, definition: Definition) -> Counter[str]:
    """The names of constructors and destructors that a function's text calls implicitly, with counts."""
    text = blanked(text)
    found: Counter[str] = Counter()
    for match in _DECLARED.finditer(text):
        if match[1] not in _NO_TYPES:
            found[match[1].decode()] += 1
            found[f"~{match[1].decode()}"] += 1
            found.update(f"~{held}" for held in _held(match[2] or b""))
    body = _Body(text, 0, (0, 0))
    found.update(each.callee for each in body.of_deletions(_class_of(definition)) if each.callee != UNKNOWN)
    found["operator new"] += len(_NEW.findall(text))
    return found


def members_held(text: bytes) -> Counter[str]:
    """The possible class names of the members and bases of a class, from its text."""
    text = blanked(text)
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
            names.update(_held(declaration))
    bases = outer[0].rpartition(b":")[2] if b":" in outer[0].replace(b"::", b"") else b""
    names.update(_held(bases))
    return names


def blanked(text: bytes) -> bytes:
    """Replace comments and strings with spaces, without changing offsets."""
    return _BLANKED.sub(lambda match: re.sub(rb"[^\n]", b" ", match.group()), text)


def _held(text: bytes) -> list[str]:
    """The possible class names of objects held by value in a text, not through a pointer or reference."""
    return [match[1].decode() for match in _TYPE.finditer(text) if match[1] not in _NO_TYPES]


def _blocks(text: bytes) -> Iterator[tuple[int, int]]:
    """The start and end offset of each block."""
    opened: list[int] = []
    for match in _BRACES.finditer(text):
        if match.group() == b"{":
            opened.append(match.start())
        elif opened:
            yield opened.pop(), match.start()


def _innermost(text: bytes, blocks: dict[int, int]) -> tuple[list[int], list[int | None]]:
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


def _class_of(definition: Definition) -> str:
    return definition.name.rpartition("::")[0].rpartition("::")[2]
