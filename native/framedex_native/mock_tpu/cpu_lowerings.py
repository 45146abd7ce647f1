"""JAX's own lowerings for the CPU, called in place of operations that XLA's CPU compiler does not know."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

_COMPLEX = {"complex<f32>": "complex64", "complex<f64>": "complex128"}
_KINDS = {"f": "float", "bf": "bfloat", "i": "int", "ui": "uint"}


def lu(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The results of a custom call `LuDecomposition`."""
    return _call(operation, module, jax.lax.linalg.lu)


def ragged_dot(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The result of a `chlo.ragged_dot`, which comes as a composite, or before jaxlib 0.9 as a custom call."""
    name = "composite_attributes" if operation.name == "stablehlo.composite" else "mhlo.attributes"
    given = ir.ArrayAttr(ir.DictAttr(operation.attributes[name])["ragged_dot_dimension_numbers"])
    lhs_batch, rhs_batch, lhs_contracting, rhs_contracting, lhs_ragged, rhs_group = (
        [int(numbers[i]) for i in range(len(numbers))] for numbers in map(ir.DenseIntElementsAttr, given)
    )
    dimension_numbers = jax.lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)),
        lhs_ragged_dimensions=lhs_ragged,
        rhs_group_dimensions=rhs_group,
    )
    multiplied = functools.partial(
        jax.lax.ragged_dot_general,
        ragged_dot_dimension_numbers=dimension_numbers,
        preferred_element_type=_shape(operation.results[0]).dtype,
    )
    return _call(operation, module, multiplied)


def _call(operation: ir.Operation, module: ir.Module, function: Callable[..., Any]) -> list[ir.Value[Any]]:
    """Call what JAX makes of the function for the CPU with the operation's operands, ahead of the operation."""
    with jax.enable_x64(True):
        traced = jax.jit(function).trace(*map(_shape, operation.operands))
        lowered = traced.lower(lowering_platforms=("cpu",))
    name = _import_functions(str(lowered.compiler_ir()), module)
    with operation.context, operation.location, ir.InsertionPoint(operation):
        types = [value.type for value in operation.results]
        return list(func.CallOp(types, ir.FlatSymbolRefAttr.get(name), list(operation.operands)).results)


def _shape(value: ir.Value[Any]) -> jax.ShapeDtypeStruct:
    tensor = ir.RankedTensorType(value.type)
    element = str(tensor.element_type)
    match = re.fullmatch(r"([a-z]+)(\d+)", element)
    name = _KINDS[match[1]] + match[2] if match and match[1] in _KINDS else _COMPLEX[element]
    return jax.ShapeDtypeStruct(tuple(tensor.shape), getattr(ml_dtypes, name, None) or np.dtype(name))


def _import_functions(text: str, module: ir.Module) -> str:
    """Copy the functions of a module, under names of their own, into `module`; returns the name of its `main`."""
    taken = {ir.StringAttr(entry.attributes["sym_name"]).value for entry in module.body.operations}
    names = re.findall(r"func\.func (?:public |private )?@([\w.$-]+)", text)
    suffix = next(number for number in range(len(taken) + 1) if not taken & {f"cpu{number}_{name}" for name in names})
    renamed = re.sub(r"@([\w.$-]+)", lambda match: _renamed(match, names, suffix), text)
    with module.context:
        for entry in ir.Module.parse(renamed).body.operations:
            if entry.operation.name == "func.func":
                entry.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
                module.body.append(entry.operation.clone())
    return f"cpu{suffix}_main"


def _renamed(match: re.Match[str], names: list[str], suffix: int) -> str:
    return f"@cpu{suffix}_{match[1]}" if match[1] in names else match[0]
