"""Programs with NetKet, Jraph, MuJoCo MJX and tinygp."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

KEY = jax.random.key(0)


def netket_ground_state():
    """Optimise the wave function of an Ising chain by variational Monte Carlo."""
    import netket as nk

    hilbert = nk.hilbert.Spin(0.5, 8)
    hamiltonian = nk.operator.IsingJax(hilbert, nk.graph.Chain(8), h=1.0)
    state = nk.vqs.MCState(
        nk.sampler.MetropolisLocal(hilbert, n_chains=8), nk.models.RBM(alpha=1, param_dtype=float), n_samples=128,
        seed=1, sampler_seed=1,
    )  # fmt: skip
    driver = nk.driver.VMC(hamiltonian, nk.optimizer.Sgd(0.05), variational_state=state)
    driver.run(3, show_progress=False, out=None)
    return state.n_samples


def netket_stochastic_reconfiguration():
    """Optimise with a preconditioner, and take the expectation exactly."""
    import netket as nk

    hilbert = nk.hilbert.Spin(0.5, 6)
    hamiltonian = nk.operator.IsingJax(hilbert, nk.graph.Chain(6), h=0.5)
    state = nk.vqs.FullSumState(hilbert, nk.models.Jastrow(param_dtype=float), seed=1)
    driver = nk.driver.VMC(hamiltonian, nk.optimizer.Sgd(0.05), variational_state=state,
                           preconditioner=nk.optimizer.SR(diag_shift=0.01))  # fmt: skip
    driver.run(3, show_progress=False, out=None)
    return np.real(state.expect(hamiltonian).mean)


def _graph():
    import jraph

    senders = jax.random.randint(KEY, (60,), 0, 20)
    return jraph.GraphsTuple(
        nodes=jax.random.normal(KEY, (20, 8)), edges=jax.random.normal(KEY, (60, 4)), senders=senders,
        receivers=senders[::-1], n_node=jnp.array([12, 8]), n_edge=jnp.array([40, 20]),
        globals=jnp.zeros((2, 3)),
    )  # fmt: skip


def jraph_network():
    """Train a network of graphs that updates edges, nodes and globals."""
    import haiku as hk
    import jraph

    def forward(graph):
        def update(size):
            return jraph.concatenated_args(lambda x: hk.nets.MLP([16, size])(x))

        return jraph.GraphNetwork(update(8), update(8), update(1))(graph).globals.sum()

    model = hk.without_apply_rng(hk.transform(forward))
    graph = _graph()
    weights = model.init(jax.random.PRNGKey(0), graph)
    value, gradient = jax.jit(jax.value_and_grad(model.apply))(weights, graph)
    return value + sum(jnp.abs(leaf).sum() for leaf in jax.tree.leaves(gradient))


def jraph_attention():
    """Apply attention over the edges of a graph."""
    import jraph

    graph = _graph()
    weights = jax.random.normal(KEY, (8, 16)) * 0.3

    @jax.jit
    def apply(weights, graph):
        layer = jraph.GAT(
            lambda nodes: nodes @ weights,
            lambda sent, received, _edges: jax.nn.leaky_relu((sent * received).sum(-1, keepdims=True)),
            lambda nodes: nodes,
        )
        return jraph.GraphConvolution(lambda n: jnp.tanh(n))(layer(graph)).nodes.mean()

    return jax.jit(jax.grad(apply))(weights, graph).sum()


PENDULUM = """
<mujoco>
  <option timestep="0.01" iterations="4" ls_iterations="4"><flag eulerdamp="disable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body pos="0 0 1">
      <joint name="hinge" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
      <body pos="0.5 0 0">
        <joint type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05"/>
      </body>
    </body>
    <body pos="1 0 0.5"><freejoint/><geom type="sphere" size="0.1"/></body>
  </worldbody>
  <actuator><motor joint="hinge" gear="1"/></actuator>
</mujoco>
"""


@functools.cache
def _mjx_model():
    import mujoco
    from mujoco import mjx

    return mjx.put_model(mujoco.MjModel.from_xml_string(PENDULUM))


def mjx_rollout():
    """Simulate a batch of double pendulums with contacts."""
    from mujoco import mjx

    model = _mjx_model()

    @jax.jit
    def rollout(controls):
        def run(control):
            data = mjx.make_data(model).replace(ctrl=control)
            data, heights = jax.lax.scan(lambda d, _: (mjx.step(model, d), d.qpos[-5]), data, length=10)
            return heights[-1]

        return jax.vmap(run)(controls)

    return rollout(jnp.linspace(-1, 1, 4)[:, None])


def mjx_kinematics():
    """Differentiate forward kinematics and the mass matrix."""
    from mujoco import mjx

    model = _mjx_model()

    @jax.jit
    @jax.grad
    def height(angle):
        data = mjx.make_data(model)
        data = mjx.kinematics(model, data.replace(qpos=data.qpos.at[0].set(angle)))
        return mjx.com_pos(model, data).xpos[-2, 2]

    return height(jnp.float32(0.3))


def tinygp_fit():
    """Fit a Gaussian process with a sum of kernels and condition it."""
    import tinygp

    x = jnp.sort(jax.random.uniform(KEY, (40,), maxval=10.0))
    y = jnp.sin(x)

    def process(theta):
        kernel = jnp.exp(theta["a"]) * tinygp.kernels.ExpSquared(jnp.exp(theta["s"]))
        kernel += tinygp.kernels.Matern32(2.0) * 0.1
        return tinygp.GaussianProcess(kernel, x, diag=jnp.exp(theta["d"]))

    @jax.jit
    def step(theta):
        value, gradient = jax.value_and_grad(lambda t: -process(t).log_probability(y))(theta)
        return value, jax.tree.map(lambda t, g: t - 0.01 * g, theta, gradient)

    theta = {"a": jnp.float32(0.0), "s": jnp.float32(0.0), "d": jnp.float32(-2.0)}
    for _ in range(3):
        value, theta = step(theta)
    predicted = jax.jit(lambda t: process(t).condition(y, jnp.linspace(0, 10, 9)).gp.loc)(theta)
    return value + predicted.sum()


def tinygp_quasiseparable():
    """Solve a quasiseparable process, whose algebra is scans."""
    from tinygp import GaussianProcess
    from tinygp.kernels import quasisep

    x = jnp.sort(jax.random.uniform(KEY, (200,), maxval=10.0))

    @jax.jit
    @jax.value_and_grad
    def likelihood(omega):
        kernel = quasisep.SHO(omega=omega, quality=3.0)
        return GaussianProcess(kernel, x, diag=0.1).log_probability(jnp.sin(x))

    return likelihood(jnp.float32(1.0))[0]
