"""Public URLs for places whose files are not here, by the components that were recorded."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from framedex.model import is_local
from framedex.model.places import prefix_in

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader
    from framedex.model import Location
    from framedex.releases import Build


def builds(reader: Reader) -> list[Build]:
    """The components of the captures, those of the capture that began last first."""
    from framedex.releases import Build

    rows = reader.rows(
        "SELECT b.component, b.version, b.revision, b.folder FROM builds b"
        " JOIN captures p ON p.id = b.capture ORDER BY p.started DESC, p.id DESC, b.id"
    )
    return list(dict.fromkeys(Build(*row) for row in rows))


class Urls:
    """Gives locations their URLs. For one answer: what is recorded may change until the next."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def added(self, location: Location) -> Location:
        """The location with its public URL, if its file is not here and the URL is known."""
        if self._reader.memory.file(location.path) is not None:
            return location
        url = self._url(location)
        return location if url is None else replace(location, url=url)

    def _url(self, location: Location) -> str | None:
        from framedex.releases import public_url, published, url_template  # most places that are shown are here

        links = self._reader.links
        root = next((root for root in links if location.path.startswith(f"{root}/")), None)
        if root is not None:
            return public_url(root, location.path[len(root) + 1 :], location.line, "HEAD", links)
        if source_map := self._map(location.path):
            component, repository, revision, is_dirty, prefix = source_map
            templates = {component: url_template(repository)} if repository else {}
            path = location.path[len(prefix) :]
            return None if is_dirty else public_url(component, path, location.line, revision, {**templates, **links})
        found = published(location.path, self._builds)
        if found is None:
            return None
        return public_url(found.component, found.path, location.line, found.revision, links)

    def _map(self, path: str) -> tuple[str, str | None, str, int, str] | None:
        """The source map that a path is of: component, repository, commit, whether it was changed, prefix."""
        if is_local(path):
            return None
        query = (
            "SELECT component, repository, revision, is_dirty, prefix FROM source_maps WHERE prefix = ?"
            " ORDER BY release IS NOT NULL LIMIT 1"  # an imported one may have another address
        )
        return self._reader.row(query, prefix_in(path))

    @cached_property
    def _builds(self) -> list[Build]:
        return self._reader.memory.recall("builds", lambda: builds(self._reader))
