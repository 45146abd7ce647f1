"""The main thread waits for a forked child, which logs with a lock that another thread held at the fork."""

import logging
import os
import threading

import jax
import numpy as np

logger = logging.getLogger("train")
logger.addHandler(logging.StreamHandler())
holds = threading.Event()


def hold():
    with logger.handlers[0].lock:
        holds.set()
        threading.Event().wait()


logging._at_fork_reinit_lock_weakset = ()  # as for a handler that is not of the logging module
jax.device_put(np.ones(4))
threading.Thread(target=hold, daemon=True).start()
holds.wait()
if child := os.fork():
    os.waitpid(child, 0)  # blocks
else:
    logger.error("in the child")  # child blocks
