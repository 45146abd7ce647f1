"""Locate frames recorded with paths of another machine in the local files for these paths.

A mapped frame stays `exact` only if the local file confirms it. The function of the frame must be defined there, with
the recorded line inside. For Python, whose code objects have first lines, it must also begin at the recorded first
line.

Some frames have no definition to compare with: lambdas, module code, and functions defined by macros. They depend on
the other frames of their file. None of these may contradict the file. Some must confirm it, unless a path rule
of the user led there. In a file that other frames contradict, lines of C++ are never exact: a
shift may stay within the function.

An unconfirmed frame is located at the definition of its function, if there is one, and labelled so: the file has
another version. In every other case the recorded path stays, as a missing file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path

from framedex.base.regularfile import read_regular_text
from framedex.index import Store
from framedex.index.write.records import FramePlacement, RecordedLine
from framedex.ingest.trees import SourceFileLists
from framedex.model import Definition, Language, Location, LocationEvidence
from framedex.path_resolution.files import PathMap, file_exists, find_file
from framedex.path_resolution.moved_files import TreeFiles
from framedex.path_resolution.precedence import LocalFile, find_local_file
from framedex.shared.keeping import read_stored_excerpts

NamedDefinition = tuple[str, Definition]
"""A short name and its definition."""

_UNNAMED = re.compile(r"(?:(?:\.<locals>)?\.|^)<(?:lambda|listcomp|dictcomp|setcomp|genexpr|module)>$")


def find_mapped_files(store: Store, trees: SourceFileLists) -> dict[str, LocalFile]:
    """Return the local files for the recorded paths of other machines, and add them to the files of the trees.

    The excerpts of a shared capture can replace a missing file.
    """
    rules, files = PathMap(store.sources.path_rules()), TreeFiles(trees.files)
    shared = _read_shared_excerpts(store)
    mapped = {}
    for recorded in store.sources.recorded_files():
        if local_file := find_local_file(recorded, rules, files) or _find_shared_excerpt(recorded, shared):
            mapped[recorded] = local_file
            if local_file.path not in trees.files and (found := find_file(local_file.path)):
                trees.files[local_file.path] = found
    return mapped


def locate_mapped_frames(store: Store, mapped: dict[str, LocalFile]) -> None:
    """Locate the frames with these recorded paths in the local files, and all others at their recorded paths.

    Call it after reading the files, in a transaction.
    """
    by_path: dict[str, list[RecordedLine]] = defaultdict(list)
    for place in store.sources.recorded_locations(mapped):
        by_path[place.path].append(place)
    definitions = store.sources.find_definitions
    placements = [
        found for path, places in by_path.items() for found in _locate_frames(places, mapped[path], definitions)
    ]
    store.sources.locate_recorded_frames(placements)
    store.sources.locate_program_lines({recorded: local_file.path for recorded, local_file in mapped.items()})


def _read_shared_excerpts(store: Store) -> dict[str, str]:
    """Return the excerpts of shared captures, by the recorded paths."""
    return {path: text for capture in store.captures() for path, text in read_stored_excerpts(capture.path).items()}


def _find_shared_excerpt(recorded: str, texts: Mapping[str, str]) -> LocalFile | None:
    text = texts.get(recorded)
    return (
        LocalFile(text, is_by_rule=True)
        if text is not None and not file_exists(recorded) and file_exists(text)
        else None
    )


class _PathMatch(Enum):
    FITS = auto()
    UNKNOWN = auto()
    CONTRADICTS = auto()


def _locate_frames(
    recorded_lines: Sequence[RecordedLine],
    local_file: LocalFile,
    definitions: Callable[[str], Sequence[NamedDefinition]],
) -> Iterable[FramePlacement]:
    """Yield the locations of the frames of one recorded path in its local file."""
    defined = _group_definitions(definitions(local_file.path), recorded_lines[0].language)
    text = _read_lines(local_file.path)
    named = [(place, defined.get(_function_name(place), ())) for place in recorded_lines]
    judgements = [
        (place, definitions_of_name, _match_definitions(place, definitions_of_name, text))
        for place, definitions_of_name in named
    ]
    verdicts = {verdict for _, _, verdict in judgements}
    is_other_version = _PathMatch.CONTRADICTS in verdicts
    is_confirmed = not is_other_version and (local_file.is_by_rule or _PathMatch.FITS in verdicts)
    for place, definitions_of_name, verdict in judgements:
        is_sure = verdict is _PathMatch.FITS and (place.language is Language.PYTHON or not is_other_version)
        if is_sure or (verdict is _PathMatch.UNKNOWN and is_confirmed):
            yield FramePlacement(place.frame, Location(local_file.path, place.line, LocationEvidence.EXACT))
        elif len(definitions_of_name) == 1 and definitions_of_name[0].kind != "class":
            yield FramePlacement(
                place.frame, Location(local_file.path, definitions_of_name[0].line, LocationEvidence.DEFINITION)
            )


def _match_definitions(
    recorded: RecordedLine, definitions_of_name: Sequence[Definition], text: Sequence[str]
) -> _PathMatch:
    if recorded.line > len(text):
        return _PathMatch.CONTRADICTS
    enclosing = [
        definition for definition in definitions_of_name if definition.line <= recorded.line <= definition.end_line
    ]
    if recorded.language is Language.PYTHON and enclosing:
        if _UNNAMED.search(recorded.name):
            return _PathMatch.UNKNOWN
        enclosing = [definition for definition in enclosing if _has_first_line(definition, recorded.first_line, text)]
    if enclosing:
        return _PathMatch.FITS
    return _PathMatch.CONTRADICTS if definitions_of_name else _PathMatch.UNKNOWN


def _has_first_line(definition: Definition, first_line: int, text: Sequence[str]) -> bool:
    """Return whether a code object of this definition has this first line: its first decorator's, or its own."""
    above = [line.lstrip() for line in text[first_line - 1 : definition.line - 1]]
    if not above:
        is_decorated = definition.line > 1 and text[definition.line - 2].lstrip().startswith("@")
        return first_line == definition.line and not is_decorated
    return above[0].startswith("@") and not any(line.startswith(("def ", "async def ", "class ")) for line in above)


def _group_definitions(
    definitions: Sequence[NamedDefinition], language: Language
) -> Mapping[str, Sequence[Definition]]:
    found: dict[str, list[Definition]] = defaultdict(list)
    for short, definition in definitions:
        if definition.kind != "declaration":
            found[short if language is Language.NATIVE else definition.name].append(definition)
    return found


def _function_name(recorded: RecordedLine) -> str:
    """Return the name of a frame's function, or of the function around a lambda; empty for a module's own code."""
    if recorded.language is Language.NATIVE:
        return recorded.short_name  # a lambda has the short name of its enclosing function
    name = recorded.name
    while (enclosing := _UNNAMED.sub("", name)) != name:
        name = enclosing
    return name


def _read_lines(path: str) -> list[str]:
    try:
        return read_regular_text(Path(path)).split("\n")
    except OSError:
        return []
