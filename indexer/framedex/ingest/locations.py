"""Find the definitions of functions in the source, and the lines of calls in functions without debug information."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from itertools import groupby

from framedex.base.progress import Progress
from framedex.binaries.names import parse_name
from framedex.index.write.records import FramePlacement, FunctionPlacement, UnplacedFunction
from framedex.index.write.sources import SourceTables
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.ingest.release_maps import BinarySources, ReleasedFunctions
from framedex.model import GENERATOR_LANGUAGES, Language, Location, LocationEvidence, NativeSymbol
from framedex.sources import iterate_generated_scopes, match_generating_definition, match_symbol
from framedex.sources.bodies import FunctionBodies, build_bodies, read_source
from framedex.sources.calls import Span
from framedex.sources.frame_lines import FrameLines
from framedex.sources.matching import Candidate, ClassesNamed
from framedex.sources.names import build_key

_LANGUAGES = {Language.PYTHON: "python", Language.NATIVE: "cpp"}


def locate_functions(tables: SourceTables, progress: Progress, binaries: RecordedBinaries) -> list[str]:
    """Locate the marked functions and the calls in their frames, and store the locations.

    Definitions in missing source folders are used if no other definition matches, because a checkout may have been
    moved. Functions in neither folders nor imported maps are looked up in the release maps. Returns the problems of the
    release maps, as sentences. Call it in a transaction.
    """
    released = ReleasedFunctions(tables)
    functions = tables.stale_functions()
    if not functions:
        tables.write_placements([], [])
        return []
    missing = tuple(f"{root}/" for root in tables.roots() if not os.path.isdir(root))  # noqa: PTH112 - it may raise
    definitions_for = _make_definition_query(tables)
    placements = []
    classes_named = _make_class_query(tables)
    release_sources: dict[int, BinarySources] = {}
    with progress.task("Finding definitions", len(functions)) as advance:
        for function in functions:
            query_definitions = definitions_for(function)
            definitions = query_definitions(function.record.short_name, _LANGUAGES[function.record.language])
            if function.record.language is Language.PYTHON:
                placement: FunctionPlacement | None = _locate_python(function, definitions)
            else:
                placement = _locate_native(function, definitions, missing, classes_named)
                placement = placement or _locate_generated(function, query_definitions)
                if placement is None and (sources := _release_sources(function, released)):
                    placement = _locate_in_release(function, sources)
                    if placement is not None:
                        release_sources[function.id] = sources
            placements.append(placement or FunctionPlacement(function.id, None, 0))
            advance(1)
    for placement in placements:
        if sources := release_sources.get(placement.function):
            tables.store_release_maps(sources.maps_containing(each.path for each in _find_all_locations(placement)))
    tables.write_placements(placements, find_calls(tables, placements, binaries, progress, release_sources))
    if released.problems:
        tables.clear_release_maps_state()
    return released.problems


def _make_definition_query(tables: SourceTables) -> Callable[[UnplacedFunction], Callable[[str, str], list[Candidate]]]:
    """Return a function that returns a recorded function's possible definitions, by short name and language.

    A file that was read only for its exact frames has the version that their binaries were built with. A header of this
    machine's C++ library does not match a binary from another machine.
    """
    binaries_of = tables.files_outside_trees()

    def definitions_for(function: UnplacedFunction) -> Callable[[str, str], list[Candidate]]:
        module = function.record.module
        return lambda short_name, language: [
            found
            for found in tables.definitions(short_name, language)
            if found[0] not in binaries_of or module in binaries_of[found[0]]
        ]

    return definitions_for


def _make_class_query(tables: SourceTables) -> ClassesNamed:
    """Return a cached function that returns the classes with a last name, because many parameters share a few types."""

    @cache
    def classes_named(name: str) -> Collection[str]:
        return {found.name for _, found in tables.definitions(name, "cpp") if found.kind == "class"}

    return classes_named


def _locate_python(function: UnplacedFunction, definitions: Sequence[Candidate]) -> FunctionPlacement:
    """Return the location of a Python function: first line from its code object, last line from its definition.

    The first line is the line of its first decorator.
    """
    location = function.record.location
    if location is None:
        return FunctionPlacement(function.id, None, 0)
    fitting = [
        definition
        for path, definition in definitions
        if path == location.path and definition.name == function.record.name and definition.end_line >= location.line
    ]
    # Of several definitions of one name, the code object's is the first that ends at or after its first line.
    nearest = min(fitting, key=lambda definition: definition.end_line, default=None)
    return FunctionPlacement(function.id, location, nearest.end_line if nearest else 0)


def _locate_native(
    function: UnplacedFunction,
    definitions: Sequence[Candidate],
    missing: tuple[str, ...],
    classes_named: ClassesNamed,
) -> FunctionPlacement | None:
    candidates = _find_definitions_around(function.seen_line, definitions) or definitions
    existing = [found for found in candidates if not found[0].startswith(missing)]
    for fitting in (existing, candidates) if missing else (candidates,):
        how, found = match_symbol(_build_native_symbol(function), fitting, classes_named=classes_named)
        if how is not None and found:
            return _build_placement(function, how, found)
    return None


def _locate_generated(
    function: UnplacedFunction, definitions: Callable[[str, str], Sequence[Candidate]]
) -> FunctionPlacement | None:
    """Return the message or record that generated the function, if it is among the definitions."""
    symbol = _build_native_symbol(function)
    scopes = dict.fromkeys(iterate_generated_scopes(symbol)) if function.record.symbol else ()
    keys = [(scope, language) for scope in scopes for language in GENERATOR_LANGUAGES]
    candidates = [found for scope, language in keys for found in definitions(scope, language)]
    how, found = match_generating_definition(symbol, candidates)
    return _build_placement(function, how, found) if how is not None else None


def _release_sources(function: UnplacedFunction, released: ReleasedFunctions) -> BinarySources | None:
    """Return the release sources that may contain a function; None if debug information has its location."""
    if function.seen_line is not None or not function.record.symbol:
        return None
    return released.find_sources(function.record)


def _locate_in_release(function: UnplacedFunction, sources: BinarySources) -> FunctionPlacement | None:
    symbol = _build_native_symbol(function)
    how, found = match_symbol(symbol, sources.definitions_for(function.record, build_key(parse_name(symbol.symbol))))
    if how is not None and found:
        return _build_placement(function, how, found)
    return _locate_generated(function, sources.definitions)


def _build_placement(
    function: UnplacedFunction, how: LocationEvidence, found: Sequence[Candidate]
) -> FunctionPlacement:
    location, *others = (Location(path, definition.line, how) for path, definition in found)
    end_line = found[0][1].end_line if how is LocationEvidence.DEFINITION else 0
    return FunctionPlacement(function.id, location, end_line, tuple(others))


def _find_all_locations(placement: FunctionPlacement) -> list[Location]:
    return [placement.location, *placement.candidates] if placement.location else []


def _find_definitions_around(seen_at: Location | None, definitions: Sequence[Candidate]) -> list[Candidate]:
    """Return the definitions that contain the exact line of one of the function's frames."""
    if seen_at is None:
        return []
    return [
        (path, definition)
        for path, definition in definitions
        if path == seen_at.path and definition.line <= seen_at.line <= definition.end_line
    ]


