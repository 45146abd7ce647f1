"""Parse releases stated in lines of text, in the forms that tools print and people paste.

Forms:

- packages: `pip list`, `pip freeze`, `pip show`, `pip install`, `uv pip`, `conda list`
- files: `uv.lock`, `poetry.lock`, conda environments, wheel names
- texts: `jax.print_environment_info()`, py-spy's heading, Markdown tables, and sentences
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from framedex.patterns import compiled_on_use

_NUMBER = r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.dev|\.post)\d+)?(?:(?:\+|%2B)[A-Za-z0-9.]*[A-Za-z0-9])?"
_VERSION = rf"v?(?P<version>{_NUMBER})(?![\w%])(?!\.\d)"
_PACKAGE = r"(?P<package>[A-Za-z][\w.-]*)"
_JAX = r"(?P<package>(?:jax(?: ?[/,&+] ?| and |==?))?jaxlib|jax|python)"
_MARKS = r"[*_`'\"\])]{0,3}"  # Markdown marks and quotation marks
_VERSION_WORD = r"[ ._]_{0,3}version_{0,3}"
_FIELD = r"[\"']?\s{0,80}[:=]\s{0,80}[\"']?"

_FREEZE = compiled_on_use(
    rf"(?:^|[\s'\"`(\[+,]){_PACKAGE}(?:\[[\w,. -]{{0,80}}\])?={{2,3}}{_VERSION}(?=[\s;,'\"`)\]\\]|$)"
)
_KNOWN = compiled_on_use(
    rf"(?<![\w./@-]){_JAX}{_MARKS}(?:'s)?(?:{_VERSION_WORD}){{0,2}}{_MARKS}"
    rf"(?:\s{{0,80}}(?:==?|[:|│┃,(@]|is\s)[*_`]{{0,3}}\s{{0,80}}|\s{{1,80}})[*_`'\"(]{{0,3}}{_VERSION}",
    re.IGNORECASE,
)
_FILES = compiled_on_use(
    rf"(?:(?<![\w.-])|(?<=python3\.\d\d-))(?P<package>[A-Za-z][\w.]*?)-v?(?P<version>{_NUMBER}?)"
    r"(?=\.dist-info|/|-(?:py|cp|cuda|rocm)|\.tar|\s|$)"
)
_RECORD = compiled_on_use(rf"\bname{_FIELD}{_PACKAGE}[\"']?,\s{{0,80}}[\"']?version{_FIELD}{_VERSION}")
_INSTALLED = compiled_on_use(
    rf"Requirement already satisfied: (?P<package>[A-Za-z][\w-]*+)(?:[^:]|:(?! ))*\((?P<version>{_NUMBER})\)\s*$"
)
_IN_TREE = compiled_on_use(rf"(?<![\w.-]){_PACKAGE} \[required: [^\[\]]*installed: {_VERSION}")
_NAME = compiled_on_use(rf"^\W*name{_FIELD}{_PACKAGE}[\"']?,?\s*$", re.IGNORECASE)
_VERSION_OF_NAME = compiled_on_use(rf"^\W*version{_FIELD}{_VERSION}[\"']?,?\s*$", re.IGNORECASE)
_QUESTION = compiled_on_use(rf"(?<![\w./-]){_JAX}{_MARKS}{_VERSION_WORD}(?: are you using)?\W*$", re.IGNORECASE)
_ANSWER = compiled_on_use(rf"^(?:Out\[\d+\]:)?[^\w\n]*{_VERSION}\W*$")
_OF_JAX = compiled_on_use(r"\d{1,2}(?:\.\d{1,3}){2}(?!\d|\.\d)")
_CHANGED = compiled_on_use(rf"^\s*(?P<sign>[-+]) {_PACKAGE}(?:\[[\w,. -]{{0,80}}\])?==")
# A release that a program requires, rejects or will install is not the release of the text.
_WANTED = compiled_on_use(
    r"requir|need|depend|compatib|expect|minimum|upgrade|at least|older|newer|support|suggest|uninstall|>=|<=|!=|~="
    r"|existing installation|deprecat|\bremov|\bworks?\b|\bworked\b|\bfixed\b|\bsince\b|introduced|regress|downgrad"
    r"|\bas of\b|prior to|\bwill\b|\blatest\b|\bbefore\b|\bearlier\b|\blater\b|previous",
    re.IGNORECASE,
)
# A release that somebody reports as unaffected is not the release of the text.
_UNAFFECTED = compiled_on_use(
    r"\bnot (?:happen|occur|reproduc|affected|present|seen)|n't (?:happen|occur|reproduce|see)\b|\bunaffected"
    r"|\bcannot reproduce|\b(?:is|are|was|were|runs?|ran) (?:fine|ok(?:ay)?|good)\b"
    r"|\bfine (?:with|on|in|under|using)\b|\bpass(?:es|ed)\b|\bsucceed(?:s|ed)?\b"
    r"|\b(?:no|without(?: any)?) (?:errors?|problems?|issues?|crash(?:es)?)\b",
    re.IGNORECASE,
)
_MORE_CELLS = compiled_on_use(
    rf"[*_`]{{0,3}}\s{{0,80}}[|│┃]\s{{0,80}}[*_`]{{0,3}}v?(?P<version>{_NUMBER})(?=[*_`]{{0,3}}\s{{0,80}}(?:[|│┃]|$))"
)
# The rest of a requirement: its environment marker, hash, and the package that requires it.
_ASIDE = compiled_on_use(
    r";\s*(?:python_|sys_platform|platform_|implementation_|extra|os_name|\().*|(?<=\s)#\s*via\b.*|(?<=\s)--hash=.*"
)

_WORDS = ("jax", "Jax", "JAX", "xlib", "XLIB", "xLib", "Xlib")
_AFTER_WORD = (
    *(" 0.", " v", "  ", "\t", ":", "=", "@", " @", "|", " |", " │", " (", ", 0.", "'", '"', "`", "*", "-0.", "-v0"),
    *(" is ", " version", "_version", "_VERSION", ".__version__", ".version"),
)
_OTHERS = (
    *("==0.", "==1.", "==2.", ".dist-info", "Successfully installed ", "Python v", "ython: 3.", "ython 3."),
    *("ython  ", "ython=3.", "ython version", " [required: ", "already satisfied: "),
    *('name = "', "Name: ", 'name":', 'version = "', "Version: ", 'version":'),
)
TRIGGERS = (*_OTHERS, *(f"{word}{after}" for word in _WORDS for after in _AFTER_WORD))
"""A line without any of these states no release, unless it answers the line before."""

_MOST_LINES_TO_VERSION = 4  # after a record's name


class Release(NamedTuple):
    """A package, by its import name, and a version of it. Python's version has two numbers."""

    package: str
    version: str


