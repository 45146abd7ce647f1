"""Places of frames as the public knows them: never a path of the machine that recorded."""

from __future__ import annotations

import re
from functools import cache

from framedex.index.read.rows import Reader
from framedex.index.read.urls import Urls
from framedex.model import FrameRow, How, Language, is_of_nearest_release
from framedex.model.guidebook.observed import Place
from framedex.model.places import path_in_repository

NOWHERE = Place("", None, "")

# Where packages are installed; and those of frameworks, which may be anywhere.
_PACKAGES = re.compile(r".*/(?:(?:site|dist)-packages/(?P<installed>.+)|(?P<framework>(?:torch_xla|pypjrt)/.+))")


class PublicPlaces:
    """Gives the frames of a capture their places, by the components that were recorded in it."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self._urls = Urls(reader, capture)
        self._named = cache(self._read)
        self._of: dict[int, Place] = {}

    def of(self, frame: FrameRow) -> Place:
        """The line that was recorded, where the file has changed since; a binary's name where no line is known."""
        found = self._of.get(frame.id)
        if found is None:
            found = self._of[frame.id] = self._place(frame)
        return found

    def _place(self, frame: FrameRow) -> Place:
        if frame.function.language is Language.PYTHON and frame.line:
            return self._named(frame.function.module, frame.line, How.EXACT.value)
        location = frame.location
        if location is None:
            return Place(file_name(frame.module), None, "")
        line = location.line if location.moved_from is None else location.moved_from
        return self._named(location.path, line, location.how.value)

    def _read(self, path: str, line: int, how: str) -> Place:
        nearest = " (nearest release)" if is_of_nearest_release(path) else ""
        public = self._urls.public(path, line)
        shown = public.path if public is not None else short_path(path)
        return Place(f"{shown}:{line}{nearest}", public.url if public is not None else None, how)


def short_path(path: str) -> str:
    """A path without what it tells of the machine: from its package on, within its repository, or the file's name."""
    if match := _PACKAGES.fullmatch(path):
        return match["installed"] or match["framework"]
    inside = path_in_repository(path)
    return inside if inside != path else file_name(path)


def file_name(path: str) -> str:
    """The last part of a path; a name that is none (`<string>`) as it is."""
    return path.rpartition("/")[2] if path.startswith("/") else path
