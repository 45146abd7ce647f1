"""Public locations of frames, without any path of the recording machine."""

from __future__ import annotations

import re
from functools import cache

from framedex.index.read.rows import Reader
from framedex.index.read.urls import Urls
from framedex.model import FrameRow, How, Language, is_of_nearest_release
from framedex.model.guidebook.observed import Place
from framedex.model.places import path_in_repository

NOWHERE = Place("", None, "")

# Directories of installed packages, and of frameworks, which may be anywhere.
_PACKAGES = re.compile(r".*/(?:(?:site|dist)-packages/(?P<installed>.+)|(?P<framework>(?:torch_xla|pypjrt)/.+))")


class PublicPlaces:
    """Maps the frames of a capture to public places, using its recorded components."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self._urls = Urls(reader, capture)
        self._named = cache(self._read)
        self._of: dict[int, Place] = {}

    def of(self, frame: FrameRow) -> Place:
        """Return the place: the recorded line if the file has changed since, the binary's name if there is no line."""
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
    """Return a path without machine-specific parts: from its package on, within its repository, or the file name."""
    if match := _PACKAGES.fullmatch(path):
        return match["installed"] or match["framework"]
    inside = path_in_repository(path)
    return inside if inside != path else file_name(path)


def file_name(path: str) -> str:
    """Return the last part of a path; a name that is not a path (`<string>`) is returned unchanged."""
    return path.rpartition("/")[2] if path.startswith("/") else path
