"""OpenTelemetry profiles: a message `ProfilesData` of the package `profiles.v1development`, as sent by OTLP.

https://github.com/open-telemetry/opentelemetry-proto defines the field numbers used here and in `otlp_dictionary.py`.
Each capture is a resource with one profile per weight. A sample has the calls of one kind, with one device and shape.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from framedex import words
from framedex.export.labels import Labels
from framedex.export.otlp_dictionary import Dictionary
from framedex.export.protobuf import fixed64, integer, message, packed, text
from framedex.export.weights import Weight, samples
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Sample
    from framedex.model import CaptureRow

_RESOURCE_PROFILES, _DICTIONARY = 1, 2
_SAMPLE_TYPE, _SAMPLES, _TIME = 1, 2, 3
_SCOPE = message(1, text(1, "framedex") + text(2, VERSION))


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write the profiles, those of the given weight first."""
    dictionary = Dictionary(content)
    labels = Labels(content)
    told: dict[tuple[int, Weight], bytearray] = {}
    for sample in samples(content, labels.of):
        known = _sample(dictionary, sample, content.steps(sample.kind), labels.told(sample))
        for each in Weight:
            if value := each.of(sample.weights):
                profile = told.setdefault((sample.kind.capture, each), bytearray())
                profile += message(_SAMPLES, known + packed(4, [value]))
    for capture in content.captures:
        profiles = b""
        for each in sorted(Weight, key=lambda it: it is not weight):
            kind = integer(1, dictionary.text(each.value)) + integer(2, dictionary.text(each.unit))
            began = fixed64(_TIME, content.began(capture.id))
            profiles += message(2, message(_SAMPLE_TYPE, kind) + bytes(told.get((capture.id, each), b"")) + began)
        resource = message(1, _resource(content, capture)) + message(2, _SCOPE + profiles)
        file.write(message(_RESOURCE_PROFILES, resource))
    file.write(message(_DICTIONARY, dictionary.message()))


def _sample(dictionary: Dictionary, sample: Sample, steps: tuple[int, ...], labels: dict[str, str]) -> bytes:
    """Return a sample without its value."""
    attributes = [dictionary.attribute(key, value) for key, value in labels.items()]
    return integer(1, dictionary.stack(steps)) + packed(2, attributes)


def _resource(content: Content, capture: CaptureRow) -> bytes:
    """Return the recorded process as a resource, with OpenTelemetry's attribute names."""
    metadata = content.metadata[capture.id]
    told = {
        "service.name": words.command_short(capture.command),
        "process.command_line": capture.command,
        "process.pid": metadata.pid,
        "host.name": metadata.host,
    }
    return b"".join(message(1, text(1, key) + message(2, _value(value))) for key, value in told.items() if value)


def _value(value: str | int) -> bytes:
    return text(1, value) if isinstance(value, str) else integer(3, value)
