"""Pagination: answers as JSON with a token limit.

A page has whole lines, starts at a given line, and says where the next page starts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from framedex import words
from framedex.commands.agents.model import Answer
from framedex.errors import FramedexError

USUAL_TOKENS = 2_000
LEAST_TOKENS = 200
MOST_TOKENS = 20_000

FROM_LINE = "from_line"
"""The argument with the first line of a page, 1-based."""

_NOTES = 0.4  # maximum share of a page: the lines are what the agent asked for
_PROPOSALS = 0.2


def tokens(text: str) -> int:
    """An upper bound of the number of tokens in a text.

    Each model has its own tokenizer, and none is run. Names and paths have two characters per token, while English has
    four. A digit may be a token of its own, and so may each byte of a non-ASCII character.
    """
    plain = sum(character.isascii() and not character.isdigit() for character in text)
    return -(-plain // 2) + len(text.encode("utf-8", "replace")) - plain


def page(answer: Answer, proposals: Sequence[dict[str, Any]], first: int, most_tokens: int) -> str:
    """Return the lines of an answer from line `first` (1-based) on, as JSON of at most `most_tokens` tokens.

    `proposals` are follow-up calls. Raises FramedexError if the answer has fewer lines.
    """
    lines, total = answer.lines[first - 1 :], len(answer.lines)
    if not lines and first > 1:
        raise FramedexError(
            f"The answer has {words.count(total, 'line')}.", f"Give an earlier line in `{FROM_LINE}`, or none."
        )
    document = {
        "notes": _fitting(answer.notes, round(most_tokens * _NOTES)),
        "next": _whole(proposals, round(most_tokens * _PROPOSALS)),
    }
    document = {name: found for name, found in document.items() if found}
    longest = {**_position(first, total, total, is_cut=True), **document, "lines": []}
    shown = _fitting(lines, most_tokens - tokens(_json(longest)))
    if not (shown or document):
        return _json({"lines": []})
    position = _position(first, len(shown), total, is_cut=answer.is_cut) if shown else {}
    return _json({**position, **document, **({"lines": shown} if shown else {})})


def _position(first: int, shown: int, total: int, *, is_cut: bool) -> dict[str, Any]:
    """The range of shown lines, and the argument that requests the next page."""
    last = first + shown - 1
    position: dict[str, Any] = {"shown": f"lines {first} to {last} of {total}{' and more' if is_cut else ''}"}
    if last < total or is_cut:
        position["more"] = {FROM_LINE: last + 1}
    return position


def _fitting(texts: Sequence[str], room: int) -> list[str]:
    """The first texts that fit into `room` tokens. A text that is too long for any page is truncated."""
    found: list[str] = []
    whole = room
    for text in texts:
        size = tokens(_json(text)) + 1
        if size > room:
            is_for_none = size > whole and room > whole // 2
            return [*found, _beginning(text, room)] if is_for_none or not found else found
        found.append(text)
        room -= size
    return found


def _beginning(text: str, room: int) -> str:
    """The start of a text that fits into `room` tokens, with the number of omitted characters."""
    kept = len(text)
    while kept:
        kept //= 2
        cut = f"{text[:kept]} … and {len(text) - kept:,} characters"
        if tokens(_json(cut)) < room:
            return cut
    return "…"


def _whole(proposals: Iterable[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    found = []
    for proposal in proposals:
        room -= tokens(_json(proposal)) + 1
        if room < 0:
            break
        found.append(proposal)
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
