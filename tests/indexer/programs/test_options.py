"""Compile options have XLA's names, as in jaxlib."""

from __future__ import annotations

import subprocess
import sys

import pytest

from framedex.programs import read_note, read_options
from tests.running import plain_environment

WRITE = """\
import sys
import numpy as np
from jax._src import compiler
given = {"xla_embed_ir_in_executable": True, "exec_time_optimization_effort": 0.5, "xla_backend_optimization_level": 2}
options = compiler.get_compile_options(1, 2, device_assignment=np.array([[3, 1]]), env_options_overrides=given)
options.executable_build_options.allow_spmd_sharding_propagation_to_parameters = [True, False]
options.executable_build_options.fdo_profile = b"profile"
sys.stdout.buffer.write(options.SerializeAsString())
"""


@pytest.fixture(scope="module")
def written() -> bytes:
    """Options as serialized by this jaxlib."""
    environment = plain_environment() | {"JAX_PLATFORMS": "cpu"}
    return subprocess.run([sys.executable, "-c", WRITE], env=environment, check=True, capture_output=True).stdout


def test_options_have_their_names_and_the_set_values(written: bytes) -> None:
    options = read_options(written)
    expected = {
        "xla_embed_ir_in_executable": "true",
        "exec_time_optimization_effort": "0.5",
        "xla_backend_optimization_level": "2",
        "device_assignment": "3, 1",
        "num_partitions": "2",
        "allow_spmd_sharding_propagation_to_parameters": "true, false",
        "device_ordinal": "-1",
        "xla_cpu_enable_fast_math": "false",
    }
    assert expected.items() <= options.items()
    assert options["fdo_profile"].startswith("7 bytes ")
    assert not any("." in name for name in options), "this jaxlib has options that option_names.json lacks"


def test_damaged_entries_are_left_out(written: bytes) -> None:
    whole = read_options(written)
    for end in range(0, len(written), 97):
        read = read_options(written[:end] + b"\xff\xff")
        assert len(read) <= len(whole) + 2
    assert read_options(b"") == {}


def _field(number: int, wire_type: int, content: bytes) -> bytes:
    return _varint(number << 3 | wire_type) + content


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _message(number: int, content: bytes) -> bytes:
    return _field(number, 2, _varint(len(content)) + content)


@pytest.mark.parametrize("number", [225, 316])
@pytest.mark.parametrize(
    ("wire_type", "content"), [(0, _varint(1 << 40)), (0, _varint((1 << 64) - 1)), (1, b"\xff" * 8)]
)
def test_a_number_too_long_for_its_option_is_not_an_error(number: int, wire_type: int, content: bytes) -> None:
    options = read_options(_message(3, _message(3, _field(number, wire_type, content))))
    (value,) = options.values()
    assert value in ("0", "nan")


def test_the_number_of_options_is_limited() -> None:
    entries = (_message(1, b"option %d" % number) + _message(2, _message(1, b"on")) for number in range(20_000))
    assert len(read_options(b"".join(_message(7, entry) for entry in entries))) == 5_000


def test_a_note_is_read_completely_or_not_at_all() -> None:
    told = (
        b'{"name": "jit(f)", "function": "f at a.py:3", "arguments": [["x", "float32[]", true]],'
        b' "statics": [["n", "2"]]}'
    )
    noted = read_note(told)
    assert noted is not None
    assert (noted.function, noted.defined, noted.statics) == ("f", "a.py:3", (("n", "2"),))
    assert noted.arguments[0].is_weak
    for damaged in (b"", told[:-1], b"[]", b"{}", told.replace(b'"float32[]", ', b"")):
        assert read_note(damaged) is None
