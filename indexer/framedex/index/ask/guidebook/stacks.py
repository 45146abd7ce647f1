"""The stacks of a capture's functions, with public locations and without paths of the recording machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from framedex.index.ask.call.python_lines import read_python_nodes
from framedex.index.ask.capture.contents import read_capture_tree
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.locations import UrlFinder
from framedex.index.read.rows import Reader, read_frames_by_id
from framedex.model import FrameRole, FrameRow, Language, LocationEvidence, is_of_nearest_release
from framedex.model.guidebook import DisplayedFrame, DisplayedLocation
from framedex.model.locations import path_in_repository

NO_PLACE = DisplayedLocation("", None, "")

# Directories of installed packages, and of frameworks, which may be anywhere.
_PACKAGES = re.compile(r".*/(?:(?:site|dist)-packages/(?P<installed>.+)|(?P<framework>(?:torch_xla|pypjrt)/.+))")


# An absolute path of at least two parts, not preceded by a word as in `https://x/y` and `jit(f)/sin/x`. System paths
# are the same on every machine and stay.
_PATH = re.compile(r"(?<![\w/.:)\]-])/(?!dev/|proc/|sys/)(?:[\w.+@%~=-]+/)+[\w.+@%~=-]+")

UNMERGED = "native frames that could not be merged with those of Python"

_MAX_OUTER_FRAMES, _MAX_INNER_FRAMES = 40, 80
"""Limits of frames shown at the ends of a path: recursion can be thousands of frames deep."""

ShownPath = tuple[DisplayedFrame, ...]


class PublicLocations:
    """Maps the frames of a capture to public places, using its recorded components."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self._urls = UrlFinder(reader, capture)
        self._cached_place = cache(self._build_location)
        self._places: dict[int, DisplayedLocation] = {}

    def find(self, frame: FrameRow) -> DisplayedLocation:
        """Return the place: the recorded line if the file has changed since, the binary's name if there is no line."""
        found = self._places.get(frame.id)
        if found is None:
            found = self._places[frame.id] = self._find_location(frame)
        return found

    def _find_location(self, frame: FrameRow) -> DisplayedLocation:
        if frame.function.language is Language.PYTHON and frame.line:
            return self._cached_place(frame.function.module, frame.line, LocationEvidence.EXACT.value)
        location = frame.location
        if location is None:
            return DisplayedLocation(file_name(frame.module), None, "")
        line = location.line if location.moved_from is None else location.moved_from
        return self._cached_place(location.path, line, location.how.value)

    def _build_location(self, path: str, line: int, how: str) -> DisplayedLocation:
        nearest = " (nearest release)" if is_of_nearest_release(path) else ""
        public = self._urls.find_public(path, line)
        shown = public.path if public is not None else shorten_path(path)
        return DisplayedLocation(f"{shown}:{line}{nearest}", public.url if public is not None else None, how)


def shorten_path(path: str) -> str:
    """Return a path without machine-specific parts: from its package on, within its repository, or the file name."""
    if match := _PACKAGES.fullmatch(path):
        return match["installed"] or match["framework"]
    inside = path_in_repository(path)
    return inside if inside != path else file_name(path)


def file_name(path: str) -> str:
    """Return the last part of a path; a name that is not a path (`<string>`) is returned unchanged."""
    return path.rpartition("/")[2] if path.startswith("/") else path


def shorten_paths(text: str) -> str:
    """Return the text with every absolute path cut to its machine-independent part."""
    return _PATH.sub(lambda match: shorten_path(match[0]), text)


class StackPaths:
    """The paths to the nodes of a capture's tree."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self.tree = read_capture_tree(reader, capture)
        self.places = PublicLocations(reader, capture)
        self.chain = cache(self._chain)
        self._parents = {node: parent for node, parent, _ in self.tree.nodes}
        self._frame_of = {node: frame for node, _, frame in self.tree.nodes}
        self.frames = read_frames_by_id(reader, set(self._frame_of.values()))

    def _chain(self, leaf: int, ancestor: int = 0) -> list[FrameRow]:
        """Return all frames on the path to a node, outermost first, or below `ancestor`; the list is read-only."""
        found = []
        while leaf and leaf != ancestor:
            found.append(self.frames[self._frame_of[leaf]])
            leaf = self._parents[leaf]
        return found[::-1]

    def build_path(self, frames: Sequence[FrameRow], boundary: str) -> ShownPath:
        """Return the shown frames of a path to a call, without the boundary function itself."""
        if frames and frames[-1].function.name == boundary:
            frames = frames[:-1]
        steps = []
        folded = 0
        for frame in frames:
            if frame.function.role is not FrameRole.CODE:
                folded += 1
                continue
            steps.append(
                DisplayedFrame(frame.function.name, frame.function.language.value, self.places.find(frame), folded)
            )
            folded = 0
        return _cut_middle(tuple(steps))


def _cut_middle(path: ShownPath) -> ShownPath:
    if len(path) <= _MAX_OUTER_FRAMES + _MAX_INNER_FRAMES:
        return path
    inner = path[-_MAX_INNER_FRAMES:]
    return (
        *path[:_MAX_OUTER_FRAMES],
        replace(inner[0], folded=len(path) - _MAX_OUTER_FRAMES - _MAX_INNER_FRAMES),
        *inner[1:],
    )


def count_paths_to_functions(reader: Reader, stack_paths: StackPaths) -> dict[int, Counter[ShownPath]]:
    """Return the paths to calls by boundary function (its id), with their numbers of calls."""
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    found: dict[int, Counter[ShownPath]] = {}
    for end in stack_paths.tree.ends:
        path = stack_paths.build_path(stack_paths.chain(end.leaf), names[end.boundary])
        if end.python_leaf:
            path = (DisplayedFrame(UNMERGED, "native", NO_PLACE, 0), *path)
        found.setdefault(end.boundary, Counter())[path] += end.calls
    return found


def read_lines_of_functions(reader: Reader, stack_paths: StackPaths) -> dict[int, Counter[DisplayedLocation]]:
    """Return the program lines that led to calls by boundary function (its id), with their numbers of calls."""
    lines = read_lines_of_stacks(reader, {end.stack for end in stack_paths.tree.ends}, stack_paths.places)
    found: dict[int, Counter[DisplayedLocation]] = {}
    for end in stack_paths.tree.ends:
        if end.stack in lines:
            found.setdefault(end.boundary, Counter())[lines[end.stack]] += end.calls
    return found


def read_lines_of_stacks(
    reader: Reader, stacks: Iterable[int], locations: PublicLocations
) -> dict[int, DisplayedLocation]:
    """Return the innermost user line of each stack with Python, otherwise its innermost Python line."""
    nodes = read_python_nodes(reader, stacks)
    query = f"SELECT n.id, u.frame FROM nodes n JOIN nodes u ON u.id = n.user_node WHERE n.id {IN_JSON}"
    frame_of: dict[int, int] = dict(reader.rows(query, build_json_list(set(nodes.values()))))
    frames = read_frames_by_id(reader, set(frame_of.values()))
    return {stack: locations.find(frames[frame_of[node]]) for stack, node in nodes.items() if node in frame_of}
