"""Source files, the definitions and calls in them, and the symbol at an address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.locations import Location
    from framedex.model.rows import FunctionRow
import json


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in a definition; line and column (in bytes) are 1-based.

    They are the position of the last component of the callee's name. `callee` is that name, without template arguments;
    `written` is the full text if it has more and is short. The values of `kind`:
    - `call`, `operator`
    - `argument`: a type as the template argument of a call, such as `Foo` of `std::make_unique<Foo>()`
    - `new`, `braces`, `variable`: `new Foo`, `Foo{}`, `Foo foo`
    - `initializer`: of a constructor
    """

    line: int
    column: int
    kind: str
    callee: str
    written: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition in a source file. Lines are 1-based and inclusive.

    `name` is the qualified name with `::` (C++; `(anonymous namespace)` for an unnamed one) or `.` (Python, like
    `__qualname__`, with `<locals>`). `parameters` is the parameter list as written, None without one.

    The values of `kind`:
    - `function`, `method`, `class`, `lambda`, `declaration`
    - `initializer`, `module`: code that runs when a C++ or Python file is loaded
    - `message`, `enum`, `service`, `record`: sources of generated C++
    """

    name: str
    kind: str
    parameters: str | None
    line: int
    end_line: int
    is_const: bool = False
    calls: tuple[CallSite, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A parsed source file. `modified` is mtime in ns, `size` in bytes; `problems` are sentences."""

    path: str
    language: str  # cpp, python, protobuf, tablegen
    modified: int
    size: int
    definitions: tuple[Definition, ...] = field(default=())
    problems: tuple[str, ...] = ()


GENERATOR_LANGUAGES = ("protobuf", "tablegen")
"""The languages from which C++ is generated: their definitions are classes whose code is in no tree."""


DefinitionRow = tuple[str, str, str, str | None, int, int, bool, bool, str | None]
"""A stored definition: name, lookup key, kind, parameters, first and last line, is const, has a syntax error, calls.

Calls are JSON (`[[line, column, kind, callee, written], ...]`).
"""


@dataclass(frozen=True, slots=True)
class ExtractedFile:
    """The definitions of a source file when it was read, ready for the index.

    `modified` is mtime in ns, `size` in bytes, `content` a hash of the bytes. `errors` is the number of syntax errors,
    `problems` are sentences.
    """

    path: str
    language: str
    modified: int
    size: int
    content: int
    errors: int
    definitions: Sequence[DefinitionRow]
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A result of a search for a name.

    `name` is qualified. `kind` is the kind of its `Definition`. For recorded results it is `function`, `boundary` for a
    boundary function, or `target` for an FFI target. `function` is the recorded function. If several are at one
    location, as for a template, it is the one with the most calls. `call` is the latest call of a boundary function or
    target.
    """

    name: str
    kind: str
    location: Location | None
    end_line: int
    function: FunctionRow | None = None
    call: int | None = None


@dataclass(frozen=True, slots=True)
class NativeSymbol:
    """A function at one address of a binary: one entry per inlined function, innermost first; the last is not inlined.

    `symbol` is the demangled name from the demangler; `name` is the short readable form (no parameters, long template
    arguments elided). `unit` is the translation unit's file name from STT_FILE, None if unknown. `path` and `line` come
    from DWARF (None, 0 without it).
    """

    name: str
    symbol: str
    mangled: str
    path: str | None
    line: int
    inlined: bool
    unit: str | None


def parse_call_sites(text: str | None) -> tuple[CallSite, ...]:
    """Parse calls from the extractor's JSON; empty for None."""
    return tuple(CallSite(*site) for site in json.loads(text)) if text else ()
