"""Calls functions of libraries: of the C library, zlib, NumPy's OpenBLAS, and a stand-in that it loads. Prints results.

Arguments: the stand-in, and a library that calls it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import zlib

import numpy as np


def ask() -> bytes | None:
    """Call `getenv`, found by dlsym."""
    function = ctypes.CDLL(None).getenv
    function.restype = ctypes.c_char_p
    value: bytes | None = function(b"BOUNDARY_TEST")
    return value


def pack() -> int:
    """Call `deflate`, through a slot of Python's module."""
    return len(zlib.compress(b"x" * 100_000))


def multiply() -> float:
    """Call OpenBLAS."""
    return float((np.ones((64, 64)) @ np.ones((64, 64)))[0, 0])


def mix(standin: str) -> float:
    """Call a function of a library that was loaded after the start, found by dlsym."""
    function = ctypes.CDLL(standin).standin_mix
    function.restype = ctypes.c_double
    whole, real = ctypes.c_long, ctypes.c_double
    first = (ctypes.c_int(-1), whole(2), b"dlsym", real(0.5), None)
    return float(function(*first, ctypes.c_uint(5), whole(6), whole(7), ctypes.c_float(1.5), whole(1 << 40)))


def mix_through_slot(caller: str) -> float:
    """Call it through the slot of another library."""
    function = ctypes.CDLL(caller).call_mix
    function.restype = ctypes.c_double
    return float(function())


if __name__ == "__main__":
    os.environ["BOUNDARY_TEST"] = "set"
    found = ask()
    print(json.dumps([found and found.decode(), pack(), multiply(), mix(sys.argv[1]), mix_through_slot(sys.argv[2])]))
