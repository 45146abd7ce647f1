"""Releases: the component, version and commit of a recorded binary, and its public addresses.

Start at:

- `builds.py`: the recorded commit, and the release of a binary
- `components.py`: the component of a frame
- `statements.py`: the releases that a text states
- `roots.py`: source folders and their git state
- `repository.py`: public pages
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.sources.releases.builds import (
        NO_ORIGIN,
        BinaryOrigin,
        Build,
        FunctionOrigins,
        builds_at,
        find_builds,
        is_named_by_xla,
        known_releases,
        python_libraries,
        release_commits,
    )
    from framedex.sources.releases.repository import REPOSITORIES, public_url, published, url_template

__all__ = [
    "NO_ORIGIN",
    "REPOSITORIES",
    "BinaryOrigin",
    "Build",
    "FunctionOrigins",
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

__getattr__ = export_lazily(
    __name__,
    {
        "builds": (
            *("NO_ORIGIN", "BinaryOrigin", "Build", "FunctionOrigins", "builds_at", "find_builds", "is_named_by_xla"),
            *("known_releases", "python_libraries", "release_commits"),
        ),
        "repository": ("REPOSITORIES", "public_url", "published", "url_template"),
    },
)
