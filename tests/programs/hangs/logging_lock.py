"""A handler of log records waits for a thread, which logs, too."""

import logging
import threading

import jax
import numpy as np


def report():
    logging.warning("reported")  # worker blocks


class Reporter(logging.Handler):
    """Sends each record from a thread."""

    def emit(self, record):
        worker = threading.Thread(target=report)
        worker.start()
        worker.join()  # blocks


jax.device_put(np.ones(4))
logging.getLogger().addHandler(Reporter())
logging.warning("starts")  # logs
