"""Parse the releases that a text states, and find the release of a local file.

Forms of statements:

- packages: `pip list`, `pip freeze`, `pip show`, `pip install`, `uv pip`, `conda list`
- files: `uv.lock`, `poetry.lock`, conda environments, wheel names
- texts: `jax.print_environment_info()`, py-spy's heading, Markdown tables, and sentences

The release of a file comes from the distribution installed next to its package, or from jax's own version.py.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from framedex.base.errors import raise_if_limit
from framedex.base.lazy import compile_on_use
from framedex.base.regularfile import open_regular

_NUMBER = r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.dev|\.post)\d+)?(?:(?:\+|%2B)[A-Za-z0-9.]*[A-Za-z0-9])?"
_VERSION = rf"v?(?P<version>{_NUMBER})(?![\w%])(?!\.\d)"
_PACKAGE = r"(?P<package>[A-Za-z][\w.-]*)"
_JAX = r"(?P<package>(?:jax(?: ?[/,&+] ?| and |==?))?jaxlib|jax|python)"
_MARKS = r"[*_`'\"\])]{0,3}"  # Markdown marks and quotation marks
_VERSION_WORD = r"[ ._]_{0,3}version_{0,3}"
_FIELD = r"[\"']?\s{0,80}[:=]\s{0,80}[\"']?"

_FREEZE = compile_on_use(
    rf"(?:^|[\s'\"`(\[+,]){_PACKAGE}(?:\[[\w,. -]{{0,80}}\])?={{2,3}}{_VERSION}(?=[\s;,'\"`)\]\\]|$)"
)
_KNOWN = compile_on_use(
    rf"(?<![\w./@-]){_JAX}{_MARKS}(?:'s)?(?:{_VERSION_WORD}){{0,2}}{_MARKS}"
    rf"(?:\s{{0,80}}(?:==?|[:|│┃,(@]|is\s)[*_`]{{0,3}}\s{{0,80}}|\s{{1,80}})[*_`'\"(]{{0,3}}{_VERSION}",
    re.IGNORECASE,
)
_FILES = compile_on_use(
    rf"(?:(?<![\w.-])|(?<=python3\.\d\d-))(?P<package>[A-Za-z][\w.]*?)-v?(?P<version>{_NUMBER}?)"
    r"(?=\.dist-info|/|-(?:py|cp|cuda|rocm)|\.tar|\s|$)"
)
_RECORD = compile_on_use(rf"\bname{_FIELD}{_PACKAGE}[\"']?,\s{{0,80}}[\"']?version{_FIELD}{_VERSION}")
_INSTALLED = compile_on_use(
    rf"Requirement already satisfied: (?P<package>[A-Za-z][\w-]*+)(?:[^:]|:(?! ))*\((?P<version>{_NUMBER})\)\s*$"
)
_IN_TREE = compile_on_use(rf"(?<![\w.-]){_PACKAGE} \[required: [^\[\]]*installed: {_VERSION}")
_NAME = compile_on_use(rf"^\W*name{_FIELD}{_PACKAGE}[\"']?,?\s*$", re.IGNORECASE)
_VERSION_OF_NAME = compile_on_use(rf"^\W*version{_FIELD}{_VERSION}[\"']?,?\s*$", re.IGNORECASE)
_QUESTION = compile_on_use(rf"(?<![\w./-]){_JAX}{_MARKS}{_VERSION_WORD}(?: are you using)?\W*$", re.IGNORECASE)
_ANSWER = compile_on_use(rf"^(?:Out\[\d+\]:)?[^\w\n]*{_VERSION}\W*$")
_JAX_VERSION = compile_on_use(r"\d{1,2}(?:\.\d{1,3}){2}(?!\d|\.\d)")
_CHANGED = compile_on_use(rf"^\s*(?P<sign>[-+]) {_PACKAGE}(?:\[[\w,. -]{{0,80}}\])?==")
# A release that a program requires, rejects or will install is not the release of the text.
_REQUIREMENT_WORDS = compile_on_use(
    r"requir|need|depend|compatib|expect|minimum|upgrade|at least|older|newer|support|suggest|uninstall|>=|<=|!=|~="
    r"|existing installation|deprecat|\bremov|\bworks?\b|\bworked\b|\bfixed\b|\bsince\b|introduced|regress|downgrad"
    r"|\bas of\b|prior to|\bwill\b|\blatest\b|\bbefore\b|\bearlier\b|\blater\b|previous",
    re.IGNORECASE,
)
# A release that is reported as unaffected is not the release of the text.
_UNAFFECTED_WORDS = compile_on_use(
    r"\bnot (?:happen|occur|reproduc|affected|present|seen)|n't (?:happen|occur|reproduce|see)\b|\bunaffected"
    r"|\bcannot reproduce|\b(?:is|are|was|were|runs?|ran) (?:fine|ok(?:ay)?|good)\b"
    r"|\bfine (?:with|on|in|under|using)\b|\bpass(?:es|ed)\b|\bsucceed(?:s|ed)?\b"
    r"|\b(?:no|without(?: any)?) (?:errors?|problems?|issues?|crash(?:es)?)\b",
    re.IGNORECASE,
)
_MORE_CELLS = compile_on_use(
    rf"[*_`]{{0,3}}\s{{0,80}}[|│┃]\s{{0,80}}[*_`]{{0,3}}v?(?P<version>{_NUMBER})(?=[*_`]{{0,3}}\s{{0,80}}(?:[|│┃]|$))"
)
# The rest of a requirement: its environment marker, hash, and the package that requires it.
_REQUIREMENT_TAIL = compile_on_use(
    r";\s*(?:python_|sys_platform|platform_|implementation_|extra|os_name|\().*|(?<=\s)#\s*via\b.*|(?<=\s)--hash=.*"
)

_WORDS = ("jax", "Jax", "JAX", "xlib", "XLIB", "xLib", "Xlib")
_AFTER_WORD = (
    *(" 0.", " v", "  ", "\t", ":", "=", "@", " @", "|", " |", " │", " (", ", 0.", "'", '"', "`", "*", "-0.", "-v0"),
    *(" is ", " version", "_version", "_VERSION", ".__version__", ".version"),
)
_OTHER_TRIGGERS = (
    *("==0.", "==1.", "==2.", ".dist-info", "Successfully installed ", "Python v", "ython: 3.", "ython 3."),
    *("ython  ", "ython=3.", "ython version", " [required: ", "already satisfied: "),
    *('name = "', "Name: ", 'name":', 'version = "', "Version: ", 'version":'),
)
TRIGGERS = (*_OTHER_TRIGGERS, *(f"{word}{after}" for word in _WORDS for after in _AFTER_WORD))
"""A line names a release only if it contains one of these, or answers a question on the previous line."""

_MAX_LINES_TO_VERSION = 4  # lines after a record's name in which its version may follow


class Release(NamedTuple):
    """A package, by its import name, and a version of it. Python's version has two numbers."""

    package: str
    version: str


