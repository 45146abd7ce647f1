"""The list of public names has all definitions of this environment's JAX, XLA and C API."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jaxlib.mlir
import pytest

from framedex.sharing import harmless

_ABI = Path(__file__).parents[3] / "native" / "abi"
_NAMES = """
import pjrt_abi, generate_objects as objects
from decoding import values
abi = pjrt_abi.load(objects.DATA)
for name, struct in objects.argument_structs(abi).items():
    print(name, *(value.name for value in values(abi, struct)))
"""


def test_every_value_decoded_by_the_recorder_has_a_known_name() -> None:
    """All names of functions and of their values in the C API's description are public."""
    said = subprocess.run([sys.executable, "-c", _NAMES], cwd=_ABI, capture_output=True, text=True, check=True).stdout
    fields = {field for line in said.splitlines() for field in line.split()[1:]}
    assert len(fields) > 300
    assert not [field for field in fields if not harmless.is_field(field)]


def test_the_ops_of_this_jaxlib_are_known() -> None:
    """With a newer jaxlib, `python scripts/make_public_names.py` adds its ops."""
    dialects = Path(next(iter(jaxlib.mlir.__path__))) / "dialects"
    ops = re.findall(r'OPERATION_NAME = "stablehlo\.([\w.]+)"', (dialects / "_stablehlo_ops_gen.py").read_text("utf-8"))
    assert len(ops) > 100
    assert not [op for op in ops if not harmless.is_op(op)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", "F32"),
        ("arguments", "f32[4,8], s32[]"),
        ("address", "0x7f6530200000"),
        ("dims", "[3, 5]"),
        ("program.code", "<1125 bytes>"),
        ("platform_version", "framedex mock TPU\nBuilt on Nov 27 2026 14:51:49 (1795791109) cl/0"),
        ("device_kind", "TPU v5 lite"),
        ("device_kind", "NVIDIA H100 80GB HBM3"),
        ("memory_kinds", "device, pinned_host"),
        ("extensions", "Profiler, MemoryDescriptions, Layouts"),
    ],
)
def test_runtime_values_are_kept(field: str, value: str) -> None:
    assert harmless.is_plain_value(field, value)
