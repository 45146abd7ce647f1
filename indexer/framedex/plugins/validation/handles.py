"""Find null and unknown handles, and successful calls without their results. A list of objects has no null either."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from framedex.model import CallRow
from framedex.plugins.validation.violations import Violation
from framedex.programs.objects import BoundaryFunction, ObjectRole, find_boundary_function
from framedex.programs.objects.table import ObjectField, iterate_objects, load_boundary_functions


def _find_receiver(function: BoundaryFunction) -> ObjectField | None:
    """The object to which the call belongs: the first object among the arguments. Destroying functions accept null."""
    first = next(iter(function.inputs), None)
    return first if first is not None and not first.is_list and first.role is not ObjectRole.DESTROYS else None


def _find_created_fields(function: BoundaryFunction) -> Iterator[ObjectField]:
    return (field for field in function.results if field.role is ObjectRole.CREATES)


def _find_input_lists(function: BoundaryFunction) -> Iterator[ObjectField]:
    return (field for field in function.inputs if field.is_list)


def _find_required_results(function: BoundaryFunction) -> Iterator[ObjectField]:
    """Return the results that must not be null: created objects, and lists."""
    return (field for field in function.results if field.role is ObjectRole.CREATES or field.is_list)


def _null_object() -> re.Pattern[str]:
    functions = load_boundary_functions().values()
    names = {
        field.name
        for each in functions
        for field in (_find_receiver(each), *_find_created_fields(each))
        if field is not None
    }
    return re.compile(f'"(?:{"|".join(map(re.escape, sorted(names)))})": null|\\[null|, null')


_SIZE_QUERY = "PJRT_Buffer_ToHostBuffer"
_GONE_CONTENT = re.compile("deleted or donated|previously donated")  # XLA's errors

NULL_OBJECT = _null_object()
"""Matches the JSON of arguments with a null object that must not be null in some function."""

JUDGED_TYPES = frozenset({"buffer", "event", "executable", "loaded_executable"})
"""The types of objects whose every creation is recorded."""

MORE_VALUES = "more_values_not_recorded"
"""The name of a value that marks incompletely recorded calls."""


def find_created_lists() -> Iterator[tuple[str, str]]:
    """Yield the functions that create a list of objects, with the name of the list."""
    for name, function in load_boundary_functions().items():
        yield from ((name, field.name) for field in _find_created_fields(function) if field.is_list)


def find_null_handles(calls: Iterable[CallRow]) -> Iterator[Violation]:
    """Yield the calls that were given null for an object, or succeeded without an object."""
    for call in calls:
        function = find_boundary_function(call.function)
        receiver = _find_receiver(function)
        if receiver is not None and receiver.name in call.arguments and call.arguments[receiver.name] is None:
            yield Violation.of_rule("null-handle", call, noun=receiver.type)
        elif given := next((field for field in _find_input_lists(function) if _has_null(field, call.arguments)), None):
            yield Violation.of_rule("null-handle", call, noun=given.type)
        elif call.error == 0 and not is_size_query(call):
            missing = [field.name for field in _find_required_results(function) if _has_null(field, call.arguments)]
            if missing:
                yield Violation.of_rule("ok-without-result", call, noun=", ".join(missing))


def find_refused_buffers(failed: Iterable[CallRow]) -> Iterator[Violation]:
    """Yield the failed calls whose error says that an input buffer was deleted or donated."""
    for call in failed:
        is_given = any(field.type == "buffer" for field in find_boundary_function(call.function).inputs)
        if is_given and _GONE_CONTENT.search(str(call.arguments.get("error_message", ""))):
            yield Violation.of_rule("use-after-delete", call, noun="buffer")


def is_size_query(call: CallRow) -> bool:
    """Whether a call only queries the size of a buffer: without a destination it copies nothing, so it has no event."""
    return call.function == _SIZE_QUERY and call.arguments.get("dst") is None


def is_traced_completely(first_call: CallRow | None) -> bool:
    """Whether a recording begins with this call of GetPjrtApi, and framedex knows all functions of the plug-in."""
    if first_call is None or first_call.function != "GetPjrtApi":
        return False
    known = first_call.arguments
    return known.get("untraced_functions") == 0 and known.get("untraced_extensions") == ""


def find_unknown_handles(first_uses: Iterable[tuple[str, CallRow]]) -> Iterator[Violation]:
    """Yield the violations among objects without a creation: their types and the calls that first had them."""
    for noun, call in first_uses:
        function = find_boundary_function(call.function)
        inputs = [field for field in function.inputs if field.type == noun]
        is_named = any(field.type == noun and field.role is ObjectRole.NAMES for field in function.results)
        if noun in JUDGED_TYPES and inputs and not is_named and inputs[0].role is not ObjectRole.DESTROYS:
            yield Violation.of_rule("unknown-handle", call, noun=noun, field=inputs[0].name)


def _has_null(field: ObjectField, arguments: Mapping[str, object]) -> bool:
    """Whether a field, or an element of a list, is null. A null list means that the caller did not request it."""
    value = arguments.get(field.name, "unrecorded")
    return any(each is None for each in iterate_objects(field, value))