class StatementReader:
    """Parses the statements of one text line by line: a package and its version may be on separate lines."""

    def __init__(self) -> None:
        self._package_of_record = ""  # the package of a record whose version follows
        self._lines_left = 0
        self._has_version = False
        self._questions: tuple[str, ...] = ()  # the packages whose version may be on the next line

    @property
    def awaits_answer(self) -> bool:
        """Whether the next nonblank line may be a bare version."""
        return bool(self._questions)

    @property
    def depends_on_lines_before(self) -> bool:
        """Whether the next line may state a release whose package an earlier line names."""
        return self.awaits_answer or bool(self._package_of_record)

    @property
    def depended_on_lines_before(self) -> bool:
        """Whether the last parsed line has a version without its package."""
        return self._has_version

    def read(self, line: str) -> Iterator[Release]:
        """The releases that the next line states."""
        line = _REQUIREMENT_TAIL.sub("", line).rstrip()
        found = [*self._read_across_lines(line), *_read_within_line(line)]
        return filter(None, (_build_release(*each) for each in found))

    def skip_lines(self, count: int) -> None:
        """Skip lines, and forget a record's name if its version does not follow within a few lines."""
        self._has_version = False
        self._lines_left -= count
        if self._lines_left <= 0:
            self._package_of_record = ""

    def _read_across_lines(self, line: str) -> list[tuple[str, str]]:
        """The releases on this line whose packages an earlier line named."""
        if self._questions and line.strip():
            packages, self._questions = self._questions, ()
            if answer := _ANSWER.match(line):
                return [(package, answer["version"]) for package in packages]
        if question := _QUESTION.search(line):
            self._questions = _split_package_names(question["package"])
        self._has_version = False
        if name := _NAME.match(line):
            self._package_of_record, self._lines_left = name["package"], _MAX_LINES_TO_VERSION
            return []
        named, version = self._package_of_record, _VERSION_OF_NAME.match(line)
        self._has_version = version is not None
        self._lines_left -= 1
        if version or self._lines_left <= 0:
            self._package_of_record = ""
        return [(named, version["version"])] if named and version else []


def find_triggers(text: str) -> re.Pattern[str] | None:
    """A pattern of the triggers that a text contains; None without triggers."""
    triggers = [trigger for trigger in _OTHER_TRIGGERS if trigger in text]
    triggers += [f"{word}{after}" for word in _WORDS if word in text for after in _AFTER_WORD]
    return re.compile("|".join(map(re.escape, triggers))) if triggers else None


