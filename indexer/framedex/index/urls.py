"""Public URLs for places whose files are not here, by the components that were recorded."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from framedex.model import Location
from framedex.releases import Build, public_url, published

if TYPE_CHECKING:
    from framedex.index.rows import Reader


def builds(reader: Reader) -> list[Build]:
    """The components of the captures, those of the capture that began last first."""
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
        url = self._url(location)
        is_here = url is None or os.path.isfile(location.path)  # noqa: PTH113 - Path.is_file raises on odd names
        return location if is_here else replace(location, url=url)

    def _url(self, location: Location) -> str | None:
        links = self._reader.links
        root = next((root for root in links if location.path.startswith(f"{root}/")), None)
        if root is not None:
            return public_url(root, location.path[len(root) + 1 :], location.line, "HEAD", links)
        found = published(location.path, self._builds)
        if found is None:
            return None
        return public_url(found.component, found.path, location.line, found.revision, links)

    @cached_property
    def _builds(self) -> list[Build]:
        return builds(self._reader)
