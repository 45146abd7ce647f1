"""Render short texts as HTML: notes, and comments of programs.

Supports a small part of Markdown, without HTML: paragraphs, lists, `code` and web links. Texts of programs come from
captures, so they are untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from markupsafe import Markup, escape

from framedex.plaintext import visible

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<url>https?://[^)\s]+)\)|(?P<bare>https?://[^\s<>)\"]+)"
)
_ITEM = re.compile(r"(?:[-*]|\d+\.) +")


def prose(text: str, functions: Mapping[str, str]) -> Markup:
    """Return the text as HTML. `functions` maps function names to addresses: code with such a name becomes a link."""

    def inline(part: str) -> Markup:
        return _inline(part, functions)

    blocks = [_block(block, inline) for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    return Markup("\n").join(blocks)


def _block(block: str, inline: Callable[[str], Markup]) -> Markup:
    items: list[str] = []
    before: list[str] = []
    for line in block.splitlines():
        stripped = line.strip()
        if _ITEM.match(stripped):
            items.append(_ITEM.sub("", stripped, count=1))
        elif items:
            items[-1] += f" {stripped}"
        else:
            before.append(stripped.lstrip("# "))
    shown = Markup("<p>{}</p>").format(inline(" ".join(before))) if before else Markup("")
    if items:
        listed = Markup("").join(Markup("<li>{}</li>").format(inline(item)) for item in items)
        shown += Markup("<ul>{}</ul>").format(listed)
    return shown


def _inline(text: str, functions: Mapping[str, str]) -> Markup:
    shown = Markup("")
    end = 0
    for found in _INLINE.finditer(text):
        shown += escape(visible(text[end : found.start()]))
        end = found.end()
        if code := found["code"]:
            quoted = Markup("<code>{}</code>").format(visible(code))
            address = functions.get(code.strip().removesuffix("()"))
            shown += Markup('<a href="{}">{}</a>').format(address, quoted) if address else quoted
        else:
            url = found["url"] or found["bare"]
            shown += Markup('<a href="{}">{}</a>').format(url, visible(found["text"] or url))
    return shown + escape(visible(text[end:]))
