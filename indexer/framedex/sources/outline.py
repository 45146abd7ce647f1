"""What a source file says of a frame that a text places in it: whether that function can have been at that line.

A text names the line of the file that its program ran. The file here may be another version, and then the line is
beyond its end, on nothing that runs, or inside another function. Only what contradicts the text is told by that; a
line that moved within its function is told by nothing but the release (`releases/stated.py`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path, PurePath
from threading import Lock

from framedex.model import Definition, Language
from framedex.nativepart import NoNativePartError
from framedex.patterns import compiled_on_use
from framedex.recall import Recall
from framedex.regularfile import read_regular
from framedex.sources.files import language_of
from framedex.sources.names import short_name
from framedex.whereabouts.files import FoundFile, found_file

Named = tuple[str, Definition]
"""A definition and the short name that it is looked up by."""

Known = tuple[int, int, bool, Sequence[Named]]
"""What an index has of a file: mtime (ns) and size when it was read, whether all of it could be, its definitions."""

_OF_A_DEFINITION, _OF_A_LINE = 400, 60  # bytes
_MOST_ABOVE = 200  # lines of decorators
_ABOVE_NAME = 2  # lines of a template's head, attributes and a return type, which compilers count to a function
_UNNAMED = compiled_on_use(r"<(?:listcomp|dictcomp|setcomp|genexpr)>")
_NAME = compiled_on_use(r"[^\W\d]\w*|<lambda>|<module>")
_STRING = compiled_on_use(r"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_READ = frozenset(("python", "cpp"))
_SCOPES = frozenset(("function", "method", "class"))
_BODIES = frozenset(("function", "method"))


class Fit(Enum):
    """Whether a file bears out what a text says of it."""

    FITS = auto()
    UNKNOWN = auto()
    CONTRADICTS = auto()


@dataclass(frozen=True, slots=True)
class _Extent:
    """The lines of a Python definition: from its first decorator on, and the last of what stands before its body."""

    begin: int
    header_end: int
    definition: Definition


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines and definitions of a file: all that a frame is held against.

    `texts` are the lines of a Python file, without spaces around them, and `content` is all of it, as hashes of this
    process; 0 where it is not known.
    `lines` counts them without what follows the last line break. `silent` has the lines (1-based) on which no Python
    can run. `definitions` is None where the file is in no language that is read. `is_sound`: all of it could be read.
    """

    language: str | None
    lines: int
    definitions: Sequence[Named] | None = None
    silent: frozenset[int] = frozenset()
    extents: Sequence[_Extent] = ()
    is_sound: bool = True
    texts: Sequence[int] = ()
    content: int = 0

    @property
    def weight(self) -> int:
        """Roughly the memory that it takes, in bytes."""
        return _OF_A_DEFINITION * len(self.definitions or ()) + _OF_A_LINE * len(self.silent) + 8 * len(self.texts)

    def fit(self, function: str, line: int, language: Language | None, source: str = "") -> Fit:
        """Whether the function of a frame, empty if the text names none, can have been at a line.

        `source` is what the text says that the line is, empty if it does not.
        """
        is_quoted = bool(source) and line <= len(self.texts)
        if is_quoted and self.texts[line - 1] != hash(source.strip()):
            return Fit.CONTRADICTS
        verdict = self._fit(function, line, language)
        return Fit.FITS if is_quoted and verdict is Fit.UNKNOWN else verdict

    def _fit(self, function: str, line: int, language: Language | None) -> Fit:
        if line > max(self.lines + (not function), 1):  # the end of a file, where parsers report what is missing
            return Fit.CONTRADICTS
        if not function or self.definitions is None:
            return Fit.UNKNOWN
        if self.language == "python" and language is not Language.NATIVE:
            return self._fit_of_python(function, line)
        if self.language == "cpp" and language is not Language.PYTHON:
            return self._fit_of_cpp(function, line)
        return Fit.UNKNOWN

    def defined(self, function: str) -> list[Definition]:
        """The functions of this name in the file."""
        definitions = self.definitions or ()
        if self.language == "python":
            path = _path(function)
            return [each for _, each in definitions if each.kind in _BODIES and path and _same(path, _path(each.name))]
        wanted = _short(function)
        return [each for short, each in definitions if short == wanted and each.kind in _BODIES]

    def around(self, function: str, line: int) -> tuple[str, int] | None:
        """The whole name of the Python function of this name around a line, and the line of its first decorator."""
        path = _path(function)
        bodies = [each for each in self.extents if each.definition.kind in _BODIES]
        inside = [each for each in bodies if each.begin <= line <= each.definition.end_line]
        named = [each for each in inside if _same(path, _path(each.definition.name))]
        innermost = max(named, key=lambda each: each.begin, default=None)
        return None if innermost is None else (innermost.definition.name, innermost.begin)

    def _fit_of_python(self, function: str, line: int) -> Fit:
        if line in self.silent and line > 1:  # where a module begins, whatever stands there
            return Fit.CONTRADICTS
        path = _path(function)
        while path and _UNNAMED.fullmatch(path[-1]):  # it runs in a part of the function around it
            path = path[:-1]
        path = path[-1:] if path[-1:] == ("<lambda>",) else path  # defaults have theirs outside of their function
        if not path or not all(_NAME.fullmatch(part) for part in path):
            return Fit.UNKNOWN
        around = [each for each in self.extents if each.begin <= line <= each.definition.end_line]
        # What stands before a body is evaluated outside of it, but a code object begins there too.
        inside = [each for each in around if each.definition.kind in _SCOPES and line > each.header_end]
        if path == ("<module>",):
            return Fit.CONTRADICTS if inside else Fit.FITS
        if inside:
            innermost = max(each.definition.line for each in inside)
            around = [each for each in around if each.definition.line >= innermost]
        if any(_same(path, _path(each.definition.name)) for each in around):
            return Fit.FITS
        return Fit.CONTRADICTS if self.is_sound else Fit.UNKNOWN

    def _fit_of_cpp(self, function: str, line: int) -> Fit:
        wanted = _short(function)
        same = [each for short, each in self.definitions or () if short == wanted and each.kind != "declaration"]
        if any(each.line - _ABOVE_NAME <= line <= each.end_line for each in same):
            return Fit.FITS
        functions = same
        if not same and not wanted.startswith("operator"):  # as debug information calls lambdas
            functions = [each for _, each in self.definitions or () if each.line < line <= each.end_line]
        is_elsewhere = self.is_sound and any(each.kind in _BODIES for each in functions)
        return Fit.CONTRADICTS if is_elsewhere else Fit.UNKNOWN


