"""Locate frames recorded with paths of another machine in the local files for these paths.

A mapped frame stays `exact` only if the local file confirms it. The function of the frame must be defined there, with
the recorded line inside. For Python, whose code objects have first lines, it must also begin at the recorded first
line.

Some frames have no definition to compare with: lambdas, module code, and functions defined by macros. They depend on
the other frames of their file. None of these may contradict the file. Some must confirm it, unless a rule of the
settings led there, for which the user answers. In a file that other frames contradict, lines of C++ are never exact: a
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

from framedex.index import Store
from framedex.index.write.records import FramePlacement, RecordedPlace
from framedex.ingest.trees import Trees
from framedex.model import Definition, How, Language, Location
from framedex.path_resolution.files import found_file, is_here
from framedex.path_resolution.precedence import Here, find_here
from framedex.path_resolution.rules import PathMap
from framedex.path_resolution.tails import TreeFiles
from framedex.regularfile import read_regular_text
from framedex.shared.keeping import kept_excerpts

Named = tuple[str, Definition]
"""A short name and its definition."""

_UNNAMED = re.compile(r"(?:(?:\.<locals>)?\.|^)<(?:lambda|listcomp|dictcomp|setcomp|genexpr|module)>$")


def find_mapped(store: Store, trees: Trees) -> dict[str, Here]:
    """Return the local files for the recorded paths of other machines, and add them to the files of the trees.

    The excerpts of a shared capture can replace a missing file.
    """
    rules, files = PathMap(store.sources.path_rules()), TreeFiles(trees.files)
    shared = _shared_texts(store)
    mapped = {}
    for recorded in store.sources.recorded_files():
        if here := find_here(recorded, rules, files) or _shared(recorded, shared):
            mapped[recorded] = here
            if here.path not in trees.files and (found := found_file(here.path)):
                trees.files[here.path] = found
    return mapped


def place_mapped(store: Store, mapped: dict[str, Here]) -> None:
    """Locate the frames with these recorded paths in the local files, and all others at their recorded paths.

    Call it after reading the files, in a transaction.
    """
    by_path: dict[str, list[RecordedPlace]] = defaultdict(list)
    for place in store.sources.recorded_places(mapped):
        by_path[place.path].append(place)
    definitions = store.sources.all_definitions_in
    placed = [found for path, places in by_path.items() for found in _place(places, mapped[path], definitions)]
    store.sources.place_recorded(placed)
    store.sources.place_programs({recorded: here.path for recorded, here in mapped.items()})


def _shared_texts(store: Store) -> dict[str, str]:
    """Return the excerpts of shared captures, by the recorded paths."""
    return {path: text for capture in store.captures() for path, text in kept_excerpts(capture.path).items()}


def _shared(recorded: str, texts: Mapping[str, str]) -> Here | None:
    text = texts.get(recorded)
    return Here(text, by_rule=True) if text is not None and not is_here(recorded) and is_here(text) else None


class _Verdict(Enum):
    FITS = auto()
    UNKNOWN = auto()
    CONTRADICTS = auto()


def _place(
    places: Sequence[RecordedPlace], here: Here, definitions: Callable[[str], Sequence[Named]]
) -> Iterable[FramePlacement]:
    """Yield the locations of the frames of one recorded path in its local file."""
    defined = _by_name(definitions(here.path), places[0].language)
    text = _lines(here.path)
    named = [(place, defined.get(_name(place), ())) for place in places]
    judged = [(place, same, _judge(place, same, text)) for place, same in named]
    verdicts = {verdict for _, _, verdict in judged}
    is_other_version = _Verdict.CONTRADICTS in verdicts
    is_borne_out = not is_other_version and (here.by_rule or _Verdict.FITS in verdicts)
    for place, same, verdict in judged:
        is_sure = verdict is _Verdict.FITS and (place.language is Language.PYTHON or not is_other_version)
        if is_sure or (verdict is _Verdict.UNKNOWN and is_borne_out):
            yield FramePlacement(place.frame, Location(here.path, place.line, How.EXACT))
        elif len(same) == 1 and same[0].kind != "class":
            yield FramePlacement(place.frame, Location(here.path, same[0].line, How.DEFINITION))


def _judge(place: RecordedPlace, same: Sequence[Definition], text: Sequence[str]) -> _Verdict:
    if place.line > len(text):
        return _Verdict.CONTRADICTS
    around = [definition for definition in same if definition.line <= place.line <= definition.end_line]
    if place.language is Language.PYTHON and around:
        if _UNNAMED.search(place.name):
            return _Verdict.UNKNOWN
        around = [definition for definition in around if _begins_at(definition, place.first_line, text)]
    if around:
        return _Verdict.FITS
    return _Verdict.CONTRADICTS if same else _Verdict.UNKNOWN


def _begins_at(definition: Definition, first_line: int, text: Sequence[str]) -> bool:
    """Return whether a code object of this definition has this first line: its first decorator's, or its own."""
    above = [line.lstrip() for line in text[first_line - 1 : definition.line - 1]]
    if not above:
        is_decorated = definition.line > 1 and text[definition.line - 2].lstrip().startswith("@")
        return first_line == definition.line and not is_decorated
    return above[0].startswith("@") and not any(line.startswith(("def ", "async def ", "class ")) for line in above)


def _by_name(definitions: Sequence[Named], language: Language) -> Mapping[str, Sequence[Definition]]:
    found: dict[str, list[Definition]] = defaultdict(list)
    for short, definition in definitions:
        if definition.kind != "declaration":
            found[short if language is Language.NATIVE else definition.name].append(definition)
    return found


def _name(place: RecordedPlace) -> str:
    """Return the name of a frame's function, or of the function around a lambda; empty for a module's own code."""
    if place.language is Language.NATIVE:
        return place.short_name  # a lambda has the short name of its function
    name = place.name
    while (around := _UNNAMED.sub("", name)) != name:
        name = around
    return name


def _lines(path: str) -> list[str]:
    try:
        return read_regular_text(Path(path)).split("\n")
    except OSError:
        return []
