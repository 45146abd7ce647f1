"""Functions as written and as compiled, and the calls in their bodies.

Bodies are read from the source on demand, because most of a tree is never queried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from framedex.base.regularfile import decode_text, read_regular
from framedex.binaries.names import LAMBDA, parse_name
from framedex.model import Definition, is_local
from framedex.sources.calls import Span, WrittenCall, callable_kinds, find_calls_from_map, is_macro, written_calls
from framedex.sources.implicit import count_implicit_names, count_member_types
from framedex.sources.names import shorten
from framedex.sources.standard_library import count_calls_in_standard_body


class CallForm(NamedTuple):
    """The written form of a function's calls: its name, the kind of call, and its number of parameters (None: any).

    `is_copy`: a copy or move constructor, which runs without being written.
    """

    name: str
    kind: str  # call, construct, destroy, operator; memory: operator new and delete
    parameters: int | None
    is_copy: bool = False


ASSERTION = CallForm("assert", "call", None)


class UnnamedCallee(NamedTuple):
    """A callee without a symbol: called by address, or through the pointer at `slot` (`CallInstruction`)."""

    target: int
    slot: int | None


class BasicBlock(NamedTuple):
    """A basic block: the indices of its calls, of its predecessors, and of the loop starts that it jumps back to."""

    calls: range
    predecessors: Sequence[int]
    loop_starts: Sequence[int] = ()


Neighbours = Callable[[int], tuple[Sequence[CallForm | None], Sequence[CallForm | None]]]
"""The calls that run before and after a compiled call, nearest first; None for a callee without a name."""


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, because results are cached per object
class CallerBody:
    """A function as written and as compiled.

    `written_calls` has the calls in its lines, by function and lambda. `compiled_calls` has its calls in machine code,
    in address order (None: unknown callee); it is empty if the binary is missing. The callables take an index into
    `compiled_calls`: `passed_numbers` returns the constants that are passed, `passed_strings` the strings that are
    passed. `tail_calls` has the indices of tail calls, `endless_calls` those of calls that never return. `control_flow`
    returns the possible execution order. `compiler` is `clang`, `gcc`, or empty if unknown.
    """

    span: Span
    written_calls: Mapping[Span, Sequence[WrittenCall]]
    compiled_calls: Sequence[CallForm | UnnamedCallee | None]
    neighbours: Neighbours
    passed_numbers: Callable[[int], Collection[int]] = lambda _: ()
    tail_calls: Collection[int] = ()
    passed_strings: Callable[[int], Collection[bytes]] = lambda _: ()
    control_flow: Callable[[], Sequence[BasicBlock]] = lambda: ()
    compiler: str = ""
    endless_calls: Collection[int] = ()


Reaches = Callable[[WrittenCall, CallForm, int], int]
"""The number of times that the callee at a site calls a function within a number of hops; 0 if it never does."""


_BASIC = re.compile(r"^(~?)basic_(?=\w*(?:stream|regex|buf)$)")
_COPIED_TYPE = re.compile(r"(.+?)(?: const)?&&?")  # with the class of a constructor's parameter
_HEADER_ALIAS = re.compile(
    r"__isoc(?:99|23)_(\w+)|__(\w+)_chk|__(assert)_fail"
    r"|(openat|open|creat|fopen|freopen|fseeko|ftello|lseek|pread|pwrite|truncate|ftruncate|mmap|readdir|mkstemp)64"
)
"""The functions that glibc's headers substitute for the written ones: `__isoc99_sscanf`, `__memcpy_chk`, `open64`."""


def call_form_of(symbol: str) -> CallForm | None:
    """The written form of calls to a function with this demangled name.

    Returns None for functions whose calls cannot be searched: lambdas, call operators, conversions and names in braces.
    """
    name = parse_name(symbol)
    if not name.parts or name.key[-1] == LAMBDA:
        return None
    own_name = _remove_basic(name.parts[0].text, name.parts[-1].text)
    parameters = name.parameters
    count = None if parameters is None or parameters[-1:] == ("...",) else len(parameters)
    if own_name in ("operator new", "operator new[]", "operator delete", "operator delete[]"):
        return CallForm(own_name, "memory", count)
    if own_name.startswith("operator"):
        return (
            CallForm(own_name, "operator", None) if own_name != "operator()" and not own_name[8:9].isspace() else None
        )
    if own_name.startswith("{"):
        return None
    # Demanglers print std::string's constructor as `std::string::basic_string`.
    scope = _remove_basic(name.parts[0].text, name.parts[-2].text) if len(name.parts) > 1 else ""
    is_string = scope == "string" and own_name.removeprefix("~") == "basic_string"
    if own_name.startswith("~"):
        return CallForm("~string" if is_string else own_name, "destroy", 0)
    if is_string or own_name == scope:
        is_copy = parameters is not None and count == 1 and _is_reference_to(scope, parameters[0])
        return CallForm(scope, "construct", count, is_copy=is_copy)
    if count is None and (alias := _HEADER_ALIAS.fullmatch(own_name)):
        return CallForm(next(filter(None, alias.groups())), "call", None)
    return CallForm(own_name, "call", count)


