"""Networks that answer or generate."""

import jax
import jax.numpy as jnp
import numpy as np


def _attention(x, weights, mask):
    query, key, value = (x @ weights[name] for name in ("query", "key", "value"))
    scores = jnp.where(mask, query @ jnp.swapaxes(key, -1, -2) / jnp.sqrt(x.shape[-1]), -1e9)
    return jax.nn.softmax(scores) @ value


def _transformer(seed, width=16, vocabulary=32, dtype=jnp.float32):
    keys = iter(jax.random.split(jax.random.key(seed), 8))
    shapes = {"embedding": (vocabulary, width), "query": (width, width), "key": (width, width)}
    shapes |= {"value": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    return {name: (jax.random.normal(next(keys), shape) * 0.2).astype(dtype) for name, shape in shapes.items()}


def _logits(weights, tokens):
    x = weights["embedding"][tokens]
    x = x + _attention(x, weights, jnp.tril(jnp.ones((tokens.shape[-1],) * 2, bool)))
    x = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    return (x + jax.nn.gelu(x @ weights["up"]) @ weights["down"]) @ weights["embedding"].T


def _next_token_loss(weights, tokens):
    scores = jax.nn.log_softmax(_logits(weights, tokens[:, :-1]).astype(jnp.float32))
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()


def _train_transformer(dtype):
    @jax.jit
    def step(weights, moments, tokens):
        loss, gradients = jax.value_and_grad(_next_token_loss)(weights, tokens)
        moments = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments, gradients)
        return jax.tree.map(lambda w, m: w - 0.5 * m, weights, moments), moments, loss

    weights = _transformer(0, dtype=dtype)
    moments = jax.tree.map(jnp.zeros_like, weights)
    source = np.random.default_rng(0)
    for _ in range(3):
        weights, moments, loss = step(weights, moments, source.integers(0, 32, (4, 12), dtype=np.int32))
        print(float(loss))


def transformer_step():
    _train_transformer(jnp.float32)


def transformer_step_bfloat16():
    _train_transformer(jnp.bfloat16)


def token_sampling():
    @jax.jit
    def generate(weights, prompt, key):
        def step(state):
            tokens, length, key = state
            key, used = jax.random.split(key)
            scores = _logits(weights, tokens[None])[0, length - 1] / 0.7
            kept = jnp.where(scores >= jax.lax.top_k(scores, 8)[0][-1], scores, -jnp.inf)
            return tokens.at[length].set(jax.random.categorical(used, kept)), length + 1, key

        tokens = jnp.zeros(20, jnp.int32).at[: prompt.size].set(prompt)
        return jax.lax.while_loop(lambda state: state[1] < 20, step, (tokens, prompt.size, key))[0]

    print(np.asarray(generate(_transformer(1), np.array([3, 1, 4], np.int32), jax.random.key(5))))


def key_value_cache():
    @jax.jit
    def decode(weights, cache, place, token):
        x = weights["embedding"][token]
        cache = jax.lax.dynamic_update_slice(cache, jnp.stack([x @ weights["key"], x @ weights["value"]])[:, None],
                                             (0, place, 0))  # fmt: skip
        scores = jnp.where(jnp.arange(cache.shape[1]) <= place, cache[0] @ (x @ weights["query"]), -jnp.inf)
        return cache, jnp.argmax((jax.nn.softmax(scores) @ cache[1] + x) @ weights["embedding"].T)

    weights, cache, token = _transformer(2), jnp.zeros((2, 8, 16)), jnp.int32(1)
    for place in range(8):
        cache, token = decode(weights, cache, place, token)
        print(int(token), end=" ")
    print(np.asarray(cache[:, -1]).sum())


def _denoiser(seed):
    keys = jax.random.split(jax.random.key(seed), 3)
    shapes = ((3, 3, 2, 8), (3, 3, 8, 8), (3, 3, 8, 1))
    return [jax.random.normal(key, shape) * 0.2 for key, shape in zip(keys, shapes, strict=True)]


