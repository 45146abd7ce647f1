"""Dispatch of a watched call to the nested behaviours of its function."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import layer, lines, memory
from .abi import Function
from .calls import Call
from .compiled import count_of_results
from .errors import Failed, code_name, code_number
from .events import ready_event
from .objects import objects_in, release
from .reading import read
from .views import Outputs
from .writing import output_names

if TYPE_CHECKING:
    from .behaviours import Behaviour


class BehaviourRaised(Failed):
    """A behaviour raised an exception, which becomes the call's error."""


class _DefaultFailure(Failed):
    """The function of the mock or the plug-in failed, and the layer holds its error."""


class DispatchedCall:
    """A call of the table that passes through the behaviours of its function."""

    def __init__(self, function: Function, native: layer.Call, behaviours: Sequence[Behaviour]) -> None:
        """Dispatch the call `native`. The first behaviour is the outermost."""
        self.function = function
        self.address = native.arguments
        self.caller = lines.program_frame(native.caller_thread)
        self.is_answered = False
        self._native = native
        self._behaviours = behaviours
        self._has_default_run = False

    def answer(self) -> None:
        """Run the behaviours and report the outcome to the layer."""
        try:
            self.run(0)
        except _DefaultFailure:
            return
        except Failed as failed:
            self._release_outputs()
            self._native.fail(code_number(failed.code), failed.text)
            return
        if self.is_answered:
            self._native.answer()

    def run(self, depth: int) -> None:
        """Run the behaviour at this depth, or the default after the last behaviour. Raises Failed."""
        if depth == len(self._behaviours):
            self._run_default()
            return
        call = Call(self, depth)
        try:
            if self._behaviours[depth].wants(call):
                self._run_behaviour(self._behaviours[depth], call)
        finally:
            call.end()
        if not call.is_over:
            self.run(depth + 1)
        elif call.failure is not None and not call.is_answered:
            raise call.failure  # the behaviour caught the failure and set no result

    def outputs(self, check_alive: Callable[[], None]) -> Outputs:
        """The outputs now in the struct. `check_alive` raises once the call has ended."""
        return Outputs(self.function.arguments, self.address, check_alive, self._count_of_results)

    def check_row_lengths(self, values: Mapping[str, Any]) -> None:
        """Raise ValueError for a wrong number of result buffers, which no struct contains."""
        fields = self.function.arguments.fields
        for name in values:
            if name in fields and fields[name].kind == "rows":
                lengths, wanted = {len(row) for row in values[name]}, self._count_of_results()
                if lengths - {wanted}:
                    found = ", ".join(map(str, sorted(lengths)))
                    raise ValueError(f"{name}: the program has {wanted} results on each device, got {found}")

    def with_ready_events(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Complete the result of a call that did not run with ready events.

        Raises ValueError if an object is missing.
        """
        found = dict(values)
        fields = self.function.arguments.fields
        has_deleter = any(name.endswith("_deleter") for name in fields)
        for name in output_names(self.function.arguments, self.address):
            kind = fields[name].kind
            if found.get(name) is not None or has_deleter:
                continue
            if kind == "rows" and not self._count_of_results():
                continue
            if kind == "rows" or (kind == "handle" and fields[name].element_type != "PJRT_Event"):
                raise ValueError(f"the result of {self.function.name} lacks {name}: set it, or run the call first")
            if kind == "handle":
                found[name] = ready_event()
            elif kind == "handles" and fields[name].element_type == "PJRT_Event" and self.wants(name):
                devices = read(self.function.arguments, fields["num_devices"], self.address)
                rows = found.get("output_lists") or ((),) * devices
                found[name] = [ready_event(next(iter(row), None)) for row in rows]
        return found

    def wants(self, output: str) -> bool:
        """Whether the caller passed memory for this optional output."""
        return bool(memory.number(memory.ADDRESS, self.address + self.function.arguments.fields[output].offset))

    def _count_of_results(self) -> int:
        struct = self.function.arguments
        return count_of_results(read(struct, struct.fields["executable"], self.address))

    def _run_behaviour(self, behaviour: Behaviour, call: Call) -> None:
        self._native.begin(behaviour.name, behaviour.place)
        try:
            behaviour(call)
        except Failed as failed:
            self._native.end("failed", code_number(failed.code), failed.text)
            raise
        except BaseException as error:
            text = _format_failure(behaviour, error)
            self._native.end("raised", code_number("INTERNAL"), text)
            if isinstance(error, KeyboardInterrupt):
                raise  # the program must see it
            if not self.function.returns_error:
                print(f"framedex: {text}", file=sys.stderr)
                return
            raise BehaviourRaised("INTERNAL", text) from error
        outcome = "answered" if call.is_answered else "ran" if call.is_over else "watched"
        self._native.end(outcome)

    def _run_default(self) -> None:
        failure = self._native.run()
        if failure is not None:
            raise _DefaultFailure(code_name(failure.code), failure.text)
        self._has_default_run = True

    def _release_outputs(self) -> None:
        """Release the objects in the outputs, because a caller that receives an error does not release them."""
        if self._has_default_run or self.is_answered:
            release(objects_in(self.outputs(lambda: None)))


def _format_failure(behaviour: Behaviour, error: BaseException) -> str:
    """Format an exception as an error message: behaviour, exception and traceback from the behaviour's own frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and lines.is_ours(trace.tb_frame):
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace)).rstrip()
    try:
        message = str(error)
    except Exception:
        message = "<it has no text>"
    return f"the behaviour {behaviour.name} ({behaviour.place}) raised {type(error).__name__}: {message}\n{text}"
