"""Begin and end events of calls in time order, for viewers with a timeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index.ask.call.exported import Exported
    from framedex.model.exported import KindRow

_AT_ONCE = 5_000  # calls per batch

_NEVER = 1 << 63  # end of a call that had not returned when the recording ended


@dataclass(frozen=True, slots=True)
class Begin:
    """The begin of a call; `time` is in ns since its capture began, `arguments` are JSON."""

    call: int
    kind: KindRow
    time: int
    arguments: str


@dataclass(frozen=True, slots=True)
class End:
    """The end of the innermost running call of a thread."""

    thread: int
    time: int


def spans(calls: Exported) -> Iterator[Begin | End]:
    """Yield the begin and end events of calls, ordered and properly nested within each thread.

    A call that had not returned has no end. A nested call ends no later than its parent, even if the clocks disagree.
    """
    open_calls: dict[int, list[tuple[int, int]]] = {}  # by thread: running calls with their ends
    rows = calls.rows()
    while some := list(islice(rows, _AT_ONCE)):
        texts = calls.texts(arguments for *_, arguments in some)
        for call, number, parent, start, duration, arguments in some:
            kind = calls.kinds[number]
            around = open_calls.setdefault(kind.thread, [])
            while around and around[-1][0] != parent and around[-1][1] <= start:
                yield End(kind.thread, around.pop()[1])
            end = start + duration if duration >= 0 else _NEVER
            around.append((call, min(end, around[-1][1]) if around else end))
            yield Begin(call, kind, start, texts[arguments])
    for thread, around in open_calls.items():
        for _, end in reversed(around):
            if end != _NEVER:
                yield End(thread, end)