def _predict_noise(weights, images, level):
    x = jnp.concatenate([images, jnp.broadcast_to(level[:, None, None, None], images.shape)], -1)
    for number, kernel in enumerate(weights):
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.silu(x) if number < 2 else x
    return x


def diffusion_step():
    @jax.jit
    def step(weights, images, key):
        level_key, noise_key = jax.random.split(key)
        level = jax.random.uniform(level_key, images.shape[:1])
        noise = jax.random.normal(noise_key, images.shape)
        mixed = jnp.sqrt(1 - level)[:, None, None, None] * images + jnp.sqrt(level)[:, None, None, None] * noise

        def loss(weights):
            return jnp.mean((_predict_noise(weights, mixed, level) - noise) ** 2)

        value, gradients = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), value

    weights = _denoiser(0)
    images = np.random.default_rng(1).normal(size=(2, 8, 8, 1)).astype(np.float32)
    for number in range(3):
        weights, value = step(weights, images, jax.random.key(number))
        print(float(value))


def diffusion_sampling():
    @jax.jit
    def sample(weights, key):
        def step(images, level_and_key):
            level, key = level_and_key
            noise = _predict_noise(weights, images, jnp.full(images.shape[:1], level))
            images = images - 0.1 * noise + 0.05 * jax.random.normal(key, images.shape)
            return images, images.mean()

        first, *others = jax.random.split(key, 7)
        start = jax.random.normal(first, (2, 8, 8, 1))
        return jax.lax.scan(step, start, (jnp.linspace(1, 0, 6), jnp.stack(others)))

    images, means = sample(_denoiser(3), jax.random.key(9))
    print(np.asarray(images)[0, 0, :, 0], np.asarray(means))


def mixture_of_experts():
    @jax.jit
    def forward(x, router, experts):
        chosen, places = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
        dispatch = jax.nn.one_hot(places, experts.shape[0]) * chosen[..., None]
        return jnp.einsum("tke,td,edh->th", dispatch, x, experts), dispatch.sum((0, 1))

    keys = jax.random.split(jax.random.key(4), 3)
    shapes = ((10, 6), (6, 4), (4, 6, 6))
    for result in forward(*(jax.random.normal(key, shape) for key, shape in zip(keys, shapes, strict=True))):
        print(np.asarray(result).sum(0))


def beam_search():
    @jax.jit
    def search(transitions, start):
        def step(beams, _):
            scores, last = beams
            candidates = (scores[:, None] + transitions[last]).ravel()
            best, places = jax.lax.top_k(candidates, 4)
            return (best, places % transitions.shape[0]), (
                places // transitions.shape[0],
                places % transitions.shape[0],
            )

        return jax.lax.scan(step, (jnp.where(jnp.arange(4) == 0, 0.0, -jnp.inf), jnp.full(4, start)), length=6)

    transitions = jax.nn.log_softmax(jax.random.normal(jax.random.key(6), (9, 9)))
    (scores, _), (parents, tokens) = search(transitions, 0)
    print(np.asarray(scores), np.asarray(parents)[-1], np.asarray(tokens)[-1])


def quantised_matmul():
    @jax.jit
    def multiply(x, weights):
        scale = jnp.abs(weights).max(0) / 127
        packed = jnp.round(weights / scale).astype(jnp.int8)
        rows = jnp.abs(x).max(1, keepdims=True) / 127
        quantised = jnp.round(x / rows).astype(jnp.int8)
        return jax.lax.dot(quantised, packed, preferred_element_type=jnp.int32) * scale * rows

    source = np.random.default_rng(8)
    print(np.asarray(multiply(*source.normal(size=(2, 8, 8)).astype(np.float32))).sum(1))


def eight_bit_floats():
    f = jax.jit(lambda x, y: (x.astype(jnp.float8_e4m3fn), y.astype(jnp.float8_e5m2), (x @ y).astype(jnp.bfloat16)))
    source = np.random.default_rng(9)
    for result in f(*source.normal(size=(2, 6, 6)).astype(np.float32)):
        print(np.asarray(result).astype(np.float32).sum())
