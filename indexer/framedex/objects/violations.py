"""The violations of object lifetimes that a capture can show."""

from __future__ import annotations

from enum import StrEnum


class ViolationKind(StrEnum):
    """A forbidden use of an object by a call."""

    USE_AFTER_DESTROY = "use-after-destroy"
    DOUBLE_DESTROY = "double-destroy"
    UNKNOWN_DESTROY = "unknown-destroy"  # no recorded call created it
    FOREIGN_DESTROY = "foreign-destroy"  # it belongs to another object, which destroys it
    USE_AFTER_DELETE = "use-after-delete"  # for its content, which was deleted or donated
    DESTROYED_IN_USE = "destroyed-in-use"  # by a call on another thread
    USE_AFTER_CLIENT = "use-after-client"  # after its client was destroyed
