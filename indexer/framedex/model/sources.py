"""Source files, and the definitions and calls in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.places import Location
    from framedex.model.rows import FunctionRow


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place in a definition where something is called; line and column (in bytes) are 1-based.

    They are those of the last name of what is called, which is `callee` (template arguments left out); `written` is all
    of it where that is more and short. `kind` is `call`; `argument` (a type for which a template is called: `Foo` of
    `std::make_unique<Foo>()`); `new`, `braces` or `variable` (`new Foo`, `Foo{}`, `Foo foo`); `initializer` (of a
    constructor); `operator`.
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
    `__qualname__`, with `<locals>`); `parameters` the parameter list as written, None where there is none.

    `kind` is `function`, `method`, `class`, `lambda`, `declaration`; `initializer` or `module` for what runs when a C++
    or a Python file is loaded; `message`, `enum`, `service` or `record` for what C++ is generated from.
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


GENERATING = ("protobuf", "tablegen")
"""The languages that C++ is generated from: their definitions are classes whose code is in no tree."""


DefinitionRow = tuple[str, str, str, str | None, int, int, bool, bool, str | None]
"""A definition as the index stores it: name, key to look it up by, kind, parameters, first and last line, whether it
is const, whether a syntax error is in it, and its calls as JSON (`[[line, column, kind, callee, written], ...]`)."""


@dataclass(frozen=True, slots=True)
class ExtractedFile:
    """A source file as it was when it was read, ready for the index.

    `modified` is mtime in ns, `size` in bytes, `content` a hash of the bytes; `errors` is the number of places that the
    grammar could not read, `problems` are sentences.
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
    """Something that a search for a name found.

    `name` is qualified. `kind` is that of its `Definition`; `function` for all that was recorded, but `boundary` for a
    function of a boundary and `target` for an FFI target. `function` is the recorded one, of several in one place (as
    of a template) the one with most calls; `call` is the latest call of a boundary function or a target.
    """

    name: str
    kind: str
    location: Location | None
    end_line: int
    function: FunctionRow | None = None
    call: int | None = None
