"""The calls of threads as they begin and end, in order of time: what viewers with a time line are given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index.ask.call.exported import Exported
    from framedex.model.exported import KindRow

_AT_ONCE = 5_000  # calls

_NEVER = 1 << 63  # when a call ends that had not returned when the recording ended


@dataclass(frozen=True, slots=True)
class Begin:
    """A call that begins; times in ns since its capture began, `arguments` as JSON."""

    call: int
    kind: KindRow
    time: int
    arguments: str


@dataclass(frozen=True, slots=True)
class End:
    """The call that began last on a thread, and has not ended, ends."""

    thread: int
    time: int


def spans(calls: Exported) -> Iterator[Begin | End]:
    """Begins and ends of calls: those of a thread in order, and one call inside another.

    What had not returned has no end. A call ends no later than the one that it was made in, whatever clocks say.
    """
    open_calls: dict[int, list[tuple[int, int]]] = {}  # by thread: the calls that go on, and when they end
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
