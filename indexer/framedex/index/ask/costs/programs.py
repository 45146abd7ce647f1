"""The programs compiled by calls, for a comparison of two indexes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from framedex.index.ask.costs.changes import Compiled, changes, steps
from framedex.index.ask.costs.compiled import contents
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader
from framedex.model import Cause, Change

_IDENTITY = re.compile(r" #[0-9a-f]{6}\b")


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """The data of a compilation, and its number of ops by StableHLO kind (`sine`)."""

    known: Compiled
    ops: Mapping[str, int]

    def without_options(self) -> CompiledProgram:
        """Return a copy without compile options."""
        return replace(self, known=replace(self.known, options=None))


def compiled_programs(reader: Reader, calls: Collection[int]) -> dict[int, CompiledProgram]:
    """Return the programs by the calls that compiled them."""
    rows = reader.rows(
        f"SELECT call, program, options, noted FROM compilations WHERE call {IN_JSON}", json_list(sorted(calls))
    )
    keys = {call: (program, options, noted) for call, program, options, noted in rows}
    known = {key: _in_any_process(found) for key, found in contents(reader, set(keys.values())).items()}
    ops: dict[int | None, Counter[str]] = {}
    for program, kind, number in reader.rows(
        "SELECT l.program, o.kind, sum(l.ops) FROM program_lines l JOIN program_ops o ON o.id = l.op"
        f" WHERE l.program {IN_JSON} GROUP BY 1, 2",
        json_list(sorted({program for program, _, _ in keys.values() if program is not None})),
    ):
        ops.setdefault(program, Counter())[kind] = number
    return {call: CompiledProgram(known[key], ops.get(key[0], Counter())) for call, key in keys.items()}


def changes_between(before: CompiledProgram, after: CompiledProgram) -> tuple[Change, ...]:
    """Return the changes from one program to the other; empty if they are identical."""
    found = changes([(steps(before.known, after.known), 1)])
    return tuple(change for change in found if change.cause is not Cause.SAME)


def without_identity(value: str) -> str:
    """Return a static argument's value without its object's identity in a process: `Config` for `Config #87b1fd`."""
    return _IDENTITY.sub("", value)


def _in_any_process(known: Compiled) -> Compiled:
    if known.noted is None:
        return known
    statics = tuple((name, without_identity(value)) for name, value in known.noted.statics)
    return replace(known, noted=replace(known.noted, statics=statics))
