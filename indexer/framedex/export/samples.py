"""Samples of an export: stacks with their weights and labels, for formats without a timeline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from framedex.export.formats import Weight
from framedex.texts.calls import format_array_type
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.export.content import ExportContent
    from framedex.index.ask.call.exported import Labelling
    from framedex.model import PythonLine
    from framedex.model.totals import CallWeights, KindRow


@dataclass(frozen=True, slots=True)
class Sample:
    """The calls of one kind with one label, and their weights."""

    kind: KindRow
    label: tuple[str, ...]
    weights: CallWeights

    @property
    def values(self) -> list[int]:
        """The values of all weights, in the order of `Weight`."""
        return [weight.select(self.weights) for weight in Weight]


def read_samples(content: ExportContent, labelling: Labelling | None = None) -> Iterator[Sample]:
    """Yield the calls by kind and by the label of their arguments, if `labelling` is given."""
    for (kind, label), weights in content.calls.weights(labelling).items():
        if weights.calls:
            yield Sample(content.kind(kind), label, weights)


class SampleLabels:
    """Returns the labels of samples; empty labels are left out."""

    def __init__(self, content: ExportContent) -> None:
        self._content = content
        self._devices = content.calls.devices()

    def parse(self, capture: int, arguments: str) -> tuple[str, str]:
        """Parse the JSON of a call's arguments; return device and shape, each empty if unknown."""
        values = _parse_object(arguments)
        return self._device_name(capture, values), format_array_type(values) or _format_handler_arrays(values)

    def _device_name(self, capture: int, values: dict[str, Any]) -> str:
        number = values.get("device")
        if isinstance(number, int):
            return str(number)  # functions of the mock pass the device as a number
        device_names = (self._devices.get((capture, value)) for value in values.values() if isinstance(value, str))
        return next(filter(None, device_names), "")

    def format(self, sample: Sample) -> dict[str, str]:
        """Return all labels of a sample by key."""
        kind, thread, line = sample.kind, self._content.thread(sample.kind.thread), self._content.line(sample.kind)
        device, shape = sample.label
        told = {
            "function": kind.function,
            "thread": thread.label,
            "device": device,
            "shape": shape,
            "line": "" if line is None else format_line(line),
            "url": (line and line.location.url) or "",
            "error": name_error(kind.error) if kind.error > 0 else "",
            "capture": str(kind.capture) if len(self._content.captures) > 1 else "",
        }
        return {key: value for key, value in told.items() if value}


def format_line(line: PythonLine) -> str:
    """Return a short name of a source line: `train.py:12`."""
    return f"{PurePosixPath(line.location.path).name}:{line.location.line}"


def _format_handler_arrays(values: dict[str, Any]) -> str:
    """Return the arrays passed to the handler of an FFI target."""
    arrays = values.get("arguments")
    return arrays if isinstance(arrays, str) else ""


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}  # damaged capture
    return value if isinstance(value, dict) else {}
