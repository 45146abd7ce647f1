"""Labels of a sample: function, thread, device, shape, and the user's line."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from framedex.calltext import array_type
from framedex.errorcodes import error_name

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Sample
    from framedex.model import PythonLine


class Labels:
    """Returns the labels of samples; empty labels are left out."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._devices = content.calls.devices()

    def of(self, capture: int, arguments: str) -> tuple[str, str]:
        """Parse the JSON of a call's arguments; return device and shape, each empty if unknown."""
        values = _object(arguments)
        return self._device(capture, values), array_type(values) or _of_handler(values)

    def _device(self, capture: int, values: dict[str, Any]) -> str:
        number = values.get("device")
        if isinstance(number, int):
            return str(number)  # functions of the mock pass the device as a number
        named = (self._devices.get((capture, value)) for value in values.values() if isinstance(value, str))
        return next(filter(None, named), "")

    def told(self, sample: Sample) -> dict[str, str]:
        """Return all labels of a sample by key."""
        kind, thread, line = sample.kind, self._content.thread(sample.kind.thread), self._content.line(sample.kind)
        device, shape = sample.label
        told = {
            "function": kind.function,
            "thread": thread.label,
            "device": device,
            "shape": shape,
            "line": "" if line is None else line_text(line),
            "url": (line and line.location.url) or "",
            "error": error_name(kind.error) if kind.error > 0 else "",
            "capture": str(kind.capture) if len(self._content.captures) > 1 else "",
        }
        return {key: value for key, value in told.items() if value}


def line_text(line: PythonLine) -> str:
    """Return a short name of a source line: `train.py:12`."""
    return f"{PurePosixPath(line.location.path).name}:{line.location.line}"


def _of_handler(values: dict[str, Any]) -> str:
    """Return the arrays passed to the handler of an FFI target."""
    given = values.get("arguments")
    return given if isinstance(given, str) else ""


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}  # damaged capture
    return value if isinstance(value, dict) else {}
