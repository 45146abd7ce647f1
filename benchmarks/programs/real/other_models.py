"""Programs with penzai and Keras."""

import os

import jax
import jax.numpy as jnp

KEY = jax.random.key(0)


def penzai_named_arrays():
    """Differentiate an attention of named axes."""
    from penzai import pz

    @jax.jit
    @jax.value_and_grad
    def loss(weights):
        x = pz.nx.wrap(inputs, "batch", "sequence", "feature")
        query = pz.nx.wrap(weights, "feature", "head")
        projected = pz.nx.nmap(jnp.dot)(x.untag("feature"), query.untag("feature"))
        other = projected.untag("sequence").tag("memory")
        scores = pz.nx.nmap(jnp.multiply)(projected, other).unwrap("batch", "sequence", "memory", "head").mean(3)
        return jnp.var(jax.nn.softmax(scores) @ inputs)

    inputs = jax.random.normal(KEY, (2, 10, 8))
    return loss(jax.random.normal(KEY, (8, 4)))[0]


def _keras():
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    keras.utils.set_random_seed(0)
    return keras


def keras_dense():
    """Fit a dense network of Keras."""
    keras = _keras()
    model = keras.Sequential([
        keras.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.BatchNormalization(),
        keras.layers.Dense(1),
    ])  # fmt: skip
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    x = jax.random.normal(KEY, (64, 12))
    return model.fit(x, x.sum(1), batch_size=16, epochs=2, verbose=0, shuffle=False).history["loss"][-1]


def keras_convolutions():
    """Fit a convolutional network of Keras with dropout, and predict."""
    keras = _keras()
    model = keras.Sequential([
        keras.Input((16, 16, 1)), keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.MaxPooling2D(),
        keras.layers.SeparableConv2D(8, 3, activation="relu"), keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dropout(0.1, seed=1), keras.layers.Dense(4, activation="softmax"),
    ])  # fmt: skip
    model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
    images = jax.random.normal(KEY, (32, 16, 16, 1))
    model.fit(images, jnp.arange(32) % 4, batch_size=16, epochs=1, verbose=0)
    return model.predict(images, verbose=0).sum()


def keras_recurrent():
    """Fit a bidirectional recurrent network of Keras."""
    keras = _keras()
    model = keras.Sequential([
        keras.Input((12,)), keras.layers.Embedding(40, 16), keras.layers.Bidirectional(keras.layers.LSTM(16)),
        keras.layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    tokens = jax.random.randint(KEY, (32, 12), 0, 40)
    return model.fit(tokens, tokens[:, 0] % 2, batch_size=16, epochs=1, verbose=0, shuffle=False).history["loss"][0]
