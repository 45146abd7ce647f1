"""Two threads acquire two locks in opposite order, with JAX calls between."""

import threading

import jax
import numpy as np

weights, optimizer = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def train():
    with weights:
        jax.device_put(np.ones(4))
        both.wait()
        with optimizer:  # train blocks
            pass


def save():
    with optimizer:
        jax.device_put(np.zeros(4))
        both.wait()
        with weights:  # save blocks
            pass


thread = threading.Thread(target=save)
thread.start()
train()
