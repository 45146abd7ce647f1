"""Find the definitions of functions in the source."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from functools import cache

from framedex.binaries.names import parse_name
from framedex.index.write.records import Placement, UnplacedFunction
from framedex.index.write.sources import SourceTables
from framedex.ingest.calling import find_calls
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.released import BinarySources, Released
from framedex.model import GENERATING, How, Language, Location, NativeSymbol
from framedex.progress import Progress
from framedex.sources import generated_scopes, match, match_generated
from framedex.sources.matching import Candidate, ClassesNamed
from framedex.sources.names import key_of

_LANGUAGES = {Language.PYTHON: "python", Language.NATIVE: "cpp"}


def place_functions(tables: SourceTables, progress: Progress, binaries: RecordedBinaries) -> list[str]:
    """Locate the marked functions and the calls in their frames, and store the locations.

    Definitions in missing source folders count if no other definition matches, because a checkout may have been moved.
    Functions in neither folders nor imported maps are looked up in the release maps. Returns the problems of the
    release maps, as sentences. Call it in a transaction.
    """
    released = Released(tables)
    functions = tables.unplaced_functions()
    missing = tuple(f"{root}/" for root in tables.roots() if not os.path.isdir(root))  # noqa: PTH112 - it may raise
    definitions_for = _definitions_of(tables)
    placements = []
    classes_named = _classes_named(tables)
    sources_of: dict[int, BinarySources] = {}
    with progress.task("Finding definitions", len(functions)) as advance:
        for function in functions:
            of_function = definitions_for(function)
            definitions = of_function(function.record.short_name, _LANGUAGES[function.record.language])
            if function.record.language is Language.PYTHON:
                placement: Placement | None = _place_python(function, definitions)
            else:
                placement = _place_native(function, definitions, missing, classes_named)
                placement = placement or _place_generated(function, of_function)
                if placement is None and (sources := _release_sources(function, released)):
                    placement = _place_released(function, sources)
                    if placement is not None:
                        sources_of[function.id] = sources
            placements.append(placement or Placement(function.id, None, 0))
            advance(1)
    for placement in placements:
        if sources := sources_of.get(placement.function):
            tables.use_release_maps(sources.holding(each.path for each in _places(placement)))
    tables.write_placements(placements, find_calls(tables, placements, binaries, progress, sources_of))
    if released.problems:
        tables.forget_state_of_release_maps()
    return released.problems


def _definitions_of(tables: SourceTables) -> Callable[[UnplacedFunction], Callable[[str, str], list[Candidate]]]:
    """Return a function that returns a recorded function's possible definitions, by short name and language.

    A file that was read only for its exact frames has the version that their binaries were built with. A header of this
    machine's C++ library does not match a binary from another machine.
    """
    binaries_of = tables.binaries_of_lone_files()

    def definitions_for(function: UnplacedFunction) -> Callable[[str, str], list[Candidate]]:
        module = function.record.module
        return lambda short_name, language: [
            found
            for found in tables.definitions(short_name, language)
            if found[0] not in binaries_of or module in binaries_of[found[0]]
        ]

    return definitions_for


def _classes_named(tables: SourceTables) -> ClassesNamed:
    """Return a cached function from a last name to its classes; many parameters share the types of a few names."""

    @cache
    def classes_named(name: str) -> Collection[str]:
        return {found.name for _, found in tables.definitions(name, "cpp") if found.kind == "class"}

    return classes_named


def _place_python(function: UnplacedFunction, definitions: Sequence[Candidate]) -> Placement:
    """Return the location of a Python function: first line from its code object, last line from its definition.

    The first line is that of its decorators.
    """
    location = function.record.location
    if location is None:
        return Placement(function.id, None, 0)
    fitting = [
        definition
        for path, definition in definitions
        if path == location.path and definition.name == function.record.name and definition.end_line >= location.line
    ]
    # Of several definitions of one name, the code object's is the first that ends at or after its first line.
    nearest = min(fitting, key=lambda definition: definition.end_line, default=None)
    return Placement(function.id, location, nearest.end_line if nearest else 0)


def _place_native(
    function: UnplacedFunction,
    definitions: Sequence[Candidate],
    missing: tuple[str, ...],
    classes_named: ClassesNamed,
) -> Placement | None:
    candidates = _around(function.seen_at, definitions) or definitions
    here = [found for found in candidates if not found[0].startswith(missing)]
    for fitting in (here, candidates) if missing else (candidates,):
        how, found = match(_symbol(function), fitting, classes_named=classes_named)
        if how is not None and found:
            return _placement(function, how, found)
    return None


def _place_generated(
    function: UnplacedFunction, definitions: Callable[[str, str], Sequence[Candidate]]
) -> Placement | None:
    """Return the message or record that the function was generated from, if it is among the definitions."""
    symbol = _symbol(function)
    scopes = dict.fromkeys(generated_scopes(symbol)) if function.record.symbol else ()
    candidates = [found for scope in scopes for language in GENERATING for found in definitions(scope, language)]
    how, found = match_generated(symbol, candidates)
    return _placement(function, how, found) if how is not None else None


def _release_sources(function: UnplacedFunction, released: Released) -> BinarySources | None:
    """Return the release sources that may contain a function; None if debug information has its location."""
    if function.seen_at is not None or not function.record.symbol:
        return None
    return released.sources_of(function.record)


def _place_released(function: UnplacedFunction, sources: BinarySources) -> Placement | None:
    symbol = _symbol(function)
    how, found = match(symbol, sources.definitions_for(function.record, key_of(parse_name(symbol.symbol))))
    if how is not None and found:
        return _placement(function, how, found)
    return _place_generated(function, sources.definitions)


def _placement(function: UnplacedFunction, how: How, found: Sequence[Candidate]) -> Placement:
    location, *others = (Location(path, definition.line, how) for path, definition in found)
    end_line = found[0][1].end_line if how is How.DEFINITION else 0
    return Placement(function.id, location, end_line, tuple(others))


def _places(placement: Placement) -> list[Location]:
    return [placement.location, *placement.candidates] if placement.location else []


def _around(seen_at: Location | None, definitions: Sequence[Candidate]) -> list[Candidate]:
    """Return the definitions that contain the exact line of one of the function's frames."""
    if seen_at is None:
        return []
    return [
        (path, definition)
        for path, definition in definitions
        if path == seen_at.path and definition.line <= seen_at.line <= definition.end_line
    ]


def _symbol(function: UnplacedFunction) -> NativeSymbol:
    record, seen_at = function.record, function.seen_at
    path, line = (seen_at.path, seen_at.line) if seen_at else (None, 0)
    return NativeSymbol(record.name, record.symbol, record.mangled, path, line, inlined=False, unit=record.unit or None)
