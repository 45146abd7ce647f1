"""JAX's own lowerings for the CPU, called in place of operations that XLA's CPU compiler does not know."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

# `import jax` has loaded the one or, in an older JAX, the other. jax.extend would import more, whose settings become a
# part of the keys of JAX's caches: JAX would compile the program again whose first compilation imported them.
_threefry: Any = sys.modules.get("jax._src.random.threefry2x32") or sys.modules["jax._src.prng"]
_COMPLEX = {"complex<f32>": "complex64", "complex<f64>": "complex128"}
# Known answers of Threefry-2x32 with 20 rounds, as two words of the key and two of the counter, and two of the result:
# Random123's tests (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
_THREEFRY_ANSWERS = {
    (0, 0, 0, 0): [0x6B200159, 0x99BA4EFE],
    (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF): [0x1CB996FC, 0xBB002BE7],
    (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3): [0xC4923A9C, 0x483DF7A0],
}
_OF_WORDS: dict[str, Callable[..., int]] = {
    "stablehlo.add": lambda a, b: (a + b) & 0xFFFFFFFF,
    "stablehlo.broadcast_in_dim": lambda a: a,
    "stablehlo.or": lambda a, b: a | b,
    "stablehlo.reshape": lambda a: a,
    "stablehlo.shift_left": lambda a, b: (a << b) & 0xFFFFFFFF,
    "stablehlo.shift_right_logical": lambda a, b: a >> b,
    "stablehlo.xor": lambda a, b: a ^ b,
}
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


def is_unrolled_threefry(function: func.FuncOp) -> bool:
    """Whether a function is the form of Threefry that JAX lowers for a TPU: 20 rounds without a loop."""
    inputs, results = function.type.inputs, function.type.results
    if (len(inputs), len(results)) != (4, 2) or not all(_is_of_words(each) for each in (*inputs, *results)):
        return False
    return all(_evaluate(function, given) == answer for given, answer in _THREEFRY_ANSWERS.items())


def roll_threefry(function: func.FuncOp, module: ir.Module) -> None:
    """Replace the body of an unrolled Threefry by a call of JAX's loop, which computes the same bits.

    XLA's CPU compiler does not end with a few of the unrolled functions in a row: its fusion copies each into the next.
    """
    shapes = tuple(_shape(argument) for argument in function.arguments)
    name = _import_functions(_rolled_threefry(shapes), module)
    body = list(function.entry_block.operations)
    with function.context, function.location, ir.InsertionPoint(body[-1]):
        results = func.CallOp(function.type.results, ir.FlatSymbolRefAttr.get(name), list(function.arguments)).results
        func.ReturnOp(results)
    for operation in reversed(body):
        operation.operation.erase()


@functools.cache
def _rolled_threefry(shapes: tuple[jax.ShapeDtypeStruct, ...]) -> str:
    return str(jax.jit(_threefry.threefry2x32_p.bind).trace(*shapes).lower(lowering_platforms=("cpu",)).compiler_ir())


def _is_of_words(tensor: ir.Type) -> bool:
    return isinstance(tensor, ir.RankedTensorType) and str(tensor.element_type) == "ui32"


def _evaluate(function: func.FuncOp, given: Sequence[int]) -> list[int] | None:
    """The results of an elementwise function for one element of each argument; None if it is not elementwise."""
    values: dict[ir.Value[Any], int] = dict(zip(function.arguments, given, strict=True))
    for operation in (entry.operation for entry in function.entry_block.operations):
        operands = [values[operand] for operand in operation.operands]
        if operation.name == "func.return":
            return operands
        if operation.name == "stablehlo.constant":
            constant = ir.DenseElementsAttr(operation.attributes["value"])
            if not constant.is_splat or not _is_of_words(operation.results[0].type):
                return None
            values[operation.results[0]] = int(next(iter(ir.DenseIntElementsAttr(constant))))
        elif operation.name in _OF_WORDS:
            values[operation.results[0]] = _OF_WORDS[operation.name](*operands)
        else:
            return None
    return None


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
