"""Matching compiled calls to calls in the source."""

import numpy as np

from framedex.sources.bodies import BasicBlock
from framedex.sources.call_order import CallAlignment, CalleeWeights

WRITTEN = ["begin", "open", "write", "close", "open", "read", "close", "end"]
COMPILED = ["begin", "open", "read", "close", "open", "write", "close", "end"]
FLOW = [
    BasicBlock(range(1), []),
    BasicBlock(range(1, 4), [0]),
    BasicBlock(range(4, 7), [0]),
    BasicBlock(range(7, 8), [1, 2]),
]
"""Two branches; the compiler put the second one first."""


def weights(call: int) -> CalleeWeights | None:
    own = np.array([1.0 / WRITTEN.count(name) if name == COMPILED[call] else 0.0 for name in WRITTEN])
    return CalleeWeights(direct=own, through_callee=None, total=np.append(own, 0.0))


def test_control_flow_decides_instead_of_address_order() -> None:
    alignment = CallAlignment(FLOW, weights, len(WRITTEN))
    for call, right, wrong in [(3, 6, 3), (4, 1, 4)]:
        assert alignment.fit(call, right, is_repeated=False) > alignment.fit(call, wrong, is_repeated=False)


def test_unnamed_calls_match_any_position() -> None:
    alignment = CallAlignment(FLOW, lambda _: None, len(WRITTEN))
    assert {alignment.fit(call, site, is_repeated=True) for call in range(8) for site in range(8)} == {0.0}


def test_too_many_control_flow_paths_give_no_alignment() -> None:
    flow = [*FLOW, BasicBlock(range(0), [0] * (1 << 22))]
    alignment = CallAlignment(flow, weights, len(WRITTEN))
    assert {alignment.fit(call, site, is_repeated=False) for call in range(8) for site in range(8)} == {0.0}
