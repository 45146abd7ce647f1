"""Write the public names of ops and functions: indexer/framedex/sharing/public_names.json.

python scripts/make_public_names.py

Ops are those of the dialects that JAX lowers to, named without the dialect. Functions are JAX's primitives and the
functions of its public modules: JAX names their programs `jit_NAME`.
"""

from __future__ import annotations

import gc
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.extend
import jaxlib.mlir

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = ROOT / "indexer" / "framedex" / "sharing" / "public_names.json"
DIALECTS = ("stablehlo", "chlo", "sdy", "func", "mhlo")
MODULES = ("jax", "jax.lax", "jax.lax.linalg", "jax.nn", "jax.numpy", "jax.numpy.fft", "jax.numpy.linalg", "jax.random")
INNER = ("jax._src.numpy.ufuncs", "jax._src.numpy.lax_numpy", "jax._src.numpy.reductions", "jax._src.random.core")
_OPERATION = re.compile(r'OPERATION_NAME = "\w+\.([\w.]+)"')


def main() -> None:
    """Write the names of this jax and jaxlib."""
    document = {
        "jax": jax.__version__,
        "ops": sorted(set(_find_op_names())),
        "functions": sorted(set(_find_function_names())),
    }
    WRITTEN.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _find_op_names() -> Iterator[str]:
    dialects = Path(next(iter(jaxlib.mlir.__path__))) / "dialects"
    for dialect in DIALECTS:
        yield from _OPERATION.findall((dialects / f"_{dialect}_ops_gen.py").read_text("utf-8"))


def _find_function_names() -> Iterator[str]:
    for name in (*MODULES, *INNER):
        module = importlib.import_module(name)
        yield from (each for each, value in vars(module).items() if callable(value))
    yield from (each.name for each in gc.get_objects() if isinstance(each, jax.extend.core.Primitive))


if __name__ == "__main__":
    main()
