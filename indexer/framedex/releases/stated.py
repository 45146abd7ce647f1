"""Which releases a text says that it is of, and of which release a file here is.

Lines say it that people paste or tools print at the head of a report: `pip freeze`, `jax.print_environment_info()`,
py-spy's `Python v3.11.7`, `jax-0.10.2.dist-info`. A file is of the distribution that is installed beside its package,
or of what jax's own version.py says.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from framedex.patterns import compiled_on_use
from framedex.regularfile import open_regular

_NUMBER = r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.dev|\.post)\d+)?"
_FREEZE = compiled_on_use(rf"(?:^|\s)(?P<package>[A-Za-z][\w.-]*)==(?P<version>{_NUMBER})(?=\s|$)")
_KNOWN = compiled_on_use(
    r"(?<![\w./-])(?P<package>jaxlib|jax|python)(?:'s)?(?:[ .]_*version_*)?\s*(?:[:=]\s*|\s)"
    rf"['\"]?v?(?P<version>{_NUMBER})",
    re.IGNORECASE,
)
_FILES = compiled_on_use(rf"(?<![\w.-])(?P<package>[A-Za-z][\w.]*?)-v?(?P<version>{_NUMBER})(?=\.dist-info|/|-py|\s|$)")
# Of what a program wants or refuses, a text is not.
_WANTED = compiled_on_use(
    r"requir|need|depend|compatib|expect|minimum|upgrade|at least|older|newer|support|suggest|uninstall|>=|<=|!=|~=",
    re.IGNORECASE,
)
_SITE = compiled_on_use(r"(?P<site>.*/(?:site|dist)-packages)/(?P<package>\w+)(?:\.py$|/)")
_LIBRARY = compiled_on_use(r".*/python(?P<version>\d+\.\d+)/")
_TREE = compiled_on_use(r"(?P<folder>.*/)(?P<package>jaxlib|jax)/")
_VERSION = compiled_on_use(r"^_version\s*=\s*['\"]([\w.]+)['\"]", re.MULTILINE)
_LARGEST = 1 << 16  # bytes of a version.py
_LONGEST_LINE = 1 << 12  # characters: statements stand in short lines
_MOST_STATED = 4096


class Release(NamedTuple):
    """A package, in the form of its name that is imported, and a version of it. Python's has two numbers."""

    package: str
    version: str


class StatedReleases:
    """What the lines of one text say so far. Where they say several versions of a package, any of them may be meant."""

    triggers = (
        *("==0.", "==1.", "==2.", ".dist-info", "Successfully installed ", "Python v", "ython: 3.", "ython 3."),
        *("jax:", "jaxlib:", "jax 0.", "jaxlib 0.", "jax v", "jaxlib v", "jax-", "jaxlib-"),
        *("__version__", "JAX version"),
    )
    """A line without any of these says nothing."""

    def __init__(self, text: str = "") -> None:
        self._versions: dict[str, set[str]] = defaultdict(set)
        self.count = 0
        """How many are known; it grows when a line says one more."""
        for line in text.split("\n") if any(trigger in text for trigger in self.triggers) else ():
            self.take(line)

    def take(self, line: str) -> None:
        """Read the next line."""
        if len(line) > _LONGEST_LINE or not any(trigger in line for trigger in self.triggers) or _WANTED.search(line):
            return
        for pattern in (_FREEZE, _KNOWN) if "==" in line else (_KNOWN,):
            self._keep(pattern, line)
        if ".dist-info" in line or "Successfully installed" in line or "jax" in line:
            self._keep(_FILES, line)

    def of(self, package: str) -> frozenset[str]:
        """The versions of a package that the text may be of; none where it does not say."""
        return frozenset(self._versions.get(package, ()))

    def refuses(self, release: Release | None) -> bool:
        """Whether the text is of another version than this one."""
        stated = self._versions.get(release.package) if release is not None else None
        return bool(stated and release and release.version not in stated)

    def _keep(self, pattern: re.Pattern[str], line: str) -> None:
        for match in pattern.finditer(line):
            package, version = _imported(match["package"]), match["version"]
            version = ".".join(version.split(".")[:2]) if package == "python" else version
            if version not in self._versions[package] and self.count < _MOST_STATED:
                self._versions[package].add(version)
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
        return Release(_imported(package), version) if version else None


def _imported(package: str) -> str:
    return package.lower().replace("-", "_")


def _distribution(site: str, package: str) -> str | None:
    """The version of the distribution in a folder of packages that has a package's name."""
    try:
        names = [name for name in os.listdir(site) if name.endswith(".dist-info")]  # noqa: PTH208
    except OSError:
        return None
    wanted = _imported(package)
    versions = [
        version.removesuffix(".dist-info")
        for distribution, dash, version in (name.partition("-") for name in names)
        if dash and _imported(distribution) == wanted
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
