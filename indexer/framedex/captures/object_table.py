"""The object values in the calls of the PJRT C API, for the native reader that tracks objects."""

from __future__ import annotations

from functools import cache

from framedex.nativepart import _call_stream
from framedex.objects.table import ObjectField, functions_of_the_c_api


@cache
def object_table() -> _call_stream.ObjectTable:
    """The functions of the PJRT C API with their object values."""
    table = _call_stream.ObjectTable()
    for name, function in functions_of_the_c_api().items():
        table.add_function(
            name,
            [_plain(field) for field in function.inputs],
            [_plain(field) for field in function.results],
            function.reads,
            [field.type for field in function.results if field.name in function.sizes],
            function.takes_callback,
            function.identifies or "",
            function.tells_deleted or "",
        )
    return table


def _plain(field: ObjectField) -> tuple[str, str, str, bool]:
    return field.name, field.type, field.role.value, field.is_list
