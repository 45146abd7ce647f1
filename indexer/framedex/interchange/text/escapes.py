"""Colours and other control sequences of terminals, which stand between the characters of a text and are none of it.

Source: ECMA-48 (control sequences) and xterm's ctlseqs (operating system commands, which carry links and titles).
"""

from __future__ import annotations

from framedex.patterns import compiled_on_use

_SEQUENCE = compiled_on_use(r"\x1b(?:\[[ -?]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")


def without_escapes(text: str) -> str:
    """The text without its control sequences; what has no end is left as it is."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text
