"""Follow-up commands of an answer, as tool calls or, without a tool, as commands for the user."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from framedex.commands.agents.model import Role, Tool
from framedex.commands.agents.tools import tool_of_verb
from framedex.commands.output.proposals import PROPOSAL

_MOST = 5


def proposals(texts: Iterable[str]) -> list[dict[str, Any]]:
    """The commands that texts propose in backquotes, each once, as `{"tool", "arguments"}` or `{"user_runs"}`.

    Without `arguments`, the agent chooses the required ones.
    """
    found: list[dict[str, Any]] = []
    for text in texts:
        for match in PROPOSAL.finditer(text):
            with suppress(ValueError):  # an unclosed quote
                proposal = _proposal(shlex.split(match["words"]))
                if proposal not in found:
                    found.append(proposal)
    return found[:_MOST]


def _proposal(words: Sequence[str]) -> dict[str, Any]:
    asked = words[2:] if words[0] == "--index" else words
    tool = tool_of_verb(asked[0]) if asked else None
    if tool is None:
        return {"user_runs": shlex.join(["framedex", *words])}
    arguments = dict(_arguments(tool, asked))
    return {"tool": tool.name, **({"arguments": arguments} if arguments else {})}


def _arguments(tool: Tool, words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The arguments of a command line that the tool supports; placeholders in capitals are omitted."""
    options = {each.option: each for each in tool.arguments if each.role is Role.OPTION}
    plain = [each.name for each in tool.arguments if each.role is Role.WORD]
    yield from ((each.name, words[0]) for each in tool.arguments if each.role is Role.VERB)
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