def outline_of(path: str, known: Callable[[str], Known | None] = lambda path: None) -> Outline | None:
    """The outline of a file; None where it cannot be read, or is too large. `known` is asked for its definitions."""
    file = found_file(path)
    if file is None:
        return None
    try:
        content = read_regular(Path(path))
    except OSError:
        return None
    language = language_of(path)
    stored = known(path) if language in _READ else None
    if stored is None or stored[:2] != (file.modified, file.size):
        return _outline(language, content, lambda: _extracted(path))
    return _outline(language, content, lambda: (stored[3], stored[2]))


def outline_of_map(path: str, known: Known) -> Outline:
    """The outline of a file of a source map, of which the definitions are known but no lines."""
    _, _, is_sound, definitions = known
    is_read = language_of(path) == "cpp"
    return Outline("cpp" if is_read else None, sys.maxsize, definitions if is_read else None, is_sound=is_sound)


class Outlines:
    """The outlines of files, each read once as long as it stays as it is. May be used from several threads."""

    def __init__(self, most: int = 32 << 20) -> None:
        """`most` is roughly the memory, in bytes, that outlines may take."""
        self._kept: Recall[str, tuple[FoundFile, Outline | None]] = Recall(most)
        self._lock = Lock()

    def of(self, path: str, known: Callable[[str], Known | None] = lambda path: None) -> Outline | None:
        """The outline of a file now; None where it cannot be read, or is too large. `known` as for `outline_of`."""
        file = found_file(path)
        kept = self._kept.get(path)
        if file is None or (kept is not None and kept[0] == file):
            return kept[1] if file is not None and kept is not None else None
        outline = outline_of(path, known)
        with self._lock:
            self._kept.keep(path, (file, outline), outline.weight if outline is not None else 0)
        return outline


