"""The origin of the lines of all recorded frames, by component and version, in one pass over the frames.

A frame has the version of its installation. If several versions were installed in one folder (a package was upgraded
between two recordings), the version comes from a capture that contains the frame.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from framedex.index.file.conventions import read_source_maps
from framedex.index.read.locations import UrlFinder
from framedex.index.read.rows import Reader
from framedex.model import (
    ComponentFrames,
    FramesBySource,
    Language,
    LineSource,
    Location,
    LocationEvidence,
    is_local,
    is_of_nearest_release,
)
from framedex.path_resolution.files import file_exists
from framedex.sources.releases.builds import find_release_of_python
from framedex.sources.releases.components import Component, FrameOwner, find_owner_of_native, find_owner_of_python

# A group has equal values in all these columns. Python code has its file in place of a binary.
_GROUPS = """
    SELECT {first}, count(*), fn.language, coalesce(m.path, fn.module), coalesce(f.path, ''), fn.symbol <> '',
           fr.recorded_line IS NOT NULL AS has_line,
           CASE WHEN fn.language = 'native' THEN substr(fn.name, 1, instr(fn.name, '::') - 1) ELSE '' END AS namespace
    FROM frames fr JOIN functions fn ON fn.id = fr.function
    LEFT JOIN modules m ON m.id = fr.module LEFT JOIN files f ON f.id = fr.file
"""
_GROUP_BY = (
    " GROUP BY fr.module, fn.language, coalesce(m.path, fn.module), fr.file, fn.symbol <> '', has_line, namespace"
)

# Descends from a node with the frame to the end of a stack, then to a capture with calls of that stack.
_CAPTURE_WITH_FRAME = """
    WITH RECURSIVE down(node, level) AS (
        SELECT min(id), 0 FROM nodes WHERE frame = ?
        UNION ALL
        SELECT (SELECT min(id) FROM nodes WHERE parent = down.node), level + 1 FROM down
        WHERE down.node IS NOT NULL AND NOT EXISTS (SELECT 1 FROM stacks WHERE leaf = down.node)
          AND NOT EXISTS (SELECT 1 FROM stacks WHERE python_leaf = down.node)
          AND NOT EXISTS (SELECT 1 FROM stacks WHERE site_leaf = down.node)
    ), ending AS (SELECT node FROM down WHERE node IS NOT NULL ORDER BY level DESC LIMIT 1)
    SELECT max(capture) FROM capture_stacks WHERE stack = (
        SELECT coalesce((SELECT min(id) FROM stacks WHERE leaf = node),
                        (SELECT min(id) FROM stacks WHERE python_leaf = node),
                        (SELECT min(id) FROM stacks WHERE site_leaf = node)) FROM ending)
