"""The objects of the runtime that calls speak of: which of a call's values are objects, and how long each one lived."""

from typing import TYPE_CHECKING

from framedex.lazy import exports
from framedex.objects.table import BoundaryFunction, ObjectField, Role, function_named

if TYPE_CHECKING:
    from framedex.objects.lifetimes import Lifetimes, RecordedObject, follow_objects
    from framedex.objects.violations import ViolationKind

__all__ = [
    "BoundaryFunction",
    "Lifetimes",
    "ObjectField",
    "RecordedObject",
    "Role",
    "ViolationKind",
    "follow_objects",
    "function_named",
]

# Those who show names need the table only; following lifetimes takes numpy.
__getattr__ = exports(
    __name__,
    {"lifetimes": ("Lifetimes", "RecordedObject", "follow_objects"), "violations": ("ViolationKind",)},
)
