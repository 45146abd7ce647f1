"""What is said of a recorded line whose file has changed since: the words of trace documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index import Index


def words_since(index: Index, path: str, line: int) -> list[str]:
    """What has become of a line since it was recorded (`moved from line 14`); nothing where it is as it was."""
    from framedex.placetext import stale_labels

    return stale_labels(index.line(path, line).since_recorded())


def doubt_about(index: Index, path: str, line: int) -> str:
    """What to add to a short text about a line: ` [file changed since]` where it may be another line by now.

    Nothing where the line is known to have only moved: such texts stand where it is now.
    """
    from framedex.model import Stale

    is_doubtful = index.line(path, line).since_recorded().stale is Stale.UNKNOWN
    return f" [{', '.join(words_since(index, path, line))}]" if is_doubtful else ""
