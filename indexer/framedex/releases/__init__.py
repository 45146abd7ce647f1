"""Releases: the component, version and commit of a recorded binary, and its public addresses.

Start at:

- `builds.py`: the recorded commit
- `components.py`: the component of a frame
- `origins.py`: the release of a binary
- `statements.py` and `stated.py`: the release that a text states
- `addresses.py`: public pages
"""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.releases.builds import (
        Build,
        builds_at,
        find_builds,
        known_releases,
        python_libraries,
        release_commits,
    )
    from framedex.releases.origins import NO_ORIGIN, BinaryOrigin, Origins, is_named_by_xla
    from framedex.releases.repository import REPOSITORIES, public_url, published, url_template

__all__ = [
    "NO_ORIGIN",
    "REPOSITORIES",
    "BinaryOrigin",
    "Build",
    "Origins",
    "builds_at",
    "find_builds",
    "is_named_by_xla",
    "known_releases",
    "public_url",
    "published",
    "python_libraries",
    "release_commits",
    "url_template",
]

__getattr__ = exports(
    __name__,
    {
        "builds": ("Build", "builds_at", "find_builds", "known_releases", "python_libraries", "release_commits"),
        "origins": ("NO_ORIGIN", "BinaryOrigin", "Origins", "is_named_by_xla"),
        "repository": ("REPOSITORIES", "public_url", "published", "url_template"),
    },
)
