"""A recording in one file: a plan with its programs, contents and lines, as a ZIP archive.

`recording.json` has the plan's text and what a capture adds to it. `framedex reduce` and `framedex replay -o` write
such files. They are foreign bytes: a damaged one raises DamagedRecordingError, and nothing is written outside of the
given folder. An entry is named after its content, so the name also limits its size.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from framedex.base.untrusted import MAX_RATIO, UntrustedArchive, parse_json
from framedex.captures import (
    read_content_size,
    read_stored_buffer,
    read_stored_program,
    write_stored_buffer,
    write_stored_program,
)
from framedex.model import Location, LocationEvidence, PythonLine
from framedex.plugins.replay.plan import (
    NO_OBJECT,
    UNKNOWN,
    Action,
    HandlerResult,
    Machine,
    Operation,
    Plan,
)

_FORMAT, _VERSION = "framedex-recording", 1
_DESCRIPTION, _PROGRAMS, _BUFFERS = "recording.json", "programs/", "buffers/"
_MAX_DESCRIPTION_BYTES = 64 << 20
_MAX_DEVICES = 1 << 16


class DamagedRecordingError(Exception):
    """A file is not a recording, or is damaged."""


class LinesOfCalls(Protocol):
    """The functions and lines of calls, by row."""

    def function(self, row: int) -> str:
        """Return the name of a call's function."""
        ...

    def line(self, row: int) -> PythonLine | None:
        """Return the line of a call; None if unknown."""
        ...


@dataclass(frozen=True, slots=True)
class StoredLines:
    """The functions and lines of a recording's calls."""

    calls: Mapping[int, tuple[str, PythonLine | None]]

    def function(self, row: int) -> str:
        """Return the name of a call's function."""
        return self.calls.get(row, ("", None))[0]

    def line(self, row: int) -> PythonLine | None:
        """Return the line of a call; None if unknown."""
        return self.calls.get(row, ("", None))[1]


def write_recording(file: IO[bytes], plan: Plan, lines: LinesOfCalls, command: str, seed: int) -> None:
    """Write a plan to a file. `seed` determines contents that were not recorded."""
    description = {
        "format": _FORMAT,
        "version": _VERSION,
        "command": command,
        "seed": seed,
        "machine": [plan.machine.kind, plan.machine.devices],
        "plan": [*(each.text() for each in plan.handler_results), *(each.text() for each in plan.operations)],
        "reads": plan.reads,
        "programs": plan.programs,
        "calls": {row: _describe_call(lines, row) for row in {each.row for each in plan.operations} if row >= 0},
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_DESCRIPTION, json.dumps(description))
        for name in _list_stored_programs(plan):
            _write_entry(archive, _PROGRAMS + name, read_stored_program(plan.capture, name))
        for name in _list_stored_buffers(plan):
            _write_entry(archive, _BUFFERS + name, read_stored_buffer(plan.capture, name))


def _write_entry(archive: zipfile.ZipFile, name: str, content: bytes | None) -> None:
    """Write a content. Content that compresses like a zip bomb, such as zeros, is stored uncompressed."""
    if content is not None:
        is_dense = len(zlib.compress(content, 1)) * MAX_RATIO < len(content)
        archive.writestr(name, content, zipfile.ZIP_STORED if is_dense else zipfile.ZIP_DEFLATED)


def read_recording(path: Path, folder: Path) -> tuple[Plan, StoredLines, str, int]:
    """Read a file: its plan, whose capture is `folder`, the lines, the recorded command, and the seed.

    Raises DamagedRecordingError, and OSError if the file or the folder fails.
    """
    try:
        archive = UntrustedArchive(path, _DESCRIPTION, f"it has no {_DESCRIPTION}", _max_bytes)
        description = parse_json(archive.read(_DESCRIPTION))
        plan = _parse_plan(description, folder)
        calls = {int(row): _parse_call(call) for row, call in description["calls"].items()}
        for entry, content in archive.read_all(each for each in archive.sizes if each != _DESCRIPTION):
            kind, _, name = entry.rpartition("/")
            if _WRITERS[kind + "/"](folder, content) != name:
                raise ValueError("the content of an entry has changed")
        return plan, StoredLines(calls), str(description["command"]), int(description.get("seed", 0))
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DamagedRecordingError(str(error)) from None


def _max_bytes(entry: str) -> int | None:
    """The maximum size of an entry; None if its name is unknown."""
    kind, _, name = entry.rpartition("/")
    return (
        read_content_size(name) if kind + "/" in _WRITERS else _MAX_DESCRIPTION_BYTES if entry == _DESCRIPTION else None
    )


def _parse_plan(description: Any, folder: Path) -> Plan:
    """Parse the plan of a file.

    Each object must be created once, before its uses: a chain of copies then has an end.
    """
    if (description["format"], description["version"]) != (_FORMAT, _VERSION):
        raise ValueError("another format")
    kind, devices = description["machine"]
    lines = description["plan"]
    answers = tuple(HandlerResult.parse(each) for each in lines if HandlerResult.is_line(each))
    plan = Plan(
        folder,
        Machine(str(kind), int(devices)),
        tuple(Operation.parse(each) for each in lines if not HandlerResult.is_line(each)),
        (),
        {int(row): str(name) for row, name in description["reads"].items()},
        {int(number): str(name) for number, name in description["programs"].items()},
        answers,
    )
    if len({each.row for each in plan.operations}) != len(plan.operations):
        raise ValueError("two operations have the same row")
    created = {NO_OBJECT}
    for each in plan.operations:
        if not created.issuperset(each.inputs) or not created.isdisjoint(each.results):
            raise ValueError("a buffer is used before it is created, or created twice")
        created.update(each.results)
    if (
        not (plan.text() + plan.machine.kind).replace("\n", "").isprintable()
        or not 0 <= plan.machine.devices <= _MAX_DEVICES
    ):
        raise ValueError("its machine or an operand is malformed")
    if any(read_content_size(name) is None for name in (*_list_stored_programs(plan), *_list_stored_buffers(plan))):
        raise ValueError("the name of a content is malformed")
    return plan


_WRITERS = {_PROGRAMS: write_stored_program, _BUFFERS: write_stored_buffer}


def _list_stored_programs(plan: Plan) -> dict[str, None]:
    return dict.fromkeys(
        name for each in plan.operations if each.action is Action.COMPILE for name in each.operands[1:3]
    )


def _list_stored_buffers(plan: Plan) -> dict[str, None]:
    sent = [name for each in plan.operations for name in each.contents]
    return dict.fromkeys(name for name in (*sent, *plan.answer_contents, *plan.reads.values()) if name != UNKNOWN)


def _describe_call(lines: LinesOfCalls, row: int) -> list[Any]:
    line = lines.line(row)
    place = None if line is None else [line.function, line.location.path, line.location.line]
    return [lines.function(row), place]


def _parse_call(call: Any) -> tuple[str, PythonLine | None]:
    function, place = call
    if place is None:
        return str(function), None
    name, path, line = place
    return str(function), PythonLine(str(name), Location(str(path), int(line), LocationEvidence.EXACT), None)