def _is_reference_to(class_name: str, parameter: str) -> bool:
    """Whether the type of a parameter is a reference to a class, with any template arguments."""
    copied = _COPIED_TYPE.fullmatch(parameter)
    parts = parse_name(copied[1]).parts if copied is not None else ()
    return bool(parts) and _remove_basic("std", parts[-1].text) == _remove_basic("std", class_name)


def _remove_basic(namespace: str, name: str) -> str:
    """The name of a standard class as written: `stringstream` for `basic_stringstream`."""
    return _BASIC.sub(r"\1", name) if namespace == "std" else name


Candidate = tuple[str, Definition]

_MAX_NAMESAKES = 12  # a name that more functions share is not evidence
_MAX_MACROS = 256  # macros expanded for one name
_MAX_BODY_LINES = 400  # lines; compilers inline only functions of at most this length
_CALL_PATTERN = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^<>(){};]*>)?\s*[({]")
_MACRO_WITHOUT_ARGUMENTS = re.compile(r"\b[A-Z]\w*\b(?!\s*\()")


class _CalledNames(NamedTuple):
    """Called names, and the subset that are not macro names."""

    names: frozenset[str]
    function_names: tuple[str, ...]


def read_source(path: str) -> bytes:
    """Return the text of a source file; empty if it is unreadable."""
    try:
        return read_regular(Path(path))
    except OSError:
        return b""


class FunctionBodies:
    """The calls in source files. Caches everything that it reads, so use one object per task."""

    def __init__(
        self,
        definitions: Callable[[str], Sequence[Candidate]],
        written_in: Callable[[str], Mapping[Span, Sequence[WrittenCall]]],
        calls_in_bodies: Callable[[str, bool, int, int], Sequence[Counter[str]]] | None = None,
        read: Callable[[str], bytes] = read_source,
    ) -> None:
        """`definitions` returns the C++ definitions with a short name, `written_in` the calls of a file by function.

        `calls_in_bodies(name, is_member, most, longest)` replaces both. It returns, for each function or macro with
        this name, the called names and their counts. It skips functions with more than `longest` lines, and returns
        nothing if more than `most` definitions share the name. `is_member` excludes free functions. `read` returns the
        text with the lines of the definitions in a local file; empty if there is none.
        """
        self._definitions, self._written_in = definitions, written_in
        self._calls_in_bodies = calls_in_bodies or self._find_calls_in_bodies
        self._calls_by_file: dict[str, Mapping[Span, Sequence[WrittenCall]]] = {}
        self._names: dict[tuple[str, bool], Sequence[Counter[str]]] = {}
        self._names_by_body: dict[tuple[str, bool], _CalledNames] = {}
        self._reached: dict[tuple[str, bool, str, int], bool] = {}
        self._counts: dict[tuple[str, bool, str, int], int] = {}
        self._read_lines = lru_cache(maxsize=256)(lambda path: decode_text(read(path)).split("\n"))

    def calls_in_file(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function; empty if the file is unreadable."""
        if path not in self._calls_by_file:
            self._calls_by_file[path] = self._written_in(path)
        return self._calls_by_file[path]

    def find_opening_line(self, path: str, span: Span) -> int:
        """The line of a function's opening brace; its first line if the text is missing."""
        first, last = span
        lines = enumerate(self._read_lines(path)[first - 1 : last] if is_local(path) else (), first)
        return next((number for number, line in lines if "{" in line), first)

    def reaches(self, site: WrittenCall, called: CallForm, hops: int) -> int:
        """Count how often the callee at `site` calls `called`, directly or through at most `hops - 1` other functions.

        Among functions with one name, the one with the most calls counts. An indirect call counts as 1; 0 means no
        call.
        """
        key = site.callee, site.is_member, called.name, hops
        if key not in self._counts:
            bodies = self._find_bodies(site.callee, site.is_member)
            direct = max((body[called.name] for body in bodies), default=0)
            self._counts[key] = direct or int(self._reaches(*key))
        return self._counts[key]

    def _reaches(self, name: str, is_member: bool, called_name: str, hops: int) -> bool:
        within = self._names_within(name, is_member)
        if hops == 1 or called_name in within.names:
            return called_name in within.names
        key = name, is_member, called_name, hops
        if key not in self._reached:
            self._reached[key] = any(
                self._reaches(inner, False, called_name, hops - 1) for inner in within.function_names
            )
        return self._reached[key]

    def _names_within(self, name: str, is_member: bool) -> _CalledNames:
        """The names called by functions and macros with this name.

        Calls of macros are expanded and do not count as hops.
        """
        key = name, is_member
        if key not in self._names_by_body:
            called = dict.fromkeys(nested for body in self._find_bodies(name, is_member) for nested in body)
            macros = list(filter(is_macro, called))
            for macro in islice(macros, _MAX_MACROS):  # expansions extend the list
                nested = dict.fromkeys(
                    each for body in self._find_bodies(macro, False) for each in body if each not in called
                )
                called |= nested
                macros += filter(is_macro, nested)
            self._names_by_body[key] = _CalledNames(
                frozenset(called), tuple(each for each in called if each != name and not is_macro(each))
            )
        return self._names_by_body[key]

    def _find_bodies(self, name: str, is_member: bool) -> Sequence[Counter[str]]:
        """The called names and their counts for each function with this name; member calls exclude free functions."""
        key = name, is_member
        if key not in self._names:
            found = self._calls_in_bodies(name, is_member, _MAX_NAMESAKES, _MAX_BODY_LINES)
            self._names[key] = [*found, standard] if (standard := count_calls_in_standard_body(name)) else found
        return self._names[key]

    def _find_calls_in_bodies(self, name: str, is_member: bool, limit: int, longest: int) -> Sequence[Counter[str]]:
        found = self._find_destructors(name) if name.startswith("~") else self._find_definitions(name, is_member)
        return [self._count_calls_in(name, *candidate, longest) for candidate in found] if len(found) <= limit else []

    def _find_definitions(self, name: str, is_member: bool) -> list[Candidate]:
        kinds = callable_kinds(is_member) | {"class"}
        return [c for c in self._definitions(name) if c[1].kind in kinds and "::~" not in c[1].name]

    def _find_destructors(self, name: str) -> list[Candidate]:
        """The destructors with this name, and the classes they belong to, because these destroy their members."""
        found = self._definitions(name[1:])
        return [c for c in found if c[1].kind == "class" or (c[1].kind == "method" and c[1].name.endswith(f"::{name}"))]

    def _count_calls_in(self, name: str, path: str, definition: Definition, longest: int) -> Counter[str]:
        if definition.end_line - definition.line > longest:
            return Counter()
        if not is_local(path):
            calls = self.calls_in_file(path).get((definition.line, definition.end_line), ())
            return Counter(call.callee for call in calls)
        lines = self._read_lines(path)
        if definition.kind == "class":
            members = count_member_types(_join_lines(lines, definition).encode())
            return Counter(f"~{each}" for each in members) if name.startswith("~") else members
        return count_called_names(lines, definition) + count_implicit_names(
            _join_lines(lines, definition).encode(), definition
        )


def build_bodies(
    definitions: Callable[[str, str], Sequence[Candidate]],
    definitions_in: Callable[[str], Sequence[Definition]],
    read: Callable[[str], bytes] = read_source,
) -> FunctionBodies:
    """The calls in indexed sources.

    `definitions` returns the definitions with a short name in a language, `definitions_in` those of a file, with calls.
    `read` is as in `FunctionBodies`.
    """
    return FunctionBodies(
        lambda name: definitions(name, "cpp"),
        lambda path: find_calls_in_file(path, definitions_in(path), read),
        read=read,
    )


def find_calls_in_file(
    path: str, definitions: Sequence[Definition], read: Callable[[str], bytes] = read_source
) -> Mapping[Span, Sequence[WrittenCall]]:
    """The calls of a file with these definitions: from its text if the file is local, else from the definitions."""
    return written_calls(read(path), definitions) if is_local(path) else find_calls_from_map(definitions)


def count_called_names(lines: Sequence[str], definition: Definition) -> Counter[str]:
    """The names that look like calls in the lines of a definition, with counts, without its own name."""
    body = _join_lines(lines, definition)
    own_name = shorten(tuple(definition.name.split("::")))
    names = _CALL_PATTERN.findall(body)
    if definition.kind == "macro":
        names += filter(is_macro, _MACRO_WITHOUT_ARGUMENTS.findall(body))
    return Counter(name for name in names if name not in _KEYWORDS and name != own_name)


def _join_lines(lines: Sequence[str], definition: Definition) -> str:
    return "\n".join(lines[definition.line - 1 : definition.end_line])


_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "decltype", "catch", "alignof", "defined"))
