"""Pages of answers as JSON with a token limit, and the follow-up calls that an answer proposes.

A page has whole lines, starts at a given line, and names the first line of the next page.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.commands.agents.tools import FROM_LINE, ArgumentRole, Tool, ToolAnswer, find_tool
from framedex.commands.output.proposals import PROPOSAL

_NOTES_SHARE = 0.4  # maximum share of notes and proposals in a page
_PROPOSALS_SHARE = 0.2


def max_token_count(text: str) -> int:
    """An upper bound of the number of tokens in a text, for every common tokenizer.

    Names and paths have two characters per token, English has four. Each digit, and each byte of a non-ASCII character,
    may be a separate token.
    """
    plain = sum(character.isascii() and not character.isdigit() for character in text)
    return -(-plain // 2) + len(text.encode("utf-8", "replace")) - plain


def format_page(answer: ToolAnswer, find_proposals: Sequence[dict[str, Any]], first: int, most_tokens: int) -> str:
    """Return the lines of an answer from line `first` (1-based) on, as JSON of at most `most_tokens` tokens.

    `proposals` are follow-up calls. Raises FramedexError if the answer has fewer lines.
    """
    lines, total = answer.lines[first - 1 :], len(answer.lines)
    if not lines and first > 1:
        raise FramedexError(
            f"The answer has only {words.count(total, 'line')}.", f"Set `{FROM_LINE}` to an earlier line, or omit it."
        )
    document = {
        "notes": _take_fitting(answer.notes, round(most_tokens * _NOTES_SHARE)),
        "next": _take_proposals(find_proposals, round(most_tokens * _PROPOSALS_SHARE)),
    }
    document = {name: found for name, found in document.items() if found}
    longest = {**_build_line_range(first, total, total, is_cut=True), **document, "lines": []}
    shown = _take_fitting(lines, most_tokens - max_token_count(_format_compact_json(longest)))
    if not (shown or document):
        return _format_compact_json({"lines": []})
    position = _build_line_range(first, len(shown), total, is_cut=answer.is_cut) if shown else {}
    return _format_compact_json({**position, **document, **({"lines": shown} if shown else {})})


def _build_line_range(first: int, shown: int, total: int, *, is_cut: bool) -> dict[str, Any]:
    """The range of the shown lines, and the argument that requests the next page."""
    last = first + shown - 1
    position: dict[str, Any] = {"shown": f"lines {first} to {last} of {total}{' and more' if is_cut else ''}"}
    if last < total or is_cut:
        position["more"] = {FROM_LINE: last + 1}
    return position


def _take_fitting(texts: Sequence[str], room: int) -> list[str]:
    """The first strings that fit into `room` tokens. A string that fits into no page is truncated."""
    found: list[str] = []
    whole = room
    for text in texts:
        size = max_token_count(_format_compact_json(text)) + 1
        if size > room:
            exceeds_any_page = size > whole and room > whole // 2
            return [*found, _truncate_to(text, room)] if exceeds_any_page or not found else found
        found.append(text)
        room -= size
    return found


def _truncate_to(text: str, room: int) -> str:
    """The start of a string that fits into `room` tokens, with the number of omitted characters."""
    kept = len(text)
    while kept:
        kept //= 2
        cut = f"{text[:kept]} … and {len(text) - kept:,} characters"
        if max_token_count(_format_compact_json(cut)) < room:
            return cut
    return "…"


def _take_proposals(find_proposals: Iterable[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    found = []
    for proposal in find_proposals:
        room -= max_token_count(_format_compact_json(proposal)) + 1
        if room < 0:
            break
        found.append(proposal)
    return found


def _format_compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_MAX_PROPOSALS = 5


def find_proposals(texts: Iterable[str]) -> list[dict[str, Any]]:
    """The distinct commands that texts propose in backquotes, as `{"tool", "arguments"}` or `{"user_runs"}`.

    A proposal without `arguments` leaves the required ones to the agent.
    """
    found: list[dict[str, Any]] = []
    for text in texts:
        for match in PROPOSAL.finditer(text):
            with suppress(ValueError):  # an unclosed quote
                proposal = _parse_proposal(shlex.split(match["words"]))
                if proposal not in found:
                    found.append(proposal)
    return found[:_MAX_PROPOSALS]


def _parse_proposal(words: Sequence[str]) -> dict[str, Any]:
    verb_words = words[2:] if words[0] == "--index" else words
    tool = find_tool(verb_words[0]) if verb_words else None
    if tool is None:
        return {"user_runs": shlex.join(["framedex", *words])}
    arguments = dict(_parse_arguments(tool, verb_words))
    return {"tool": tool.name, **({"arguments": arguments} if arguments else {})}


def _parse_arguments(tool: Tool, words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The arguments of a command line that the tool supports; placeholders in capitals are omitted."""
    options = {each.option: each for each in tool.arguments if each.role is ArgumentRole.OPTION}
    plain = [each.name for each in tool.arguments if each.role is ArgumentRole.WORD]
    yield from ((each.name, words[0]) for each in tool.arguments if each.role is ArgumentRole.VERB)
    rest = iter(words[1:])
    for word in rest:
        name, _, value = word.partition("=")
        if name in options:
            schema = options[name].schema
            is_flag = schema.get("type") == "boolean"
            value = value or ("" if is_flag else next(rest, ""))
            if is_flag or (value and not value.isupper() and schema.get("type") != "integer"):
                yield options[name].name, is_flag or value
        elif not word.startswith("-") and plain and not word.isupper():
            yield plain.pop(0), word
