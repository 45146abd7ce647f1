"""Collapsed stacks: one line per stack, outermost function first, for flamegraph.pl and inferno.

The format cannot escape a `;` or a line break in a name: they become `%3B`, `%0A` and `%0D`. Other control characters,
which a terminal would execute, are escaped the same way. A `%` before such a code becomes `%25`.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from framedex.export.samples import read_samples

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.formats import Weight

_SPECIAL = re.compile(r"[;\x00-\x1f\x7f-\x9f]|%(?=25|3B|[0189][0-9A-F]|7F)")


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write the stacks of each thread with one weight; stacks with weight 0 are left out."""
    sums: dict[tuple[int, ...], int] = {}
    for sample in read_samples(content):
        if value := weight.select(sample.weights):
            key = sample.kind.thread, *content.steps(sample.kind)
            sums[key] = sums.get(key, 0) + value
    for (thread, *steps), value in sums.items():
        names = [content.thread(thread).label, *(format_step(content.step(number)) for number in steps)]
        file.write(f"{';'.join(map(_escape, names))} {value}\n".encode())


def format_step(step: ExportedFrame) -> str:
    """Format a step as py-spy does: `function (file:line)`, or `function (binary)` for native code without a line."""
    if step.path:
        return f"{step.name} ({step.path}:{step.line})"
    return f"{step.name} ({PurePosixPath(step.module).name})" if step.module else step.name


def _escape(name: str) -> str:
    return _SPECIAL.sub(lambda match: f"%{ord(match[0]):02X}", name)
