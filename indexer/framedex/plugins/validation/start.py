"""Find calls before the plug-in is initialised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from framedex.model import CallRow
from framedex.plugins.validation.boundary import find_null_functions
from framedex.plugins.validation.violations import Violation

_INITIALIZE = "PJRT_Plugin_Initialize"
_MAY_BE_EARLIER = ("GetPjrtApi", "PJRT_Plugin_Attributes")


def find_early_calls(first_calls: Iterable[CallRow]) -> Iterator[Violation]:
    """Yield the first call before the initialisation. `first_calls` are the first ones of a capture, in order.

    A plug-in without the function cannot be initialised.
    """
    for position, call in enumerate(first_calls):
        if (position == 0 and call.function != "GetPjrtApi") or call.function == _INITIALIZE:
            return  # the recording began later, or the order is right
        if _INITIALIZE in find_null_functions(call):
            return
        if call.function not in _MAY_BE_EARLIER:
            yield Violation.of_rule("not-initialized", call)
            return
