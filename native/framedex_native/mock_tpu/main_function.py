"""What JAX wrote onto the parameters and results of a module's main function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxlib.mlir import ir

DEVICE_MEMORY = "device"
Place = tuple[str, Sequence[int] | None]  # the kind of memory; the layout, minor to major, None: the default one


@dataclass(frozen=True)
class Signature:
    """Where parameters and results lie, and which parameters are donated to which result (-1: to any)."""

    parameters: Sequence[Place]
    results: Sequence[Place]
    donated: Sequence[tuple[int, int]]

    @staticmethod
    def plain(parameters: int, results: int) -> Signature:
        """The signature of a program that says nothing of itself."""
        return Signature([(DEVICE_MEMORY, None)] * parameters, [(DEVICE_MEMORY, None)] * results, [])


def signature_of(module: ir.Module) -> Signature:
    """Read the main function's attributes, and take away the layouts: the mock keeps every array row-major, and
    answers with the layout that was asked for."""
    function = main_function(module)
    parameters = _attributes(function, "arg_attrs", len(function.type.inputs))
    results = _attributes(function, "res_attrs", len(function.type.results))
    donated = []
    for number, attributes in enumerate(parameters):
        if "tf.aliasing_output" in attributes:
            donated.append((number, ir.IntegerAttr(attributes["tf.aliasing_output"]).value))
        elif "jax.buffer_donor" in attributes:
            donated.append((number, -1))
    signature = Signature([_place(a) for a in parameters], [_place(a) for a in results], donated)
    for key, values in (("arg_attrs", parameters), ("res_attrs", results)):
        if any("mhlo.layout_mode" in attributes for attributes in values):
            kept = [{n: a for n, a in attributes.items() if n != "mhlo.layout_mode"} for attributes in values]
            function.operation.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(attributes) for attributes in kept])
    return signature


def main_function(module: ir.Module) -> Any:
    """The function that is run. Raises ValueError for a module without one."""
    for operation in module.body.operations:
        if operation.operation.name == "func.func" and ir.StringAttr(operation.attributes["sym_name"]).value == "main":
            return operation
    raise ValueError("INVALID_ARGUMENT: the module has no function `main`")


def _attributes(function: Any, key: str, count: int) -> list[dict[str, ir.Attribute]]:
    if key not in function.operation.attributes:
        return [{} for _ in range(count)]
    return [{item.name: item.attr for item in entry} for entry in function.operation.attributes[key]]


def _place(attributes: dict[str, ir.Attribute]) -> Place:
    kind = attributes.get("mhlo.memory_kind")
    layout = attributes.get("mhlo.layout_mode")
    match = re.fullmatch(r"\{([\d,]*)[^}]*\}", ir.StringAttr(layout).value) if layout is not None else None
    order = tuple(int(number) for number in match[1].split(",") if number) if match else None
    return (ir.StringAttr(kind).value if kind is not None else DEVICE_MEMORY), order
