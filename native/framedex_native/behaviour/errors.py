"""How a call of the runtime fails."""

from __future__ import annotations

from .abi import enumerator_names, enumerators

_CODES = "PJRT_Error_Code"


class Failed(Exception):  # noqa: N818 - it is what became of a call
    """A call has failed: `code` is the error's code, such as RESOURCE_EXHAUSTED, and `text` its message.

    A behaviour that lets it go through has the program see this error.
    """

    def __init__(self, code: str, text: str) -> None:
        """The code by name. Raises ValueError for one that there is not, TypeError for a message that is no text."""
        code_number(code)
        if not isinstance(text, str):
            raise TypeError(f"an error's message is a text, not {type(text).__name__}")
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


def code_number(code: str) -> int:
    """The number of a code. Raises ValueError, with the names that there are, for anything that is no error's."""
    known = {name: number for name, number in enumerators(_CODES).items() if number}
    if isinstance(code, str) and code in known:
        return known[code]
    raise ValueError(f"{code!r} is no code of an error: there are {', '.join(known)}.")


def code_name(number: int) -> str:
    """The name of a code."""
    return enumerator_names(_CODES).get(number, "UNKNOWN")
