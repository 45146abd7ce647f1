"""Start a recording with hardly any files allowed; print the result, and whether a closed pipe is closed."""

import json
import os
import resource
import sys

import jax

import framedex_native

device = jax.devices()[0]
reading, writing = os.pipe()
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
capture = refusal = None
try:
    capture = framedex_native.start(sys.argv[2])
except RuntimeError as error:
    refusal = str(error)
os.close(writing)
ended = os.read(reading, 1) == b""
statistics = sorted(device.memory_stats())
framedex_native.stop()
print(json.dumps({"capture": capture and str(capture), "refusal": refusal, "ended": ended, "statistics": statistics}))
