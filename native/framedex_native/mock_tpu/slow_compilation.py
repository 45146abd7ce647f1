"""Reports slow compilations on stderr, with the program, the likely cause and remedies."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

_SETTING = "FRAMEDEX_SLOW_COMPILATION"  # in seconds
_DEFAULT_S = 20.0
_REPORT_S = 5.0  # how long the end of a compilation waits for the report
_MANY_OPERATIONS = 2000
_LARGE_CONSTANTS = 1 << 20  # bytes
_FASTER = (
    "XLA_FLAGS=--xla_backend_optimization_level=0 halves the time of compilation. "
    "JAX_COMPILATION_CACHE_DIR=FOLDER compiles only once."
)


@contextmanager
def report_if_slow(parse: Callable[[], ir.Module]) -> Iterator[None]:
    """Report on stderr if the block runs longer than FRAMEDEX_SLOW_COMPILATION seconds (default 20; 0 disables it).

    `parse` returns a copy of the program in the current context. The reporting thread calls it.
    """
    limit_s = _limit_s()
    timer = threading.Timer(limit_s, _report, [parse, limit_s])
    timer.daemon = True
    try:
        if limit_s > 0:
            timer.start()
    except RuntimeError:  # threads cannot start, for example at exit
        yield
        return
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join(_REPORT_S)


def describe(module: ir.Module) -> list[str]:
    """Sentences about a program: its size, the likely cause of a long compilation, and remedies."""
    counts: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    constants = 0
    for function in module.body.operations:
        for operation in _operations(function.operation):
            counts[operation.name] += 1
            functions[ir.StringAttr(function.attributes["sym_name"]).value] += 1
            if operation.name == "stablehlo.constant":
                constants += _bytes_of(operation)
    kinds = ", ".join(f"{count} {name.removeprefix('stablehlo.')}" for name, count in counts.most_common(3))
    largest, size = functions.most_common(1)[0]
    sentences = [f"The program has {counts.total()} operations ({kinds}), {size} of them in function {largest}."]
    if size > _MANY_OPERATIONS:
        sentences.append(
            f"Likely cause: function {largest} unrolls a Python loop. Replace the loop by jax.lax.scan or fori_loop."
        )
    if constants > _LARGE_CONSTANTS:
        sentences.append(
            f"Likely cause: XLA folds {constants >> 20} MiB of constants. Pass arrays to the function as arguments."
        )
    return [*sentences, _FASTER]


def _report(parse: Callable[[], ir.Module], limit_s: float) -> None:
    with mlir.make_ir_context():
        module = parse()
        name = ir.StringAttr(module.operation.attributes["sym_name"]).value
        text = [f"The mock TPU has compiled {name} with XLA's CPU compiler for {limit_s:g} s.", *describe(module)]
    print("".join(f"framedex: {sentence}\n" for sentence in text), end="", file=sys.stderr, flush=True)


def _limit_s() -> float:
    try:
        limit_s = float(os.environ[_SETTING])
    except (KeyError, ValueError):
        return _DEFAULT_S
    return limit_s if 0 < limit_s <= threading.TIMEOUT_MAX else 0.0


def _operations(operation: ir.Operation) -> Iterator[ir.Operation]:
    """All operations inside an operation."""
    for region in operation.regions:
        for block in region:
            for inner in block.operations:
                yield inner.operation
                yield from _operations(inner.operation)


def _bytes_of(constant: ir.Operation) -> int:
    """The size of a constant in bytes; 0 if all elements are equal."""
    elements, array = constant.attributes["value"], ir.RankedTensorType(constant.results[0].type)
    if isinstance(elements, ir.DenseElementsAttr) and elements.is_splat:
        return 0
    if not isinstance(array.element_type, (ir.IntegerType, ir.FloatType)):
        return 0
    return math.prod(array.shape) * array.element_type.width // 8
