"""Parser of Linux kernel call traces: oopses, warnings and hung tasks.

Source: the kernel's Documentation/admin-guide/bug-hunting.rst; arch/x86/kernel/dumpstack.c. An entry with a question
mark was on the stack but may not be a caller.
"""

from __future__ import annotations

import re

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.spans import matched

_NAME = r"(?P<function>[A-Za-z_][\w.$]*)\+0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16}(?: \[(?P<module>\w+)(?: [0-9a-f]+)?\])?"
_FRAME = compiled_on_use(r"(?:^|(?<=[\s\]:|>)]))(?:(?P<label>\?) )?" + _NAME + "$")
_REGISTER = compiled_on_use(r"(?:RIP: [0-9a-f]{4}:|\b(?:pc|lr) : |\bIP: )(?:\[<[0-9a-f]+>\] )?" + _NAME + "$")
_BELONGS = compiled_on_use(
    r"</?(?:TASK|IRQ|NMI|SOFTIRQ|EOE)>$|\[ *\d+\.\d+\](?:\[ *[CT]\d+\])?\s*$|\bCode: |\bR[A-Z0-9]{2}: |\bRSP: "
)


class KernelTraces:
    """Parser of kernel traces; one object per text."""

    is_seldom = True
    remembers = ()
    triggers = ("Call Trace:", "Call trace:", "RIP: 00", " pc : ", " lr : ")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a heading, the failing instruction, or a frame."""
        text = line.rstrip()
        if text.endswith(("Call Trace:", "Call trace:")):
            return Piece(Format.KERNEL, begins="Call trace")
        if "+0x" not in text:
            return None
        match = _REGISTER.search(text) if " " in text and ("IP: " in text or " : " in text) else None
        if match is None and inside:
            match = _FRAME.search(text)
        return Piece(Format.KERNEL, (_frame(number, match),)) if match is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line has registers, or marks another stack."""
        return _BELONGS.search(line.rstrip()) is not None


def _frame(number: int, match: re.Match[str]) -> TextFrame:
    # Kernel names have no language, so they are never looked up: a function of the same name elsewhere is unrelated.
    unsure = match.groupdict().get("label") is not None
    return matched(Format.KERNEL, number, match, labels=("may be no caller",) if unsure else ())
