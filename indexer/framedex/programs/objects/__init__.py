"""The runtime's objects: the arguments and results that are objects, and the use of each object.

Start at `table.py`; `moves.py` lists the functions that copy data.

An address is an object only between its creation and its destruction. Arguments count at the start of a call,
results at its end. A missing record never counts as a violation.
"""

from framedex.programs.objects.table import (
    PJRT_BOUNDARIES,
    BoundaryFunction,
    ObjectField,
    ObjectRole,
    ViolationKind,
    find_boundary_function,
)

__all__ = [
    "PJRT_BOUNDARIES",
    "BoundaryFunction",
    "ObjectField",
    "ObjectRole",
    "ViolationKind",
    "find_boundary_function",
]
