"""Programs with NumPyro."""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

KEY = jax.random.PRNGKey(0)
X = jax.random.normal(KEY, (50, 3))
Y = (X @ jnp.array([1.0, -1.0, 0.5]) > 0).astype(jnp.int32)


def _logistic(x, y=None):
    weights = numpyro.sample("weights", dist.Normal(0, 1).expand([3]).to_event(1))
    scale = numpyro.sample("scale", dist.HalfCauchy(1.0))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Bernoulli(logits=scale * (x @ weights)), obs=y)


def logistic_regression():
    """Sample a logistic regression by NUTS and predict."""
    sampler = MCMC(NUTS(_logistic), num_warmup=50, num_samples=50, progress_bar=False)
    sampler.run(KEY, X, Y)
    draws = Predictive(_logistic, sampler.get_samples())(KEY, X)["y"]
    return draws.shape[0]


def variational_guide():
    """Fit an automatic guide."""
    svi = SVI(_logistic, AutoNormal(_logistic), numpyro.optim.Adam(0.01), Trace_ELBO())
    return svi.run(KEY, 50, X, Y, progress_bar=False).losses[-1]


def hierarchical_mixture():
    """Sample a hierarchical model with a mixture and a Cholesky factor."""

    def model(y):
        weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(2)))
        means = numpyro.sample("means", dist.Normal(jnp.array([-1.0, 1.0]), 1.0).to_event(1))
        factor = numpyro.sample("factor", dist.LKJCholesky(2, 2.0))
        with numpyro.plate("data", y.shape[0]):
            components = dist.Normal(means, 1.0 + factor[1, 1] ** 2)
            numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(weights), components), obs=y)

    sampler = MCMC(NUTS(model), num_warmup=20, num_samples=20, num_chains=2, chain_method="vectorized",
                   progress_bar=False)  # fmt: skip
    sampler.run(KEY, jax.random.normal(KEY, (40,)))
    return sampler.get_samples()["weights"].shape[0]
