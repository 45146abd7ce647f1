"""The binary that benchmarks read symbols of, unless another is named."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def jaxlib_library() -> Path:
    """The library that jaxlib's wheel here has most functions in. Ends the program where no jaxlib is installed."""
    spec = importlib.util.find_spec("jaxlib")
    if spec is None or spec.origin is None:
        raise SystemExit("jaxlib is not installed: name a binary.")
    return Path(spec.origin).with_name("libjax_common.so")
