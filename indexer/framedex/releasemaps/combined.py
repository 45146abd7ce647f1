"""The maps of what a binary consists of, XLA's and jaxlib's own, asked together as source trees are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import getitem
from typing import Protocol, TypeVar

from framedex.model import SourceMapInfo
from framedex.model.places import prefix_in
from framedex.releasemaps.reader import ReleaseMap
from framedex.sources.bodies import Bodies
from framedex.sources.calls import Span, WrittenCall, WrittenCalls
from framedex.sources.matching import Candidate

_Answer = TypeVar("_Answer")


class Asked(Protocol):
    """Gives what maps answer; None where they are damaged."""

    def __call__(self, ask: Callable[[], _Answer]) -> _Answer | None: ...


class CombinedMaps:
    """Maps, each with what it stands for here. Their files have paths with a prefix that says of which map they are."""

    def __init__(self, maps: Sequence[tuple[SourceMapInfo, ReleaseMap]], asked: Asked) -> None:
        self._maps, self._asked = maps, asked

    def definitions(self, short_name: str, language: str, key: tuple[str, ...] = ()) -> list[Candidate]:
        """The definitions with this short name in files of a language; with a symbol's key those that may be its."""
        return [
            (info.prefix + path, definition)
            for info, source_map in self._maps
            for path, definition in self._asked(partial(source_map.definitions, short_name, key, language)) or ()
        ]

    def files_named(self, name: str) -> Sequence[str]:
        """The files with this name, in any folder."""
        return [
            info.prefix + path
            for info, source_map in self._maps
            for path in self._asked(partial(source_map.paths_named, name)) or ()
        ]

    def bodies(self) -> Bodies:
        """The calls in these sources."""
        return Bodies(lambda _: (), self._written, self._calls_in_bodies)

    def holding(self, paths: Iterable[str]) -> list[tuple[SourceMapInfo, str]]:
        """The maps that these files are in, each with the release that it is of."""
        prefixes = set(map(prefix_in, paths))
        return [(info, source_map.release) for info, source_map in self._maps if info.prefix in prefixes]

    def _written(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function."""
        prefix = prefix_in(path)
        source_map = next(source_map for info, source_map in self._maps if info.prefix == prefix)
        found = self._asked(partial(source_map.written, path.removeprefix(prefix))) or {}
        return WrittenCalls(
            {span: span for span in found}, lambda span: self._asked(partial(getitem, found, span)) or ()
        )

    def _calls_in_bodies(self, short_name: str, is_member: bool, most: int, longest: int) -> list[Counter[str]]:
        """The names that each C++ function of a short name calls; see `Bodies`."""
        found = [
            calls
            for _, source_map in self._maps
            for calls in self._asked(partial(source_map.calls_in_bodies, short_name, is_member, most, longest)) or ()
        ]
        return found if len(found) <= most else []
