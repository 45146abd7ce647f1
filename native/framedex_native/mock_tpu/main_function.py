"""The attributes of the parameters and results of a module's main function, as JAX wrote them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxlib.mlir import ir

from .program import DEVICE_MEMORY

DEFAULT_LAYOUT, AUTO_LAYOUT = "default", "auto"
_MEMORY_KIND, _LAYOUT_MODE = "mhlo.memory_kind", "mhlo.layout_mode"
_DONATIONS = ("tf.aliasing_output", "jax.buffer_donor")


@dataclass(frozen=True)
class ValuePlacement:
    """The memory kind and the requested layout of a value: `{1,0:T(8,128)}`, `DEFAULT_LAYOUT` or `AUTO_LAYOUT`."""

    memory_kind: str = DEVICE_MEMORY
    layout: str = DEFAULT_LAYOUT

    def order(self, rank: int) -> Sequence[int]:
        """The dimensions from minor to major."""
        match = re.match(r"\{([\d,]*)", self.layout)
        return [int(number) for number in match[1].split(",") if number] if match else list(reversed(range(rank)))

    @property
    def tiles(self) -> Sequence[Sequence[int]]:
        """The dimensions of each tile, outermost tile first."""
        match = re.search(r"T((?:\([\d,]+\))+)", self.layout)
        return [list(map(int, tile.split(","))) for tile in match[1][1:-1].split(")(")] if match else []


@dataclass(frozen=True)
class Signature:
    """The placements of parameters and results."""

    parameters: Sequence[ValuePlacement]
    results: Sequence[ValuePlacement]

    @property
    def leaves_layouts_open(self) -> bool:
        """Whether the compiler must choose a layout."""
        return any(place.layout == AUTO_LAYOUT for place in (*self.parameters, *self.results))

    def with_layouts(self, parameters: Sequence[str], results: Sequence[str]) -> Signature:
        """A copy of the signature with these layouts."""
        return replace(
            self, parameters=_apply_layouts(self.parameters, parameters), results=_apply_layouts(self.results, results)
        )


def _apply_layouts(placements: Sequence[ValuePlacement], layouts: Sequence[str]) -> list[ValuePlacement]:
    return [replace(place, layout=layout) for place, layout in zip(placements, layouts, strict=True)]


def signature_of(module: ir.Module) -> Signature:
    """Read the signature from the main function's attributes."""
    function = main_function(module)
    parameters = _attributes(function, "arg_attrs", len(function.type.inputs))
    results = _attributes(function, "res_attrs", len(function.type.results))
    return Signature([_place(a) for a in parameters], [_place(a) for a in results])


def remove_memory_kinds(module: ir.Module) -> None:
    """Remove the memory kinds of all values: the CPU has only one."""
    _remove(module, _MEMORY_KIND)


def remove_layouts(module: ir.Module) -> None:
    """Remove the layouts of all values, so that they are row-major."""
    _remove(module, _LAYOUT_MODE)


def remove_impossible_donations(module: ir.Module, signature: Signature) -> None:
    """Remove donations of parameters to results with another layout or memory kind.

    A TPU compiler ignores such donations. The CPU compiler would not, because there all values have one layout and one
    memory kind.
    """
    function = main_function(module)
    results = [_location_of(*described) for described in zip(function.type.results, signature.results, strict=True)]
    attributes_of = _attributes(function, "arg_attrs", len(function.type.inputs))
    entries = []
    for value_type, place, attributes in zip(function.type.inputs, signature.parameters, attributes_of, strict=True):
        alias = attributes.get("tf.aliasing_output")
        takers = results if alias is None else [results[ir.IntegerAttr(alias).value]]
        removed = () if _location_of(value_type, place) in takers else _DONATIONS
        entries.append(ir.DictAttr.get({name: value for name, value in attributes.items() if name not in removed}))
    if entries:
        function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)


def _location_of(value_type: ir.Type, placement: ValuePlacement) -> tuple[Any, ...]:
    rank = ir.RankedTensorType(value_type).rank if isinstance(value_type, ir.RankedTensorType) else 0
    return value_type, placement.memory_kind, list(placement.order(rank)), placement.tiles


def main_function(module: ir.Module) -> Any:
    """The main function. Raises ValueError if the module has none."""
    for operation in module.body.operations:
        if operation.operation.name == "func.func" and ir.StringAttr(operation.attributes["sym_name"]).value == "main":
            return operation
    raise ValueError("INVALID_ARGUMENT: the module has no function `main`")


def _remove(module: ir.Module, name: str) -> None:
    function = main_function(module)
    for key, count in (("arg_attrs", len(function.type.inputs)), ("res_attrs", len(function.type.results))):
        values = _attributes(function, key, count)
        if any(name in attributes for attributes in values):
            kept = [{n: a for n, a in attributes.items() if n != name} for attributes in values]
            entries = [ir.DictAttr.get(attributes) for attributes in kept]
            function.operation.attributes[key] = ir.ArrayAttr.get(entries)


def _attributes(function: Any, key: str, count: int) -> list[dict[str, ir.Attribute]]:
    if key not in function.operation.attributes:
        return [{} for _ in range(count)]
    return [{item.name: item.attr for item in entry} for entry in function.operation.attributes[key]]


def _place(attributes: dict[str, ir.Attribute]) -> ValuePlacement:
    return ValuePlacement(
        _text(attributes, _MEMORY_KIND, DEVICE_MEMORY), _text(attributes, _LAYOUT_MODE, DEFAULT_LAYOUT)
    )


def _text(attributes: dict[str, ir.Attribute], name: str, default: str) -> str:
    return ir.StringAttr(attributes[name]).value if name in attributes else default
