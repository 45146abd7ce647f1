"""The range of lines of a call without a known line: between the calls that run before it and after it.

A call with a name that is written once bounds the calls around it. If several paths lead through the machine code, the
weakest bound is used, because it holds on all paths. Paths that never return are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from framedex.sources.bodies import BasicBlock, CallerBody, CallForm
from framedex.sources.calls import WrittenCall

_BOUNDING_KINDS = ("call", "construct")  # destructors run in several places, and operators are also built-in
_NONE_BEFORE = -1  # the position before all written calls
_MAX_BLOCKS = 1 << 16  # blocks and edges of a function; more take too long for one line


class CallRanges:
    """The ranges of lines of the compiled calls of one function."""

    def __init__(self, caller: CallerBody, written: Sequence[WrittenCall], own: Collection[WrittenCall]) -> None:
        """`written` has all calls in the function's lines in order, `own` those outside its lambdas."""
        self._caller = caller
        self._written = written
        self._positions: dict[str, list[int]] = {}
        for position, site in enumerate(written):
            self._positions.setdefault(site.callee, []).append(position)
        self._callees_in_lambdas = {site.callee for site in written if site not in own}

    def lines(self, call: int) -> tuple[int, int] | None:
        """Return the first and last line of a compiled call; None if no call around it bounds them."""
        none_after = len(self._written)
        before, after = self._bounds.get(call, (_NONE_BEFORE, none_after))
        sites = self._written[max(before, 0) : after + 1]
        if not sites or (before, after) == (_NONE_BEFORE, none_after):
            return None
        lines = [line for site in sites for line in (site.line, *site.gcc_lines)]
        first_line, last_line = self._caller.span
        return (
            first_line if before == _NONE_BEFORE else min(lines),
            last_line if after == none_after else max(lines),
        )

    @cached_property
    def _bounds(self) -> dict[int, tuple[int, int]]:
        """The positions of the last written call before each compiled call, and of the first after it."""
        flow = self._caller.control_flow()
        if sum(len(block.predecessors) + 1 for block in flow) > _MAX_BLOCKS:
            return {}
        begins, before = self._bounds_before(flow)
        return {call: (min(before[call], restart), after) for call, restart, after in self._bounds_after(flow, begins)}

    def _bounds_before(self, flow: Sequence[BasicBlock]) -> tuple[list[int], dict[int, int]]:
        """The position of the last written call before each block, and before each compiled call; -1: none."""
        begins: list[int] = []
        ends: list[int] = []
        before: dict[int, int] = {}
        for block in flow:
            bound = min([ends[i] for i in block.predecessors], default=_NONE_BEFORE)
            begins.append(bound)
            for call in block.calls:
                before[call] = bound
                if positions := self._certain_positions(call):
                    bound = max(bound, positions[0])
            ends.append(bound)
        return begins, before

    def _bounds_after(self, flow: Sequence[BasicBlock], begins: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Each compiled call with the bound before the loop that the call may restart, and with the next written call.

        The condition and the increment of a loop are written before its body, but run after it. So calls between the
        last bound in the body and the back edge may belong to the body or to the header.
        """
        none_after = len(self._written)  # the default for a call that does not restart a loop
        bounds = [-1] * len(flow)
        restarts = [none_after] * len(flow)
        for number in reversed(range(len(flow))):
            block = flow[number]
            is_endless = bool(block.calls) and block.calls[-1] in self._caller.endless_calls
            bound = bounds[number] if bounds[number] >= 0 else none_after
            restart = min([restarts[number], *(begins[i] for i in block.loop_starts)])
            for call in reversed(block.calls):
                yield call, restart, bound
                if positions := self._certain_positions(call):
                    bound, restart = min(bound, positions[-1]), none_after
            for i in () if is_endless else block.predecessors:
                bounds[i] = max(bounds[i], bound)
                restarts[i] = min(restarts[i], restart)

    def _certain_positions(self, call: int) -> Sequence[int]:
        """The positions of the written calls that a compiled call can be; empty if it can be another call."""
        callee = self._caller.compiled_calls[call]
        if not isinstance(callee, CallForm) or callee.kind not in _BOUNDING_KINDS:
            return ()
        return self._positions_of_certain.get(callee.name, ())

    @cached_property
    def _positions_of_certain(self) -> Mapping[str, Sequence[int]]:
        """The positions of the callees that the machine code calls no more often than the text."""
        compiled = Counter(call.name for call in self._caller.compiled_calls if isinstance(call, CallForm))
        return {
            name: positions
            for name, positions in self._positions.items()
            if compiled[name] <= len(positions) and name not in self._callees_in_lambdas
        }
