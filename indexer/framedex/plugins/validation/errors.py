"""Find returned errors that the caller never destroys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from framedex.model import CallRow
from framedex.plugins.validation.violations import Violation

ERROR_DESTROYERS = frozenset({"PJRT_Error_Destroy", "PJRT_Error_FunctionTable.destroy"})
_ADDRESS = "error_object"  # of the returned error; captures of earlier versions lack it


def find_undestroyed_errors(calls: Sequence[CallRow], last_calls: Mapping[int, int]) -> Iterator[Violation]:
    """Yield the calls whose errors were never destroyed, among failed calls and calls of ERROR_DESTROYERS.

    `last_calls` are the ids of the last calls by thread, without functions of errors: a thread without a later call may
    have ended because of the error.
    """
    steps = [(call.start if call.function in ERROR_DESTROYERS else call.start + call.duration, call) for call in calls]
    undestroyed: dict[object, CallRow] = {}
    for _, call in sorted(steps, key=lambda step: step[0]):
        if call.function in ERROR_DESTROYERS:
            undestroyed.pop(call.arguments.get("error"), None)
        elif _ADDRESS in call.arguments:
            undestroyed[call.arguments[_ADDRESS]] = call
    for call in sorted(undestroyed.values(), key=lambda call: call.id):
        if last_calls.get(call.tid, 0) > call.id:
            yield Violation.of("undestroyed-error", call)
