"""The signature of a program matches the arguments that JAX lowered it with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.model import Parameter, Signature
from framedex.programs import read_program
from tests.running import plain_environment

DTYPES = (
    *(
        "bool",
        "int2",
        "uint2",
        "int4",
        "uint4",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
    ),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
    *("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu"),
    "float4_e2m1fn",
)
LOWER = f"""\
import pathlib
import jax, jax.numpy as jnp, numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jaxlib.mlir.dialects import stablehlo

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", 2)

def lower(name, function, *arguments, version=None, **options):
    module = jax.jit(function, **options).lower(*arguments).compiler_ir()
    version = version or stablehlo.get_current_version()
    pathlib.Path(name).write_bytes(stablehlo.serialize_portable_artifact(module, version, True))

def twice(x):
    return x, x

for dtype in {DTYPES}:
    lower(dtype, twice, jax.ShapeDtypeStruct((3, 4), dtype))
shape = jax.ShapeDtypeStruct((3,), "float32")
named = lambda params, y: params["w"] * 2.5 + y
lower("named", named, {{"w": shape}}, shape, donate_argnums=0)
lower("1.0.0", named, {{"w": shape}}, shape, donate_argnums=0, version="1.0.0")
close = {{"one": 0.1, "other": float(np.nextafter(np.float32(0.1), np.float32(1)))}}
for name, value in close.items():
    lower(name, lambda x, value=value: x * np.float32(value), shape)
lower("none", lambda: 7)
lower("many", lambda x: sum(x * np.float32(n) for n in range(299)), shape)

def partitioned():
    @custom_partitioning
    def call(x):
        return x * 2
    call.def_partition(lambda *_: None, infer_sharding_from_operands=lambda *_: None, sharding_rule="i -> i")
    return call

mesh = jax.sharding.Mesh(jax.devices(), "d")
split = jax.NamedSharding(mesh, jax.P("d"))
kept = []  # so that no two objects get one id
for name in ("partitioned", "again"):
    kept.append(partitioned())
    lower(name, lambda x: kept[-1](x) + 1, jax.ShapeDtypeStruct((4,), "float32"), in_shardings=split)
"""


@pytest.fixture(scope="module")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of LOWER."""
    folder = tmp_path_factory.mktemp("lowered").resolve()
    (folder / "lower.py").write_text(LOWER)
    environment = plain_environment() | {"JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "lower.py"], cwd=folder, env=environment, check=True, timeout=120)
    return folder


def _signature(lowered: Path, name: str) -> Signature:
    signature = read_program((lowered / name).read_bytes()).signature
    assert signature is not None
    return signature


def test_types_are_those_of_numpy(lowered: Path) -> None:
    for dtype in DTYPES:
        signature = _signature(lowered, dtype)
        assert [each.type for each in signature.arguments] == [f"{dtype}[3,4]"]
        assert [each.type for each in signature.results] == [f"{dtype}[3,4]"] * 2


@pytest.mark.parametrize("version", ["named", "1.0.0"])
def test_arguments_have_names_and_jax_attributes(lowered: Path, version: str) -> None:
    signature = _signature(lowered, version)
    assert signature.arguments == (
        Parameter("float32[3]", "params['w']", {"tf.aliasing_output": "0"}),
        Parameter("float32[3]", "y", {}),
    )
    assert signature.constants == ("2.5",)
    assert (signature.partitions, signature.replicas) == ("1", "1")
    assert read_program((lowered / version).read_bytes()).function == "<lambda>"


def test_constants_that_differ_in_one_bit_are_distinct(lowered: Path) -> None:
    one, other = _signature(lowered, "one"), _signature(lowered, "other")
    assert one.code == other.code
    assert one.constants == ("0.1",)
    assert other.constants != one.constants


def test_a_function_without_arguments_has_an_empty_signature(lowered: Path) -> None:
    signature = _signature(lowered, "none")
    assert (signature.arguments, signature.constants) == ((), ("7",))


def test_constants_beyond_the_limit_share_one_digest(lowered: Path) -> None:
    constants = _signature(lowered, "many").constants
    assert len(constants) == 201 and constants[-1].startswith("100 more ")
    assert json.dumps(constants)


def test_ids_of_python_objects_are_not_part_of_the_code(lowered: Path) -> None:
    one, other = _signature(lowered, "partitioned"), _signature(lowered, "again")
    assert one.code == other.code
    assert len(one.object_ids) == len(other.object_ids) == 1
    assert one.object_ids != other.object_ids
    assert _signature(lowered, "named").object_ids == ()
