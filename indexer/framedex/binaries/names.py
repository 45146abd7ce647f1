"""The structure of a C++ name, from a demangler's text or from a declarator in a source file.

A demangled name is a return type (templates only), a path of parts, parameters and qualifiers:

    absl::StatusOr<int> ns::(anonymous namespace)::Foo<int>::bar<long>(char*) const::{lambda(int)#2}::operator()(int)

This text has no public grammar, and GNU and LLVM differ in it (`{lambda(int)#2}` and `'lambda0'(int)`). So this is a
scanner: it pairs brackets once, then walks the top level from left to right. It is linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from framedex.base.lazy import compile_on_use

ANONYMOUS = "(anonymous namespace)"
LAMBDA = "(lambda)"  # the part for any lambda in keys and in the names of definitions

_CACHE_SIZE = 1024  # the number of cached names: several steps of resolving a function parse its name
_MAX_READABLE_ARGUMENTS = 20  # template arguments of at most this many characters are kept


@dataclass(slots=True)
class Part:
    """One component of a path. `arguments` and `parameters` are the text between brackets, None without brackets.

    `ordinal` is the 2 of `{lambda(int)#2}`: its number, from 1, among the lambdas of its signature in a function.
    """

    text: str
    arguments: str | None = None
    parameters: str | None = None
    is_const: bool = False
    is_lambda: bool = False
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class QualifiedName:
    """A parsed name: its parts from the outermost namespace inwards, without inline namespaces."""

    parts: tuple[Part, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """The path without template arguments, for comparison; a lambda is `(lambda)` without its members."""
        key: list[str] = []
        is_member = False
        for part in self.parts:
            if not is_member or not (part.is_lambda or part.text in _CALL_OPERATORS or part.text.startswith("~")):
                key.append(LAMBDA if part.is_lambda else part.text)
                is_member = part.is_lambda
            else:  # a lambda directly inside a lambda is its constructor: others are inside its operator()
                is_member = False
        return tuple(key)

    @property
    def is_special_member_of_lambda(self) -> bool:
        """Whether this is the constructor or destructor that the compiler generates for a lambda."""
        *_, outer, own = (Part(""), Part(""), *self.parts)
        return outer.is_lambda and (own.is_lambda or own.text.startswith("~"))

    @property
    def parameters(self) -> tuple[str, ...] | None:
        """The parameters of the function, one text each; None if the name has no parameter list."""
        text = self.parts[-1].parameters if self.parts else None
        return None if text is None else split_parameters(text)

    @property
    def is_const(self) -> bool:
        """Whether the function is a `const` member function."""
        return bool(self.parts) and self.parts[-1].is_const


def readable_name(symbol: str) -> str:
    """The readable name: without return type and parameters, with long template arguments as `<...>`."""
    parts = parse_name(symbol).parts
    if not parts:
        return symbol
    return "::".join([*(_format_part(part, True) for part in parts[:-1]), _format_part(parts[-1], False)])


@lru_cache(_CACHE_SIZE)
def parse_name(symbol: str) -> QualifiedName:
    """Parse a demangled name or a declarator. Never raises; a malformed name gives fewer parts."""
    text = _PREFIX.sub("", _STD_STRING.sub("std::string", symbol))
    parts = _Scanner(text).parts()
    last = len(parts) - 1
    return QualifiedName(tuple(p for i, p in enumerate(parts) if i == last or not _INLINE_NAMESPACE.fullmatch(p.text)))


def find_unclosed_bracket(symbol: str) -> int | None:
    """The position of the outermost unclosed bracket of a truncated name; None for a complete name."""
    pairs = _find_bracket_pairs(symbol)
    matches = _OPERATOR.finditer(symbol) if "operator" in symbol else ()
    operators = {match.start(): match.end() for match in matches}
    i = 0
    while i < len(symbol):
        if i in operators:
            i = operators[i]
        elif symbol[i] in _OPENING:
            if i not in pairs:
                return i
            i = pairs[i] + 1
        else:
            i += 1
    return None


def split_parameters(text: str) -> tuple[str, ...]:
    """The parameters in the text between parentheses; () for `void` and for an empty text."""
    closing = _find_bracket_pairs(text)
    parameters, start, i = [], 0, 0
    while i < len(text):
        if text[i] == ",":
            parameters.append(text[start:i].strip())
            start = i + 1
        i = closing.get(i, i) + 1
    parameters.append(text[start:].strip())
    return () if parameters in ([""], ["void"]) else tuple(parameters)


def _format_part(part: Part, is_scope: bool) -> str:
    text = part.text
    if part.arguments is not None:
        arguments = INLINE_NAMESPACES.sub("", part.arguments)
        keep = len(arguments) <= _MAX_READABLE_ARGUMENTS and "(" not in arguments
        text += f"<{arguments}>" if keep else "<...>"
    if is_scope and part.parameters is not None and not part.is_lambda:
        text += "(...)" if part.parameters else "()"
    return text


# Inline namespaces of libc++, libstdc++, abseil and the NDK: in symbols, but never in written names.
_INLINE_NAMESPACE = compile_on_use(r"__\d+|__cxx11|__cxx1998|__u|__ndk\d+|_V2|lts_\d{8}")
INLINE_NAMESPACES = compile_on_use(r"\b(?:__\d+|__cxx11|__cxx1998|__u|__ndk\d+|_V2|lts_\d{8})::")
_STD_STRING = compile_on_use(
    r"std::(?:__\w+::)?basic_string<char, std::(?:__\w+::)?char_traits<char>, std::(?:__\w+::)?allocator<char> ?>"
)
_PREFIX = compile_on_use(
    r"^(?:(?:(?:non-virtual |virtual |covariant return )?thunk to|guard variable for|reference temporary #\d+ for|"
    r"TLS (?:init|wrapper) function for|thread-local (?:initialization|wrapper) routine for) )+"
)
# `<<` is an operator only before arguments or parameters; in `operator<<int>` the second `<` opens arguments.
_OPERATOR = compile_on_use(
    r"\boperator\s*(?:(?:new|delete)(?:\s*\[\])?(?!\w)|co_await\b|\"\"\s*\w+|\(\s*\)|\[\s*\]|->\*|->|<=>|<<=|>>=|"
    r"<<(?=\s*(?:[<(,)>\]]|$))|>>|<=|>=|<|>|==|!=|&&|\|\||\+\+|--|[-+*/%^&|!=]=|[-+*/%^&|~!=,])\s*(?=[<([]|$|[,)>\]])"
)
_CONVERSION = compile_on_use(r"\boperator\s+(?=[\w:(])")
_WORD = compile_on_use(r"~?\s*[\w$.@]+|~(?=\()")
_QUOTED_ENTITY = compile_on_use(r"'(lambda|unnamed|block-literal)(\d*)'")
_QUALIFIERS = compile_on_use(r"\s*(?:const|volatile|noexcept|&&|&)(?![\w&])")
_OPENING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_BRACKETS = compile_on_use(r"[()\[\]{}<>]|->")


def _find_bracket_pairs(text: str) -> dict[int, int]:
    """Position of each closing bracket by its opening bracket; `<` and `>` count only if paired."""
    pairs: dict[int, int] = {}
    operators = {match.start(): match.end() for match in _OPERATOR.finditer(text)} if "operator" in text else {}
    skip_to = 0
    opened: list[int] = []
    starts = sorted(operators)
    next_operator = 0
    for match in _BRACKETS.finditer(text):
        i = match.start()
        while next_operator < len(starts) and starts[next_operator] <= i:
            skip_to = operators[starts[next_operator]]
            next_operator += 1
        bracket = match.group()
        if i < skip_to or bracket == "->":
            continue
        if bracket in _OPENING:
            opened.append(i)
        elif bracket == ">":
            if opened and text[opened[-1]] == "<":
                pairs[opened.pop()] = i
        else:
            while opened and text[opened[-1]] == "<":
                opened.pop()
            if opened and _OPENING[text[opened[-1]]] == bracket:
                pairs[opened.pop()] = i
    return pairs


@dataclass(slots=True)
class _Scanner:
    """One walk over the top level of a name."""

    text: str
    closing: dict[int, int] = field(init=False)
    path: list[Part] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.closing = _find_bracket_pairs(self.text)

    def parts(self) -> list[Part]:
        i = 0
        while 0 <= i < len(self.text):
            i = self._consume_token(i)
        return self.path

    def _consume_token(self, i: int) -> int:
        """Consume the token at `i` and return the start of the next one, -1 at the end of the name."""
        text = self.text
        character = text[i]
        if character.isspace() or self._is_at_qualifier(i):
            return self._consume_space(i)
        if character in "([{<" and i in self.closing:
            return self._consume_brackets(i, self.closing[i])
        for pattern, consume in _TOKEN_PARSERS:
            if match := pattern.match(text, i):
                return consume(self, match)
        return i + 1  # `::`, `*`, `&` and stray characters

    def _is_at_qualifier(self, i: int) -> bool:
        """Whether a qualifier follows parameters without a space, as in `f(int)const`."""
        if not self.path or self.path[-1].parameters is None or not self.text.startswith(")", i - 1):
            return False
        return _QUALIFIERS.match(self.text, i) is not None

    def _consume_space(self, i: int) -> int:
        """Consume qualifiers after parameters. Any other space ends a return type, and the name begins after it."""
        text = self.text
        if self.path and self.path[-1].parameters is not None:
            while match := _QUALIFIERS.match(text, i):
                self.path[-1].is_const |= "const" in match.group()
                i = match.end()
            rest = text[i : i + 12].lstrip()
            if not rest or rest.startswith(("[clone", "(.", "requires ", "[.", "[enable_if:")):
                return -1
            if not text[i].isspace():
                return i
        if re.match(r"\s*<", text[i : i + 3]):  # `operator< <int>` and `Foo <int>`
            return i + 1
        self.path.clear()
        return i + 1

    def _consume_brackets(self, start: int, end: int) -> int:
        text = self.text
        inside = text[start + 1 : end]
        current = self.path[-1] if self.path else None
        if text[start] == "{":
            self.path.append(_parse_braced(inside))
        elif inside in ("anonymous namespace", "anonymous", "anonymous class"):
            self.path.append(Part(ANONYMOUS))
        elif text[start] == "(":
            if current and current.parameters is None and not text.endswith("::", 0, start):
                current.parameters = inside.strip()
            elif current is None and inside.startswith(("*", "&")) and text[end + 1 : end + 2] == "(":
                # a function that returns a function pointer: void (*name(int))(char)
                self.text = text[:end]
                return end - len(inside.lstrip("*& "))
        elif text[start] == "<":
            if inside.startswith("lambda(") and (text.endswith("::", 0, start) or current is None):
                self.path.append(_parse_braced(inside))  # as GCC itself names a lambda
            elif current and current.arguments is None and current.parameters is None:
                current.arguments = inside.strip()
            elif inside == "unnamed" and (text.endswith("::", 0, start) or current is None):
                self.path.append(Part(ANONYMOUS))
        return end + 1

    def _consume_operator(self, match: re.Match[str]) -> int:
        words = match.group().split()
        joined = "".join(words) if not words[-1].startswith(("new", "delete", "co_await")) else " ".join(words)
        self.path.append(Part(joined))
        return match.end()

    def _consume_conversion(self, match: re.Match[str]) -> int:
        """Consume `operator std::vector<int>() const`: the type ends at the parentheses of the parameter list."""
        text, i = self.text, match.end()
        while i < len(text):
            end = self.closing.get(i, i)
            is_type = text[i + 1 : end] == "anonymous namespace" or text[end + 1 : end + 2] == "("
            if text[i] == "(" and end > i and not is_type:
                break
            i = end + 1
        kind = INLINE_NAMESPACES.sub("", " ".join(text[match.end() : i].split()))
        self.path.append(Part("operator " + kind))
        return i

    def _consume_quoted(self, match: re.Match[str]) -> int:
        kind, number = match.groups()
        ordinal = int(number) + 2 if number else 1  # LLVM counts 'lambda', 'lambda0', 'lambda1'; GNU #1, #2, #3
        self.path.append(Part(f"{{{kind}#{ordinal}}}", is_lambda=kind == "lambda", ordinal=ordinal))
        return match.end()

    def _consume_word(self, match: re.Match[str]) -> int:
        word = "".join(match.group().split())
        if word == "_GLOBAL__N_1":
            word = ANONYMOUS
        self.path.append(Part(word, is_lambda=word.startswith("$_")))
        return match.end()


_CALL_OPERATORS = frozenset(
    ("operator()", "__invoke", "_FUN")
)  # the last two: a lambda as a function pointer, by clang and GCC

_TOKEN_PARSERS = (
    (_OPERATOR, _Scanner._consume_operator),
    (_CONVERSION, _Scanner._consume_conversion),
    (_QUOTED_ENTITY, _Scanner._consume_quoted),
    (_WORD, _Scanner._consume_word),
)


def _parse_braced(inside: str) -> Part:
    """The part for `{lambda(int)#2}`, `{unnamed type#1}`, `{default arg#1}`, or `{anonymous}` (GCC's own spelling)."""
    if inside in ("anonymous", "unnamed"):
        return Part(ANONYMOUS)
    if not inside.startswith("lambda"):
        return Part("{" + inside + "}")
    start, end = inside.find("("), inside.rfind(")")
    number = inside[inside.rfind("#") + 1 :] if "#" in inside else ""
    return Part(
        f"{{lambda#{number}}}" if number else "{lambda}",
        parameters=inside[start + 1 : end] if 0 <= start < end else None,
        is_lambda=True,
        ordinal=int(number) if number.isdecimal() and len(number) < 6 else 0,
    )
