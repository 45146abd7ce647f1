"""Releases: the component, version and commit of a recorded binary, and its public addresses.

Start at:

- `builds.py`: the recorded commit, and the release of a binary
- `components.py`: the component of a frame
- `statements.py`: the releases that a text names
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
        find_builds,
        find_builds_of_paths,
        is_named_by_xla,
        list_known_releases,
        list_python_libraries,
        read_release_commits,
    )
    from framedex.sources.releases.repository import (
        REPOSITORIES,
        build_public_url,
        find_published_file,
        find_url_template,
    )

__all__ = [
    "NO_ORIGIN",
    "REPOSITORIES",
    "BinaryOrigin",
    "Build",
    "FunctionOrigins",
    "build_public_url",
    "find_builds",
    "find_builds_of_paths",
    "find_published_file",
    "find_url_template",
    "is_named_by_xla",
    "list_known_releases",
    "list_python_libraries",
    "read_release_commits",
]

__getattr__ = export_lazily(
    __name__,
    {
        "builds": (
            *(
                "NO_ORIGIN",
                "BinaryOrigin",
                "Build",
                "FunctionOrigins",
                "find_builds_of_paths",
                "find_builds",
                "is_named_by_xla",
            ),
            *("list_known_releases", "list_python_libraries", "read_release_commits"),
        ),
        "repository": ("REPOSITORIES", "build_public_url", "find_published_file", "find_url_template"),
    },
)
