"""What a capture says of the run that it records: capture.json, of which the index keeps the text.

Both are read here and nowhere else by their keys, which docs/reference/capture-format.md describes. Keys not known are
ignored; a value that is missing, or of another type than the recorder writes, is None or empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Launch:
    """What `framedex run` wrote into the capture: an id of this run of it, and the program's arguments.

    `cell` is the one of a notebook that was recorded, None for a program. `packages` has the versions that the program
    found: of Python, jax, jaxlib and torch_xla, where it has them.
    """

    run: str | None = None
    arguments: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    cell: str | None = None


@dataclass(frozen=True, slots=True)
class Foreign:
    """What another recorder wrote, or what somebody shared, and `framedex import` has kept.

    `format` is the name of the file's format, `origin` where the file was, `content` its SHA-256 in hex, and `value`
    the name of the value that the profile is weighed by where somebody chose one. `folders` are those in which relative
    names of files may begin. `is_of_samples`: what counts as calls are samples, as everywhere but in shared captures.
    """

    format: str
    origin: str
    content: str
    value: str | None = None
    folders: tuple[str, ...] = ()
    is_of_samples: bool = field(default=True, compare=False)


SHARED = "framedex share"
"""The format of what `framedex share` writes: a capture of framedex's own."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """How, when and where a recorded process ran. `text` is all that was recorded of that, as JSON.

    `started_unix_ns` and `started_clock_ns` are the moment at which the recording began, on the wall clock and on
    CLOCK_MONOTONIC. `folder` is where the capture was made, None where an earlier recorder made it. `python_problem`
    says in a sentence why no Python frames were recorded; `selected_by` has the variables by which calls were selected,
    and is empty where all are there. `launch` is None for a program that was started without `framedex run`, `foreign`
    for what framedex recorded itself. `job` has what the environment said of the job that the process was part of, by
    the names of its variables. `ended_by` is the name of the signal that ended the program (`SIGSEGV`), None where it
    ended by itself, or where nothing tells.
    """

    format: str | None = None
    version: int | None = None
    started_unix_ns: int | None = None
    started_clock_ns: int | None = None
    pid: int | None = None
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    folder: str | None = None
    host: str | None = None
    python: str | None = None
    python_problem: str | None = None
    launch: Launch | None = None
    selected_by: tuple[str, ...] = ()
    foreign: Foreign | None = None
    job: Mapping[str, str] = field(default_factory=dict)
    ended_by: str | None = None
    text: str = field(default="{}", repr=False)

    @classmethod
    def parse(cls, text: str) -> Metadata:
        """What a text in JSON says. Raises ValueError where it is no JSON."""
        told = _members(text)
        return cls(
            format=_text(told.get("format")),
            version=_number(told.get("version")),
            started_unix_ns=_number(told.get("started_unix_ns")),
            started_clock_ns=_number(told.get("started_clock_ns")),
            pid=_number(told.get("pid")),
            argv=_texts(told.get("argv")),
            cwd=_text(told.get("cwd")),
            folder=_text(told.get("folder")),
            host=_text(told.get("host")),
            python=_text(told.get("python")),
            python_problem=_text(told.get("python_problem")),
            launch=_launch(told.get("launcher")),
            selected_by=_texts(told.get("selected_by")),
            foreign=_foreign(told.get("foreign")),
            job=_by_name(told.get("job")),
            ended_by=_text(told.get("ended_by")),
            text=text,
        )


def _launch(value: object) -> Launch | None:
    """What the launcher wrote: JSON, which the recorder keeps as a text."""
    told = {}
    with suppress(ValueError):
        told = _members(value) if isinstance(value, str) else {}
    if not told:
        return None
    return Launch(
        run=_text(told.get("run")),
        arguments=_texts(told.get("arguments")),
        cell=_text(told.get("cell")),
        packages=_by_name(told.get("packages")),
    )


def _foreign(value: object) -> Foreign | None:
    told = value if isinstance(value, dict) else {}
    form, origin, content = (_text(told.get(key)) for key in ("format", "origin", "content"))
    if form is None or origin is None or content is None:
        return None
    is_of_samples = told.get("is_of_samples") is not False
    return Foreign(form, origin, content, _text(told.get("value")), _texts(told.get("folders")), is_of_samples)


def _members(text: str) -> dict[str, Any]:
    """The members of a JSON object; what is another kind of JSON has none. Raises ValueError where it is no JSON."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int | None:
    """A whole number as the recorder writes them, of 63 bits."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _by_name(value: object) -> dict[str, str]:
    return {str(name): str(told) for name, told in value.items()} if isinstance(value, dict) else {}
