"""The objects of the runtime that calls speak of: which of a call's values are objects, and what is done with them."""

from framedex.objects.table import BoundaryFunction, ObjectField, Role, function_named
from framedex.objects.violations import ViolationKind

__all__ = ["BoundaryFunction", "ObjectField", "Role", "ViolationKind", "function_named"]