"""


class _Version(NamedTuple):
    version: str
    revision: str


_UNKNOWN = _Version("", "")


@dataclass(frozen=True, slots=True)
class _FrameGroup:
    """Frames with equal attributes; `frame` is the id of one of them."""

    frame: int
    frames: int
    language: Language
    module: str
    path: str
    has_name: bool
    has_line: bool
    namespace: str


def read_frames_by_component(reader: Reader, folders: Mapping[str, str]) -> list[ComponentFrames]:
    """Return all recorded frames by component and version, the latest version of a component first.

    `folders` maps source folders to the component whose sources they have, or to "".
    """
    versions = _Versions(reader)
    origins = _LineOrigins(reader, folders)
    counts: dict[tuple[FrameOwner, _Version], dict[tuple[LineSource, str], list[int]]] = defaultdict(dict)
    for group in _iter_groups(reader, _GROUP_BY):
        owner = _find_owner(group, folders.get(origins.find_folder(group.path), ""))
        # Frames of one binary have one version; a Python file may have been replaced by another version's.
        has_one_version = group.language is Language.NATIVE or not versions.has_several(owner)
        for each in [group] if has_one_version else _split_group(reader, group):
            lines_from = origins.classify(each)
            folder = origins.find_folder(each.path) if lines_from is LineSource.SOURCE_FOLDER else ""
            found = counts[owner._replace(folder=""), versions.find(owner, each.frame)]
            totals = found.setdefault((lines_from, folder), [0, 0])
            totals[0] += each.frames
            totals[1] += each.frames if origins.is_public(each) else 0
    order = list(Component)
    return [
        ComponentFrames(owner.component.value, owner.name, *version, _sort_counts(counts[owner, version]))
        for owner, version in sorted(
            counts, key=lambda key: (order.index(key[0].component), key[0].name, versions.age(*key))
        )
    ]


def _iter_groups(
    reader: Reader, condition: str, *parameters: object, first: str = "min(fr.id)"
) -> Iterator[_FrameGroup]:
    for row in reader.iter_rows(_GROUPS.format(first=first) + condition, *parameters):
        frame, frames, language, module, path, has_name, has_line, namespace = row
        yield _FrameGroup(frame, frames, Language(language), module, path, bool(has_name), bool(has_line), namespace)


def _split_group(reader: Reader, group: _FrameGroup) -> Iterator[_FrameGroup]:
    """Yield the frames of a group of Python frames, one by one."""
    condition = (
        " WHERE fn.module = ? AND fr.module IS NULL AND coalesce(f.path, '') = ? AND has_line = ? GROUP BY fr.id"
    )
    yield from _iter_groups(reader, condition, group.module, group.path, group.has_line, first="fr.id")


def _sort_counts(counts: Mapping[tuple[LineSource, str], list[int]]) -> tuple[FramesBySource, ...]:
    kinds = list(LineSource)
    keys = sorted(counts, key=lambda key: (kinds.index(key[0]), key[1]))
    return tuple(FramesBySource(*key, *counts[key]) for key in keys)


def _find_owner(group: _FrameGroup, component_of_folder: str) -> FrameOwner:
    if group.language is Language.PYTHON:
        return find_owner_of_python(group.module)
    is_mapped = bool(group.path) and not is_local(group.path)
    component = group.path.partition("@")[0] if is_mapped else component_of_folder
    return find_owner_of_native(group.module, group.path, component, group.namespace)


class _LineOrigins:
    """Classifies locations: in a local file, in a source map, or at a public address. Each file is read once."""

    def __init__(self, reader: Reader, folders: Iterable[str]) -> None:
        self._urls = UrlFinder(reader)
        self._imported = tuple(info.prefix for info in read_source_maps(reader.connection))
        self._folders = sorted(folders, key=len, reverse=True)
        self._folder_of: dict[str, str] = {}
        self._is_here: dict[str, bool] = {}
        self._public: dict[str, bool] = {}

    def find_folder(self, path: str) -> str:
        """Return the innermost source folder of a file, or ""."""
        if path not in self._folder_of:
            enclosing = (folder for folder in self._folders if path.startswith(f"{folder.rstrip('/')}/"))
            self._folder_of[path] = next(enclosing, "")
        return self._folder_of[path]

    def classify(self, group: _FrameGroup) -> LineSource:
        path = group.path
        if not path and group.has_line:
            return LineSource.CODE_OBJECT
        if not path:
            return LineSource.NAME_ONLY if group.has_name else LineSource.NO_NAME
        if is_of_nearest_release(path):
            return LineSource.NEAREST_RELEASE
        if not is_local(path):
            return LineSource.IMPORTED_MAP if path.startswith(self._imported) else LineSource.RELEASE_MAP
        if path not in self._is_here:
            self._is_here[path] = file_exists(path)
        if self._is_here[path]:
            return LineSource.SOURCE_FOLDER if self.find_folder(path) else LineSource.FILE_HERE
        return LineSource.CODE_OBJECT if group.language is Language.PYTHON else LineSource.DEBUG_INFORMATION

    def is_public(self, group: _FrameGroup) -> bool:
        path = group.path
        if not path or self._is_here.get(path):
            return False
        if path not in self._public:
            self._public[path] = self._urls.add_url(Location(path, 1, LocationEvidence.EXACT)).url is not None
        return self._public[path]


class _Versions:
    """The versions of installed components, from the latest capture to the oldest."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._by_owner: dict[tuple[Component, str], dict[int, _Version]] = defaultdict(dict)
        self._ages: dict[tuple[Component, _Version], int] = {}
        rows = reader.rows(
            "SELECT p.id, b.component, b.folder, b.version, b.revision FROM builds b"
            " JOIN captures p ON p.id = b.capture WHERE b.component <> 'cpython'"
            " ORDER BY p.started DESC, p.id DESC, b.id"
        )
        for capture, component, folder, version, revision in rows:
            self._add(capture, Component(component), folder, _Version(version, revision))
            if component == "jaxlib":
                self._add(capture, Component.IN_JAXLIB, folder, _Version(version, ""))
            if component == "xla":  # plug-ins are built from XLA
                self._add(capture, Component.PLUGIN, folder, _Version(version, revision))
        for capture, metadata in reader.rows("SELECT id, metadata FROM captures ORDER BY started DESC, id DESC"):
            if python := find_release_of_python(json.loads(metadata or "{}").get("python") or ""):
                self._add(capture, Component.CPYTHON, "", _Version(*python))

    def _add(self, capture: int, component: Component, folder: str, version: _Version) -> None:
        self._by_owner[component, folder].setdefault(capture, version)
        self._ages.setdefault((component, version), len(self._ages))

    def has_several(self, owner: FrameOwner) -> bool:
        """Whether an owner's folder had several versions of the component."""
        return len(set(self._find_by_capture(owner).values())) > 1

    def find(self, owner: FrameOwner, frame: int) -> _Version:
        """Return the version of an owner with this frame; empty if unknown."""
        by_capture = self._find_by_capture(owner)
        if not self.has_several(owner):
            return next(iter(by_capture.values()), _UNKNOWN)
        row = self._reader.row(_CAPTURE_WITH_FRAME, frame)
        return by_capture.get(row[0] if row else 0, _UNKNOWN)

    def age(self, owner: FrameOwner, version: _Version) -> int:
        """Return the number of versions recorded later."""
        return self._ages.get((owner.component, version), len(self._ages))

    def _find_by_capture(self, owner: FrameOwner) -> Mapping[int, _Version]:
        """Return the version of an owner in each capture, latest first."""
        return self._by_owner.get((owner.component, owner.folder), {})
