"""Print what a program can see of how it was started, and an array sent to the device and back."""

import os
import sys
from pathlib import Path

import jax
import numpy as np

print(sys.argv, __name__, __file__, sys.path[0])
print(Path.cwd(), os.environ["LANG_OF_THE_TEST"], sys.flags.optimize, sys.stdout.encoding)
sys.stdout.flush()
sys.stdout.buffer.write(b"bytes \x00\xff\n")
sys.stdout.flush()
for line in sys.stdin:
    print("read", line.rstrip())
print(np.asarray(jax.device_put(np.arange(6, dtype=np.float32).reshape(2, 3))).tolist())
print("to stderr", file=sys.stderr)
sys.exit(7)
