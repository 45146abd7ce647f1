"""A fictional chip with its own name, memory and attributes, and its own implementation of one program."""

from framedex_native.behaviour import chip, runs

chip(kind="MyChip 1", memory=64 << 20, attributes={"revision": "B2", "lanes": 16})


@runs("jit_matmul")
def matmul(program):
    """The chip always multiplies matrices in bfloat16."""
    import ml_dtypes

    left, right = (each.astype(ml_dtypes.bfloat16).astype("float32") for each in program.inputs)
    program.outputs = (left @ right).astype(program.results[0].dtype)
