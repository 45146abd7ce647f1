"""Places frames that were recorded with paths of another machine in the files that those paths mean here.

A mapped frame stays `exact` only where the file that was found bears it out: the function of the frame is defined there
with the recorded line within it and, as code objects know their first lines (Python), begins where it was recorded to.
Frames without a definition to compare with (lambdas, a module's own code, what macros define) depend on the others of
their file: none may contradict it, and some must bear it out unless a rule of the settings led there, for which the
user answers. In a file that others contradict, lines of C++ are never exact: a shift may stay within the function.
A frame that is not borne out is placed at the definition of its function, if there is one, and labelled so: the file is
of another version. In every other case the recorded path stays, as a file that is not here.
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
from framedex.regularfile import read_regular_text
from framedex.shared.keeping import kept_excerpts
from framedex.whereabouts.files import found_file, is_here
from framedex.whereabouts.precedence import Here, find_here
from framedex.whereabouts.rules import PathMap
from framedex.whereabouts.tails import TreeFiles

Named = tuple[str, Definition]
"""A definition and its short name."""

_UNNAMED = re.compile(r"(?:(?:\.<locals>)?\.|^)<(?:lambda|listcomp|dictcomp|setcomp|genexpr|module)>$")


def find_mapped(store: Store, trees: Trees) -> dict[str, Here]:
    """The files here for the recorded paths that mean others; they are added to the files of the trees.

    What is not here may be among the texts of a shared capture.
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
    """Place the frames with these recorded paths in the files here, and all others where they were recorded.

    Call it when the files have been read, in a transaction.
    """
    by_path: dict[str, list[RecordedPlace]] = defaultdict(list)
    for place in store.sources.recorded_places(mapped):
        by_path[place.path].append(place)
    definitions = store.sources.all_definitions_in
    placed = [found for path, places in by_path.items() for found in _place(places, mapped[path], definitions)]
    store.sources.place_recorded(placed)
    store.sources.place_programs({recorded: here.path for recorded, here in mapped.items()})


def _shared_texts(store: Store) -> dict[str, str]:
    """The texts of shared captures, by the paths that they were recorded with."""
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
    """Where the frames of one recorded path are in the file that was found for it."""
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
    """Whether a code object of this definition would have this first line: that of its first decorator, or its own."""
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
    """The name of a frame's function, or of the one that it is in where it has none; empty for a module's own code."""
    if place.language is Language.NATIVE:
        return place.short_name  # that of a lambda is its function's
    name = place.name
    while (around := _UNNAMED.sub("", name)) != name:
        name = around
    return name


def _lines(path: str) -> list[str]:
    try:
        return read_regular_text(Path(path)).split("\n")
    except OSError:
        return []
