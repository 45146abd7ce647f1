"""Asks the mock TPU, before a program is started, whether it can be what the environment asks for."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path

from framedex.errors import FramedexError


def check_mock(library: Path, environment: Mapping[str, str]) -> None:
    """Raise FramedexError where the mock TPU in `library` would refuse these settings: JAX would go on with the CPU."""
    check = ctypes.CDLL(os.fspath(library)).framedex_check_mock
    check.argtypes = [ctypes.POINTER(ctypes.c_char_p)]
    check.restype = ctypes.c_char_p
    variables = [os.fsencode(f"{name}={value}") for name, value in environment.items() if name.startswith("FRAMEDEX_")]
    problem = check((ctypes.c_char_p * (len(variables) + 1))(*variables, None))
    if problem is not None:
        raise FramedexError(
            f"The mock TPU cannot be opened: {problem.decode(errors='replace')}.",
            "Check --device, --devices, --hosts, --host-id, --slices, --hbm and --fail, and the FRAMEDEX_ variables.",
        )
