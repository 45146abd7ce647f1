"""The public address of a line of source."""

from __future__ import annotations

from urllib.parse import quote, urlsplit


def public_url(repository: str, commit: str, path: str, line: int) -> str:
    """Where a line of a repository at a commit can be read; `repository` is its address without the ending `.git`."""
    host = urlsplit(repository).hostname or ""
    if host.endswith("googlesource.com"):
        return f"{repository}/+/{commit}/{quote(path)}#{line}"
    if host.startswith("bitbucket."):
        return f"{repository}/src/{commit}/{quote(path)}#lines-{line}"
    between = "/-/blob/" if host.startswith("gitlab.") else "/blob/"
    return f"{repository}{between}{commit}/{quote(path)}#L{line}"
