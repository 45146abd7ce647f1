"""Frames recorded with the paths of another machine, to the files that those paths mean here.

A mapped frame stays `exact` only where the file that was found bears it out: the function of the frame is defined there
and the recorded line is within it. Where a rule of the settings led to the file, the user answers for it, so it is also
enough that nothing speaks against it (a lambda, a module's own code, a function made by a macro have no definition to
compare with). Where only the tail of the path did, some other frame must have borne the file out and none the contrary.
A frame whose function is elsewhere in the file (the tree is of another version) is led to its definition, and labelled
so. In every other case the recorded path stays, as a file that is not here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from pathlib import Path

from framedex.index import Store
from framedex.index.records import FramePlacement, RecordedPlace
from framedex.ingest.trees import Trees
from framedex.model import Definition, How, Language, Location
from framedex.sources import Here, PathMap, TreeFiles, find_here, found_file

Named = tuple[str, Definition]
"""A definition and its short name."""

_UNNAMED = re.compile(r"(?:(?:\.<locals>)?\.|^)<(?:lambda|listcomp|dictcomp|setcomp|genexpr|module)>$")


def find_mapped(store: Store, trees: Trees) -> dict[str, Here]:
    """The files here for the recorded paths that mean others; they are added to the files of the trees."""
    rules, files = PathMap(store.sources.path_rules()), TreeFiles(trees.files)
    mapped = {}
    for recorded in store.sources.recorded_files():
        if here := find_here(recorded, rules, files):
            mapped[recorded] = here
            if here.path not in trees.files and (found := found_file(here.path)):
                trees.files[here.path] = found
    return mapped


def place_mapped(store: Store, mapped: dict[str, Here]) -> None:
    """Give the frames with these recorded paths their places here, and all others those that were recorded.

    The files have to have been read. Runs in the caller's transaction.
    """
    by_path: dict[str, list[RecordedPlace]] = defaultdict(list)
    for place in store.sources.recorded_places(mapped):
        by_path[place.path].append(place)
    definitions = store.sources.all_definitions_in
    placed = [found for path, places in by_path.items() for found in _place(places, mapped[path], definitions)]
    store.sources.place_recorded(placed)


class _Verdict(Enum):
    FITS = auto()
    UNKNOWN = auto()
    CONTRADICTS = auto()


def _place(
    places: Sequence[RecordedPlace], here: Here, definitions: Callable[[str], Sequence[Named]]
) -> Iterable[FramePlacement]:
    """The frames of one recorded path that are in the file that was found for it."""
    of_file = definitions(here.path)
    lines = _count_lines(here.path)
    named = [(place, _same_named(place, of_file)) for place in places]
    judged = [(place, same, _judge(place, same, lines)) for place, same in named]
    verdicts = {verdict for _, _, verdict in judged}
    is_borne_out = here.by_rule or (_Verdict.FITS in verdicts and _Verdict.CONTRADICTS not in verdicts)
    for place, same, verdict in judged:
        if verdict is _Verdict.FITS or (verdict is _Verdict.UNKNOWN and is_borne_out):
            yield FramePlacement(place.frame, Location(here.path, place.line, How.EXACT))
        elif verdict is _Verdict.CONTRADICTS and len(same) == 1 and same[0].kind != "class":
            yield FramePlacement(place.frame, Location(here.path, same[0].line, How.DEFINITION))


def _judge(place: RecordedPlace, same: Sequence[Definition], lines: int) -> _Verdict:
    if any(definition.line <= place.line <= definition.end_line for definition in same):
        return _Verdict.FITS
    return _Verdict.CONTRADICTS if same or place.line > lines else _Verdict.UNKNOWN


def _same_named(place: RecordedPlace, definitions: Sequence[Named]) -> list[Definition]:
    """The definitions that a frame's function may be, or that it is in where it has no name of its own."""
    defined = [(short, definition) for short, definition in definitions if definition.kind != "declaration"]
    if place.language is Language.NATIVE:
        return [definition for short, definition in defined if short == place.short_name]
    name = place.name
    while (around := _UNNAMED.sub("", name)) != name:
        name = around
    return [definition for _, definition in defined if name and definition.name == name]


def _count_lines(path: str) -> int:
    try:
        return Path(path).read_bytes().count(b"\n") + 1
    except OSError:
        return 0
