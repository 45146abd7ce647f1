"""Replaces JAX's TPU functions for matrix decompositions by the LAPACK calls that JAX uses on a CPU.

On a TPU, JAX uses QDWH iterations for singular values and for eigenvalues of matrices larger than 256. XLA's CPU
compiler needs 10 to 80 times as long for these loops of QR and Cholesky factorisations as for the LAPACK call.

The algorithm: Nakatsukasa and Higham, "Stable and Efficient Spectral Divide and Conquer Algorithms for the Symmetric
Eigenvalue Decomposition and the SVD", SIAM J. Sci. Comput. 35 (2013). JAX implements it in jax/_src/tpu/linalg/.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func
from jaxlib.mlir.passmanager import PassManager

from .cpu_lowerings import import_lowered, shape_of_type, trace

_NAME = re.compile(r"(_svd_tall_and_square_input|_eigh_work)(_\d+)?")


def replace_decompositions(module: ir.Module) -> None:
    """Replace each function of the module that is one of JAX's TPU decompositions."""
    functions = [entry for entry in module.body.operations if isinstance(entry, func.FuncOp)]
    replaced = [function for function in functions if _replace(function, module)]
    if replaced:
        PassManager.parse("builtin.module(symbol-dce)", module.context).run(module.operation)


def _replace(function: func.FuncOp, module: ir.Module) -> bool:
    """Replace the function if it is a decomposition, and return whether it was."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    match = _NAME.fullmatch(name)
    if match is None or "call @qdwh" not in str(function):
        return False
    decompose = _DECOMPOSITIONS.get((match[1], len(function.arguments), len(function.type.results)))
    if decompose is None:
        return False
    traced = trace(decompose, function.arguments)
    results = [(result.shape, result.dtype) for result in jax.tree.leaves(traced.out_info)]
    if results != [(shape.shape, shape.dtype) for shape in map(shape_of_type, function.type.results)]:
        return False
    imported = import_lowered(traced, module)
    function.operation.erase()
    lowered = ir.SymbolTable(module.operation)[imported]
    lowered.attributes["sym_name"] = ir.StringAttr.get(name, module.context)
    return True


def _singular_values(matrix: jax.Array) -> jax.Array:
    return jax.lax.linalg.svd(matrix, full_matrices=False, compute_uv=False)


def _singular_vectors(matrix: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    left, values, right = jax.lax.linalg.svd(matrix, full_matrices=False)
    return left, values, right.mT.conj()


def _eigenvectors(matrix: jax.Array, _size: jax.Array) -> tuple[jax.Array, jax.Array]:
    vectors, values = jax.lax.linalg.eigh(matrix, symmetrize_input=False)
    return values, vectors


# Keys: the name and the numbers of arguments and results.
_DECOMPOSITIONS: dict[tuple[str, int, int], Callable[..., Any]] = {
    ("_svd_tall_and_square_input", 1, 1): _singular_values,
    ("_svd_tall_and_square_input", 1, 3): _singular_vectors,
    ("_eigh_work", 2, 2): _eigenvectors,
}
