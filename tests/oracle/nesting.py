"""The nesting of calls: boundary functions call others, such as the mock TPU's allocator."""

from __future__ import annotations

from framedex.model import Calls


def enclosing_calls(calls: Calls) -> list[int | None]:
    """For each call the row of the innermost enclosing call of its thread; None without one.

    A call that never returned encloses no calls, because its end is unknown.
    """
    found: list[int | None] = []
    open_calls: dict[int, list[tuple[int, int]]] = {}  # by thread: (end, index), innermost last
    rows = zip(calls.thread.tolist(), calls.start.tolist(), calls.duration.tolist(), strict=True)
    for place, (thread, start, duration) in enumerate(rows):
        stack = open_calls.setdefault(thread, [])
        while stack and stack[-1][0] <= start:
            stack.pop()
        found.append(stack[-1][1] if stack else None)
        if duration >= 0:
            stack.append((start + duration, place))
    return found
