"""The programs that a capture keeps in files beside its streams, by the names that its calls have for them."""

from __future__ import annotations

import re
from pathlib import Path

from framedex.captures.unreadable import raise_if_failing
from framedex.nativepart import _native
from framedex.regularfile import open_regular

_NAME = re.compile(r"[0-9a-f]{16}-([0-9a-f]{1,8})")


def read_kept_program(capture: Path, name: str) -> bytes | None:
    """The program of this name; None where there is none, or it is not as it was kept.

    Raises SystemLimitError or UnreadableCaptureError where the system fails to read it.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    size, path = int(match[1], 16), capture / _native.PROGRAMS / name
    try:
        with open_regular(path) as file:
            program = file.read(size + 1)
    except OSError as error:
        raise_if_failing(path, error)
        return None
    return program if len(program) == size and _native.is_kept_program(name, program) else None
