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
from framedex.index.ask.costs.compile_inputs import CompileCall, Content, read_contents, remove_identities
from framedex.index.read.rows import Reader
from framedex.model import CacheMiss, ChangeCause, CompileChange

_OPTIONS = "compile_options"  # a part of the key; JAX leaves folders out of it
_NANOSECONDS = 1_000_000_000
MAX_MISSES = 1_000
"""The maximum number of explained misses."""

_MAX_COMPARED = 10_000  # earlier compilations: the latest
_MAX_CANDIDATES = 500  # earlier compilations of one function


class _KeyedCall(NamedTuple):
    """A call that compiled or loaded a program, and the path of its capture."""

    path: str
    compilation: CompileCall

    @property
    def content(self) -> Content:
        """The row ids of the inputs."""
        return self.compilation.content


def find_cache_misses(reader: Reader, calls: Iterable[CompileCall]) -> dict[int, CacheMiss]:
    """Return the explained cache misses among these compilations, by call."""
    missed = {each.call for each in calls if not each.is_load and each.error <= 0}
    keyed = _read_keyed_calls(reader)
    if missed.isdisjoint(each.compilation.call for each in keyed):
        return {}
    facts = read_contents(reader, {each.content for each in keyed})
    earlier: dict[str, list[_KeyedCall]] = {}
    found: dict[int, CacheMiss] = {}
    for each in keyed:
        note = facts[each.content].note
        if note is None or not note.cache_key:
            continue
        before = earlier.setdefault(note.name, [])
        call = each.compilation.call
        if call in missed and len(found) < MAX_MISSES:
            nearest = _find_nearest(each, before[-_MAX_CANDIDATES:], facts)
            if nearest is not None:
                found[call] = _explain(each, nearest, facts)
        before.append(each)
    return found


def _read_keyed_calls(reader: Reader) -> list[_KeyedCall]:
    """Return the compilations and loads with a noted key in all captures of the index, in order."""
    rows = reader.rows(
        "SELECT p.path, x.call, x.capture, x.program, x.options, x.noted, c.duration, k.error, k.stack, x.problem"
        " FROM main.compilations x JOIN compile_texts n ON n.id = x.noted JOIN call_rows c ON c.id = x.call"
        " JOIN main.captures p ON p.id = x.capture JOIN main.call_kinds k ON k.id = c.kind"
        " WHERE k.error <= 0 AND json_extract(n.text, '$.cache_key[0]') IS NOT NULL"
        " ORDER BY p.started DESC, x.capture DESC, x.call DESC LIMIT ?",
        _MAX_COMPARED,
    )
    return [_KeyedCall(path, CompileCall._make(compilation)) for path, *compilation in reversed(list(rows))]


def _find_nearest(
    missed: _KeyedCall, earlier: Sequence[_KeyedCall], facts: Mapping[Content, CompilationFacts]
) -> _KeyedCall | None:
    """Return the earlier call whose key has the most parts in common; None if only this process has such calls.

    Another program in the same process is a recompilation with its own reason.
    """
    key = _key(missed, facts)
    candidates = [each for each in earlier if each.path != missed.path or _key(each, facts)[:1] == key[:1]]
    return max(
        reversed(candidates),
        key=lambda each: (len(set(key).intersection(_key(each, facts))), not each.compilation.is_load),
        default=None,
    )


def _key(call: _KeyedCall, facts: Mapping[Content, CompilationFacts]) -> tuple[tuple[str, str], ...]:
    note = facts[call.content].note
    return note.cache_key if note is not None else ()


def _explain(missed: _KeyedCall, nearest: _KeyedCall, facts: Mapping[Content, CompilationFacts]) -> CacheMiss:
    key, before = dict(_key(missed, facts)), dict(_key(nearest, facts))
    parts = tuple(part for part in key if key[part] != before.get(part))
    changes: tuple[CompileChange, ...] = ()
    if parts:
        known, now = (remove_identities(facts[each.content]) for each in (nearest, missed))
        found = summarize_changes([(compare_compilations(known, now), 1)])
        irrelevant = {ChangeCause.SAME} | (set() if _OPTIONS in parts else {ChangeCause.OPTIONS})
        changes = tuple(change for change in found if change.cause not in irrelevant)
    call, earlier, note = missed.compilation.call, nearest.compilation, facts[nearest.content].note
    minimum = note.cache_minimum_s if note is not None else 0.0
    was_too_quick = not parts and not earlier.is_load and 0 <= earlier.duration < minimum * _NANOSECONDS
    return CacheMiss(call, earlier.call, nearest.path, parts, changes, minimum if was_too_quick else None)
