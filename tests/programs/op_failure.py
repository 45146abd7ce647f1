"""A behaviour: programs with an op of one kind fail (FAILS=tanh@compile@crash, FAILS=tanh@execute@error)."""

import os

from framedex_native.behaviour import on

KIND, WHEN, HOW = os.environ["FAILS"].split("@")
executables = set()


def has_op(code):
    from jax._src.interpreters import mlir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context() as context:
        return f"stablehlo.{KIND}" in str(stablehlo.deserialize_portable_artifact(context, code))


def end(call):
    if HOW == "crash":
        os.abort()
    call.fail("INTERNAL", f"{KIND} fails, as op_failure.py was asked to")


@on("PJRT_Client_Compile")
def look(call):
    if has_op(call.arguments.program.code):
        if WHEN == "compile":
            end(call)
        executables.add(call.run().executable)


@on("PJRT_LoadedExecutable_Execute")
def execute(call):
    if call.arguments.executable in executables:
        end(call)
