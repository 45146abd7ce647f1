"""OpenTelemetry profiles: a message `ProfilesData` of the package `profiles.v1development`, as sent by OTLP.

https://github.com/open-telemetry/opentelemetry-proto defines the field numbers. Each capture is a resource with one
profile per weight. A sample has the calls of one kind, with one device and shape. Samples refer by number to the tables
of the dictionary: texts, attributes, stacks, functions and binaries. The first entry of each table is empty, so that 0
means none.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from framedex.base import words
from framedex.base.nativepart import NoNativePartError
from framedex.base.version import VERSION
from framedex.binaries.recorded_files import compute_htlhash
from framedex.captures import compute_fingerprint
from framedex.export.formats import Weight
from framedex.export.protobuf import encode_fixed64, encode_integer, encode_message, encode_packed, text
from framedex.export.samples import SampleLabels, read_samples

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.samples import Sample
    from framedex.model import BinaryId, CaptureRow


_RESOURCE_PROFILES, _DICTIONARY = 1, 2
_SAMPLE_TYPE, _SAMPLES, _TIME = 1, 2, 3
_SCOPE = encode_message(1, text(1, "framedex") + text(2, VERSION))


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write the profiles, those of the given weight first."""
    dictionary = ProfileDictionary(content)
    labels = SampleLabels(content)
    samples_of: dict[tuple[int, Weight], bytearray] = {}
    for sample in read_samples(content, labels.parse):
        known = _encode_sample(dictionary, sample, content.steps(sample.kind), labels.format(sample))
        for each in Weight:
            if value := each.select(sample.weights):
                profile = samples_of.setdefault((sample.kind.capture, each), bytearray())
                profile += encode_message(_SAMPLES, known + encode_packed(4, [value]))
    for capture in content.captures:
        profiles = b""
        for each in sorted(Weight, key=lambda other: other is not weight):
            kind = encode_integer(1, dictionary.intern_text(each.value)) + encode_integer(
                2, dictionary.intern_text(each.unit)
            )
            began = encode_fixed64(_TIME, content.start_unix_ns(capture.id))
            profiles += encode_message(
                2, encode_message(_SAMPLE_TYPE, kind) + bytes(samples_of.get((capture.id, each), b"")) + began
            )
        resource = encode_message(1, _encode_resource(content, capture)) + encode_message(2, _SCOPE + profiles)
        file.write(encode_message(_RESOURCE_PROFILES, resource))
    file.write(encode_message(_DICTIONARY, dictionary.encode()))


def _encode_sample(
    dictionary: ProfileDictionary, sample: Sample, steps: tuple[int, ...], labels: dict[str, str]
) -> bytes:
    """Return a sample without its value."""
    attributes = [dictionary.intern_attribute(key, value) for key, value in labels.items()]
    return encode_integer(1, dictionary.intern_stack(steps)) + encode_packed(2, attributes)


def _encode_resource(content: ExportContent, capture: CaptureRow) -> bytes:
    """Return the recorded process as a resource, with OpenTelemetry's attribute names."""
    metadata = content.metadata[capture.id]
    encoded = {
        "service.name": words.shorten_command(capture.command),
        "process.command_line": capture.command,
        "process.pid": metadata.pid,
        "host.name": metadata.host,
    }
    return b"".join(
        encode_message(1, text(1, key) + encode_message(2, _encode_value(value)))
        for key, value in encoded.items()
        if value
    )


def _encode_value(value: str | int) -> bytes:
    return text(1, value) if isinstance(value, str) else encode_integer(3, value)


_Key = TypeVar("_Key")

_MAPPING_TABLE, _LOCATION_TABLE, _FUNCTION_TABLE, _LINK_TABLE, _TEXT_TABLE, _ATTRIBUTE_TABLE, _STACK_TABLE = range(1, 8)


