"""Record the sending of one array into the given folder: the smallest capture with a real stack."""

import sys

import jax
import numpy as np

import framedex_native

jax.devices()
framedex_native.start(sys.argv[1])
jax.device_put(np.zeros((2, 3), np.float32))
framedex_native.stop()
