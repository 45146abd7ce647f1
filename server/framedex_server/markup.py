"""Short texts for hovers, as Markdown or plain text, with names from captures escaped.

A name in a capture may contain anything: backticks, links, HTML, newlines, bidirectional marks. `Markup` escapes a
text for its context: `code`, `text`, `block`, or the address of a `link`. Names become code spans, shortened, on one
line, with control characters visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from framedex.base.plaintext import make_printable

_URL_SAFE_CHARACTERS = ":/#?&=%@+~,;!-._"

_SCHEMES = ("https://", "http://", "file:///")
# Inline markup, and texts that GitHub and editors turn into links, references or icons.
_ACTIVE_MARKUP = re.compile(
    r"[\\`*\[\]<>!&|~$#@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|^[-+=]|(?:"
    + "|".join(rf"(?<=^\d{{{length}}})" for length in range(1, 10))
    + r")[.)]"
)

MAX_LINE_CHARACTERS = 200
"""Maximum characters shown of a source line."""

MAX_NAME_CHARACTERS = 120
"""Maximum characters shown of a name; C++ templates grow to thousands."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Formats text: as Markdown if the client renders it, else as plain text."""

    markdown: bool

    def text(self, text: str) -> str:
        """Escape text outside code, so that no character acts as markup."""
        shown = make_printable(text)
        return _ACTIVE_MARKUP.sub(r"\\\g<0>", shown) if self.markdown else shown

    def strong(self, text: str) -> str:
        """Return emphasised text."""
        return f"**{self.text(text)}**" if self.markdown else self.text(text)

    def code(self, text: str) -> str:
        """Return a name from a capture or a source file as a code span."""
        return self.literal(make_printable(text))

    def literal(self, text: str) -> str:
        """Return a string that `framedex.base.plaintext.printable` has already processed, as a code span."""
        shown = shorten(text)
        return format_code_span(shown) if self.markdown else shown

    def command_link(self, text: str, command: str, argument: dict[str, Any]) -> str:
        """Return a link to a client command with one argument, in VS Code's syntax; Markdown only."""
        # Quote every character that could end the link's target.
        return f"[{text}](command:{command}?{quote(json.dumps([argument]), safe='')})"

    def link(self, text: str, url: str | None) -> str:
        """Link formatted text to a page or a file, if `url` is one; never to a command."""
        if url is None or not url.lower().startswith(_SCHEMES):
            return text
        return f"[{text}](<{quote_url(url)}>)" if self.markdown else f"{text} <{url}>"

    def block(self, lines: Sequence[str], language: str) -> str:
        """Return source lines as a code block, with syntax highlighting if the client supports it."""
        shown = [make_printable(line.expandtabs(4))[:MAX_LINE_CHARACTERS] for line in lines]
        if not self.markdown:
            return "\n".join(f"    {line}" for line in shown)
        # CommonMark: a block ends at a run of backticks at least as long as the one that opened it.
        fence = "`" * max(3, 1 + max((len(run) for line in shown for run in re.findall("`+", line)), default=0))
        return "\n".join((f"{fence}{language}", *shown, fence))

    def lines(self, lines: list[str]) -> str:
        """Join lines with line breaks."""
        return ("  \n" if self.markdown else "\n").join(lines)


def break_links(text: str) -> str:
    """Return the text of a `window/showMessage` with links broken: VS Code would run `[text](command:...)`."""
    return text.replace("](", "] (")


def format_code_span(text: str) -> str:
    """Return a one-line text with any characters as a Markdown code span."""
    # CommonMark: a code span ends at a run of backticks exactly as long as the one that opened it.
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def shorten(text: str) -> str:
    """Shorten a string in its middle: both ends of a long C++ name matter."""
    if len(text) <= MAX_NAME_CHARACTERS:
        return text
    half = (MAX_NAME_CHARACTERS - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def quote_url(url: str) -> str:
    """Quote a URL so that no character can end the link or act as a command."""
    return quote(url, safe=_URL_SAFE_CHARACTERS)
