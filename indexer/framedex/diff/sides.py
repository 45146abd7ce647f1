"""One side of a comparison: its captures, and the recorded versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.diff.model import Side

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import AnswerOf


def side_of(index: Index, answer: AnswerOf) -> Side:
    """Describe an index that is restricted to the captures of one side."""
    return Side(str(index.path), answer, _versions(index, answer))


def _versions(index: Index, answer: AnswerOf) -> tuple[tuple[str, str], ...]:
    """Return the recorded versions by name: packages, the plug-in, and its API."""
    found: dict[str, dict[str, None]] = {}
    for capture in answer.captures:
        run = index.observed(capture.id).run()
        for name, version in (*run.versions, ("plug-in", run.plugin), ("PJRT C API", run.api)):
            if version:
                found.setdefault(name, {})[version] = None
    return tuple((name, ", ".join(versions)) for name, versions in found.items())
