"""The metadata of a recorded run: capture.json, whose text the index stores.

Only this module accesses its keys, which docs/reference/capture-format.md describes. Unknown keys are ignored. A value
that is missing, or not of the type that the recorder writes, becomes None or empty.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LaunchInfo:
    """The data that `framedex run` adds to a capture: an id of the run, and the program's arguments.

    `cell` is the recorded notebook cell, None for a program. `packages` has the program's installed versions of Python,
    jax, jaxlib and torch_xla.
    """

    run: str | None = None
    arguments: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    cell: str | None = None


@dataclass(frozen=True, slots=True)
class ImportOrigin:
    """The origin of a capture that `framedex import` stored: another recorder's file, or a shared capture.

    `format` is the name of the file format, `origin` the path of the file, `content` its SHA-256 in hex. `value` is the
    sample value that the user chose as the weight of the profile; None without a choice. `folders` are possible bases
    of relative file names. `is_of_samples`: its calls are samples, as in all formats except shared captures.
    """

    format: str
    origin: str
    content: str
    value: str | None = None
    folders: tuple[str, ...] = ()
    is_of_samples: bool = field(default=True, compare=False)


SHARED_FORMAT = "framedex share"
"""The format that `framedex share` writes: a capture of framedex's own."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The circumstances of a recorded process. `text` is the complete record, as JSON.

    `started_unix_ns` and `started_clock_ns` are the start of the recording, on the wall clock and on CLOCK_MONOTONIC.
    `folder` is the folder in which the capture was made, None if an earlier recorder made it. `python_problem` is a
    sentence that says why no Python frames were recorded. `selected_by` has the variables that restricted the recorded
    calls, empty if all were recorded. `launch` is None for a program started without `framedex run`, `foreign` for
    framedex's own recordings. `job` has the environment variables of the job, by name. `ended_by` is the name of the
    signal that killed the program (`SIGSEGV`), None if the program exited or if unknown.
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
    launch: LaunchInfo | None = None
    selected_by: tuple[str, ...] = ()
    foreign: ImportOrigin | None = None
    job: Mapping[str, str] = field(default_factory=dict)
    ended_by: str | None = None
    text: str = field(default="{}", repr=False)

    @property
    def command(self) -> str:
        """The recorded command as typed: the program, or the cell of a notebook."""
        cell = self.launch.cell if self.launch is not None else None
        return cell or shlex.join(self.argv)

    @classmethod
    def parse(cls, text: str) -> Metadata:
        """Parse capture.json. Raises ValueError if the text is not JSON."""
        fields = _parse_object(text)
        return cls(
            format=_parse_string(fields.get("format")),
            version=_parse_integer(fields.get("version")),
            started_unix_ns=_parse_integer(fields.get("started_unix_ns")),
            started_clock_ns=_parse_integer(fields.get("started_clock_ns")),
            pid=_parse_integer(fields.get("pid")),
            argv=_parse_strings(fields.get("argv")),
            cwd=_parse_string(fields.get("cwd")),
            folder=_parse_string(fields.get("folder")),
            host=_parse_string(fields.get("host")),
            python=_parse_string(fields.get("python")),
            python_problem=_parse_string(fields.get("python_problem")),
            launch=_parse_launch(fields.get("launcher")),
            selected_by=_parse_strings(fields.get("selected_by")),
            foreign=_parse_foreign(fields.get("foreign")),
            job=_parse_mapping(fields.get("job")),
            ended_by=_parse_string(fields.get("ended_by")),
            text=text,
        )


def _parse_launch(value: object) -> LaunchInfo | None:
    """Parse the launcher's data: JSON, which the recorder stores as a string."""
    fields = {}
    with suppress(ValueError):
        fields = _parse_object(value) if isinstance(value, str) else {}
    if not fields:
        return None
    return LaunchInfo(
        run=_parse_string(fields.get("run")),
        arguments=_parse_strings(fields.get("arguments")),
        cell=_parse_string(fields.get("cell")),
        packages=_parse_mapping(fields.get("packages")),
    )


def _parse_foreign(value: object) -> ImportOrigin | None:
    fields = value if isinstance(value, dict) else {}
    form, origin, content = (_parse_string(fields.get(key)) for key in ("format", "origin", "content"))
    if form is None or origin is None or content is None:
        return None
    is_of_samples = fields.get("is_of_samples") is not False
    return ImportOrigin(
        form, origin, content, _parse_string(fields.get("value")), _parse_strings(fields.get("folders")), is_of_samples
    )


def _parse_object(text: str) -> dict[str, Any]:
    """The members of a JSON object; empty for other JSON values. Raises ValueError if the text is not JSON."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value if isinstance(value, dict) else {}


def _parse_integer(value: object) -> int | None:
    """A non-negative integer below 2**63, as the recorder writes; otherwise None."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _parse_string(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _parse_strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _parse_mapping(value: object) -> dict[str, str]:
    return {str(name): str(fields) for name, fields in value.items()} if isinstance(value, dict) else {}
