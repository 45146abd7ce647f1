"""The inputs of compilations as the index has them: programs, options, and JAX's notes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from framedex.index.ask.costs.changes import CompilationFacts
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader
from framedex.model import CompileNote, Parameter, Signature
from framedex.model.programs import REST_OF_ARGUMENTS, to_module_name
from framedex.programs.notes import build_note

_IDENTITY = re.compile(r" #[0-9a-f]{6}\b")
_LOADED = "it was loaded as an executable"  # the prefix of a load's problem

_Read = TypeVar("_Read")

Content = tuple[int | None, int | None, int | None]
"""The inputs of a compilation: row ids of its program, options and note."""


class CompileCall(NamedTuple):
    """A call that compiled or loaded an executable, or failed to; row ids, durations in ns."""

    call: int
    capture: int
    program: int | None
    options: int | None
    note: int | None
    duration: int
    error: int
    stack: int
    problem: str

    @property
    def is_load(self) -> bool:
        """Whether the call loaded an executable without compiling."""
        return self.program is None and self.problem.startswith(_LOADED)

    @property
    def content(self) -> Content:
        """The row ids of the inputs."""
        return self[2:5]


def read_compile_calls(reader: Reader) -> list[CompileCall]:
    """Return the calls that compiled or loaded an executable, in the captures of the reader's scope, in order."""
    rows = reader.rows(
        "SELECT x.call, x.capture, x.program, x.options, x.noted, c.duration, k.error, k.stack, x.problem"
        " FROM compilations x JOIN call_rows c ON c.id = x.call JOIN call_kinds k ON k.id = c.kind"
        f" WHERE 1{reader.scope.build_capture_condition('x')} ORDER BY x.call"
    )
    return [CompileCall._make(row) for row in rows]


def read_contents(reader: Reader, keys: Collection[Content]) -> dict[Content, CompilationFacts]:
    """Return the data of compilations by their inputs."""
    query = f"SELECT id, name, signature FROM programs WHERE id {IN_JSON}"
    names: dict[int | None, str] = {}
    signatures: dict[int | None, Signature] = {}
    for program, name, text in reader.rows(query, to_id_list(program for program, _, _ in keys)):
        names[program] = name
        if text is not None:
            signatures[program] = _parse_signature(text)
    notes = read_texts(reader, (noted for _, _, noted in keys), parse_note)
    options = read_texts(reader, (options for _, options, _ in keys), json.loads)
    found = {}
    for program, of_options, number in keys:
        noted = notes.get(number)
        if noted is not None and not is_note_of_program(noted, names.get(program)):
            noted = None
        found[program, of_options, number] = CompilationFacts(signatures.get(program), noted, options.get(of_options))
    return found


def is_note_of_program(noted: CompileNote, module: str | None) -> bool:
    """Whether a note belongs to a program (None: unknown); JAX may note one program and then compile others."""
    return module is None or to_module_name(noted.name) == to_module_name(module)


def read_texts(
    reader: Reader, numbers: Iterable[int | None], read: Callable[[str], _Read]
) -> Mapping[int | None, _Read]:
    """Return the parsed texts by their row ids."""
    rows = reader.rows(f"SELECT id, text FROM compile_texts WHERE id {IN_JSON}", to_id_list(numbers))
    return {number: read(text) for number, text in rows}


def to_id_list(numbers: Iterable[int | None]) -> str:
    """Return the distinct row ids as a JSON list."""
    return build_json_list(sorted({number for number in numbers if number is not None}))


def _parse_signature(text: str) -> Signature:
    fields = json.loads(text)
    return Signature(
        arguments=tuple(Parameter(**each) for each in fields.pop("arguments")),
        results=tuple(Parameter(**each) for each in fields.pop("results")),
        constants=tuple(fields.pop("constants")),
        object_ids=tuple(fields.pop("object_ids", ())),  # indexes of earlier releases lack them
        **fields,
    )


def parse_note(text: str) -> CompileNote:
    """Return the note in a stored text."""
    return build_note(json.loads(text))


def remove_identity(value: str) -> str:
    """Remove the process-specific object identity from a static argument: `Config` for `Config #87b1fd`."""
    return _IDENTITY.sub("", value)


def remove_identities(known: CompilationFacts) -> CompilationFacts:
    """Remove the facts that hold within one process: object identities, function objects and their lines."""
    noted = known.note
    if noted is None:
        return known
    statics = tuple((name, remove_identity(value)) for name, value in noted.statics)
    keys = noted.keys
    if keys is not None:
        lasting = ((kind, subject, value) for kind, subject, value in keys if (kind, subject) != REST_OF_ARGUMENTS)
        keys = tuple((kind, subject, remove_identity(value)) for kind, subject, value in lasting if kind != "function")
    return replace(known, note=replace(noted, defined="", statics=statics, keys=keys))