def parse_environment_change(line: str) -> tuple[str, str] | None:
    """The sign (`-` or `+`) and the package of a line in which uv reports an environment change; else None."""
    found = _CHANGED.match(line)
    return (found["sign"], import_name(found["package"])) if found else None


def import_name(package: str) -> str:
    """A distribution's name in its import form."""
    return package.lower().replace("-", "_")


def parse_release_version(version: str) -> str:
    """A version without its local part (`+cuda12.cudnn89`), which has the same sources; nightly builds keep it."""
    whole = version.replace("%2B", "+")
    public = whole.partition("+")[0]
    return whole if ".dev" in public else public


def _read_within_line(line: str) -> Iterator[tuple[str, str]]:
    """The packages and versions that a line states completely."""
    if "installed" in line or "already satisfied" in line:
        patterns = [pattern for pattern in (_INSTALLED, _IN_TREE) if pattern.search(line)]
        patterns += [_FILES] if "Successfully installed" in line else []
        if patterns:
            for pattern in patterns:
                yield from ((match["package"], match["version"]) for match in pattern.finditer(line))
            return
    if _REQUIREMENT_WORDS.search(line):
        return
    found = [
        (name, version)
        for pattern in _find_patterns(line)
        for match in pattern.finditer(line)
        for version in _find_versions(match, line)
        for name in _split_package_names(match["package"])
    ]
    if len({version for _, version in found}) > 1 or not _UNAFFECTED_WORDS.search(line):
        yield from found


def _find_versions(match: re.Match[str], line: str) -> Iterator[str]:
    """The version of a statement and the versions in the next cells of its row: a table may compare environments."""
    yield match["version"]
    end = match.end()
    is_cell = any(side in match[0] for side in "|│┃")
    while is_cell and (cell := _MORE_CELLS.match(line, end)):
        yield cell["version"]
        end = cell.end()


def _find_patterns(line: str) -> Iterator[re.Pattern[str]]:
    if "==" in line:
        yield _FREEZE
    yield _KNOWN
    if ".dist-info" in line or "jax" in line:
        yield _FILES
    if "version" in line:
        yield _RECORD


def _split_package_names(package: str) -> tuple[str, ...]:
    """The packages of a name in a sentence: `jax/jaxlib` names two."""
    if package.lower().startswith("jax") and package.lower().endswith("jaxlib"):
        return ("jax", "jaxlib") if len(package) > len("jaxlib") else ("jaxlib",)
    return (package,)


def _build_release(package: str, version: str) -> Release | None:
    """A release; None if the number cannot be a release of jax or jaxlib, whose versions have three parts."""
    name, version = import_name(package), parse_release_version(version)
    if name == "python":
        return Release(name, ".".join(version.split(".")[:2]))
    return Release(name, version) if name not in ("jax", "jaxlib") or _JAX_VERSION.match(version) else None


_SITE = compile_on_use(r"(?P<site>.*/(?:site|dist)-packages)/(?P<package>\w+)(?:\.py$|/)")
_LIBRARY = compile_on_use(r".*/python(?P<version>\d+\.\d+)/")
_PYTHON = compile_on_use(r".*(?:/lib\d*/python3\.(?P<minor>\d+)t?/|\\python3(?P<windows>\d+)\\lib\\)", re.IGNORECASE)
_TREE = compile_on_use(r"(?P<folder>.*/)(?P<package>jaxlib|jax)/")
_STATED_VERSION = compile_on_use(r"^_version\s*=\s*['\"]([\w.]+)['\"]", re.MULTILINE)
_TRIGGERS = compile_on_use("|".join(map(re.escape, TRIGGERS)))
_MAX_FILE_BYTES = 1 << 16  # bytes of a version.py
_MAX_LINE_LENGTH = 1 << 12  # characters: statements appear in short lines
_MAX_STATED = 4096


