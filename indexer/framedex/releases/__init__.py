"""Releases: of which component, version and commit what was recorded is, and where to read that in public."""

from framedex.releases.builds import Build, find_builds, release_commits
from framedex.releases.repository import REPOSITORIES, Published, public_url, published, url_template

__all__ = [
    "REPOSITORIES",
    "Build",
    "Published",
    "find_builds",
    "public_url",
    "published",
    "release_commits",
    "url_template",
]
