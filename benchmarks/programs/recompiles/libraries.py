"""Recompile models of Equinox, Flax, NumPyro and Optax."""

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import optax
from flax import linen, nnx
from flax.training.train_state import TrainState
from numpyro import distributions
from numpyro.infer import MCMC, NUTS, SVI, Trace_ELBO

X = np.ones((2, 4), np.float32)
KEY = jax.random.key(0)


class Normalised(nnx.Module):
    def __init__(self):
        self.dense = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
        self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(1))

    def __call__(self, x):
        return self.dropout(self.dense(x))


class Scaled(equinox.Module):
    w: jax.Array
    scale: float = equinox.field(static=True)
    activation: object = equinox.field(static=True, default=jnp.tanh)

    def __call__(self, x):
        return self.activation(x * self.w * self.scale)


class Dense(linen.Module):
    features: int = 4

    @linen.compact
    def __call__(self, x, train=False):
        return linen.Dropout(0.5, deterministic=not train)(linen.Dense(self.features)(x))


@nnx.jit
def _call_nnx(model, x):
    return model(x)


@nnx.jit
def _update_nnx(model, optimizer, x):
    gradient = nnx.grad(lambda model: model(x).sum())(model)
    optimizer.update(model, gradient)


@equinox.filter_jit
def _call_equinox(model, x):
    return model(x)


def nnx_new_optimizer():
    for _ in range(2):
        model = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
        _update_nnx(model, optimizer, X)  # static data optimizer


def nnx_training_then_evaluation():
    model = Normalised()
    for change in (model.train, model.eval):
        change()
        _call_nnx(model, X)  # static data model._graphdef.attributes[20].deterministic.value


def nnx_other_shape():
    model = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
    for rows in (2, 3):
        _call_nnx(model, np.ones((rows, 4), np.float32))  # shape of x


def linen_training_flag():
    model = Dense()
    weights = model.init(KEY, X)
    apply = jax.jit(model.apply, static_argnames="train")
    for train in (False, True):
        apply(weights, X, train=train, rngs={"dropout": KEY})  # static argument train; number of arguments


def linen_new_state():
    @jax.jit
    def step(state, x):
        return state.apply_fn(state.params, x)

    model = Dense()
    weights = model.init(KEY, X)
    for _ in range(2):
        step(TrainState.create(apply_fn=model.apply, params=weights, tx=optax.sgd(0.1)), X)  # static data state.tx


def linen_module_as_argument():
    apply = jax.jit(lambda model, weights, x: model.apply(weights, x), static_argnums=0)
    for features in (2, 3):
        weights = Dense(features).init(KEY, X)
        apply(Dense(features), weights, X)  # shape of weights["params"]["Dense_0"]; static argument model


def equinox_static_field():
    for scale in (1.0, 2.0):
        _call_equinox(Scaled(jnp.ones(4), scale), X)  # static argument static[1][1][1]


def equinox_new_lambda():
    for _ in range(2):
        _call_equinox(Scaled(jnp.ones(4), 1.0, lambda x: x), X)  # static argument static[1][1][2]


def equinox_python_number():
    scale = equinox.filter_jit(lambda x, factor: x * factor)
    for factor in (1.0, 2.0):
        scale(X, factor)  # static argument static[2][0][0]


def equinox_inference_mode():
    model = equinox.nn.Dropout(0.5)
    call = equinox.filter_jit(lambda model, x, key: model(x, key=key))
    for is_inference in (False, True):
        changed = equinox.tree_at(lambda m: m.inference, model, is_inference)
        call(changed, X, KEY)  # number of arguments; static argument static[1][0][1]


def equinox_other_width():
    for width in (3, 5):
        model = equinox.nn.MLP(4, 4, width, 1, key=KEY)
        _call_equinox(model, X[0])  # shape of dynamic_nodonate["first"]; static argument static[1][1]


def optax_created_in_a_loop():
    for rate in (0.1, 0.2):
        optimizer = optax.adam(rate)
        state = optimizer.init(X)
        jax.jit(optimizer.update)(X, state)  # function: update_fn


def optax_as_static_argument():
    step = jax.jit(lambda optimizer, g, state: optimizer.update(g, state), static_argnums=0)
    for rate in (0.1, 0.2):
        optimizer = optax.sgd(rate)
        step(optimizer, X, optimizer.init(X))  # static argument optimizer


def _model(x):
    mean = numpyro.sample("mean", distributions.Normal(0.0, 1.0))
    numpyro.sample("x", distributions.Normal(mean, 1.0), obs=x)


def _guide(x):
    numpyro.sample("mean", distributions.Delta(numpyro.param("m", 0.0)))


def numpyro_new_sampler():
    for _ in range(2):
        sampler = MCMC(NUTS(_model), num_warmup=2, num_samples=2, progress_bar=False)
        sampler.run(KEY, X)  # static argument _body_fn


def numpyro_new_inference():
    for _ in range(2):
        inference = SVI(_model, _guide, numpyro.optim.Adam(0.1), Trace_ELBO())
        state = inference.init(KEY, X)
        jax.jit(inference.update)(state, X)  # function: update
