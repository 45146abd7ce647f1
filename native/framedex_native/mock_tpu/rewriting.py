"""Replaces operations that only a TPU compiler supports by operations that XLA's CPU compiler supports.

| in the program | replacement |
|---|---|
| `stablehlo.send`, `stablehlo.recv` (host callbacks) | a call of the mock's FFI handler, which moves the data |
| custom calls and operations of linear algebra, composite `chlo.ragged_dot` | JAX's CPU lowering (cpu_lowerings.py) |
| functions that compute singular values, or eigenvalues of large matrices | calls of LAPACK (decompositions.py) |
| custom call `ApproxTopK` | the same call with the flag of JAX's lowering for the CPU |
| a function of 20 unrolled rounds of Threefry (`jax.random`) | a loop (threefry.py) |
| custom call `annotate_device_placement` | its operand: the CPU has one memory |
| custom call `AllocateBuffer` (`jax.lax.empty`) | zeros |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxlib.mlir import ir

from . import cpu_lowerings
from .decompositions import replace_decompositions
from .threefry import roll_threefry

# The mock's FFI handler. It has the name of JAX's own callback on GPUs, which the partitioner leaves unpartitioned.
TRANSFER_TARGET = "xla_ffi_python_gpu_callback"
_TYPED_FFI = 4  # stablehlo's api_version of typed handlers
_Rewrite = Callable[[ir.Operation, ir.Module], None]

# The public Python names of the host callback primitives. Others appear under their own name.
_CALLBACKS = {
    "pure_callback": "jax.pure_callback",
    "io_callback": "jax.experimental.io_callback",
    "debug_callback": "jax.debug.callback",
    "debug_print": "jax.debug.print",
}
# The location is loc("pure_callback:"(...)); before jaxlib 0.10, loc("jit(step)/pure_callback"(...)).
_PRIMITIVE = re.compile(r'^loc\("[^"]*?(\w+):?"\(')


def rewrite(module: ir.Module, key: int) -> bool:
    """Rewrite the module in place, and return whether it has host transfers. `key` identifies the program in them."""
    has_transfers = False
    roll_threefry(module)
    replace_decompositions(module)
    for operation in list(_operations(module.body)):
        if operation.name in ("stablehlo.send", "stablehlo.recv"):
            _transfer_by_call(operation, key)
            has_transfers = True
        elif operation.name in _OPERATIONS:
            _OPERATIONS[operation.name](operation, module)
        elif (name := _NAMES.get(operation.name)) is not None:
            target = ir.StringAttr(operation.attributes[name]).value
            if target in _CALLS:
                _CALLS[target](operation, module)
    return has_transfers


def custom_call_targets(module: ir.Module) -> set[str]:
    """The targets of all custom calls in the module."""
    calls = (operation for operation in _operations(module.body) if operation.name == "stablehlo.custom_call")
    return {ir.StringAttr(call.attributes["call_target_name"]).value for call in calls}


def _operations(block: ir.Block) -> Iterator[ir.Operation]:
    for operation in block.operations:
        for region in operation.operation.regions:
            for inner in region:
                yield from _operations(inner)
        yield operation.operation


def _transfer_by_call(operation: ir.Operation, key: int) -> None:
    # `#stablehlo.channel_handle<handle = 3, type = 2>`: the Python bindings expose none of its fields.
    channel = re.search(r"handle = (-?\d+)", str(operation.attributes["channel_handle"]))
    if channel is None:
        raise ValueError(f"INVALID_ARGUMENT: {operation.name} has no channel handle: {operation}")
    integer = ir.IntegerType.get_signless(64, operation.context)
    callback = _callback_of(operation)
    operands = [*(_operands_sent_before(operation) if callback else ()), *operation.operands]
    with operation.context, operation.location, ir.InsertionPoint(operation):
        attributes = {
            "call_target_name": ir.StringAttr.get(TRANSFER_TARGET),
            "has_side_effect": ir.BoolAttr.get(True),
            "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), _TYPED_FFI),
            "backend_config": ir.DictAttr.get(
                {
                    "channel": ir.IntegerAttr.get(integer, int(channel[1])),
                    "is_send": ir.IntegerAttr.get(integer, int(operation.name == "stablehlo.send")),
                    "program": ir.IntegerAttr.get(integer, key),
                    "framedex_callback": ir.StringAttr.get(callback),
                }
            ),
            "operand_layouts": _row_major([value.type for value in operands]),
            "result_layouts": _row_major([value.type for value in operation.results]),
        }
        for name in ("mhlo.sharding", "sdy.sharding", "mhlo.frontend_attributes"):
            if name in operation.attributes:
                attributes[name] = operation.attributes[name]
        call = ir.Operation.create(
            "stablehlo.custom_call",
            results=[value.type for value in operation.results],
            operands=operands,
            attributes=attributes,
        )
    _replace(operation, list(call.results))


def _callback_of(operation: ir.Operation) -> str:
    """The name of the callback that runs during this transfer; empty if the transfer only moves data.

    JAX sends the operands of a callback one by one, each with the token of the previous send. The host runs the
    callback when the last operand arrives.
    """
    if operation.name != "stablehlo.send":
        return ""
    place = str(operation.location)
    followers = (use.owner for use in operation.results[0].uses)
    if any(each.name == "stablehlo.send" and str(each.location) == place for each in followers):
        return ""
    primitive = match[1] if (match := _PRIMITIVE.match(place)) else "host_callback"
    return _CALLBACKS.get(primitive, f"jax.{primitive}")


def _operands_sent_before(operation: ir.Operation) -> list[ir.Value[Any]]:
    """The operands that earlier, already rewritten sends of the same callback send, in the callback's order.

    The last send repeats them, because its call represents the callback in a recording.
    """
    place = str(operation.location)
    sent: list[ir.Value[Any]] = []
    token = operation.operands[-1]
    while (send := _rewritten_send(token)) is not None and str(send.location) == place:
        value, token = send.operands
        sent.insert(0, value)
    return sent


def _rewritten_send(token: ir.Value[Any]) -> ir.Operation | None:
    """The call that replaced the send with this result token; None if the token has another origin."""
    owner = token.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.custom_call":
        return None
    is_transfer = ir.StringAttr(owner.attributes["call_target_name"]).value == TRANSFER_TARGET
    return owner.operation if is_transfer and len(owner.results) == 1 and len(owner.operands) == 2 else None


def _row_major(types: list[ir.Type]) -> ir.ArrayAttr:
    layouts: list[ir.Attribute] = []
    for value_type in types:
        rank = value_type.rank if isinstance(value_type, ir.RankedTensorType) else 0
        order = ", ".join(str(dimension) for dimension in reversed(range(rank)))
        layouts.append(ir.Attribute.parse(f"dense<[{order}]> : tensor<{rank}xindex>"))
    return ir.ArrayAttr.get(layouts)


def _annotation_by_operand(operation: ir.Operation, _module: ir.Module) -> None:
    _replace(operation, [operation.operands[0]])


def _empty_by_zeros(operation: ir.Operation, _module: ir.Module) -> None:
    result = ir.RankedTensorType(operation.results[0].type)
    zero = {ir.IntegerType: "0", ir.ComplexType: "(0.0, 0.0)"}.get(type(result.element_type), "0.0")
    if str(result.element_type) == "i1":
        zero = "false"
    with operation.context, operation.location:
        # Parsed from text, because the bindings have no attribute for complex numbers.
        zeros = ir.Operation.parse(f'"stablehlo.constant"() {{value = dense<{zero}> : {result}}} : () -> {result}')
        ir.InsertionPoint(operation).insert(zeros)
    _replace(operation, list(zeros.results))


def _by_cpu_lowering(lower: Callable[[ir.Operation, ir.Module], list[ir.Value[Any]]]) -> _Rewrite:
    """A rewrite that replaces an operation by the results of a function from cpu_lowerings.py."""

    def rewrite_operation(operation: ir.Operation, module: ir.Module) -> None:
        _replace(operation, lower(operation, module))

    return rewrite_operation


def _approximate_by_sorting(operation: ir.Operation, _module: ir.Module) -> None:
    given = ir.DictAttr(operation.attributes["mhlo.backend_config"])
    entries = {given[i].name: given[i].attr for i in range(len(given))}
    with operation.context:
        fallback = {"is_fallback": ir.BoolAttr.get(True)}
        operation.attributes["mhlo.backend_config"] = ir.DictAttr.get(entries | fallback)


def _replace(operation: ir.Operation, values: Sequence[ir.Value[Any]]) -> None:
    for old, new in zip(operation.results, values, strict=True):
        old.replace_all_uses_with(new)
    operation.erase()


def _refuse_kernel(_operation: ir.Operation, _module: ir.Module) -> None:
    raise NotImplementedError(
        "UNIMPLEMENTED: framedex's mock TPU does not run Mosaic kernels (Pallas, Mosaic). "
        "Run them with pallas_call(..., interpret=True)."
    )


# The attribute that names the callee.
_NAMES = {"stablehlo.custom_call": "call_target_name", "stablehlo.composite": "name"}
_CALLS: dict[str, _Rewrite] = {
    "AllocateBuffer": _empty_by_zeros,
    "ApproxTopK": _approximate_by_sorting,
    "Eigh": _by_cpu_lowering(cpu_lowerings.eigh),
    "LuDecomposition": _by_cpu_lowering(cpu_lowerings.lu),
    "ProductOfElementaryHouseholderReflectors": _by_cpu_lowering(cpu_lowerings.householder_product),
    "Qr": _by_cpu_lowering(cpu_lowerings.geqrf),
    "annotate_device_placement": _annotation_by_operand,
    "chlo.ragged_dot": _by_cpu_lowering(cpu_lowerings.ragged_dot),
    "tpu_custom_call": _refuse_kernel,
}
_OPERATIONS: dict[str, _Rewrite] = {
    "stablehlo.cholesky": _by_cpu_lowering(cpu_lowerings.cholesky),
    "stablehlo.triangular_solve": _by_cpu_lowering(cpu_lowerings.triangular_solve),
}
