"""Render texts and stack paths of captures as HTML.

Texts are truncated, invisible characters are escaped, and locations link to their public pages. Notes and comments of
programs may use a subset of Markdown: paragraphs, lists, `code` and web links. Texts of programs are
untrusted, because they come from captures. Merged stacks are lists, one per part without branches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from markupsafe import Markup, escape

from framedex.base.plaintext import make_visible, truncate
from framedex.base.words import count
from framedex.model import LocationEvidence
from framedex.model.guidebook import DisplayedLocation, PathNode

MAX_CHARACTERS = 240
_NEAREST_SUFFIX = " (nearest release)"  # marks a location in sources of a commit other than the recorded one
_WEB = re.compile(r"https?://[^\s\"<>]+")


def shorten(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return a string of bounded length on one line, with invisible characters escaped."""
    return truncate(make_visible(text), max_characters)


def format_times(count: int) -> str:
    """Return a count with a multiplication sign, for display after a name."""
    return f"{count:,}\N{MULTIPLICATION SIGN}"


def format_lines(text: str, max_characters: int = 4000) -> Markup:
    """Return a multi-line string, truncated at `max_characters`, with its line breaks."""
    return Markup("\n").join(
        escape(make_visible(line.expandtabs(4))) for line in truncate(text, max_characters).splitlines()
    )


def public_address(location: DisplayedLocation) -> str | None:
    """Return the web address of a location; None if it has none, or one that is not http(s)."""
    return location.url if location.url and _WEB.fullmatch(location.url) else None


def link_location(location: DisplayedLocation | None) -> Markup:
    """Return a location as a link to its public page, if it has one."""
    if location is None or not location.text:
        return Markup("")
    text, nearest = location.text.removesuffix(_NEAREST_SUFFIX), location.text.endswith(_NEAREST_SUFFIX)
    known = [shorten(location.how, 40)] if location.how not in ("", LocationEvidence.EXACT) else []
    notes = [*known, "nearest release"] if nearest else known
    how = Markup(' <span class="how">{}</span>').format(", ".join(notes)) if notes else Markup("")
    if address := public_address(location):
        return Markup('<a class="place" href="{}">{}</a>{}').format(address, shorten(text), how)
    return Markup('<span class="place">{}</span>{}').format(shorten(text), how)


def draw_arrow_tip(name: str) -> Markup:
    """Return the definition of an arrow tip, as a `marker` with this id, which must be unique on a page."""
    return Markup(
        '<defs><marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>'
    ).format(name)


_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<url>https?://[^)\s]+)\)|(?P<bare>https?://[^\s<>)\"]+)"
)
_ITEM = re.compile(r"(?:[-*]|\d+\.) +")


def render_prose(text: str, functions: Mapping[str, str]) -> Markup:
    """Return the text as HTML. `functions` maps function names to addresses: code with such a name becomes a link."""

    def inline(part: str) -> Markup:
        return _render_inline(part, functions)

    blocks = [_render_block(block, inline) for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    return Markup("\n").join(blocks)


def _render_block(block: str, inline: Callable[[str], Markup]) -> Markup:
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


def _render_inline(text: str, functions: Mapping[str, str]) -> Markup:
    shown = Markup("")
    end = 0
    for found in _INLINE.finditer(text):
        shown += escape(make_visible(text[end : found.start()]))
        end = found.end()
        if code := found["code"]:
            quoted = Markup("<code>{}</code>").format(make_visible(code))
            address = functions.get(code.strip().removesuffix("()"))
            shown += Markup('<a href="{}">{}</a>').format(address, quoted) if address else quoted
        else:
            url = found["url"] or found["bare"]
            shown += Markup('<a href="{}">{}</a>').format(url, make_visible(found["text"] or url))
    return shown + escape(make_visible(text[end:]))


_MAX_DEPTH = 40  # nested branches; deeper ones are only counted


class CharacterBudget:
    """The remaining characters for stack paths on a page."""

    def __init__(self, characters: int) -> None:
        self.left = characters

    def try_spend(self, html: str) -> bool:
        """Deduct the characters of a text. Returns False, and deducts nothing, if the text does not fit."""
        if len(html) > self.left:
            return False
        self.left -= len(html)
        return True


def render_paths(nodes: Sequence[PathNode], budget: CharacterBudget) -> Markup:
    """Return the trees as nested lists. Branches fold by keyboard and without scripts; the most frequent are open."""
    return Markup("").join(_render_branches(nodes, budget, 0))


def render_path(frames: Sequence[PathNode]) -> Markup:
    """Return one stack path as a list of frames."""
    return Markup('<ol class="road">{}</ol>').format(Markup("").join(map(_render_frame, frames)))


def _render_branches(nodes: Sequence[PathNode], budget: CharacterBudget, depth: int) -> Iterator[Markup]:
    left_out = 0
    for index, node in enumerate(nodes):
        chain = _unbranched_chain(node)
        frames = Markup("").join(_render_frame(frame) for frame in chain)
        if depth >= _MAX_DEPTH or not budget.try_spend(frames):
            left_out += node.calls
            continue
        listed = Markup('<ol class="road">{}</ol>').format(frames)
        inner = Markup("").join(_render_branches(chain[-1].callees, budget, depth + 1))
        if len(nodes) == 1:
            yield listed + inner
            continue
        yield Markup(
            '<details class="branch"{}><summary><span class="calls">{}</span> <code>{}</code>'
            ' <span class="place">{}</span></summary>{}{}</details>'
        ).format(
            Markup(" open") if index == 0 and depth < 3 else "",
            count(node.calls, "call"),
            shorten(node.function),
            shorten(node.place.text),
            listed,
            inner,
        )
    if left_out:
        yield Markup('<p class="left-out">{} on stack paths that are not shown.</p>').format(count(left_out, "call"))


def _unbranched_chain(node: PathNode) -> list[PathNode]:
    """Return the frames from this one to the next branch or end."""
    chain = [node]
    while len(chain[-1].callees) == 1:
        chain.append(chain[-1].callees[0])
    return chain


def _render_frame(frame: PathNode) -> Markup:
    return Markup("<li>{}</li>").format(_render_frame_content(frame))


def _render_frame_content(frame: PathNode) -> Markup:
    folded = Markup("")
    if frame.folded:
        folded = Markup('<span class="folded">{} of glue above</span>').format(count(frame.folded, "frame"))
    language = Markup("<i>Py</i>") if frame.language == "python" else Markup("<b>C++</b>")
    return Markup("{} <code>{}</code> {}{}").format(
        language, shorten(frame.function), link_location(frame.place), folded
    )
