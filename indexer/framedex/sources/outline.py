"""Check whether a frame's function can contain the line that a text gives for the frame.

A text names a line of the file that its program ran. The local file may be another version: then the line may be past
its end, on a line without code, or inside another function. This check only finds contradictions. A line that moved
within its function is only found through the release (`releases/statements.py`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path, PurePath
from threading import Lock

from framedex.base.lazy import TextCache, compile_on_use
from framedex.base.nativepart import NoNativePartError
from framedex.base.regularfile import read_regular
from framedex.model import Definition, Language
from framedex.path_resolution.files import FoundFile, find_file
from framedex.sources.files import find_language
from framedex.sources.names import short_name

Named = tuple[str, Definition]
"""A definition, after its short name, the lookup key."""

Known = tuple[int, int, bool, Sequence[Named]]
"""The record of a file in an index: mtime (ns), size, whether it was parsed completely, and its definitions."""

_BYTES_PER_DEFINITION, _BYTES_PER_LINE = 400, 60  # bytes
_MAX_LINES_ABOVE = 200  # lines searched for decorators
_HEAD_LINES = 2  # lines above a function's name that belong to it: template head, attributes, return type
_UNNAMED = compile_on_use(r"<(?:listcomp|dictcomp|setcomp|genexpr)>")
_NAME = compile_on_use(r"[^\W\d]\w*|<lambda>|<module>")
_STRING = compile_on_use(r"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_PARSED_LANGUAGES = frozenset(("python", "cpp"))
_SCOPES = frozenset(("function", "method", "class"))
_BODIES = frozenset(("function", "method"))


class OutlineMatch(Enum):
    """The result of a check: whether a file agrees with a text that refers to it."""

    FITS = auto()
    UNKNOWN = auto()
    CONTRADICTS = auto()


@dataclass(frozen=True, slots=True)
class _DefinitionExtent:
    """The lines of a Python definition: from its first decorator, with the last line before its body."""

    begin: int
    header_end: int
    definition: Definition


@dataclass(frozen=True, slots=True)
class Outline:
    """The lines and definitions of a file: the facts to check frames against.

    `texts` are hashes of the stripped lines of a Python file, and `content` is the hash of the file (0: unknown).
    Hashes are valid in this process only. `lines` counts the lines, without an empty one after the last line break.
    `non_executable_lines` has the 1-based lines on which no Python can run. `definitions` is None for an unsupported
    language. `is_sound`: the file was parsed completely.
    """

    language: str | None
    lines: int
    definitions: Sequence[Named] | None = None
    non_executable_lines: frozenset[int] = frozenset()
    extents: Sequence[_DefinitionExtent] = ()
    is_sound: bool = True
    texts: Sequence[int] = ()
    content: int = 0

    @property
    def weight(self) -> int:
        """The approximate memory use in bytes."""
        return (
            _BYTES_PER_DEFINITION * len(self.definitions or ())
            + _BYTES_PER_LINE * len(self.non_executable_lines)
            + 8 * len(self.texts)
        )

    def fit(self, function: str, line: int, language: Language | None, source: str = "") -> OutlineMatch:
        """Whether the function of a frame (empty if unnamed) can have been at a line.

        `source` is the source line quoted in the text, empty if none is quoted.
        """
        is_quoted = bool(source) and line <= len(self.texts)
        if is_quoted and self.texts[line - 1] != hash(source.strip()):
            return OutlineMatch.CONTRADICTS
        verdict = self._check(function, line, language)
        return OutlineMatch.FITS if is_quoted and verdict is OutlineMatch.UNKNOWN else verdict

    def _check(self, function: str, line: int, language: Language | None) -> OutlineMatch:
        if line > max(self.lines + (not function), 1):  # parsers report a missing token at the end of a file
            return OutlineMatch.CONTRADICTS
        if not function or self.definitions is None:
            return OutlineMatch.UNKNOWN
        if self.language == "python" and language is not Language.NATIVE:
            return self._check_python(function, line)
        if self.language == "cpp" and language is not Language.PYTHON:
            return self._check_cpp(function, line)
        return OutlineMatch.UNKNOWN

    def functions_named(self, function: str) -> list[Definition]:
        """The functions with this name in the file."""
        definitions = self.definitions or ()
        if self.language == "python":
            path = _split_name(function)
            return [
                each
                for _, each in definitions
                if each.kind in _BODIES and path and _is_same_name(path, _split_name(each.name))
            ]
        wanted = _lookup_key(function)
        return [each for short, each in definitions if short == wanted and each.kind in _BODIES]

    def function_around(self, function: str, line: int) -> tuple[str, int] | None:
        """The qualified name of the Python function with this name around a line, and its first decorator's line."""
        path = _split_name(function)
        bodies = [each for each in self.extents if each.definition.kind in _BODIES]
        inside = [each for each in bodies if each.begin <= line <= each.definition.end_line]
        named = [each for each in inside if _is_same_name(path, _split_name(each.definition.name))]
        innermost = max(named, key=lambda each: each.begin, default=None)
        return None if innermost is None else (innermost.definition.name, innermost.begin)

    def _check_python(self, function: str, line: int) -> OutlineMatch:
        if line in self.non_executable_lines and line > 1:  # line 1 starts the module, even without code
            return OutlineMatch.CONTRADICTS
        path = _split_name(function)
        while path and _UNNAMED.fullmatch(path[-1]):  # a comprehension runs within its enclosing function
            path = path[:-1]
        path = path[-1:] if path[-1:] == ("<lambda>",) else path  # a lambda in a default value is outside its function
        if not path or not all(_NAME.fullmatch(part) for part in path):
            return OutlineMatch.UNKNOWN
        around = [each for each in self.extents if each.begin <= line <= each.definition.end_line]
        # The header runs in the enclosing scope, but the function's code object also begins there.
        inside = [each for each in around if each.definition.kind in _SCOPES and line > each.header_end]
        if path == ("<module>",):
            return OutlineMatch.CONTRADICTS if inside else OutlineMatch.FITS
        if inside:
            innermost = max(each.definition.line for each in inside)
            around = [each for each in around if each.definition.line >= innermost]
        if any(_is_same_name(path, _split_name(each.definition.name)) for each in around):
            return OutlineMatch.FITS
        return OutlineMatch.CONTRADICTS if self.is_sound else OutlineMatch.UNKNOWN

    def _check_cpp(self, function: str, line: int) -> OutlineMatch:
        wanted = _lookup_key(function)
        same = [each for short, each in self.definitions or () if short == wanted and each.kind != "declaration"]
        if any(each.line - _HEAD_LINES <= line <= each.end_line for each in same):
            return OutlineMatch.FITS
        functions = same
        if not same and not wanted.startswith("operator"):  # debug information names a lambda `operator()`
            functions = [each for _, each in self.definitions or () if each.line < line <= each.end_line]
        is_elsewhere = self.is_sound and any(each.kind in _BODIES for each in functions)
        return OutlineMatch.CONTRADICTS if is_elsewhere else OutlineMatch.UNKNOWN


