"""Labels for a recorded line whose file has changed since, in the words of trace documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index import Index


def words_since(index: Index, path: str, line: int) -> list[str]:
    """Return labels for changes of a line since the recording (`moved from line 14`); empty if it is unchanged."""
    from framedex.placetext import stale_labels

    return stale_labels(index.line(path, line).since_recorded())


def doubt_about(index: Index, path: str, line: int) -> str:
    """Return a suffix for a short text about a line: ` [file changed since]` if the line may be a different one now.

    Empty if the line only moved: such texts appear at its current position.
    """
    from framedex.model import Stale

    is_doubtful = index.line(path, line).since_recorded().stale is Stale.UNKNOWN
    return f" [{', '.join(words_since(index, path, line))}]" if is_doubtful else ""
