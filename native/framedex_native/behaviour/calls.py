"""A call of the runtime as a behaviour has it in its hands."""

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
    from .dispatching import Dispatched


class Call:
    """A call of a function of the table, while it lasts.

    A behaviour that does none of `run`, `fail` and setting `result` only watches: after it the call goes on to the next
    behaviour, or to the runtime. Once the behaviour has returned, nothing of the call can be read: RuntimeError.
    """

    def __init__(self, dispatched: Dispatched, depth: int) -> None:
        """The call as the behaviour at this depth sees it."""
        self._dispatched = dispatched
        self._depth = depth
        self._has_ended = False
        self._has_run = False
        self._is_answered = False
        self.failure: Failed | None = None
        """What came of running it, if it failed."""

    @property
    def function(self) -> str:
        """The function's name."""
        return self._function.name

    @property
    def arguments(self) -> Arguments:
        """The inputs, by name, as attributes or items; `dict(call.arguments)` can be kept."""
        self._must_last()
        return Arguments(self._function.arguments, self._dispatched.address, self._must_last)

    @property
    def line(self) -> lines.Line | None:
        """The program's innermost line, outside of JAX and other installed packages; None on a thread without one."""
        return lines.line_below(self._dispatched.caller)

    def stack(self) -> list[traceback.FrameSummary]:
        """The program's Python frames, the innermost last; none on a thread without Python."""
        return lines.stack_below(self._dispatched.caller)

    def run(self) -> Outputs:
        """Do what would happen without this behaviour: run the next one, or the function of the mock or the plug-in.

        The outputs. Raises Failed if that fails, RuntimeError if it was run or answered before.
        """
        self._must_last()
        if self.is_over:
            raise RuntimeError(f"{self.function} was run or answered before")
        self._has_run = True
        try:
            self._dispatched.run(self._depth + 1)
        except Failed as failed:
            self.failure = failed
            raise
        return self._outputs()

    def fail(self, code: str, text: str) -> NoReturn:
        """Have the call fail with a code such as "RESOURCE_EXHAUSTED" and a message: raises Failed.

        What a run before has made is released. Raises ValueError for a code that there is not, and TypeError for what
        is no text, and where the function cannot fail.
        """
        self._must_last()
        if not self._function.returns_error:
            raise TypeError(f"{self.function} returns no error: it cannot fail")
        raise Failed(code, text)

    def delay(self, microseconds: float) -> None:
        """Let so much time go by, without holding Python's lock. Raises ValueError for a negative time."""
        time.sleep(microseconds / 1e6)

    @property
    def result(self) -> Outputs:
        """The outputs, by name, as attributes or items, once run or answered; RuntimeError before, and if it failed.

        Setting it, to a dict of outputs or to the one output that there is, answers the call in place of running it;
        after `run` it replaces these outputs. Raises ValueError or TypeError for what the function does not return.
        """
        self._must_last()
        if not self.is_over:
            raise RuntimeError(f"{self.function} has no result yet: run it, or set one")
        if not self.has_outputs:
            raise RuntimeError(f"{self.function} has failed: it has no result, but one can be set")
        return self._outputs()

    @result.setter
    def result(self, value: Any) -> None:
        self._must_last()
        struct, address = self._function.arguments, self._dispatched.address
        values = self._by_name(value, output_names(struct, address))
        self._dispatched.check(values)
        if not self.has_outputs:
            values = self._dispatched.with_what_is_needed(values)
            clear_outputs(struct, address)
        write(struct, address, values, FOR_GOOD)
        self._is_answered = True
        self._dispatched.is_answered = True

    @property
    def is_over(self) -> bool:
        """Whether it was run, or answered with a result."""
        return self._has_run or self._is_answered

    @property
    def has_outputs(self) -> bool:
        """Whether there are outputs: it was answered, or run and did not fail."""
        return self._is_answered or (self._has_run and self.failure is None)

    @property
    def is_answered(self) -> bool:
        """Whether a result was set."""
        return self._is_answered

    def wants(self, output: str) -> bool:
        """Whether the caller has brought memory for this output, which it may leave out."""
        self._must_last()
        return self._dispatched.wants(output)

    def end(self) -> None:
        """Have nothing of it read or changed any more. For whoever called the behaviour."""
        self._has_ended = True

    def __repr__(self) -> str:
        return f"<call of {self.function}>"

    @property
    def _function(self) -> Function:
        return self._dispatched.function

    def _outputs(self) -> Outputs:
        return self._dispatched.outputs(self._must_last)

    def _must_last(self) -> None:
        if self._has_ended:
            raise RuntimeError(f"the call of {self.function} has ended: keep what you need of it before that")

    def _by_name(self, value: Any, names: list[str]) -> Mapping[str, Any]:
        if isinstance(value, Mapping) and (len(names) != 1 or names[0] in value):
            return value
        if len(names) == 1:
            return {names[0]: value}
        raise TypeError(f"a result of {self.function} is a dict of its outputs: {', '.join(names) or 'it has none'}")
