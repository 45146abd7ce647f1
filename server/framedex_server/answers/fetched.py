"""Public lines in sources downloaded by `framedex sources fetch`, for any project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from framedex.errors import FramedexError
from framedex.path_resolution.files import is_here

if TYPE_CHECKING:
    from framedex.model import Location
    from framedex.releases.addresses import PublicLine


def fetched_place(place: Location, links: Mapping[str, str] | None = None) -> Location | None:
    """Return the fetched line of a public location; None if the file is here or its commit was not fetched."""
    if place.url is None or is_here(place.path):
        return None
    from framedex.releases.addresses import read_address

    line = read_address(place.url, links)
    return None if line is None else fetched_line(line)


def fetched_line(line: PublicLine) -> Location | None:
    """Return the line of a public repository at the recorded commit; None if the commit was not fetched."""
    from framedex.fetching.cache import SourceCache
    from framedex.model import How, Location
    from framedex.releases.repository import REPOSITORIES
    from framedex.releases.roots import is_commit

    if not is_commit(line.revision):
        return None
    try:
        cache = SourceCache.usual()
    except FramedexError:
        return None
    for component in sorted(line.names & REPOSITORIES.keys()):
        path = str(cache.checkout(component, line.revision) / line.path)
        if is_here(path):
            return Location(path, line.line or 1, How.EXACT)
    return None
