"""The nesting of calls."""

from __future__ import annotations

import numpy as np

from framedex.model import Calls
from tests.oracle.nesting import enclosing_calls


def calls(*rows: tuple[int, int, int]) -> Calls:
    """Calls as (thread, start, duration)."""
    threads, starts, durations = zip(*rows, strict=True)
    zeros = np.zeros(len(rows), np.uint32)
    return Calls(
        thread=np.array(threads, np.uint32),
        function=zeros,
        stack=zeros,
        start=np.array(starts, np.int64),
        duration=np.array(durations, np.int64),
        error=np.zeros(len(rows), np.int32),
        arguments=("{}",) * len(rows),
    )


def test_a_nested_call_belongs_to_the_innermost_running_one() -> None:
    assert enclosing_calls(calls((0, 0, 100), (0, 10, 50), (0, 20, 10), (0, 70, 10), (0, 100, 10))) == [
        None,
        0,
        1,
        0,
        None,
    ]


def test_threads_are_independent() -> None:
    assert enclosing_calls(calls((0, 0, 100), (1, 10, 10), (0, 20, 10))) == [None, None, 0]


def test_an_unfinished_call_encloses_nothing() -> None:
    assert enclosing_calls(calls((0, 0, 100), (0, 10, -1), (0, 20, 10))) == [None, 0, 0]
