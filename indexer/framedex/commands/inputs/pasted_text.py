"""Resolve a clicked or pasted text: a path of another machine, or a frame in any supported format.

A line of a public repository, given by its address or its path in a source map, is looked up in local checkouts. If
it is missing there, the result is its web page. A click on a path waits for this module, so modules for frames are
imported on first use.
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

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, restore
from framedex.commands.inputs.files import (
    FilePosition,
    PublicPage,
    note_if_too_short,
    parse_file_position,
    path_resolver,
    resolve_position,
)
from framedex.commands.inputs.project_index import find_index_path, load_settings_here, report_if_changed
from framedex.commands.output.console import note, print_error
from framedex.model import Language, Location, LocationEvidence
from framedex.model.locations import is_of_nearest_release, path_in_repository
from framedex.path_resolution.files import PATH_RULE_REMEDY, file_exists, is_process_path
from framedex.sources.releases.statements import StatedReleases
from framedex.texts.places import format_location_labels

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.settings import Settings
    from framedex.sources.releases.repository import PublicLine
    from framedex.text_stacks import TextFrame
    from framedex.text_stacks.source_lookup.resolve import Resolver
    from framedex.text_stacks.source_lookup.versions import Checkouts

_HLO_FIELDS = re.compile(r'source_file="(?:[^"\\]|\\.)*"[^{}]*source_line=\d+[^{}]*')
_SYMBOL = re.compile(r"[A-Za-z_~][\w:~<>,*& ()]*")
_SHORTENED = "…/"
"""The prefix of a shortened path in the output of verbs."""

_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}]+")
_PARAMETERS = re.compile(r"(?<=\w)\([^()]*\)(?: const)?$")
_MAX_SIMILAR = 8


class SourceFinder:
    """Finds files and frames with the settings and the index of the working folder."""

    def __init__(self, settings: Settings, index: Index | None) -> None:
        self._settings = settings
        self._path_resolver = path_resolver(settings, "-", index)
        self._index = index
        self._releases = StatedReleases()

    @classmethod
    @contextmanager
    def open(cls, index_path: Path | None) -> Iterator[SourceFinder]:
        """Open a finder for the duration of the block. An unreadable index is reported and not used."""
        from framedex.index import Index

        settings = load_settings_here()
        index: Index | None = None
        try:
            path = find_index_path(index_path, settings)
            index = Index.open(path, links=settings.links) if path is not None else None
            if index is not None:
                report_if_changed(index)
        except FramedexError as error:
            print_error(error)
        try:
            yield cls(settings, index)
        finally:
            if index is not None:
                index.close()

    def find(self, text: str) -> FilePosition | PublicPage:
        """The local file position that a text names, otherwise its public page.

        Raises FramedexError: it lists the attempts if all failed, or the candidates if there are several.
        """
        plain = _remove_escapes(text).replace(_SHORTENED, "")
        written = [text, restore(text), plain.strip()]
        if not written[-1]:
            raise FramedexError("There is nothing to open.", "Name a file, FILE:LINE, or paste a frame.")
        if written[-1].startswith(("http://", "https://")):
            return self._find_address(written[-1])
        *whole, named = map(parse_file_position, dict.fromkeys(written))
        for place in (*whole, named):
            if (here := resolve_position(place, self._path_resolver.rules)) is not None:
                return note_if_too_short(here)
        if (public := self._find_mapped_line(named)) is not None:
            return public
        if named.line is not None and len(found := self._local_files(str(named.path))) == 1:
            return note_if_too_short(replace(named, path=Path(found[0])))
        self._releases = StatedReleases(plain)
        frames = _parse_frames(plain)
        if not frames:
            address = _ADDRESS.search(plain)
            return self._find_address(address[0].rstrip(").,;]")) if address else self._find_path(named)
        problems = []
        for frame in frames:
            try:
                return self._find_frame(frame)
            except FramedexError as error:
                problems.append(error)
        raise problems[0]

    def _find_address(self, address: str) -> FilePosition | PublicPage:
        from framedex.sources.releases.repository import parse_address

        line = parse_address(address, self._settings.links)
        if line is None:
            raise FramedexError("This web address is not a line in a repository.", "Open it in a browser.")
        return self._find_public_line(line)

    def _find_mapped_line(self, named: FilePosition) -> FilePosition | PublicPage | None:
        """The position or page of a path in a source map; None for any other path."""
        from framedex.sources.releases.repository import parse_source_map_path

        line = parse_source_map_path(str(named.path), named.line, self._settings.links)
        if line is None:
            return None
        if self._index is not None:
            known = self._index.add_public_url(Location(str(named.path), named.line or 1, LocationEvidence.EXACT)).url
            line = replace(line, url=known or line.url)
        return self._find_public_line(line, is_of_nearest_release(str(named.path)))

    def _find_public_line(self, line: PublicLine, is_nearest: bool = False) -> FilePosition | PublicPage:
        """The line in a local checkout, otherwise its page.

        `is_nearest`: the line is from a release near the recorded one.
        """
        name = make_printable(f"{line.path}:{line.line}" if line.line else line.path)
        name += " [nearest release]" * is_nearest
        here = self._checkouts.find(line)
        if here is not None:
            if is_nearest and not format_location_labels(here):
                note(f"{name}: {make_printable(here.path)}:{here.line}")
            place = self._position_at(here, name)
            return note_if_too_short(place) if line.line else replace(place, line=None)
        if line.url is None:
            raise FramedexError(
                f"{name} is not on this machine and has no known public address.",
                "Add a checkout with it: `framedex sources add FOLDER`.",
            )
        return PublicPage(line.url, name)

    def _find_public_page(self, name: str, locations: Iterable[Location]) -> FilePosition | PublicPage | None:
        """The public page of a name whose locations are not on this machine; None if there is none.

        Raises FramedexError if there are several.
        """
        from framedex.sources.releases.repository import parse_address

        public = list({place.url: place for place in locations if place.url}.values())
        if len(public) > 1:
            raise _ambiguous_error(name, public)
        found = public[0] if public else None
        if found is None or found.url is None:
            return None
        line = parse_address(found.url, self._settings.links)
        page = PublicPage(found.url, f"{make_printable(path_in_repository(found.path))}:{found.line}")
        return self._find_public_line(line, is_of_nearest_release(found.path)) if line is not None else page

    def _find_path(self, named: FilePosition) -> FilePosition | PublicPage:
        path = str(named.path)
        found = self._local_files(path)
        if len(found) == 1:
            return replace(named, path=Path(found[0]))
        if found:
            raise _ambiguous_error(
                path, [Location(each, named.line or 1, LocationEvidence.CANDIDATES) for each in found]
            )
        if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises without permission
            raise FramedexError(f"{make_printable(path)} is a folder.", "Name a file in it.")
        if os.path.exists(path) and not is_process_path(path):  # noqa: PTH110 - as above
            raise FramedexError(f"{make_printable(path)} is not a regular file.")
        if named.line is None and _SYMBOL.fullmatch(path):
            try:
                return self._find_symbol(_symbol_frame(path))
            except _UnknownSymbolError:
                if "::" in path or path.startswith("_Z"):
                    raise
        raise self._missing_file_error(path)

    def _find_frame(self, frame: TextFrame) -> FilePosition | PublicPage:
        if frame.place is None or not frame.place.line:
            return self._find_symbol(frame)
        written = dict.fromkeys((frame.place.path, restore(frame.place.path)))
        path = next((path for path in written if self._path_resolver.find_directly(path)), frame.place.path)
        resolved = self._frame_resolver.find(replace(frame, place=replace(frame.place, path=path)))
        places = _locations(resolved.location, resolved.candidates)
        local = _filter_local(places)
        if len(local) == 1:
            opened = self._position_at(local[0], make_printable(resolved.function) or make_printable(path))
            return replace(opened, column=frame.place.column or None) if opened.line == frame.place.line else opened
        if local:
            raise _ambiguous_error(path, local)
        if (elsewhere := self._find_public_page(path, places)) is not None:
            return elsewhere
        raise self._missing_file_error(path)

    def _find_symbol(self, frame: TextFrame) -> FilePosition | PublicPage:
        found = self._frame_resolver.find(frame)
        places = _locations(found.location, found.candidates)
        name = make_printable(found.function) or "this frame"
        local = _filter_local(places)
        if len(local) == 1:
            return self._position_at(local[0], name)
        if local:
            raise _ambiguous_error(name, local)
        if (elsewhere := self._find_public_page(name, places)) is not None:
            return elsewhere
        if self._index is None:
            raise _UnknownSymbolError(
                f"No source is known for {name}: the frame has no path, and there is no index here.",
                "Change to the project's folder, or name its index: `framedex --index FILE open PLACE`.",
            )
        if len(similar := self._similar_definitions(found.function)) == 1:
            return self._position_at(similar[0], name)
        if similar:
            raise _ambiguous_error(name, similar)
        raise _UnknownSymbolError(
            f"The index has no source for {name}.",
            "`framedex find NAME` searches parts of names; `framedex sources add FOLDER` adds a source folder.",
        )

    def _position_at(self, location: Location, name: str) -> FilePosition:
        """The position of a location; an inexact location is noted with its labels."""
        if labels := format_location_labels(location):
            note(f"{name}: {make_printable(location.path)}:{location.line} [{', '.join(labels)}]")
        return FilePosition(Path(location.path), _choose_line(location), None)

    def _similar_definitions(self, name: str) -> list[Location]:
        """The local locations of definitions that match this name without its namespaces, as in other verbs."""
        from framedex.index import Index
        from framedex.index.file.paths import is_user_file

        assert self._index is not None
        with Index.open(self._index.path, links=self._settings.links) as index:
            name = _PARAMETERS.sub("", name)
            found = index.names.symbols(name, _MAX_SIMILAR) if name else []
        if of_that_name := [each for each in found if _contains_last_identifier(each.name, name)]:
            found = [each for each in of_that_name if each.kind != "declaration"] or of_that_name
        places = _filter_local(dict.fromkeys(each.location for each in found if each.location is not None))
        likeliest = (
            [place for place in places if is_user_file(place.path)],
            [each.location for each in found if each.name == name and each.location in places],
        )
        return next((only for only in likeliest if len(only) == 1), places)

    @cached_property
    def _frame_resolver(self) -> Resolver:
        from framedex.text_stacks.source_lookup.binaries import Binaries
        from framedex.text_stacks.source_lookup.resolve import Resolver

        return Resolver(self._index, self._path_resolver, Binaries(), self._releases)

    @cached_property
    def _checkouts(self) -> Checkouts:
        from framedex.text_stacks.source_lookup.versions import Checkouts

        return Checkouts((*self._path_resolver.source_folders, os.path.realpath(".")))

    def _local_files(self, path: str) -> Sequence[str]:
        """The local files that a path may mean, without paths in source maps, which cannot be opened."""
        return list(filter(file_exists, self._path_resolver.files(path)))

    def _missing_file_error(self, path: str) -> FramedexError:
        if path.startswith("<"):
            return FramedexError(
                f"{make_printable(path)} is not a file: its code was generated, or is built into Python."
            )
        tried = []
        if self._settings.path_map:
            tried.append("by the path-map")
        if folders := self._path_resolver.source_folders:
            tried.append(f"with the end of that path below {', '.join(map(make_printable, folders))}")
        if self._index is not None:
            tried.append("among the files and names of the index")
        below = f", nor one {', or '.join(tried)}" if tried else ""
        return FramedexError(f"There is no file {make_printable(path)}{below}.", PATH_RULE_REMEDY)


class _UnknownSymbolError(FramedexError):
    """A name has no known source."""


def _contains_last_identifier(name: str, wanted: str) -> bool:
    """Whether `name` contains the last identifier of `wanted` as a whole identifier."""
    parts = re.findall(r"\w+", wanted)
    return bool(parts) and re.search(rf"\b{parts[-1]}\b", name) is not None


def _remove_escapes(text: str) -> str:
    if "\x1b" not in text:
        return text
    from framedex.text_stacks.log_text import remove_escapes

    return remove_escapes(text)


def _parse_frames(text: str) -> list[TextFrame]:
    """The frames of the first stack of a text, innermost first. HLO metadata fields get the missing braces."""
    from framedex.text_stacks import StackFormat, read

    match = _HLO_FIELDS.search(text) if "metadata={" not in text else None
    stack = next(iter(read(f"metadata={{{match[0]}}}" if match else text).stacks), None)
    if stack is None:
        return []
    if stack.format is StackFormat.PLAIN:  # positions in one line of text are not callers of each other
        return [stack.frames[0]]
    return list(stack.frames if stack.innermost_first else reversed(stack.frames))


def _symbol_frame(name: str) -> TextFrame:
    """A frame with only a name."""
    from framedex.text_stacks import StackFormat, TextFrame

    return TextFrame(StackFormat.PLAIN, 0, 0, 0, len(name), (), function=name, language=Language.NATIVE)


def _locations(first: Location | None, others: Iterable[Location]) -> list[Location]:
    return [first, *others] if first is not None else []


def _filter_local(locations: Iterable[Location]) -> list[Location]:
    """The locations whose files exist here; an absolute path may be from the build machine."""
    return [place for place in locations if file_exists(place.path)]


def _choose_line(location: Location) -> int:
    """The line to open: for a doubtful location the recorded one, which may be beyond the end of the file."""
    return (location.moved_from or location.line) if location.how is LocationEvidence.DOUBTFUL else location.line


def _ambiguous_error(name: str, locations: Iterable[Location]) -> FramedexError:
    listed = "\n".join(
        dict.fromkeys(place.url or f"{make_printable(place.path)}:{_choose_line(place)}" for place in locations)
    )
    return FramedexError(f"Several locations match {make_printable(name)}:\n{listed}", "Open one of them.")
