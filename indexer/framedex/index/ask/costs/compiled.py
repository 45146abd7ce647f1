"""Compilations in the index: the calls, their functions, and the inputs that distinguish them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from framedex.index.ask.costs.changes import Compiled
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.installed import is_installed
from framedex.index.read.rows import Reader
from framedex.model import Noted, Parameter, Signature
from framedex.model.programs import plain_name
from framedex.programs.notes import note_from_fields

_LOADED = "it was loaded as an executable"  # the prefix of a load's problem

_Read = TypeVar("_Read")

Content = tuple[int | None, int | None, int | None]
"""The inputs of a compilation: row ids of its program, options and note."""


class Made(NamedTuple):
    """A call that compiled or loaded an executable, or failed to; row ids, durations in ns."""

    call: int
    capture: int
    program: int | None
    options: int | None
    noted: int | None
    duration: int
    error: int
    stack: int
    problem: str

    @property
    def is_load(self) -> bool:
        """Whether it loaded an executable without compiling."""
        return self.program is None and self.problem.startswith(_LOADED)

    @property
    def content(self) -> Content:
        """The row ids of its inputs."""
        return self[2:5]


@dataclass(frozen=True, slots=True)
class Function:
    """A jitted function: its name, and its place, which distinguishes it from others of that name; empty if unknown."""

    name: str
    place: str


def all_made(reader: Reader) -> list[Made]:
    """Return the calls in order."""
    rows = reader.rows(
        "SELECT x.call, x.capture, x.program, x.options, x.noted, c.duration, k.error, k.stack, x.problem"
        " FROM compilations x JOIN call_rows c ON c.id = x.call JOIN call_kinds k ON k.id = c.kind"
        f" WHERE 1{reader.scope.counted('x')} ORDER BY x.call"
    )
    return [Made._make(row) for row in rows]


def functions(reader: Reader, made: Iterable[Made]) -> dict[tuple[int | None, int | None], Function]:
    """Return the functions by (program, note).

    A note for the program itself takes precedence. Installed functions, such as JAX's own, get their place from their
    ops only, because they are called from everywhere.
    """
    pairs = {(each.program, each.noted) for each in made}
    query = f"SELECT id, name, function, defined FROM programs WHERE id {IN_JSON}"
    programs = {program: of for program, *of in reader.rows(query, _ids(program for program, _ in pairs))}
    notes = _texts(reader, (noted for _, noted in pairs), _noted)
    alike: dict[tuple[str, str, str, int | None], Function] = {}  # cached because many programs share a function
    found = {}
    for program, number in pairs:
        module, name, place = programs.get(program, ("", "", ""))
        key = module, name, place, number
        if key not in alike:
            alike[key] = _function(name, place, notes.get(number), module if program is not None else None)
        found[program, number] = alike[key]
    return found


def _function(name: str, place: str, noted: Noted | None, module: str | None) -> Function:
    if noted is None or not noted.function or not _is_of(noted, module):
        return Function(name, place)
    is_of_package = is_installed(noted.defined) and not noted.defined.startswith("<")  # `<stdin>:3` is a place
    return Function(name or noted.function, place if is_of_package else noted.defined)


def contents(reader: Reader, keys: Collection[Content]) -> dict[Content, Compiled]:
    """Return the data of compilations by their inputs."""
    query = f"SELECT id, name, signature FROM programs WHERE id {IN_JSON}"
    names: dict[int | None, str] = {}
    signatures: dict[int | None, Signature] = {}
    for program, name, text in reader.rows(query, _ids(program for program, _, _ in keys)):
        names[program] = name
        if text is not None:
            signatures[program] = _signature(text)
    notes = _texts(reader, (noted for _, _, noted in keys), _noted)
    options = _texts(reader, (options for _, options, _ in keys), json.loads)
    found = {}
    for program, of_options, number in keys:
        noted = notes.get(number)
        if noted is not None and not _is_of(noted, names.get(program)):
            noted = None
        found[program, of_options, number] = Compiled(signatures.get(program), noted, options.get(of_options))
    return found


def _is_of(noted: Noted, module: str | None) -> bool:
    """Whether a note belongs to a program (None: unknown); JAX may note one and then compile others."""
    return module is None or plain_name(noted.name) == plain_name(module)


def _texts(reader: Reader, numbers: Iterable[int | None], read: Callable[[str], _Read]) -> Mapping[int | None, _Read]:
    rows = reader.rows(f"SELECT id, text FROM compile_texts WHERE id {IN_JSON}", _ids(numbers))
    return {number: read(text) for number, text in rows}


def _ids(numbers: Iterable[int | None]) -> str:
    return json_list(sorted({number for number in numbers if number is not None}))


def _signature(text: str) -> Signature:
    told = json.loads(text)
    return Signature(
        arguments=tuple(Parameter(**each) for each in told.pop("arguments")),
        results=tuple(Parameter(**each) for each in told.pop("results")),
        constants=tuple(told.pop("constants")),
        **told,
    )


def _noted(text: str) -> Noted:
    return note_from_fields(json.loads(text))
