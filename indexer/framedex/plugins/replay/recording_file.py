"""A recording in one file: a plan with its programs, contents and lines, as a ZIP archive.

`recording.json` has the plan's text and what a capture adds to it. Only `framedex reduce` writes such files. They are
foreign bytes: a damaged one raises DamagedRecordingError, and nothing is written outside of the given folder.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from framedex.captures import read_stored_buffer, read_stored_program, write_stored_buffer, write_stored_program
from framedex.model import Location, LocationEvidence, PythonLine
from framedex.plugins.replay.plan import CONTENT_OF_SEND, UNKNOWN, Action, Machine, Operation, Plan

_FORMAT, _VERSION = "framedex-recording", 1
_DESCRIPTION, _PROGRAMS, _BUFFERS = "recording.json", "programs/", "buffers/"


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


def write_recording(path: Path, plan: Plan, lines: LinesOfCalls, command: str) -> None:
    """Write a plan to a file."""
    description = {
        "format": _FORMAT,
        "version": _VERSION,
        "command": command,
        "machine": [plan.machine.kind, plan.machine.devices],
        "plan": [each.text() for each in plan.operations],
        "reads": plan.reads,
        "programs": plan.programs,
        "calls": {row: _describe_call(lines, row) for row in {each.row for each in plan.operations} if row >= 0},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_DESCRIPTION, json.dumps(description))
        for name in _stored_programs(plan):
            archive.writestr(_PROGRAMS + name, read_stored_program(plan.capture, name) or b"")
        for name in _stored_buffers(plan):
            if (content := read_stored_buffer(plan.capture, name)) is not None:
                archive.writestr(_BUFFERS + name, content)


def read_recording(path: Path, folder: Path) -> tuple[Plan, StoredLines, str]:
    """Read a file: its plan, whose capture is `folder`, the lines and the recorded command.

    Raises DamagedRecordingError.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            description = json.loads(archive.read(_DESCRIPTION))
            if (description["format"], description["version"]) != (_FORMAT, _VERSION):
                raise ValueError("another format")
            kind, devices = description["machine"]
            plan = Plan(
                folder,
                Machine(str(kind), int(devices)),
                tuple(map(Operation.parse, description["plan"])),
                (),
                {int(row): str(name) for row, name in description["reads"].items()},
                {int(number): str(name) for number, name in description["programs"].items()},
                0,
            )
            for entry in archive.namelist():
                if entry.startswith(_PROGRAMS):
                    write_stored_program(folder, archive.read(entry))
                elif entry.startswith(_BUFFERS):
                    write_stored_buffer(folder, archive.read(entry))
            calls = {int(row): _parse_call(call) for row, call in description["calls"].items()}
            return plan, StoredLines(calls), str(description["command"])
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedRecordingError(str(error)) from None
    except (EOFError, NotImplementedError, RuntimeError, OSError) as error:  # of zipfile and zlib
        raise DamagedRecordingError(str(error)) from None


def _stored_programs(plan: Plan) -> dict[str, None]:
    return dict.fromkeys(
        name for each in plan.operations if each.action is Action.COMPILE for name in each.operands[1:3]
    )


def _stored_buffers(plan: Plan) -> dict[str, None]:
    sent = [each.operands[CONTENT_OF_SEND] for each in plan.operations if each.action is Action.SEND]
    return dict.fromkeys(name for name in (*sent, *plan.reads.values()) if name != UNKNOWN)


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