class ProfileDictionary:
    """Assigns numbers; it is written after all samples."""

    def __init__(self, content: ExportContent) -> None:
        self._content = content
        self._texts = {"": 0}
        self._attributes: dict[tuple[str, str], int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._locations: dict[int, int] = {}  # by step number
        self._functions: dict[tuple[str, str, str, int], int] = {}
        self._mappings: dict[BinaryId, int] = {}
        self._limits: dict[BinaryId, int] = {}  # end of the known address range of each binary

    def intern_text(self, value: str) -> int:
        """Return the number of a text."""
        return self._texts.setdefault(value, len(self._texts))

    def intern_attribute(self, key: str, value: str) -> int:
        """Return the number of an attribute with a text value."""
        return _assign_number(self._attributes, (key, value))

    def intern_stack(self, steps: tuple[int, ...]) -> int:
        """Return the number of a stack, given by its steps, outermost first."""
        return _assign_number(self._stacks, steps)

    def encode(self) -> bytes:
        """Return the tables; each is built before the tables that it refers to, which it may extend."""
        stacks = [encode_packed(1, [self._intern_location(step) for step in reversed(steps)]) for steps in self._stacks]
        locations = [self._encode_location(number, self._content.step(number)) for number in self._locations]
        functions = [self._encode_function(*function) for function in self._functions]
        mappings = [self._encode_mapping(binary) for binary in self._mappings]
        attributes = [
            encode_integer(1, self.intern_text(key)) + encode_message(2, text(1, value))
            for key, value in self._attributes
        ]
        tables = {
            _MAPPING_TABLE: mappings,
            _LOCATION_TABLE: locations,
            _FUNCTION_TABLE: functions,
            _LINK_TABLE: [],
            _ATTRIBUTE_TABLE: attributes,
            _STACK_TABLE: stacks,
        }
        encoded = b"".join(
            encode_message(table, entry) for table, entries in tables.items() for entry in (b"", *entries)
        )
        return encoded + b"".join(text(_TEXT_TABLE, each) for each in self._texts)

    def _intern_location(self, step: int) -> int:
        return _assign_number(self._locations, step)

    def _encode_location(self, number: int, step: ExportedFrame) -> bytes:
        key = step.name, step.symbol, step.path or step.defined_in, step.first_line
        line = encode_integer(1, _assign_number(self._functions, key)) + encode_integer(2, step.line)
        encoded = encode_message(3, line)
        if step.is_python or step.module:
            encoded += encode_packed(
                4, [self.intern_attribute("profile.frame.type", "cpython" if step.is_python else "native")]
            )
        binary = self._content.binary(number)
        if binary is None:
            return encoded
        self._limits[binary] = max(self._limits.get(binary, 0), step.offset + 1)
        return encode_integer(1, _assign_number(self._mappings, binary)) + encode_integer(2, step.offset) + encoded

    def _encode_function(self, name: str, symbol: str, path: str, line: int) -> bytes:
        texts = (self.intern_text(name), self.intern_text(symbol), self.intern_text(path))
        return b"".join(encode_integer(field, value) for field, value in enumerate((*texts, line), 1))

    def _encode_mapping(self, binary: BinaryId) -> bytes:
        known = {"gnu": binary.build_id, "htlhash": _compute_htlhash(binary)}
        attributes = [
            self.intern_attribute(f"process.executable.build_id.{kind}", value)
            for kind, value in known.items()
            if value
        ]
        return (
            encode_integer(2, self._limits[binary])
            + encode_integer(4, self.intern_text(binary.path))
            + encode_packed(5, attributes)
        )


def _compute_htlhash(binary: BinaryId) -> str:
    """Return the hash of a binary; empty if the recorded file is missing or was replaced."""
    path = Path(binary.path)
    try:
        return compute_htlhash(path) if binary.fingerprint and compute_fingerprint(path) == binary.fingerprint else ""
    except (OSError, NoNativePartError):
        return ""


def _assign_number(table: dict[_Key, int], key: _Key) -> int:
    """Return the number of an entry, added if new; 0 is the empty entry."""
    return table.setdefault(key, len(table) + 1)