def _build_native_symbol(function: UnplacedFunction) -> NativeSymbol:
    record, seen_at = function.record, function.seen_line
    path, line = (seen_at.path, seen_at.line) if seen_at else (None, 0)
    return NativeSymbol(record.name, record.symbol, record.mangled, path, line, inlined=False, unit=record.unit or None)


def find_calls(
    tables: SourceTables,
    placements: Sequence[FunctionPlacement],
    binaries: RecordedBinaries,
    progress: Progress,
    released: Mapping[int, BinarySources],
) -> list[FramePlacement]:
    """Return the lines of the frames of these functions if they can be found; other frames stay at the definition.

    `released` has the sources of the functions located in release maps, by their ids.
    """
    in_release = {sources: sources.bodies() for sources in released.values()}
    defined = {placement.function: placement for placement in placements if placement.location is not None}
    frames = tables.inexact_frames(defined)
    read = partial(read_parsed_text, tables.known_files() if frames else {})
    in_trees = build_bodies(tables.definitions, tables.find_definitions_with_calls, read)
    lines = FrameLines()
    found = []
    with progress.task("Finding calls", len(frames)) as advance:
        for _, seen in groupby(frames, key=lambda frame: frame.id):
            rows = list(seen)  # one row per callee
            frame = rows[0]
            bodies = in_release[released[frame.function]] if frame.function in released else in_trees
            placement = defined[frame.function]
            definitions = _find_possible_definitions(placement, bodies)
            callees = [each.callee for each in rows]
            binary = binaries.open_known(frame.module)
            is_certain = placement.location is not None and placement.location.how is LocationEvidence.DEFINITION
            if places := lines.find_locations(definitions, bodies, binary, frame.offset, callees, is_certain):
                found.append(FramePlacement(frame.id, places[0], places[1:]))
            advance(len(rows))
    return found


def read_parsed_text(known: Mapping[str, tuple[int, int]], path: str) -> bytes:
    """Return the text of a source file; empty if it has changed since it was parsed, because its lines have moved.

    `known` has the modification time in ns and the size of each parsed file.
    """
    text = read_source(path)
    try:
        status = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return b""
    return text if known.get(path) == (status.st_mtime_ns, status.st_size) else b""


def _find_possible_definitions(placement: FunctionPlacement, bodies: FunctionBodies) -> list[tuple[str, Span]]:
    """Return the possible definitions of a function, by path and lines."""
    location = placement.location
    assert location is not None
    if location.how is LocationEvidence.DEFINITION:
        return [(location.path, (location.line, placement.end_line))] if placement.end_line > 0 else []
    if location.how is not LocationEvidence.CANDIDATES:
        return []
    return [
        (each.path, span)
        for each in (location, *placement.candidates)
        for span in bodies.calls_in_file(each.path)
        if span[0] == each.line
    ]
