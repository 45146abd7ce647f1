"""Calls as compiled, held against calls as written."""

import numpy as np

from framedex.sources.bodies import BasicBlock
from framedex.sources.call_order import CallAlignment, Weights

WRITTEN = ["begin", "open", "write", "close", "open", "read", "close", "end"]
COMPILED = ["begin", "open", "read", "close", "open", "write", "close", "end"]
FLOW = [
    BasicBlock(range(1), []),
    BasicBlock(range(1, 4), [0]),
    BasicBlock(range(4, 7), [0]),
    BasicBlock(range(7, 8), [1, 2]),
]
"""Two branches, of which the compiler put the second one first."""


def weights(call: int) -> tuple[Weights, Weights] | None:
    own = np.array([1.0 / WRITTEN.count(name) if name == COMPILED[call] else 0.0 for name in WRITTEN])
    return own, np.zeros(len(WRITTEN))


def test_what_runs_on_the_way_decides_and_not_the_order_of_addresses() -> None:
    alignment = CallAlignment(FLOW, weights, len(WRITTEN))
    for call, right, wrong in [(3, 6, 3), (4, 1, 4)]:
        assert alignment.fit(call, right, is_repeated=False) > alignment.fit(call, wrong, is_repeated=False)


def test_calls_without_names_fit_anywhere() -> None:
    alignment = CallAlignment(FLOW, lambda _: None, len(WRITTEN))
    assert {alignment.fit(call, site, is_repeated=True) for call in range(8) for site in range(8)} == {0.0}


def test_more_ways_than_a_line_is_worth_tell_nothing() -> None:
    flow = [*FLOW, BasicBlock(range(0), [0] * (1 << 22))]
    alignment = CallAlignment(flow, weights, len(WRITTEN))
    assert {alignment.fit(call, site, is_repeated=False) for call in range(8) for site in range(8)} == {0.0}
