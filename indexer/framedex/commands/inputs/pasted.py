"""Resolve a clicked or pasted text: a path of another machine, or a frame in any supported format.

A line of a public repository, by its address or its path in a source map, is searched in local checkouts. Otherwise its
web page is returned. A click on a path waits for this module, so modules for frames are imported on first use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.commands.inputs.files import Page, Place, noted_if_short, parse_place, place_itself
from framedex.commands.inputs.known import known_index, load_settings_here, note_if_changed
from framedex.commands.inputs.whereabouts import whereabouts
from framedex.commands.output.console import note, print_error
from framedex.errors import FramedexError
from framedex.model import How, Language, Location
from framedex.model.places import is_of_nearest_release, path_in_repository
from framedex.path_resolution.files import is_here, is_of_a_process
from framedex.path_resolution.rules import HOW_TO_MAP
from framedex.placetext import location_labels
from framedex.plaintext import printable, restore
from framedex.releases.stated import StatedReleases

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.releases.addresses import PublicLine
    from framedex.settings import Settings
    from framedex.text_stacks import TextFrame
    from framedex.text_stacks.placing.checkouts import Checkouts
    from framedex.text_stacks.placing.resolve import Resolver

_HLO_FIELDS = re.compile(r'source_file="(?:[^"\\]|\\.)*"[^{}]*source_line=\d+[^{}]*')
_SYMBOL = re.compile(r"[A-Za-z_~][\w:~<>,*& ()]*")
_SHORTENED = "…/"
"""The prefix of a shortened path in the output of verbs."""

_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}]+")
_PARAMETERS = re.compile(r"(?<=\w)\([^()]*\)(?: const)?$")
_MOST_SIMILAR = 8


class Finder:
    """Finds files and frames with the settings and the index of this folder."""

    def __init__(self, settings: Settings, index: Index | None) -> None:
        self._settings = settings
        self._where = whereabouts(settings, "-", index)
        self._index = index
        self._releases = StatedReleases()

    @classmethod
    @contextmanager
    def here(cls, index_path: Path | None) -> Iterator[Finder]:
        """A finder, for the duration of the block. An unreadable index is reported and not used."""
        from framedex.index import Index

        settings = load_settings_here()
        index: Index | None = None
        try:
            path = known_index(index_path, settings)
            index = Index.open(path, links=settings.links) if path is not None else None
            if index is not None:
                note_if_changed(index)
        except FramedexError as error:
            print_error(error)
        try:
            yield cls(settings, index)
        finally:
            if index is not None:
                index.close()

    def find(self, text: str) -> Place | Page:
        """The local place of a text, otherwise its public page.

        Raises FramedexError with the attempts, or with the candidates if there are several.
        """
        plain = _without_escapes(text).replace(_SHORTENED, "")
        written = [text, restore(text), plain.strip()]
        if not written[-1]:
            raise FramedexError("There is nothing to open.", "Name a file, FILE:LINE, or paste a frame.")
        if written[-1].startswith(("http://", "https://")):
            return self._of_address(written[-1])
        *whole, named = map(parse_place, dict.fromkeys(written))
        for place in (*whole, named):
            if (here := place_itself(place, self._where.rules)) is not None:
                return noted_if_short(here)
        if (public := self._of_map(named)) is not None:
            return public
        if named.line is not None and len(found := self._files(str(named.path))) == 1:
            return noted_if_short(replace(named, path=Path(found[0])))
        self._releases = StatedReleases(plain)
        frames = _frames(plain)
        if not frames:
            address = _ADDRESS.search(plain)
            return self._of_address(address[0].rstrip(").,;]")) if address else self._of_path(named)
        problems = []
        for frame in frames:
            try:
                return self._of_frame(frame)
            except FramedexError as error:
                problems.append(error)
        raise problems[0]

    def _of_address(self, address: str) -> Place | Page:
        from framedex.releases.addresses import read_address

        line = read_address(address, self._settings.links)
        if line is None:
            raise FramedexError("This web address is not a line of a repository.", "Open it in a browser.")
        return self._of_public(line)

    def _of_map(self, named: Place) -> Place | Page | None:
        """The place or page of a path in a source map; None for any other path."""
        from framedex.releases.addresses import read_mapped

        line = read_mapped(str(named.path), named.line, self._settings.links)
        if line is None:
            return None
        if self._index is not None:
            known = self._index.published(Location(str(named.path), named.line or 1, How.EXACT)).url
            line = replace(line, url=known or line.url)
        return self._of_public(line, is_of_nearest_release(str(named.path)))

    def _of_public(self, line: PublicLine, is_nearest: bool = False) -> Place | Page:
        """The line in a local checkout, otherwise its page.

        `is_nearest`: the line is from another release than the recorded one.
        """
        name = printable(f"{line.path}:{line.line}" if line.line else line.path)
        name += " [nearest release]" * is_nearest
        here = self._checkouts.find(line)
        if here is not None:
            if is_nearest and not location_labels(here):
                note(f"{name}: {printable(here.path)}:{here.line}")
            place = self._of_location(here, name)
            return noted_if_short(place) if line.line else replace(place, line=None)
        if line.url is None:
            raise FramedexError(
                f"{name} is not on this machine and has no known public address.",
                "Add a checkout with it: `framedex sources add FOLDER`.",
            )
        return Page(line.url, name)

    def _elsewhere(self, name: str, places: Iterable[Location]) -> Place | Page | None:
        """The public page of a name whose places are not on this machine; None if there is none.

        Raises FramedexError if there are several.
        """
        from framedex.releases.addresses import read_address

        public = list({place.url: place for place in places if place.url}.values())
        if len(public) > 1:
            raise _several(name, public)
        found = public[0] if public else None
        if found is None or found.url is None:
            return None
        line = read_address(found.url, self._settings.links)
        page = Page(found.url, f"{printable(path_in_repository(found.path))}:{found.line}")
        return self._of_public(line, is_of_nearest_release(found.path)) if line is not None else page

    def _of_path(self, named: Place) -> Place | Page:
        path = str(named.path)
        found = self._files(path)
        if len(found) == 1:
            return replace(named, path=Path(found[0]))
        if found:
            raise _several(path, [Location(each, named.line or 1, How.CANDIDATES) for each in found])
        if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises without permission
            raise FramedexError(f"{printable(path)} is a folder.", "Name a file in it.")
        if os.path.exists(path) and not is_of_a_process(path):  # noqa: PTH110 - as above
            raise FramedexError(f"{printable(path)} is not a regular file.")
        if named.line is None and _SYMBOL.fullmatch(path):
            try:
                return self._of_symbol(_symbol(path))
            except _UnknownSymbolError:
                if "::" in path or path.startswith("_Z"):
                    raise
        raise self._missing(path)

    def _of_frame(self, frame: TextFrame) -> Place | Page:
        if frame.place is None or not frame.place.line:
            return self._of_symbol(frame)
        written = dict.fromkeys((frame.place.path, restore(frame.place.path)))
        path = next((path for path in written if self._where.itself(path)), frame.place.path)
        resolved = self._resolver.find(replace(frame, place=replace(frame.place, path=path)))
        places = _locations(resolved.location, resolved.candidates)
        local = _here(places)
        if len(local) == 1:
            opened = self._of_location(local[0], printable(resolved.function) or printable(path))
            return replace(opened, column=frame.place.column or None) if opened.line == frame.place.line else opened
        if local:
            raise _several(path, local)
        if (elsewhere := self._elsewhere(path, places)) is not None:
            return elsewhere
        raise self._missing(path)

    def _of_symbol(self, frame: TextFrame) -> Place | Page:
        found = self._resolver.find(frame)
        places = _locations(found.location, found.candidates)
        name = printable(found.function) or "this frame"
        local = _here(places)
        if len(local) == 1:
            return self._of_location(local[0], name)
        if local:
            raise _several(name, local)
        if (elsewhere := self._elsewhere(name, places)) is not None:
            return elsewhere
        if self._index is None:
            raise _UnknownSymbolError(
                f"No source is known for {name}: there is no index here, and the frame has no path.",
                "Change to the project's folder, or name its index: `framedex --index FILE open PLACE`.",
            )
        if len(similar := self._similar(found.function)) == 1:
            return self._of_location(similar[0], name)
        if similar:
            raise _several(name, similar)
        raise _UnknownSymbolError(
            f"The index has no source for {name}.",
            "`framedex find NAME` searches parts of names; `framedex sources add FOLDER` adds a source folder.",
        )

    def _of_location(self, location: Location, name: str) -> Place:
        """The place of a location; an inexact location is noted with its labels."""
        if labels := location_labels(location):
            note(f"{name}: {printable(location.path)}:{location.line} [{', '.join(labels)}]")
        return Place(Path(location.path), _line(location), None)

    def _similar(self, name: str) -> list[Location]:
        """The local places of definitions with this name without its namespaces, which other verbs accept, too."""
        from framedex.index import Index
        from framedex.index.file.installed import is_own

        assert self._index is not None
        with Index.open(self._index.path, links=self._settings.links) as index:
            name = _PARAMETERS.sub("", name)
            found = index.names.symbols(name, _MOST_SIMILAR) if name else []
        if of_that_name := [each for each in found if _has_last_part(each.name, name)]:
            found = [each for each in of_that_name if each.kind != "declaration"] or of_that_name
        places = _here(dict.fromkeys(each.location for each in found if each.location is not None))
        likeliest = (
            [place for place in places if is_own(place.path)],
            [each.location for each in found if each.name == name and each.location in places],
        )
        return next((only for only in likeliest if len(only) == 1), places)

    @cached_property
    def _resolver(self) -> Resolver:
        from framedex.text_stacks.placing.binaries import Binaries
        from framedex.text_stacks.placing.resolve import Resolver

        return Resolver(self._index, self._where, Binaries(), self._releases)

    @cached_property
    def _checkouts(self) -> Checkouts:
        from framedex.text_stacks.placing.checkouts import Checkouts

        return Checkouts((*self._where.source_folders, os.path.realpath(".")))

    def _files(self, path: str) -> Sequence[str]:
        """The local files that a path may mean; paths in source maps are left out, because they cannot be opened."""
        return list(filter(is_here, self._where.files(path)))

    def _missing(self, path: str) -> FramedexError:
        if path.startswith("<"):
            return FramedexError(f"{printable(path)} is not a file: the code is generated or built into Python.")
        tried = []
        if self._settings.path_map:
            tried.append("by the path-map")
        if folders := self._where.source_folders:
            tried.append(f"with the end of that path below {', '.join(map(printable, folders))}")
        if self._index is not None:
            tried.append("among the files and names of the index")
        below = f", nor one {', or '.join(tried)}" if tried else ""
        return FramedexError(f"There is no file {printable(path)}{below}.", HOW_TO_MAP)


class _UnknownSymbolError(FramedexError):
    """A name has no known source."""


def _has_last_part(name: str, wanted: str) -> bool:
    """Whether the last identifier of `wanted` is a whole identifier in `name`."""
    parts = re.findall(r"\w+", wanted)
    return bool(parts) and re.search(rf"\b{parts[-1]}\b", name) is not None


def _without_escapes(text: str) -> str:
    if "\x1b" not in text:
        return text
    from framedex.text_stacks.text.escapes import without_escapes

    return without_escapes(text)


def _frames(text: str) -> list[TextFrame]:
    """The frames of the first stack of a text, innermost first. HLO metadata fields get the missing braces."""
    from framedex.text_stacks import Format, read

    match = _HLO_FIELDS.search(text) if "metadata={" not in text else None
    stack = next(iter(read(f"metadata={{{match[0]}}}" if match else text).stacks), None)
    if stack is None:
        return []
    if stack.format is Format.PLAIN:  # places of one line are not callers of each other
        return [stack.frames[0]]
    return list(stack.frames if stack.innermost_first else reversed(stack.frames))


def _symbol(name: str) -> TextFrame:
    """A frame that has only a name."""
    from framedex.text_stacks import Format, TextFrame

    return TextFrame(Format.PLAIN, 0, 0, 0, len(name), (), function=name, language=Language.NATIVE)


def _locations(first: Location | None, others: Iterable[Location]) -> list[Location]:
    return [first, *others] if first is not None else []


def _here(places: Iterable[Location]) -> list[Location]:
    """The places whose files exist here; an absolute path may be of the build machine."""
    return [place for place in places if is_here(place.path)]


def _line(location: Location) -> int:
    """The line to open: for a doubtful location the recorded one, which may be beyond the end of the file."""
    return (location.moved_from or location.line) if location.how is How.DOUBTFUL else location.line


def _several(name: str, places: Iterable[Location]) -> FramedexError:
    listed = "\n".join(dict.fromkeys(place.url or f"{printable(place.path)}:{_line(place)}" for place in places))
    return FramedexError(f"Several locations match {printable(name)}:\n{listed}", "Open one of them.")