def read_outline(path: str, known: Callable[[str], Known | None] = lambda path: None) -> Outline | None:
    """The outline of a file; None if it is unreadable or too large. `known` looks up its stored definitions."""
    file = find_file(path)
    if file is None:
        return None
    try:
        content = read_regular(Path(path))
    except OSError:
        return None
    language = find_language(path)
    stored = known(path) if language in _PARSED_LANGUAGES else None
    if stored is None or stored[:2] != (file.modified, file.size):
        return _build_outline(language, content, lambda: _extract_definitions(path))
    return _build_outline(language, content, lambda: (stored[3], stored[2]))


def build_outline_from_map(path: str, known: Known) -> Outline:
    """The outline of a file in a source map: its definitions are known, its lines are not."""
    _, _, is_sound, definitions = known
    is_read = find_language(path) == "cpp"
    return Outline("cpp" if is_read else None, sys.maxsize, definitions if is_read else None, is_sound=is_sound)


class Outlines:
    """The outlines of files, cached until a file changes. Thread-safe."""

    def __init__(self, max_bytes: int = 32 << 20) -> None:
        """`most` limits the memory for outlines, in bytes, approximately."""
        self._outlines: TextCache[str, tuple[FoundFile, Outline | None]] = TextCache(max_bytes)
        self._lock = Lock()

    def outline_of(self, path: str, known: Callable[[str], Known | None] = lambda path: None) -> Outline | None:
        """The current outline of a file; None if it is unreadable or too large. `known` as for `read_outline`."""
        file = find_file(path)
        cached = self._outlines.get(path)
        if file is None or (cached is not None and cached[0] == file):
            return cached[1] if file is not None and cached is not None else None
        outline = read_outline(path, known)
        with self._lock:
            self._outlines.store(path, (file, outline), outline.weight if outline is not None else 0)
        return outline


