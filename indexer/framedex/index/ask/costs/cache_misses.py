"""Misses of JAX's persistent compilation cache: the parts of a program's key that no earlier program had.

JAX's key has the program, jaxlib's version, the platform's version, XLA's flags, the compile options and the devices. A
recorded compilation whose program has a key missed the cache. It is compared with the nearest earlier compilation or
load of the function. The nearest one has the most equal parts. If several match equally, compilations come first
because their options are known. Then the latest one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from framedex.index.ask.costs.changes import CompilationFacts, compare_compilations, summarize_changes
from framedex.index.ask.costs.compile_inputs import (
    CompileCall,
    Content,
    is_note_of_program,
    parse_note,
    read_contents,
    read_texts,
    remove_identities,
)
from framedex.index.read.rows import Reader
from framedex.model import CacheMiss, ChangeCause, CompileChange, CompileNote

_OPTIONS = "compile_options"  # a part of the key; JAX leaves folders out of it
_NANOSECONDS = 1_000_000_000
MAX_MISSES = 1_000
"""The maximum number of explained misses."""

_MAX_COMPARED = 10_000  # earlier compilations: the latest
_MAX_CANDIDATES = 500  # earlier compilations of one function


class _KeyedCall(NamedTuple):
    """A call that compiled or loaded a program, the path of its capture, and the name of the program if known."""

    path: str
    module: str | None
    compilation: CompileCall


_Notes = Mapping[int | None, CompileNote]
"""The notes by row id."""


def find_cache_misses(reader: Reader, calls: Iterable[CompileCall]) -> dict[int, CacheMiss]:
    """Return the explained cache misses among these compilations, by call."""
    missed = {each.call for each in calls if not each.is_load and each.error <= 0}
    keyed = _read_keyed_calls(reader)
    notes = read_texts(reader, {each.compilation.note for each in keyed}, parse_note)
    earlier: dict[str, list[_KeyedCall]] = {}
    pairs: list[tuple[_KeyedCall, _KeyedCall]] = []
    for each in keyed:
        note = notes[each.compilation.note]
        if not is_note_of_program(note, each.module):
            continue
        before = earlier.setdefault(note.name, [])
        if each.compilation.call in missed and len(pairs) < MAX_MISSES:
            nearest = _find_nearest(each, before[-_MAX_CANDIDATES:], notes)
            if nearest is not None:
                pairs.append((each, nearest))
        before.append(each)
    facts = read_contents(reader, {each.compilation.content for pair in pairs for each in pair})
    return {each.compilation.call: _explain(each, nearest, notes, facts) for each, nearest in pairs}


def _read_keyed_calls(reader: Reader) -> list[_KeyedCall]:
    """Return the compilations and loads with a noted key in all captures of the index, in order."""
    rows = reader.rows(
        "SELECT p.path, g.name, x.call, x.capture, x.program, x.options, x.noted, c.duration, k.error, k.stack,"
        " x.problem FROM main.compilations x JOIN compile_texts n ON n.id = x.noted JOIN call_rows c ON c.id = x.call"
        " JOIN main.captures p ON p.id = x.capture JOIN main.call_kinds k ON k.id = c.kind"
        " LEFT JOIN programs g ON g.id = x.program"
        " WHERE k.error <= 0 AND json_extract(n.text, '$.cache_key[0]') IS NOT NULL"
        " ORDER BY p.started DESC, x.capture DESC, x.call DESC LIMIT ?",
        _MAX_COMPARED,
    )
    return [
        _KeyedCall(path, module, CompileCall._make(compilation)) for path, module, *compilation in reversed(list(rows))
    ]


def _find_nearest(missed: _KeyedCall, earlier: Sequence[_KeyedCall], notes: _Notes) -> _KeyedCall | None:
    """Return the earlier call whose key has the most parts in common; None if only this process has such calls.

    Another program in the same process is a recompilation with its own reason.
    """
    key = notes[missed.compilation.note].cache_key

    def key_of(call: _KeyedCall) -> tuple[tuple[str, str], ...]:
        return notes[call.compilation.note].cache_key

    candidates = [each for each in earlier if each.path != missed.path or key_of(each)[:1] == key[:1]]
    return max(
        reversed(candidates),
        key=lambda each: (len(set(key).intersection(key_of(each))), not each.compilation.is_load),
        default=None,
    )


def _explain(
    missed: _KeyedCall, nearest: _KeyedCall, notes: _Notes, facts: Mapping[Content, CompilationFacts]
) -> CacheMiss:
    compilation, earlier = missed.compilation, nearest.compilation
    note = notes[earlier.note]
    before = dict(note.cache_key)
    parts = tuple(part for part, value in notes[compilation.note].cache_key if value != before.get(part))
    changes: tuple[CompileChange, ...] = ()
    if parts:
        known, now = (remove_identities(facts[each.content]) for each in (earlier, compilation))
        irrelevant = {ChangeCause.SAME} | (set() if _OPTIONS in parts else {ChangeCause.OPTIONS})
        found = summarize_changes([(compare_compilations(known, now), 1)])
        changes = tuple(change for change in found if change.cause not in irrelevant)
    was_too_quick = not parts and not earlier.is_load and 0 <= earlier.duration < note.cache_minimum_s * _NANOSECONDS
    minimum = note.cache_minimum_s if was_too_quick else None
    return CacheMiss(compilation.call, earlier.call, nearest.path, parts, changes, minimum)