def outline_of_content(path: str, content: bytes) -> Outline:
    """The outline of what the file at `path` was at another time."""

    def extracted() -> tuple[Sequence[Named], bool]:
        from tempfile import NamedTemporaryFile

        with NamedTemporaryFile(suffix=PurePath(path).suffix) as file:  # the extractor reads files
            file.write(content)
            file.flush()
            return _extracted(file.name)

    return _outline(language_of(path), content, extracted)


def _outline(language: str | None, content: bytes, read: Callable[[], tuple[Sequence[Named], bool]]) -> Outline:
    unread = Outline(None, _count(content), content=hash(content))
    if language not in _READ:
        return unread
    try:
        definitions, is_sound = read()
    except NoNativePartError:  # then a file is held against what is known of it by its length alone
        return unread
    if language == "cpp":
        return Outline(language, _count(content), definitions, is_sound=is_sound, content=hash(content))
    lines = content.decode("utf-8", "replace").split("\n")
    silent = frozenset(number for number, line in enumerate(lines, 1) if _is_silent(line))
    extents = tuple(_extent(each, lines) for _, each in definitions)
    texts = array("q", (hash(line.strip()) for line in lines))
    return Outline(language, _count(content), definitions, silent, extents, is_sound, texts, hash(content))


def _extracted(path: str) -> tuple[Sequence[Named], bool]:
    """The definitions in a file, and whether all of it could be read."""
    from framedex.sources.extraction import extract_files

    (found,) = extract_files([path], threads=1)
    named = [(row[1], Definition(row[0], *row[2:7])) for row in found.definitions]
    return named, not found.errors and not found.problems


def _count(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def _is_silent(line: str) -> bool:
    """Whether no expression begins on a line: it is blank or a comment, unless that stands in a string with braces."""
    text = line.strip()
    return not text or (text.startswith("#") and "{" not in text)


def _extent(definition: Definition, lines: Sequence[str]) -> _Extent:
    if definition.kind not in _SCOPES:
        return _Extent(definition.line, definition.end_line, definition)
    return _Extent(_first_decorator(definition.line, lines), _header_end(definition, lines), definition)


def _first_decorator(line: int, lines: Sequence[str]) -> int:
    """The line of the first decorator above the one (1-based) where a definition begins, or that line."""
    first, indent = line, _indent(lines[line - 1]) if line <= len(lines) else 0
    for number in range(line - 1, max(line - _MOST_ABOVE, 0), -1):
        text = lines[number - 1]
        stripped = text.strip()
        if not stripped or stripped.startswith("#") or _indent(text) > indent or stripped[0] in ")]}":
            continue
        if not stripped.startswith("@"):
            break
        first = number
    return first


def _header_end(definition: Definition, lines: Sequence[str]) -> int:
    """The line of the colon before a definition's body; the last line where the body follows it on the same one."""
    depth = 0
    for number in range(definition.line, min(definition.end_line, len(lines)) + 1):
        text = _STRING.sub("", lines[number - 1]).partition("#")[0].rstrip()
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
        if depth == 0 and text.endswith(":"):
            return number
    return definition.end_line


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _path(function: str) -> tuple[str, ...]:
    """The parts of a Python name: `f.<locals>.g` is `g` in `f`."""
    return tuple(part for part in function.split(".") if part != "<locals>")


def _same(path: Sequence[str], defined: Sequence[str]) -> bool:
    """Whether two names are of one function: a text has less of it than the source, or a module more."""
    length = min(len(path), len(defined))
    return length > 0 and path[-length:] == defined[-length:]


def _short(function: str) -> str:
    from framedex.binaries.demangle import demangle

    return short_name(demangle(function))
