"""The names of the error codes that calls return."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """PJRT_Error_Code of the PJRT C API, which follows absl::StatusCode."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


def error_name(code: int) -> str:
    """The name of a code (`RESOURCE_EXHAUSTED`), or its number if PJRT does not define it."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)