class StatementReader:
    """Parses the statements of one text line by line: a package and its version may be on separate lines."""

    def __init__(self) -> None:
        self._named = ""  # the package of a record whose version follows
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
        return self.awaits_answer or bool(self._named)

    @property
    def depended_on_lines_before(self) -> bool:
        """Whether the last parsed line has a version without its package."""
        return self._has_version

    def read(self, line: str) -> Iterator[Release]:
        """The releases that the next line states."""
        line = _ASIDE.sub("", line).rstrip()
        found = [*self._over_lines(line), *_within(line)]
        return filter(None, (_release(*each) for each in found))

    def skip_lines(self, count: int) -> None:
        """Skip lines: a record's name expires if its version does not follow within a few lines."""
        self._has_version = False
        self._lines_left -= count
        if self._lines_left <= 0:
            self._named = ""

    def _over_lines(self, line: str) -> list[tuple[str, str]]:
        """The releases on this line whose packages an earlier line named."""
        if self._questions and line.strip():
            packages, self._questions = self._questions, ()
            if answer := _ANSWER.match(line):
                return [(package, answer["version"]) for package in packages]
        if question := _QUESTION.search(line):
            self._questions = _names(question["package"])
        self._has_version = False
        if name := _NAME.match(line):
            self._named, self._lines_left = name["package"], _MOST_LINES_TO_VERSION
            return []
        named, version = self._named, _VERSION_OF_NAME.match(line)
        self._has_version = version is not None
        self._lines_left -= 1
        if version or self._lines_left <= 0:
            self._named = ""
        return [(named, version["version"])] if named and version else []


def triggers_in(text: str) -> re.Pattern[str] | None:
    """A pattern of the triggers that a text contains; None without triggers."""
    triggers = [trigger for trigger in _OTHERS if trigger in text]
    triggers += [f"{word}{after}" for word in _WORDS if word in text for after in _AFTER_WORD]
    return re.compile("|".join(map(re.escape, triggers))) if triggers else None


def removed_or_added(line: str) -> tuple[str, str] | None:
    """The sign (`-` or `+`) and the package of a line in which uv reports an environment change; else None."""
    found = _CHANGED.match(line)
    return (found["sign"], imported_name(found["package"])) if found else None


def imported_name(package: str) -> str:
    """A distribution's name in its import form."""
    return package.lower().replace("-", "_")


def release_version(version: str) -> str:
    """A version without its local part (`+cuda12.cudnn89`), which has the same sources; nightly builds keep it."""
    whole = version.replace("%2B", "+")
    public = whole.partition("+")[0]
    return whole if ".dev" in public else public


def _within(line: str) -> Iterator[tuple[str, str]]:
    """The packages and versions that a line states completely."""
    if "installed" in line or "already satisfied" in line:
        patterns = [pattern for pattern in (_INSTALLED, _IN_TREE) if pattern.search(line)]
        patterns += [_FILES] if "Successfully installed" in line else []
        if patterns:
            for pattern in patterns:
                yield from ((match["package"], match["version"]) for match in pattern.finditer(line))
            return
    if _WANTED.search(line):
        return
    found = [
        (name, version)
        for pattern in _patterns(line)
        for match in pattern.finditer(line)
        for version in _versions(match, line)
        for name in _names(match["package"])
    ]
    if len({version for _, version in found}) > 1 or not _UNAFFECTED.search(line):
        yield from found


def _versions(match: re.Match[str], line: str) -> Iterator[str]:
    """The version of a statement and the versions in the next cells of its row: a table may compare environments."""
    yield match["version"]
    end = match.end()
    is_cell = any(side in match[0] for side in "|│┃")
    while is_cell and (cell := _MORE_CELLS.match(line, end)):
        yield cell["version"]
        end = cell.end()


def _patterns(line: str) -> Iterator[re.Pattern[str]]:
    if "==" in line:
        yield _FREEZE
    yield _KNOWN
    if ".dist-info" in line or "jax" in line:
        yield _FILES
    if "version" in line:
        yield _RECORD


def _names(package: str) -> tuple[str, ...]:
    """The packages of a name in a sentence: `jax/jaxlib` names two."""
    if package.lower().startswith("jax") and package.lower().endswith("jaxlib"):
        return ("jax", "jaxlib") if len(package) > len("jaxlib") else ("jaxlib",)
    return (package,)


def _release(package: str, version: str) -> Release | None:
    """A release; None if the number cannot be a release of jax or jaxlib, whose versions have three parts."""
    name, version = imported_name(package), release_version(version)
    if name == "python":
        return Release(name, ".".join(version.split(".")[:2]))
    return Release(name, version) if name not in ("jax", "jaxlib") or _OF_JAX.match(version) else None
