"""Registers the handlers of this folder's library and wraps them as functions of JAX.

import ffi_examples

ffi_examples.register("build/libffi_examples.so")
ffi_examples.rms_norm(x)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

PLATFORMS = ("cpu", "tpu")  # the handlers access host memory, and the mock TPU's memory is host memory


def register(library: str | Path, platforms: tuple[str, ...] = PLATFORMS) -> None:
    """Load the library and register its handlers. Raises OSError if it cannot be loaded."""
    functions = ctypes.CDLL(str(library))
    targets: dict[str, Any] = {
        "rms_norm": jax.ffi.pycapsule(functions.RmsNorm),
        "rms_norm_forward": jax.ffi.pycapsule(functions.RmsNormForward),
        "rms_norm_backward": jax.ffi.pycapsule(functions.RmsNormBackward),
        "lu_pivots_to_permutation": jax.ffi.pycapsule(functions.LuPivotsToPermutation),
        "scale_later": jax.ffi.pycapsule(functions.ScaleLater),
        "fail": {
            "instantiate": jax.ffi.pycapsule(functions.FailToInstantiate),
            "execute": jax.ffi.pycapsule(functions.Fail),
        },
    }
    for platform in platforms:
        for name, handlers in targets.items():
            jax.ffi.register_ffi_target(name, handlers, platform=platform)
        untyped = _capsule(functions.AddOneUntyped, b"xla._CUSTOM_CALL_TARGET")
        jax.ffi.register_ffi_target("add_one_untyped", untyped, platform=platform, api_version=0)
    jax.devices()  # XLA must know a state's type before the handler, and accepts types only after its client exists
    for platform in platforms:
        _register_counter(functions, platform)


def _register_counter(functions: Any, platform: str) -> None:
    functions.CounterTypeId.restype = ctypes.c_void_p
    type_id = _capsule(functions.CounterTypeId())
    if hasattr(functions, "CounterTypeInfo"):
        functions.CounterTypeInfo.restype = ctypes.c_void_p
        type_info = _capsule(functions.CounterTypeInfo())
        jax.ffi.register_ffi_type("counter", {"type_id": type_id, "type_info": type_info}, platform=platform)
    else:  # before jaxlib 0.9
        jax.ffi.register_ffi_type_id("counter", type_id, platform=platform)
    stages = {
        "instantiate": jax.ffi.pycapsule(functions.CounterInstantiate),
        "execute": jax.ffi.pycapsule(functions.CounterExecute),
    }
    jax.ffi.register_ffi_target("counter", stages, platform=platform)


def _capsule(pointer: Any, name: bytes | None = None) -> Any:
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    new_capsule = prototype(("PyCapsule_New", ctypes.pythonapi))
    address = pointer if isinstance(pointer, int) else ctypes.cast(pointer, ctypes.c_void_p)
    return new_capsule(address, name, None)


def like(x: jax.Array) -> jax.ShapeDtypeStruct:
    """Shape and dtype of a result that has those of `x`."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def rms_norm(x: jax.Array, eps: float = 1e-5) -> jax.Array:
    """`x` scaled to a root mean square of one along its last axis: f32[..., n]. May be differentiated once."""
    return jax.ffi.ffi_call("rms_norm", like(x), vmap_method="broadcast_all")(x, eps=np.float32(eps))


def _rms_norm_forward(x: jax.Array, eps: float) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    results = (like(x), jax.ShapeDtypeStruct(x.shape[:-1], x.dtype))
    call = jax.ffi.ffi_call("rms_norm_forward", results, vmap_method="broadcast_all")
    y, scales = call(x, eps=np.float32(eps))
    return y, (scales, x)


def _rms_norm_backward(eps: float, residuals: tuple[jax.Array, jax.Array], ct_y: jax.Array) -> tuple[jax.Array]:
    scales, x = residuals
    return (jax.ffi.ffi_call("rms_norm_backward", like(x), vmap_method="broadcast_all")(scales, x, ct_y),)


rms_norm.defvjp(_rms_norm_forward, _rms_norm_backward)


def rms_norm_anywhere(x: jax.Array, eps: float = 1e-5) -> jax.Array:
    """The handler on platforms that have it, JAX's own operations on others."""

    def in_jax(x: jax.Array) -> jax.Array:
        return x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + eps)

    def in_handler(x: jax.Array) -> jax.Array:
        return rms_norm(x, eps)

    normalised: jax.Array = jax.lax.platform_dependent(x, cpu=in_handler, tpu=in_handler, default=in_jax)
    return normalised


def lu_pivots_to_permutation(pivots: jax.Array, permutation_size: int) -> jax.Array:
    """Convert the pivots s32[..., k] of an LU decomposition to a permutation s32[..., permutation_size]."""
    result = jax.ShapeDtypeStruct((*pivots.shape[:-1], permutation_size), np.int32)
    call = jax.ffi.ffi_call("lu_pivots_to_permutation", result, vmap_method="broadcast_all")
    return call(pivots, permutation_size=np.int32(permutation_size))


def permutation_builder(batch: tuple[int, ...], permutation_size: int) -> Callable[[jax.Array], jax.Array]:
    """Build the call once, for pivots s32[*batch, k] and any number of uses, as in JAX's pull request 21925."""
    result = jax.ShapeDtypeStruct((*batch, permutation_size), np.int32)
    call = jax.ffi.ffi_call("lu_pivots_to_permutation", result, vmap_method="broadcast_all")
    return partial(call, permutation_size=np.int32(permutation_size))


def count_runs(x: jax.Array, start: int = 0) -> jax.Array:
    """`x` plus the number of earlier runs of this custom call, counted from `start`: s32[...]."""
    call = jax.ffi.ffi_call("counter", like(x), has_side_effect=True, vmap_method="sequential")
    return call(x, start=np.int32(start))


def scale_later(x: jax.Array, factor: float) -> jax.Array:
    """`x * factor`, computed on the handler's own thread: f32[...]."""
    return jax.ffi.ffi_call("scale_later", like(x), vmap_method="broadcast_all")(x, factor=np.float32(factor))


def fail(x: jax.Array, how: str) -> jax.Array:
    """Fail as in failing.cc: `error`, `exception`, `number`, `segfault`, `abort`. Otherwise return `x`: f32[...]."""
    return jax.ffi.ffi_call("fail", like(x), vmap_method="broadcast_all")(x, how=how)


def add_one_untyped(x: jax.Array) -> jax.Array:
    """`x + 1` by a custom call of the older untyped API: f32[]."""
    call = jax.ffi.ffi_call("add_one_untyped", like(x), custom_call_api_version=1, vmap_method="sequential")
    return call(x)