def parse_outline(path: str, content: bytes) -> Outline:
    """The outline of an earlier content of the file at `path`."""

    def extract() -> tuple[Sequence[Named], bool]:
        from tempfile import NamedTemporaryFile

        with NamedTemporaryFile(suffix=PurePath(path).suffix) as file:  # the extractor accepts only files
            file.write(content)
            file.flush()
            return _extract_definitions(file.name)

    return _build_outline(find_language(path), content, extract)


def _build_outline(language: str | None, content: bytes, read: Callable[[], tuple[Sequence[Named], bool]]) -> Outline:
    unread = Outline(None, _count_lines(content), content=hash(content))
    if language not in _PARSED_LANGUAGES:
        return unread
    try:
        definitions, is_sound = read()
    except NoNativePartError:  # without the extractor, only the length of a file is checked
        return unread
    if language == "cpp":
        return Outline(language, _count_lines(content), definitions, is_sound=is_sound, content=hash(content))
    lines = content.decode("utf-8", "replace").split("\n")
    silent = frozenset(number for number, line in enumerate(lines, 1) if _is_silent(line))
    extents = tuple(_find_extent(each, lines) for _, each in definitions)
    texts = array("q", (hash(line.strip()) for line in lines))
    return Outline(language, _count_lines(content), definitions, silent, extents, is_sound, texts, hash(content))


def _extract_definitions(path: str) -> tuple[Sequence[Named], bool]:
    """The definitions in a file, and whether it was parsed completely."""
    from framedex.sources.extraction import extract_files

    (found,) = extract_files([path], threads=1)
    named = [(row[1], Definition(row[0], *row[2:7])) for row in found.definitions]
    return named, not found.errors and not found.problems


def _count_lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def _is_silent(line: str) -> bool:
    """Whether no expression begins on a line: it is blank or a comment.

    A comment with braces does not count, because it may be inside an f-string.
    """
    text = line.strip()
    return not text or (text.startswith("#") and "{" not in text)


def _find_extent(definition: Definition, lines: Sequence[str]) -> _DefinitionExtent:
    if definition.kind not in _SCOPES:
        return _DefinitionExtent(definition.line, definition.end_line, definition)
    return _DefinitionExtent(
        _find_first_decorator(definition.line, lines), _find_header_end(definition, lines), definition
    )


def _find_first_decorator(line: int, lines: Sequence[str]) -> int:
    """The line of the first decorator above a definition, or the definition's own line (1-based)."""
    first, indent = line, _measure_indent(lines[line - 1]) if line <= len(lines) else 0
    for number in range(line - 1, max(line - _MAX_LINES_ABOVE, 0), -1):
        text = lines[number - 1]
        stripped = text.strip()
        if not stripped or stripped.startswith("#") or _measure_indent(text) > indent or stripped[0] in ")]}":
            continue
        if not stripped.startswith("@"):
            break
        first = number
    return first


def _find_header_end(definition: Definition, lines: Sequence[str]) -> int:
    """The line of the colon before a definition's body; the last line if the body follows on the same line."""
    depth = 0
    for number in range(definition.line, min(definition.end_line, len(lines)) + 1):
        text = _STRING.sub("", lines[number - 1]).partition("#")[0].rstrip()
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
        if depth == 0 and text.endswith(":"):
            return number
    return definition.end_line


def _measure_indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _split_name(function: str) -> tuple[str, ...]:
    """The parts of a Python name, without `<locals>`: `f.<locals>.g` becomes `f`, `g`."""
    return tuple(part for part in function.split(".") if part != "<locals>")


def _is_same_name(path: Sequence[str], defined: Sequence[str]) -> bool:
    """Whether two names mean the same function: one is a suffix of the other."""
    length = min(len(path), len(defined))
    return length > 0 and path[-length:] == defined[-length:]


def _lookup_key(function: str) -> str:
    from framedex.binaries.demangle import demangle

    return short_name(demangle(function))
