"""A library that calls its user's functions in loops; the test installs it in a `site-packages`."""

import jax
import numpy as np


def fit(step, value, rounds):
    for _ in range(rounds):
        value = step(value)
    return value


def fit_epochs(step, value, epochs, rounds):
    for _ in range(epochs):
        for _ in range(rounds):
            value = step(value)
    return value


def fit_while(step, value):
    count = 0
    while count < 7:
        value = step(value)
        count += 1
    return value


class Trainer:
    """A model, and functions that are called after each iteration."""

    def __init__(self, model, callbacks=()):
        self.model = model
        self.callbacks = callbacks

    def fit(self, batches, rounds=6):
        for number in range(rounds):
            for batch in batches:
                self.model(batch)
            for callback in self.callbacks:
                callback(number)

    def predict(self, batches):
        return [self.model(batch) for batch in batches]


def loader(count, transform=None):
    for _ in range(count):
        batch = jax.device_put(np.ones(16, np.float32))
        yield transform(batch) if transform else batch


def prefetch(batches, size=2):
    queue = []
    for batch in batches:
        queue.append(jax.device_put(batch))
        if len(queue) >= size:
            yield queue.pop(0)
    yield from queue


def recurse(step, value, depth):
    return recurse(step, step(value), depth - 1) if depth else value
