"""`framedex/compareLines`: the lines that differ between two captures, regressions first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.words import duration
from framedex_server.answers.requests import (
    Json,
    ask_contents,
    capture_json,
    difference_text,
    duration_json,
    given,
    integer_in,
    optional_integer_in,
    python_line_json,
)
from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.diff.model import Differences, OfLine
    from framedex.diff.verdicts import Verdict
    from framedex.index import Index

MOST_LINES = 200
"""Maximum number of lines in an answer."""

MOST_REASONS = 8
"""Maximum number of reasons for one line."""


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/compareLines")
    async def compare_lines(params: Any) -> Json | None:
        """Compare `before` and `after`; ignore time differences below `floor` ns. None if a capture is missing."""
        about = given(params)
        before, after = integer_in(about, "before"), integer_in(about, "after")
        floor = optional_integer_in(about, "floor")
        if floor is not None and floor < 0:
            raise JsonRpcInvalidParams("floor is a number of nanoseconds, 0 or more.")
        return await ask_contents(session, about, lambda index: _compared(session, index, before, after, floor))


def _compared(session: Session, index: Index, before: int, after: int, floor: int | None) -> Json | None:
    from framedex.diff.comparing import differences
    from framedex.diff.model import About
    from framedex.diff.noise import FLOOR, Noise
    from framedex.diff.sides import side_of
    from framedex.diff.verdicts import worst_first
    from framedex.difftext import verdicts_text, versions_text

    captures = {capture.id: capture for capture in index.captures()}
    if not {before, after} <= captures.keys():
        return None
    noise = Noise(floor=FLOOR if floor is None else floor)
    with index.within([before]) as left, index.within([after]) as right:
        sides = [(each, side_of(each, each.answer_of())) for each in (left, right)]
        found = differences(sides[0], sides[1], noise, frozenset(About))
    lines = worst_first(found.lines)
    return {
        "before": capture_json(captures[before]),
        "after": capture_json(captures[after]),
        "versions": [printable(text) for text in versions_text(found)],
        "floor": noise.floor,
        "floorText": duration(noise.floor),
        "text": verdicts_text([verdict for verdict, _ in lines], found.unchanged),
        "lines": [_line(session, verdict, line, found) for verdict, line in lines[:MOST_LINES]],
        "more": max(len(lines) - MOST_LINES, 0),
    }


def _line(session: Session, verdict: Verdict, line: OfLine, found: Differences) -> Json:
    from framedex.diff.model import About
    from framedex.diff.verdicts import cost_of

    cost = cost_of(line)
    reasons = _reasons(line, found)
    return {
        "verdict": verdict.value,
        **python_line_json(session, line.after or line.before),
        "only": _only(line),
        "measure": printable(cost.name),
        "before": duration_json(cost.before),
        "after": duration_json(cost.after),
        "differenceText": difference_text(cost.change),
        "isNoise": all(each.about is not About.TIMES for each in line.quantities),
        "reasons": reasons[:MOST_REASONS],
        "moreReasons": max(len(reasons) - MOST_REASONS, 0),
    }


def _reasons(line: OfLine, found: Differences) -> list[str]:
    """Return the differences of the line, then those of its loop's rounds."""
    from framedex.difftext import quantity_text, reasons

    loops = [
        quantity_text(each)
        for loop in found.loops
        if (loop.before, loop.after) == (line.before, line.after)
        for each in loop.quantities
    ]
    return [printable(text) for text in dict.fromkeys([*reasons(line), *loops])]


def _only(line: OfLine) -> str | None:
    """Return the name of the only capture that executed the line; None if both did."""
    if (line.before is None) is (line.after is None):
        return None
    return "before" if line.before else "after"
