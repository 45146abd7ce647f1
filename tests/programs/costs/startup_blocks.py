"""Compiles a function four times, the second and third time outside of recordings."""

import contextlib

import jax
import numpy as np

import framedex_native

for number in range(1, 5):
    block = framedex_native.recording("blocks") if number in (1, 4) else contextlib.nullcontext()
    with block:
        jax.jit(lambda x: x * 2.0)(np.ones(number, np.float32))  # case: block
