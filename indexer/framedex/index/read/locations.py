"""Current locations and public URLs of recorded lines: the index stores the lines of recorded file states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from framedex.model import FileState, Staleness, is_local
from framedex.model.locations import map_prefix

if TYPE_CHECKING:  # imports the extractor, which few queries need
    from framedex.index.read.rows import Reader
    from framedex.model import Location
    from framedex.path_resolution.files import FoundFile
    from framedex.sources.file_versions import FileChange, FileChanges
    from framedex.sources.releases import Build
    from framedex.sources.statements import Statements


def build_state(modified: int | None, size: int | None, blob: str | None) -> FileState | None:
    """Return the state of a file from its columns, or None if they are NULL."""
    return None if modified is None or size is None or blob is None else FileState(modified, size, blob)


class LocationMapper:
    """Maps recorded locations to current ones."""

    def __init__(self, stored_text: Callable[[str], bytes | None]) -> None:
        """`stored_text` returns the content of a blob stored in the index, or None."""
        self._stored_text = stored_text
        self._changes: FileChanges | None = None

    def to_current(self, location: Location, recorded_state: FileState) -> Location:
        """Return the current location; `recorded_state` is the recorded state of its file."""
        change = self.change_since(location.path, recorded_state)
        if change is None:
            return location
        if change.lines is None:
            return replace(location, stale=Staleness.UNKNOWN)
        moved = change.lines.map_to_new(location.line)
        if not moved.is_gone and moved.line == location.line:
            return location
        if not moved.is_gone:
            return replace(location, line=moved.line, stale=Staleness.MOVED, moved_from=location.line)
        text = change.old_line_text(location.line)
        return replace(location, line=moved.line, stale=Staleness.GONE, moved_from=location.line, recorded_text=text)

    def change_since(self, path: str, recorded_state: FileState) -> FileChange | None:
        """Return the change of a file since a state, or None if unchanged."""
        if self._changes is None:
            from framedex.sources.file_versions import FileChanges

            self._changes = FileChanges(self._stored_text)
        return self._changes.change_since(path, recorded_state)


class StatementLines:
    """The statements of source files; the first query for a line parses its file."""

    def __init__(self) -> None:
        self._statements: Statements | None = None

    def lines_of_statements(self, file: FoundFile, line: int, macros: Callable[[], str]) -> tuple[int, ...]:
        """Return the lines of the statements that include this line; empty if they have only this line."""
        if self._statements is None:
            from framedex.sources.statements import Statements

            self._statements = Statements()
        return self._statements.lines_of_statements(file, line, macros)


def read_builds(reader: Reader, capture: int | None = None) -> list[Build]:
    """Return the components of one capture, or of all captures with the latest capture first."""
    from framedex.sources.releases import Build

    rows = reader.rows(
        "SELECT b.component, b.version, b.revision, b.folder FROM builds b JOIN captures p ON p.id = b.capture"
        " WHERE ?1 IS NULL OR p.id = ?1 ORDER BY p.started DESC, p.id DESC, b.id",
        capture,
    )
    return list(dict.fromkeys(Build(*row) for row in rows))


class PublicFile(NamedTuple):
    """A path within its component's repository, and the URL of a line in it, if known."""

    path: str
    url: str | None


class UrlFinder:
    """Adds public URLs to locations. Use it for one answer only, because recorded data may change afterwards.

    With a capture, only its components are used.
    """

    def __init__(self, reader: Reader, capture: int | None = None) -> None:
        self._reader = reader
        self._capture = capture

    def add_url(self, location: Location) -> Location:
        """Return the location with its public URL, if its file is not local and the URL is known."""
        if self._reader.cache.find_file(location.path) is not None:
            return location
        public = self.find_public(location.path, location.line)
        return location if public is None or public.url is None else replace(location, url=public.url)

    def find_public(self, path: str, line: int) -> PublicFile | None:
        """Return the public path and URL of a line, even if its file is local; None without a public component."""
        from framedex.sources.releases import build_public_url, find_published_file, find_url_template

        links = self._reader.links
        root = next((root for root in links if path.startswith(f"{root}/")), None)
        if root is not None:
            inside = path[len(root) + 1 :]
            return PublicFile(inside, build_public_url(root, inside, line, "HEAD", links))
        if source_map := self._find_source_map(path):
            component, repository, revision, is_dirty, prefix = source_map
            templates = {component: find_url_template(repository)} if repository else {}
            inside = path[len(prefix) :]
            url = None if is_dirty else build_public_url(component, inside, line, revision, {**templates, **links})
            return PublicFile(inside, url)
        found = find_published_file(path, self._builds)
        if found is None:
            return None
        return PublicFile(found.path, build_public_url(found.component, found.path, line, found.revision, links))

    def _find_source_map(self, path: str) -> tuple[str, str | None, str, int, str] | None:
        """Return the source map of a path: component, repository, commit, whether it was modified, prefix."""
        if is_local(path):
            return None
        query = (
            "SELECT component, repository, revision, is_dirty, prefix FROM source_maps WHERE prefix = ?"
            " ORDER BY release IS NOT NULL LIMIT 1"  # an imported map may have another URL
        )
        return self._reader.row(query, map_prefix(path))

    @cached_property
    def _builds(self) -> list[Build]:
        return self._reader.cache.get_or_compute(
            ("builds", self._capture), lambda: read_builds(self._reader, self._capture)
        )
