"""Terminal control sequences (colours, links, titles) between the characters of a text.

Source: ECMA-48 (control sequences) and xterm's ctlseqs (operating system commands, which carry links and titles).
"""

from __future__ import annotations

from framedex.patterns import compiled_on_use

_SEQUENCE = compiled_on_use(r"\x1b(?:\[[ -?]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")


def without_escapes(text: str) -> str:
    """Return the text without control sequences. Unterminated sequences are kept."""
    return _SEQUENCE.sub("", text) if "\x1b" in text else text
