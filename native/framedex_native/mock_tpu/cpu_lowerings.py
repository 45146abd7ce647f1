"""JAX's CPU lowerings of operations that XLA's CPU compiler lacks."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jax._src.lax import linalg
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from .isolation import isolated

_COMPLEX = {"complex<f32>": "complex64", "complex<f64>": "complex128"}
_KINDS = {"f": "float", "bf": "bfloat", "i": "int", "ui": "uint"}


def lu(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The results of a custom call `LuDecomposition`."""
    return _call(operation, module, jax.lax.linalg.lu)


def eigh(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The eigenvectors and eigenvalues of a custom call `Eigh`, whose configuration is `lower,sorted,...`."""
    lower, sort, *_ = ir.StringAttr(operation.attributes["backend_config"]).value.split(",")
    decomposed = functools.partial(
        jax.lax.linalg.eigh, lower=lower == "1", sort_eigenvalues=sort == "1", symmetrize_input=False
    )
    return _call(operation, module, decomposed)


def geqrf(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The packed factors of a custom call `Qr`."""
    return _call(operation, module, linalg.geqrf)


def householder_product(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The result of a custom call `ProductOfElementaryHouseholderReflectors`."""
    return _call(operation, module, jax.lax.linalg.householder_product)


def cholesky(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The result of a `stablehlo.cholesky`."""
    is_lower = "lower" in operation.attributes and ir.BoolAttr(operation.attributes["lower"]).value
    return _call(operation, module, _lower_cholesky if is_lower else _upper_cholesky)


def _lower_cholesky(matrix: jax.Array) -> jax.Array:
    return jax.lax.linalg.cholesky(matrix, symmetrize_input=False)


def _upper_cholesky(matrix: jax.Array) -> jax.Array:
    return _lower_cholesky(matrix.mT.conj()).mT.conj()


def triangular_solve(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The result of a `stablehlo.triangular_solve`."""
    flags = {name: ir.BoolAttr(operation.attributes[name]).value for name in ("left_side", "lower", "unit_diagonal")}
    transposition = str(operation.attributes["transpose_a"])
    solved = functools.partial(
        jax.lax.linalg.triangular_solve,
        transpose_a="NO_TRANSPOSE" not in transposition,
        conjugate_a="ADJOINT" in transposition,
        **flags,
    )
    return _call(operation, module, solved)


def ragged_dot(operation: ir.Operation, module: ir.Module) -> list[ir.Value[Any]]:
    """The result of a `chlo.ragged_dot`: a composite, or a custom call before jaxlib 0.9."""
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
        preferred_element_type=shape_of(operation.results[0]).dtype,
    )
    return _call(operation, module, multiplied)


def _call(operation: ir.Operation, module: ir.Module, function: Callable[..., Any]) -> list[ir.Value[Any]]:
    """Insert a call of the function's CPU lowering, with the operation's operands, before the operation."""
    name = import_lowered(trace(function, operation.operands), module)
    with operation.context, operation.location, ir.InsertionPoint(operation):
        types = [value.type for value in operation.results]
        return list(func.CallOp(types, ir.FlatSymbolRefAttr.get(name), list(operation.operands)).results)


def trace(function: Callable[..., Any], arguments: Iterable[ir.Value[Any]]) -> Any:
    """Trace a JAX function for arguments of these types."""
    with isolated():
        return jax.jit(function, keep_unused=True).trace(*map(shape_of, arguments))


def import_lowered(traced: Any, module: ir.Module) -> str:
    """Lower a traced function for the CPU, copy its functions into the module, and return the entry function's name."""
    with isolated():
        lowered = traced.lower(lowering_platforms=("cpu",))
    return _import_functions(str(lowered.compiler_ir()), module)


def shape_of(value: ir.Value[Any]) -> jax.ShapeDtypeStruct:
    """The shape and dtype of an array in a program."""
    return shape_of_type(value.type)


def shape_of_type(array: ir.Type) -> jax.ShapeDtypeStruct:
    """The shape and dtype of an array type."""
    tensor = ir.RankedTensorType(array)
    element = str(tensor.element_type)
    match = re.fullmatch(r"([a-z]+)(\d+)", element)
    name = _KINDS[match[1]] + match[2] if match and match[1] in _KINDS else _COMPLEX[element]
    return jax.ShapeDtypeStruct(tuple(tensor.shape), getattr(ml_dtypes, name, None) or np.dtype(name))


def _import_functions(text: str, module: ir.Module) -> str:
    """Copy the functions of a module into `module` under unique names, and return the name of its `main`."""
    taken = {ir.StringAttr(entry.attributes["sym_name"]).value for entry in module.body.operations}
    names = re.findall(r"func\.func (?:public |private )?@([\w.$-]+)", text)
    suffix = next(number for number in range(len(taken) + 1) if not taken & {f"cpu{number}_{name}" for name in names})
    renamed = re.sub(r"@([\w.$-]+)", lambda match: _rename_function(match, names, suffix), text)
    with module.context:
        for entry in ir.Module.parse(renamed).body.operations:
            if entry.operation.name == "func.func":
                entry.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
                module.body.append(entry.operation.clone())
    return f"cpu{suffix}_main"


def _rename_function(match: re.Match[str], names: list[str], suffix: int) -> str:
    return f"@cpu{suffix}_{match[1]}" if match[1] in names else match[0]
