"""Threads compile programs of their own without JAX, after compilations of other threads failed early."""

import threading

import jax
import jaxlib.xla_client as xc
from jax._src import xla_bridge
from jax._src.interpreters import mlir

ROUNDS = 25


def rejected(x):
    return x + 1


def direct(x):
    return x * 2


def fail() -> None:
    """JAX refuses the value of an option when the note exists already, and compiles nothing."""
    try:
        jax.jit(rejected).lower(1.0).compile(compiler_options={"an_option": object()})
    except TypeError:
        pass
    else:
        raise AssertionError("the option was accepted")


def compile_directly(code: bytes) -> None:
    """Compile as programs do that use the client itself."""
    backend = xla_bridge.get_backend()
    backend.compile_and_load(code, xc.DeviceList(tuple(jax.local_devices())), xc.CompileOptions())


def compile_named(number: int) -> None:
    """Compile by JAX, each time a function of another name."""
    scope: dict[str, object] = {}
    exec(f"def own_{number}(x):\n    return x * {number}.5", scope)
    jax.jit(scope[f"own_{number}"])(1.0)


CODE = mlir.module_to_bytecode(jax.jit(direct).lower(1.0).compiler_ir("stablehlo"))
for turn in range(ROUNDS):
    failing = threading.Thread(target=fail)
    failing.start()
    failing.join()
    others = [
        threading.Thread(target=compile_directly, args=(CODE,)),
        *(threading.Thread(target=compile_named, args=(2 * turn + each,)) for each in (0, 1)),
    ]
    for other in others:
        other.start()
    for other in others:
        other.join()
