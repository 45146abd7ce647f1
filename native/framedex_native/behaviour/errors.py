"""Failures of runtime calls."""

from __future__ import annotations

from .abi import enumerator_names, enumerators

_CODES = "PJRT_Error_Code"


class Failed(Exception):  # noqa: N818 - it is the outcome of a call
    """A call failed: `code` is the error code, such as RESOURCE_EXHAUSTED, and `text` its message.

    If a behaviour does not catch it, the program receives this error.
    """

    def __init__(self, code: str, text: str) -> None:
        """Create a failure. Raises ValueError for an unknown code, TypeError if the message is not a str."""
        code_number(code)
        if not isinstance(text, str):
            raise TypeError(f"an error message must be a str, not {type(text).__name__}")
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


def code_number(code: str) -> int:
    """The number of an error code. Raises ValueError, with all known names, for an unknown code."""
    known = {name: number for name, number in enumerators(_CODES).items() if number}
    if isinstance(code, str) and code in known:
        return known[code]
    raise ValueError(f"{code!r} is not an error code. Known codes: {', '.join(known)}.")


def code_name(number: int) -> str:
    """The name of an error code."""
    return enumerator_names(_CODES).get(number, "UNKNOWN")
