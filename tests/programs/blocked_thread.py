"""A second thread whose file cannot be created, because its name exists. Both send an array; `stop` stops recording."""

import os
import sys
import threading
from pathlib import Path

import jax
import numpy as np

jax.device_put(np.zeros(1, np.int8))
(capture,) = Path(os.environ["FRAMEDEX_OUT"]).iterdir()
(capture / "thread-1.fdx").mkdir()
thread = threading.Thread(target=lambda: jax.device_put(np.zeros(2, np.int8)))
thread.start()
thread.join()
jax.device_put(np.zeros(3, np.int8))
if "stop" in sys.argv:
    import framedex_native

    framedex_native.stop()
