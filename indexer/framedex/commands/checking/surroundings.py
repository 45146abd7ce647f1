"""Checks of the environment: settings, git, and the user's cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from framedex.binaries import KeptBinaries
from framedex.commands.checking.findings import Finding, Look
from framedex.commands.inputs.known import settings_here
from framedex.git import Git
from framedex.userfolders import user_folder


def looks() -> list[tuple[str, Look]]:
    """The checks of this module."""
    return [("settings", _settings), ("git", _git), ("cache", _cache)]


def _settings() -> Iterator[Finding]:
    settings, problems = settings_here()
    for problem in problems:
        yield Finding("settings", problem, "docs/reference/settings.md has every key.", is_well=False)
    if settings.file is None:
        if not problems:
            yield Finding("settings", "No framedex.toml or pyproject.toml here or above sets anything.")
        return
    named = {
        "sources": list(map(str, settings.sources)),
        "sources outside of its folder, read once they are added": list(map(str, settings.outside)),
        "path-map": [f"{rule.before} -> {rule.after}" for rule in settings.path_map],
        "links": list(settings.links),
        "mirrors": list(settings.mirrors),
        "index": [str(settings.index)] if settings.index else [],
        "editor": list(settings.editor),
    }
    what = "; ".join(f"{key}: {', '.join(values)}" for key, values in named.items() if values)
    yield Finding("settings", f"{settings.file}: {what or 'nothing is set'}")


def _git() -> Iterator[Finding]:
    git = Git(Path("/"))
    version = git.text("version")
    if version is None:
        what = f"It cannot be used ({git.error}): lines of changed files are not followed, and nothing is fetched."
        yield Finding("git", what, "Install git with the system's packages.", is_well=False)
    else:
        yield Finding("git", version.strip())


def _cache() -> Iterator[Finding]:
    cache = user_folder("XDG_CACHE_HOME")
    if cache is None:
        remedy = "Set HOME, or XDG_CACHE_HOME to a folder of yours."
        yield Finding("cache", "No home folder is known, so nothing is kept between runs.", remedy, is_well=False)
        return
    folder = cache / "framedex"
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        what = f"{folder} cannot be written ({error.strerror or error}): nothing is kept between runs."
        remedy = "Set XDG_CACHE_HOME to a folder that can be written."
        yield Finding("cache", what, remedy, is_well=False)
        return
    copies = f"{KeptBinaries().size() / 1e6:,.0f} MB of copies of recorded binaries"
    what = f"{folder}: {copies}, fetched sources and what was read of binaries. It can be removed at any time."
    yield Finding("cache", what)
