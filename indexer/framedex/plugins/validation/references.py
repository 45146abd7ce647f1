"""Find accesses to a buffer's memory without an external reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from framedex.model import CallRow
from framedex.plugins.validation.violations import Violation

_INCREASE = "PJRT_Buffer_IncreaseExternalReferenceCount"
_DECREASE = "PJRT_Buffer_DecreaseExternalReferenceCount"
POINTER = "PJRT_Buffer_OpaqueDeviceMemoryDataPointer"
REFERENCE_FUNCTIONS = frozenset({POINTER, _INCREASE, _DECREASE, "PJRT_Buffer_Destroy"})


def find_unreferenced_pointers(calls: Iterable[CallRow]) -> Iterator[Violation]:
    """Yield the violations in these calls of REFERENCE_FUNCTIONS, which are in order of start."""
    references: Counter[object] = Counter()
    for call in calls:
        buffer = call.arguments.get("buffer")
        if call.function == _INCREASE:
            references[buffer] += call.error == 0
        elif call.function == _DECREASE:
            references[buffer] -= call.error == 0
        elif call.function == POINTER:
            if references[buffer] <= 0 and call.error == 0:
                yield Violation.of_rule("pointer-without-reference", call, noun="buffer", field="buffer")
        else:
            del references[buffer]
