"""Which releases a text says that it is of, and of which release a file here is.

`statements` has the forms in which lines say it. A file is of the distribution that is installed beside its package,
or of what jax's own version.py says.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from framedex.patterns import compiled_on_use
from framedex.regularfile import open_regular
from framedex.releases.statements import (
    TRIGGERS,
    Release,
    StatementReader,
    imported_name,
    release_version,
    removed_or_added,
    triggers_in,
)
from framedex.systemlimits import raise_if_limit

_SITE = compiled_on_use(r"(?P<site>.*/(?:site|dist)-packages)/(?P<package>\w+)(?:\.py$|/)")
_LIBRARY = compiled_on_use(r".*/python(?P<version>\d+\.\d+)/")
_PYTHON = compiled_on_use(r".*(?:/lib\d*/python3\.(?P<minor>\d+)t?/|\\python3(?P<windows>\d+)\\lib\\)", re.IGNORECASE)
_TREE = compiled_on_use(r"(?P<folder>.*/)(?P<package>jaxlib|jax)/")
_VERSION = compiled_on_use(r"^_version\s*=\s*['\"]([\w.]+)['\"]", re.MULTILINE)
_TRIGGERS = compiled_on_use("|".join(map(re.escape, TRIGGERS)))
_LARGEST = 1 << 16  # bytes of a version.py
_LONGEST_LINE = 1 << 12  # characters: statements stand in short lines
_MOST_STATED = 4096


class StatedReleases:
    """What the lines of one text say so far. Where they say several versions of a package, any of them may be meant."""

    triggers = TRIGGERS

    def __init__(self, text: str = "") -> None:
        self._reader = StatementReader()
        self._versions: dict[str, set[str]] = defaultdict(set)
        self._replaced: dict[str, set[str]] = defaultdict(set)  # what uv says to have removed
        self.count = 0
        """How often what is known has changed; 0: nothing is."""
        for line in self._lines_to_read(text):
            self.take(line)

    @property
    def depends_on_lines_before(self) -> bool:
        """Whether what the next line states depends on the lines before it."""
        return self._reader.depends_on_lines_before

    @property
    def depended_on_lines_before(self) -> bool:
        """Whether the last line would state something else after other lines."""
        return self._reader.depended_on_lines_before

    def take(self, line: str) -> None:
        """Read the next line."""
        if len(line) > _LONGEST_LINE or not (self._reader.awaits_answer or _TRIGGERS.search(line)):
            self.skip_lines(1)
            return
        change = removed_or_added(line) if "==" in line else None
        if change is not None and change[0] == "+":
            self._forget_replaced(change[1])
        for release in self._reader.read(line):
            if self._keep(release) and change == ("-", release.package):
                self._replaced[release.package].add(release.version)

    def skip_lines(self, count: int) -> None:
        """Count lines that are passed over instead of given to `take`."""
        self._reader.skip_lines(count)

    def of(self, package: str) -> frozenset[str]:
        """The versions of a package that the text may be of; none where it does not say."""
        return frozenset(self._versions.get(package, ()))

    def refuses(self, release: Release | None) -> bool:
        """Whether the text is of another version than this one."""
        stated = self._versions.get(release.package) if release is not None else None
        return bool(stated and release and release.version not in stated)

    def _lines_to_read(self, text: str) -> Iterator[str]:
        """The lines that may state something: those with triggers, and the answers to questions."""
        position, triggers = 0, triggers_in(text)
        while triggers is not None and (found := triggers.search(text, position)) is not None:
            begin, end = text.rfind("\n", 0, found.start()) + 1, _next_line(text, found.start())
            if self.depends_on_lines_before:
                self.skip_lines(text.count("\n", position, begin))
            position = end
            yield text[begin : position - 1]
            while self._reader.awaits_answer and position < len(text):
                begin, position = position, _next_line(text, position)
                yield text[begin : position - 1]

    def _keep(self, release: Release) -> bool:
        """Whether a release was not known before; it is from now on."""
        versions = self._versions[release.package]
        if release.version in versions or self.count >= _MOST_STATED:
            return False
        versions.add(release.version)
        self.count += 1
        return True

    def _forget_replaced(self, package: str) -> None:
        if replaced := self._replaced.pop(package, None):
            self._versions[package] -= replaced
            self.count += 1


class FileReleases:
    """Of which releases the files here are. Each folder is looked into once."""

    def __init__(self) -> None:
        self._installed: dict[tuple[str, str], str | None] = {}

    def of(self, path: str) -> Release | None:
        """The release that a file is of; None where nothing says it."""
        if installed := _SITE.match(path):
            return self._found(installed["site"], installed["package"], _distribution)
        if library := _LIBRARY.match(path):
            return Release("python", library["version"])
        if tree := _TREE.match(path):
            return self._found(f"{tree['folder']}{tree['package']}", tree["package"], _own)
        return None

    def _found(self, folder: str, package: str, version_of: Callable[[str, str], str | None]) -> Release | None:
        key = folder, package
        if key not in self._installed:
            self._installed[key] = version_of(folder, package)
        version = self._installed[key]
        return Release(imported_name(package), release_version(version)) if version else None


def python_in_path(path: str) -> str:
    """The version of the Python that a file was installed for, `3.12`, by its path; empty where that does not say it.

    The path may be one of Windows.
    """
    found = _PYTHON.match(path)
    return f"3.{found['minor'] or found['windows']}" if found else ""


def _next_line(text: str, position: int) -> int:
    """The position behind the line break that comes next, one behind the end where there is none."""
    end = text.find("\n", position)
    return (len(text) if end < 0 else end) + 1


def _distribution(site: str, package: str) -> str | None:
    """The version of the distribution in a folder of packages that has a package's name."""
    try:
        names = [name for name in os.listdir(site) if name.endswith(".dist-info")]  # noqa: PTH208
    except OSError as error:
        raise_if_limit(error)
        return None
    wanted = imported_name(package)
    versions = [
        version.removesuffix(".dist-info")
        for distribution, dash, version in (name.partition("-") for name in names)
        if dash and imported_name(distribution) == wanted
    ]
    return versions[0] if len(versions) == 1 else None


def _own(folder: str, package: str) -> str | None:
    """The version that the version.py of a package in a source tree names; None where it names none."""
    try:
        with open_regular(Path(folder, "version.py")) as file:
            found = _VERSION.search(file.read(_LARGEST).decode(errors="replace"))
    except (OSError, ValueError):
        return None
    return found[1] if found else None
