"""Public URLs for locations without a local file, from the recorded components."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from framedex.model import is_local
from framedex.model.places import prefix_in

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader
    from framedex.model import Location
    from framedex.releases import Build


def builds(reader: Reader, capture: int | None = None) -> list[Build]:
    """Return the components of all captures, those of the latest capture first, or of one capture."""
    from framedex.releases import Build

    rows = reader.rows(
        "SELECT b.component, b.version, b.revision, b.folder FROM builds b JOIN captures p ON p.id = b.capture"
        " WHERE ?1 IS NULL OR p.id = ?1 ORDER BY p.started DESC, p.id DESC, b.id",
        capture,
    )
    return list(dict.fromkeys(Build(*row) for row in rows))


class PublicPlace(NamedTuple):
    """A path within its component's repository, and the URL of a line of it, if there is one."""

    path: str
    url: str | None


class Urls:
    """Adds public URLs to locations. Valid for one answer only, because recorded data may change until the next.

    With a capture, only its components are used.
    """

    def __init__(self, reader: Reader, capture: int | None = None) -> None:
        self._reader = reader
        self._capture = capture

    def added(self, location: Location) -> Location:
        """Return the location with its public URL, if its file is not local and the URL is known."""
        if self._reader.memory.file(location.path) is not None:
            return location
        public = self.public(location.path, location.line)
        return location if public is None or public.url is None else replace(location, url=public.url)

    def public(self, path: str, line: int) -> PublicPlace | None:
        """Return the public place of a line, whether its file is local or not; None without a public component."""
        from framedex.releases import public_url, published, url_template  # imported here: most locations are local

        links = self._reader.links
        root = next((root for root in links if path.startswith(f"{root}/")), None)
        if root is not None:
            inside = path[len(root) + 1 :]
            return PublicPlace(inside, public_url(root, inside, line, "HEAD", links))
        if source_map := self._map(path):
            component, repository, revision, is_dirty, prefix = source_map
            templates = {component: url_template(repository)} if repository else {}
            inside = path[len(prefix) :]
            url = None if is_dirty else public_url(component, inside, line, revision, {**templates, **links})
            return PublicPlace(inside, url)
        found = published(path, self._builds)
        if found is None:
            return None
        return PublicPlace(found.path, public_url(found.component, found.path, line, found.revision, links))

    def _map(self, path: str) -> tuple[str, str | None, str, int, str] | None:
        """Return the source map of a path: component, repository, commit, whether it was modified, prefix."""
        if is_local(path):
            return None
        query = (
            "SELECT component, repository, revision, is_dirty, prefix FROM source_maps WHERE prefix = ?"
            " ORDER BY release IS NOT NULL LIMIT 1"  # an imported map may have another URL
        )
        return self._reader.row(query, prefix_in(path))

    @cached_property
    def _builds(self) -> list[Build]:
        return self._reader.memory.recall(("builds", self._capture), lambda: builds(self._reader, self._capture))