class StatedReleases:
    """The releases that the lines of one text state so far. Of several versions of a package, any may apply."""

    triggers = TRIGGERS

    def __init__(self, text: str = "") -> None:
        self._reader = StatementReader()
        self._versions: dict[str, set[str]] = defaultdict(set)
        self._replaced: dict[str, set[str]] = defaultdict(set)  # versions that uv reports as removed
        self.count = 0
        """The number of changes of the stated releases; 0 if nothing is stated."""
        self.read_text(text)

    @property
    def depends_on_lines_before(self) -> bool:
        """Whether the releases in the next line depend on earlier lines."""
        return self._reader.depends_on_lines_before

    @property
    def depended_on_lines_before(self) -> bool:
        """Whether the releases in the last line depend on earlier lines."""
        return self._reader.depended_on_lines_before

    def read_line(self, line: str) -> None:
        """Parse the next line."""
        if len(line) > _MAX_LINE_LENGTH or not (self._reader.awaits_answer or _TRIGGERS.search(line)):
            self.skip_lines(1)
            return
        change = parse_environment_change(line) if "==" in line else None
        if change is not None and change[0] == "+":
            self._remove_replaced(change[1])
        for release in self._reader.read(line):
            if self._add_release(release) and change == ("-", release.package):
                self._replaced[release.package].add(release.version)

    def read_text(self, text: str) -> None:
        """Parse the next lines, all of which are complete."""
        for line in self._lines_to_read(text):
            self.read_line(line)

    def skip_lines(self, count: int) -> None:
        """Skip lines that are not passed to `read_line`."""
        self._reader.skip_lines(count)

    def versions_of(self, package: str) -> frozenset[str]:
        """The versions of a package that the text states; empty if none."""
        return frozenset(self._versions.get(package, ()))

    def contradicts(self, release: Release | None) -> bool:
        """Whether the text states other versions of the package, but not this one."""
        stated = self._versions.get(release.package) if release is not None else None
        return bool(stated and release and release.version not in stated)

    def _lines_to_read(self, text: str) -> Iterator[str]:
        """The lines that may state a release: lines with triggers, and answers to questions."""
        position, triggers = 0, find_triggers(text)
        while triggers is not None and (found := triggers.search(text, position)) is not None:
            begin, end = text.rfind("\n", 0, found.start()) + 1, _next_line(text, found.start())
            if self.depends_on_lines_before:
                self.skip_lines(text.count("\n", position, begin))
            position = end
            yield text[begin : position - 1]
            while self._reader.awaits_answer and position < len(text):
                begin, position = position, _next_line(text, position)
                yield text[begin : position - 1]

    def _add_release(self, release: Release) -> bool:
        """Add a release; False if it was already known."""
        versions = self._versions[release.package]
        if release.version in versions or self.count >= _MAX_STATED:
            return False
        versions.add(release.version)
        self.count += 1
        return True

    def _remove_replaced(self, package: str) -> None:
        if replaced := self._replaced.pop(package, None):
            self._versions[package] -= replaced
            self.count += 1


class FileReleases:
    """The releases of local files. Each folder is read once."""

    def __init__(self) -> None:
        self._installed: dict[tuple[str, str], str | None] = {}

    def release_of(self, path: str) -> Release | None:
        """The release of a file; None if unknown."""
        if installed := _SITE.match(path):
            return self._installed_release(installed["site"], installed["package"], _find_installed_version)
        if library := _LIBRARY.match(path):
            return Release("python", library["version"])
        if tree := _TREE.match(path):
            return self._installed_release(f"{tree['folder']}{tree['package']}", tree["package"], _find_version_in_tree)
        return None

    def _installed_release(
        self, folder: str, package: str, version_of: Callable[[str, str], str | None]
    ) -> Release | None:
        key = folder, package
        if key not in self._installed:
            self._installed[key] = version_of(folder, package)
        version = self._installed[key]
        return Release(import_name(package), parse_release_version(version)) if version else None


def find_python_version_in_path(path: str) -> str:
    """The Python version in a file's installation path, such as `3.12`; empty if it has none.

    Windows paths are supported.
    """
    found = _PYTHON.match(path)
    return f"3.{found['minor'] or found['windows']}" if found else ""


def _next_line(text: str, position: int) -> int:
    """The position after the next line break; the length of the text plus one if there is none."""
    end = text.find("\n", position)
    return (len(text) if end < 0 else end) + 1


def _find_installed_version(site: str, package: str) -> str | None:
    """The version of the only distribution for a package in a site-packages folder; else None."""
    try:
        names = [name for name in os.listdir(site) if name.endswith(".dist-info")]  # noqa: PTH208
    except OSError as error:
        raise_if_limit(error)
        return None
    wanted = import_name(package)
    versions = [
        version.removesuffix(".dist-info")
        for distribution, dash, version in (name.partition("-") for name in names)
        if dash and import_name(distribution) == wanted
    ]
    return versions[0] if len(versions) == 1 else None


def _find_version_in_tree(folder: str, package: str) -> str | None:
    """The version in the version.py of a package in a source tree; None if missing."""
    try:
        with open_regular(Path(folder, "version.py")) as file:
            found = _STATED_VERSION.search(file.read(_MAX_FILE_BYTES).decode(errors="replace"))
    except (OSError, ValueError):
        return None
    return found[1] if found else None
