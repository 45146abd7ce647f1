"""Short texts for hovers, as Markdown or as plain text, with names from captures that cannot break out of them.

A name in a capture may hold anything: backticks, links, HTML, newlines, bidirectional marks. `Markup` escapes a text by
its place: `code`, `text`, `block`, or the address of a `link`. Names go to code spans, short and on one visible line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from framedex.plaintext import printable

_IN_ADDRESSES = ":/#?&=%@+~,;!-._"

_SCHEMES = ("https://", "http://", "file:///")
# What begins or ends markup within a line, and what GitHub and editors make links, references or icons of.
_ACTIVE = re.compile(
    r"[\\`*\[\]<>!&|~$#@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|^[-+=]|(?:"
    + "|".join(rf"(?<=^\d{{{length}}})" for length in range(1, 10))
    + r")[.)]"
)

LONGEST_LINE = 200
"""Characters of a line of source that are shown."""

LONGEST_NAME = 120
"""Characters of a name that are shown; C++ templates grow to thousands."""


@dataclass(frozen=True, slots=True)
class Markup:
    """How to mark up a text: as Markdown if the client shows it, else not at all."""

    markdown: bool

    def text(self, text: str) -> str:
        """Text outside of code: nothing in it is markup."""
        shown = printable(text)
        return _ACTIVE.sub(r"\\\g<0>", shown) if self.markdown else shown

    def strong(self, text: str) -> str:
        """Emphasised text."""
        return f"**{self.text(text)}**" if self.markdown else self.text(text)

    def code(self, text: str) -> str:
        """A name from a capture or a source file, literally."""
        return self.literal(printable(text))

    def literal(self, text: str) -> str:
        """A text that went through `framedex.plaintext.printable` already, literally."""
        shown = shorten(text)
        return code_span(shown) if self.markdown else shown

    def command_link(self, text: str, command: str, argument: dict[str, Any]) -> str:
        """A link to a command of the client with one argument, as VS Code has them; only for Markdown."""
        # Everything that could end the link's target is quoted.
        return f"[{text}](command:{command}?{quote(json.dumps([argument]), safe='')})"

    def link(self, text: str, url: str | None) -> str:
        """A text that is marked up already, leading to a page or a file if there is one; never to a command."""
        if url is None or not url.lower().startswith(_SCHEMES):
            return text
        return f"[{text}](<{quoted_address(url)}>)" if self.markdown else f"{text} <{url}>"

    def block(self, lines: Sequence[str], language: str) -> str:
        """Lines of a source file, with the colours of their language where the client has such."""
        shown = [printable(line.expandtabs(4))[:LONGEST_LINE] for line in lines]
        if not self.markdown:
            return "\n".join(f"    {line}" for line in shown)
        # CommonMark: a block ends at a run of backticks at least as long as the one that opened it.
        fence = "`" * max(3, 1 + max((len(run) for line in shown for run in re.findall("`+", line)), default=0))
        return "\n".join((f"{fence}{language}", *shown, fence))

    def lines(self, lines: list[str]) -> str:
        """Lines of text, kept apart."""
        return ("  \n" if self.markdown else "\n").join(lines)


def without_links(text: str) -> str:
    """A text for `window/showMessage`: VS Code makes links of `[text](command:...)` there, and those run commands."""
    return text.replace("](", "] (")


def code_span(text: str) -> str:
    """A text on one line as a code span of Markdown, whatever is in it."""
    # CommonMark: a code span ends at a run of backticks exactly as long as the one that opened it.
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def shorten(text: str) -> str:
    """The text, or its two ends with an ellipsis between them: of a long C++ name both matter."""
    if len(text) <= LONGEST_NAME:
        return text
    half = (LONGEST_NAME - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def quoted_address(url: str) -> str:
    """An address of the web with nothing left in it that could end a link, or mean something to who opens it."""
    return quote(url, safe=_IN_ADDRESSES)
