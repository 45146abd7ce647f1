"""Arrays and programs with user-chosen layouts, values in host memory, and donation of both."""

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
split = NamedSharding(mesh, PartitionSpec("x", "y"))
values = np.arange(32, dtype=np.float32).reshape(4, 8)
result = {"problems": []}


def check(name, condition):
    """Record a failed condition."""
    if not condition:
        result["problems"].append(name)


def order(array_or_format):
    """The dimensions from major to minor."""
    return list(getattr(array_or_format, "format", array_or_format).layout.major_to_minor)


def entry_layout(compiled):
    """The layouts of parameters and results in a compiled program's text."""
    return re.search(r"entry_computation_layout=\{(.*?)\}, ", compiled.as_text())[1]


columns = Format(Layout((1, 0)), split)
put = jax.device_put(values, columns)
result["put"] = order(put)
check("an array by columns holds its values", np.array_equal(put, values))
result["default"] = order(jax.device_put(values, split))

both = jax.jit(lambda x: x * 2, in_shardings=columns, out_shardings=columns).lower(values).compile()
doubled = both(put)
result["compiled"] = [order(both.input_formats[0][0]), order(both.output_formats), order(doubled)]
result["text"] = entry_layout(both)
check("a program by columns computes", np.array_equal(doubled, values * 2))

automatic = jax.jit(lambda x: x.T, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
compiled = automatic.lower(jax.ShapeDtypeStruct((4, 4), np.float32, sharding=split)).compile()
result["automatic"] = [order(compiled.input_formats[0][0]), order(compiled.output_formats)]

tiled = (
    jax.jit(lambda x: x + 1, out_shardings=Format(Layout((0, 1), ((8, 128), (2, 1))), split)).lower(values).compile()
)
result["tiles"] = [list(tile) for tile in tiled.output_formats.layout.tiling]
result["tiled_array"] = str(tiled(jax.device_put(values, split)).format.layout.tiling)
small = jax.jit(lambda x: x).lower(jnp.ones((4,), jnp.int4)).compile()
result["bits"] = re.search(r"sub_byte_element_size_in_bits=(\d+)", str(small.output_formats.layout))[1]
result["scalar"] = order(jnp.float32(1) + 1)

host = split.with_memory_kind("pinned_host")
result["kept_order"] = order(jax.device_put(put, host))
result["unpinned_order"] = order(jax.device_put(put, split.with_memory_kind("unpinned_host")))

# ---- Donation.

pinned = jax.device_put(values, host)
in_host = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=host).lower(pinned).compile()
result["host_text"] = entry_layout(in_host)
incremented = in_host(pinned)
result["host"] = [incremented.sharding.memory_kind, pinned.is_deleted()]
check("arrays in host memory are arguments of programs", np.array_equal(incremented, values + 1))


def deleted(function, argument, **options):
    """Whether a program takes a donated argument."""
    jax.jit(function, donate_argnums=0, **options).lower(argument).compile()(argument).block_until_ready()
    return argument.is_deleted()


result["donated"] = {
    "to a result like it": deleted(lambda x: x + 1, jax.device_put(values, split), out_shardings=split),
    "to a result of another layout": deleted(lambda x: x + 1, jax.device_put(values, split), out_shardings=columns),
    "to a result of another shape": deleted(lambda x: x.sum(0), jax.device_put(values, split)),
}


def donated_twice(*order):
    """The result for a donated argument that is also another argument, in this order."""
    both = [jax.device_put(values, split), jax.device_put(values, split)]
    add = jax.jit(lambda a, b, c: (a + 1, b, c), donate_argnums=1)
    try:
        return bool(np.array_equal(add(*(both[i] for i in order))[1], values))
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        return str(error)


result["donated_twice"] = {"donated": donated_twice(0, 1, 1), "kept": donated_twice(0, 1, 0)}
print(json.dumps(result))
