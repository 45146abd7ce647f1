"""Source files, their definitions and calls, and the state of what was read of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class SourceMapInfo:
    """What a source map is of, and what made it.

    `repository` is the public address of a repository, without the ending `.git`; None if there is none. `commit` is a
    full commit id. `is_dirty`: it was made from files that were not those of the commit. `tool` is the version of
    framedex.
    """

    component: str
    repository: str | None
    commit: str
    is_dirty: bool
    tool: str

    @property
    def prefix(self) -> str:
        """What stands before the paths of its files, which no local path begins with: `xla@5a9e73cbd929:`."""
        return f"{self.component}@{self.commit[:12]}{'+changes' if self.is_dirty else ''}:"


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
class SourceRoot:
    """A source folder and how many files of it have been read."""

    path: str
    files: int


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


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """The source files of one language in the index.

    `with_errors` counts the files that the grammar could not read everywhere, `broken` the definitions that are touched
    by that; `calling` the definitions whose calls are known.
    """

    language: str
    files: int
    with_errors: int
    definitions: int
    broken: int
    calling: int


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something that is wrong with several source files, or folders: how many, and the paths of a few.

    `message` leaves out the numbers in which they differ; `unit` is what is counted.
    """

    message: str
    count: int
    examples: tuple[str, ...]
    unit: str = "file"


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How well the source trees are known: their folders, what was read of each language, and the problems met.

    `maps` are the source maps that stand beside them.
    """

    roots: tuple[str, ...]
    totals: tuple[SourceTotals, ...]
    macros: int
    problems: tuple[SourceProblem, ...]
    maps: tuple[SourceMapInfo, ...] = ()
