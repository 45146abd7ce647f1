"""Documents that contain stacks: trace documents, logs and crash texts, each parsed once per state of its text.

Stacks are looked for in trace documents and in plain text, logs and compiler output. Source files are left to their own
language servers, even if their comments contain stacks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from framedex_server.documents.file_texts import MAX_READ
from framedex_server.session_thread import SessionThread

if TYPE_CHECKING:
    from framedex.sources.releases.statements import StatedReleases
    from framedex.text_stacks import ParsedText, TextFrame, TextStack

Answer = TypeVar("Answer")

LANGUAGES = frozenset(
    ("framedex-trace", "plaintext", "text", "txt", "log", "logs", "fundamental", "compilation", "mlir", "hlo", "json")
)
"""Language ids of VS Code, Neovim, Emacs and Helix for texts without another definition provider."""

SUFFIXES = frozenset((".fdtrace", ".log", ".txt", ".out", ".err", ".mlir", ".hlo"))

_MAX_CACHED_TEXTS = 4


@dataclass(frozen=True)
class StackText:
    """A document's text, its lines, and the stacks in it."""

    text: str
    lines: list[str] = field(repr=False)
    reading: ParsedText

    def source_of(self, frame: TextFrame) -> str:
        """Return the source line that the text quotes for a frame; empty if there is none."""
        from framedex.text_stacks.source_lookup.frame_context import find_quoted_source

        return find_quoted_source(frame, self.lines)

    def find_callee(self, frame: TextFrame) -> TextFrame | None:
        """Return the frame that a frame calls, if the text contains it."""
        from framedex.text_stacks.source_lookup.frame_context import find_callees

        stack = self.stack_around(frame.first_line)
        if stack is None:
            return None
        callee_frame = find_callees(stack.frames, stack.innermost_first)
        return next((called for each, called in zip(stack.frames, callee_frame, strict=True) if each is frame), None)

    def frames_on(self, line: int) -> tuple[TextFrame, ...]:
        """Return the frames on a 0-based line, from left to right."""
        return tuple(self._by_line.get(line, ()))

    def stack_around(self, line: int) -> TextStack | None:
        """Return the stack that contains a 0-based line."""
        return next((stack for stack in self.reading.stacks if stack.first_line <= line <= stack.last_line), None)

    @cached_property
    def releases(self) -> StatedReleases:
        """The releases that the text names."""
        from framedex.sources.releases.statements import StatedReleases

        return StatedReleases(self.text)

    @cached_property
    def _by_line(self) -> dict[int, list[TextFrame]]:
        found: dict[int, list[TextFrame]] = {}
        for frame in self.reading.frames():
            for line in range(frame.first_line, frame.last_line + 1):
                found.setdefault(line, []).append(frame)
        return found


class StackTexts:
    """The documents of a session that contain stacks. A separate thread parses them, one at a time."""

    def __init__(self, text_of: Callable[[str], str], language_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._language_of = language_of
        self._thread = SessionThread("framedex-texts")
        self._cached_texts: OrderedDict[str, StackText] = OrderedDict()

    def may_contain_stacks(self, uri: str) -> bool:
        """Return whether a document's kind may contain stacks."""
        language = self._language_of(uri)
        if language is not None and language != "" and not uri.endswith(".fdtrace"):
            return language in LANGUAGES
        name = unquote(uri.partition("#")[0].partition("?")[0])
        return PurePosixPath(name).suffix.lower() in SUFFIXES

    async def parse(self, uri: str) -> StackText | None:
        """Return the document with its stacks; None if it is of another kind or has no stacks."""
        if not self.may_contain_stacks(uri):
            return None
        return await self.run(lambda: self.parse_now(uri))

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work` on a document, run off the protocol loop."""
        return await self._thread.run(work)

    def parse_now(self, uri: str) -> StackText | None:
        """Like `parse`, on the calling thread. An unchanged document is not parsed again."""
        if not self.may_contain_stacks(uri):
            return None
        text = self._text_of(uri)
        known = self._cached_texts.get(uri)
        if known is None or known.text != text:
            known = self._cached_texts[uri] = StackText(text, text.split("\n"), self._parse(uri, text))
        self._cached_texts.move_to_end(uri)
        while len(self._cached_texts) > _MAX_CACHED_TEXTS:
            self._cached_texts.popitem(last=False)
        return known if known.reading.stacks else None

    def close(self) -> None:
        """Stop accepting texts."""
        self._thread.close()

    def _parse(self, uri: str, text: str) -> ParsedText:
        from framedex.text_stacks import ParsedText, StackFormat, read

        reading = read(_keep_end(text))
        if self._language_of(uri) == "json":  # any JSON may name a file and a line; only py-spy's has stacks
            return ParsedText(tuple(stack for stack in reading.stacks if stack.format is StackFormat.PY_SPY_JSON))
        return reading


def _keep_end(text: str) -> str:
    """Return the text; if it is too long, its end after as many newlines as precede it, so that line numbers stay."""
    if len(text) <= MAX_READ:
        return text
    start = text.find("\n", len(text) - MAX_READ) + 1 or len(text)
    return "\n" * text.count("\n", 0, start) + text[start:]
