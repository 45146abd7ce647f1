"""The combined maps of a binary's components, XLA and jaxlib, queried like source trees."""

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
    """Runs a query on maps; returns None if they are damaged."""

    def __call__(self, ask: Callable[[], _Answer]) -> _Answer | None: ...


class CombinedMaps:
    """Several maps, each with its local information. A prefix of each path identifies the path's map."""

    def __init__(self, maps: Sequence[tuple[SourceMapInfo, ReleaseMap]], asked: Asked) -> None:
        self._maps, self._asked = maps, asked

    def definitions(self, short_name: str, language: str, key: tuple[str, ...] = ()) -> list[Candidate]:
        """The definitions with this short name in a language; with a symbol's key, only those that may match it."""
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
        """The maps that contain these files, each with its release."""
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
        """The names called by each C++ function of a short name; see `Bodies`."""
        found = [
            calls
            for _, source_map in self._maps
            for calls in self._asked(partial(source_map.calls_in_bodies, short_name, is_member, most, longest)) or ()
        ]
        return found if len(found) <= most else []
