"""The runtime call that a behaviour receives."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from . import lines
from .errors import Failed
from .memory import FOR_GOOD
from .views import Arguments, Outputs
from .writing import clear_outputs, output_names, write

if TYPE_CHECKING:
    from .abi import Function
    from .dispatching import DispatchedCall


class Call:
    """A call of a runtime function, valid until its behaviour returns.

    A behaviour that neither runs nor fails the call, and does not set `result`, only watches: the next behaviour or the
    runtime then handles the call. Using the call after its behaviour has returned raises RuntimeError.
    """

    def __init__(self, dispatched: DispatchedCall, depth: int) -> None:
        """Wrap the call for the behaviour at this depth."""
        self._dispatched = dispatched
        self._depth = depth
        self._has_ended = False
        self._has_run = False
        self._is_answered = False
        self.failure: Failed | None = None
        """The failure of `run`, if it failed."""

    @property
    def function(self) -> str:
        """The function's name."""
        return self._function.name

    @property
    def arguments(self) -> Arguments:
        """The inputs by name, as attributes or items. `dict(call.arguments)` outlives the call."""
        self._check_alive()
        return Arguments(self._function.arguments, self._dispatched.address, self._check_alive)

    @property
    def line(self) -> lines.Line | None:
        """The program's innermost line outside of JAX and other installed packages; None on a thread without one."""
        return lines.line_below(self._dispatched.caller)

    def stack(self) -> list[traceback.FrameSummary]:
        """The program's Python frames, innermost last; empty on a native thread."""
        return lines.stack_below(self._dispatched.caller)

    def run(self) -> Outputs:
        """Run the next behaviour, or the function of the mock or the plug-in, and return its outputs.

        Raises Failed if that fails, RuntimeError if the call already has a result.
        """
        self._check_alive()
        if self.is_over:
            raise RuntimeError(f"{self.function} was already run or answered")
        self._has_run = True
        try:
            self._dispatched.run(self._depth + 1)
        except Failed as failed:
            self.failure = failed
            raise
        return self._outputs()

    def fail(self, code: str, text: str) -> NoReturn:
        """Fail the call with a code such as "RESOURCE_EXHAUSTED" and a message, by raising Failed.

        The outputs of an earlier `run` are released. Raises ValueError for an unknown code. Raises TypeError if the
        message is not a str or the function cannot fail.
        """
        self._check_alive()
        if not self._function.returns_error:
            raise TypeError(f"{self.function} cannot fail: it does not return an error")
        raise Failed(code, text)

    def delay(self, microseconds: float) -> None:
        """Sleep without holding the GIL. Raises ValueError for a negative time."""
        time.sleep(microseconds / 1e6)

    @property
    def result(self) -> Outputs:
        """The outputs by name, as attributes or items.

        Reading raises RuntimeError before the call has a result, or after it failed. Set a dict of outputs, or the only
        output, to answer the call without running it. After `run`, that replaces the outputs of the run. Raises
        ValueError or TypeError for values that the function cannot return.
        """
        self._check_alive()
        if not self.is_over:
            raise RuntimeError(f"{self.function} has no result yet: run the call or set call.result")
        if not self.has_outputs:
            raise RuntimeError(f"{self.function} failed and has no result: set call.result to replace the failure")
        return self._outputs()

    @result.setter
    def result(self, value: Any) -> None:
        self._check_alive()
        struct, address = self._function.arguments, self._dispatched.address
        values = self._by_name(value, output_names(struct, address))
        self._dispatched.check_row_lengths(values)
        if not self.has_outputs:
            values = self._dispatched.with_ready_events(values)
            clear_outputs(struct, address)
        write(struct, address, values, FOR_GOOD)
        self._is_answered = True
        self._dispatched.is_answered = True

    @property
    def is_over(self) -> bool:
        """Whether the call was run, or answered with a result."""
        return self._has_run or self._is_answered

    @property
    def has_outputs(self) -> bool:
        """Whether the call has outputs: it was answered, or it ran without failing."""
        return self._is_answered or (self._has_run and self.failure is None)

    @property
    def is_answered(self) -> bool:
        """Whether a result was set."""
        return self._is_answered

    def wants(self, output: str) -> bool:
        """Whether the caller passed memory for this optional output."""
        self._check_alive()
        return self._dispatched.wants(output)

    def end(self) -> None:
        """Invalidate the call. The dispatcher calls this when the behaviour returns."""
        self._has_ended = True

    def __repr__(self) -> str:
        return f"<call of {self.function}>"

    @property
    def _function(self) -> Function:
        return self._dispatched.function

    def _outputs(self) -> Outputs:
        return self._dispatched.outputs(self._check_alive)

    def _check_alive(self) -> None:
        if self._has_ended:
            raise RuntimeError(f"the call of {self.function} has ended: copy values before the behaviour returns")

    def _by_name(self, value: Any, names: list[str]) -> Mapping[str, Any]:
        if isinstance(value, Mapping) and (len(names) != 1 or names[0] in value):
            return value
        if len(names) == 1:
            return {names[0]: value}
        raise TypeError(f"{self.function} needs a dict of its outputs as result: {', '.join(names) or 'it has none'}")
