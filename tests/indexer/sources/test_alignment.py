"""Calls as compiled, held against calls as written."""

import numpy as np

from framedex.sources.bodies import Stretch
from framedex.sources.call_order import Alignment, Weights

WRITTEN = ["begin", "open", "write", "close", "open", "read", "close", "end"]
COMPILED = ["begin", "open", "read", "close", "open", "write", "close", "end"]
FLOW = [Stretch(range(1), []), Stretch(range(1, 4), [0]), Stretch(range(4, 7), [0]), Stretch(range(7, 8), [1, 2])]
"""Two branches, of which the compiler put the second one first."""


def weights(call: int) -> tuple[Weights, Weights] | None:
    own = np.array([1.0 / WRITTEN.count(name) if name == COMPILED[call] else 0.0 for name in WRITTEN])
    return own, np.zeros(len(WRITTEN))


def test_what_runs_on_the_way_decides_and_not_the_order_of_addresses() -> None:
    alignment = Alignment(FLOW, weights, len(WRITTEN))
    for call, right, wrong in [(3, 6, 3), (4, 1, 4)]:
        assert alignment.fit(call, right, is_repeated=False) > alignment.fit(call, wrong, is_repeated=False)


def test_calls_without_names_fit_anywhere() -> None:
    alignment = Alignment(FLOW, lambda _: None, len(WRITTEN))
    assert {alignment.fit(call, site, is_repeated=True) for call in range(8) for site in range(8)} == {0.0}


def test_more_ways_than_a_line_is_worth_tell_nothing() -> None:
    flow = [*FLOW, Stretch(range(0), [0] * (1 << 22))]
    alignment = Alignment(flow, weights, len(WRITTEN))
    assert {alignment.fit(call, site, is_repeated=False) for call in range(8) for site in range(8)} == {0.0}
