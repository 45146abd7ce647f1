"""A behaviour: double the result of the ops of one kind and line (FAULT=tanh@96) in each compiled program.

FAULT=tanh@96@barrier ends a fusion after them instead, with an optimisation barrier.
"""

import os
import re

from framedex_native.behaviour import on
from framedex_native.behaviour.table_calls import call_table

KIND, LINE, *BARRIER = os.environ["FAULT"].split("@")
OP, USES = ("stablehlo.optimization_barrier", 1) if BARRIER else ("stablehlo.add", 2)


def altered(code):
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, code)
        found = []
        module.operation.walk(lambda op: found.append(op.operation) or ir.WalkResult.ADVANCE)
        for op in found:
            if op.name == f"stablehlo.{KIND}" and re.search(rf'\.py":{LINE}\b', str(op.location)):
                result = op.results[0]
                with op.location, ir.InsertionPoint.after(op):
                    changed = ir.Operation.create(OP, operands=[result] * USES, results=[result.type])
                result.replace_all_uses_except(changed.result, [changed])
        version = re.match(rb"ML\xefR\rStableHLO_v([\d.]+)", code)[1].decode()
        return _jax.mlir.serialize_portable_artifact(mlir.module_to_bytecode(module), version, True)


@on("PJRT_Client_Compile")
def plant(call):
    given = call.arguments
    program = {"code": altered(given.program.code), "format": given.program.format}
    options = given.compile_options
    call.result = call_table("PJRT_Client_Compile", client=given.client, program=program, compile_options=options)
