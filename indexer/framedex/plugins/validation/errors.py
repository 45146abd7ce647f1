"""Find returned errors that the caller never destroys, or uses after their destruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from framedex.model import CallRow
from framedex.plugins.validation.violations import Violation

_TABLE = "PJRT_Error_FunctionTable"  # an error's own
ERROR_DESTROYER = "PJRT_Error_Destroy"
_DESTROYERS = frozenset({ERROR_DESTROYER, f"{_TABLE}.destroy"})
ERROR_FUNCTIONS = _DESTROYERS | {
    "PJRT_Error_Message",
    "PJRT_Error_GetCode",
    "PJRT_Error_ForEachPayload",
    *(f"{_TABLE}.{member}" for member in ("message", "get_code", "for_each_payload")),
}
"""The functions that receive an error."""

ERROR_CALLBACKS = ("PJRT_Event_OnReady", "PJRT_Transfers_")
"""The beginnings of the names of functions whose callback receives an error."""

_ADDRESS = "error_object"  # of the returned error; captures of earlier versions lack it


def find_undestroyed_errors(calls: Sequence[CallRow], last_calls: Mapping[int, int]) -> Iterator[Violation]:
    """Yield the calls whose errors were never destroyed, among failed calls and calls of ERROR_FUNCTIONS.

    `last_calls` are the ids of the last calls by thread, without functions of errors: a thread without a later call may
    have ended because of the error.
    """
    undestroyed: dict[object, CallRow] = {}
    for address, call in _sort_error_calls(calls):
        if _receives_error(call, address):
            if call.function in _DESTROYERS:
                undestroyed.pop(address, None)
        else:
            undestroyed[address] = call
    for call in sorted(undestroyed.values(), key=lambda call: call.id):
        if last_calls.get(call.tid, 0) > call.id:
            yield Violation.of_rule("undestroyed-error", call)


def find_used_errors(calls: Sequence[CallRow]) -> Iterator[Violation]:
    """Yield the uses of destroyed errors among failed calls and calls of ERROR_FUNCTIONS.

    Not for a capture with ERROR_CALLBACKS: their errors are not recorded, and may have the address of an earlier one.
    """
    destroyed: dict[object, CallRow | None] = {}
    for address, call in _sort_error_calls(calls):
        if not _receives_error(call, address):
            destroyed[address] = None
        elif earlier := destroyed.get(address):
            if _is_within(call, earlier):
                continue  # the plug-in calls the error's own function
            rule = "double-destroy" if call.function in _DESTROYERS else "use-after-destroy"
            yield Violation.of_rule(rule, call, earlier, "error", "error")
        elif call.function in _DESTROYERS and address in destroyed:
            destroyed[address] = call


def _sort_error_calls(calls: Sequence[CallRow]) -> list[tuple[object, CallRow]]:
    """Return the address of each error with the calls that return or receive it, in order of their effect."""
    given = [call for call in calls if call.function in ERROR_FUNCTIONS]
    steps = [(call.start, call.arguments.get("error"), call) for call in given]
    failed = [call for call in calls if _ADDRESS in call.arguments]
    steps += [(call.start + call.duration, call.arguments[_ADDRESS], call) for call in failed]
    return [(address, call) for _, address, call in sorted(steps, key=lambda step: step[0])]


def _is_within(call: CallRow, outer: CallRow) -> bool:
    return call.tid == outer.tid and call.start < outer.start + outer.duration


def _receives_error(call: CallRow, address: object) -> bool:
    return call.function in ERROR_FUNCTIONS and call.arguments.get("error") == address
