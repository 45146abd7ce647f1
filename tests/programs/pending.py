"""End as the argument selects, while work is pending on the devices."""

import atexit
import builtins
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time


def late():
    """Run a program after JAX has shut down its backends: registered before JAX's own hooks, called after them."""
    if sys.argv[1] == "runs_in_a_hook_after_jax":
        print(float(jax.jit(lambda x: x + 1)(1.0)), flush=True)


# A background job, as in continuous integration, starts with the interrupt ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(late)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import io_callback  # noqa: E402
from jax.extend.backend import clear_backends  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

SQUARE = np.eye(400, dtype=np.float32)
long = jax.jit(lambda x: jax.lax.fori_loop(0, 100, lambda _, y: jnp.tanh(y @ x), x))
short = jax.jit(lambda x: x * 2 + 1)
scalar = jax.ShapeDtypeStruct((), np.float32)


def slowly(x):
    """A callback that is still running when the program wants to end."""
    time.sleep(0.3)
    return np.float32(x) + 1


slow_callback = jax.jit(lambda x: jax.pure_callback(slowly, scalar, x))


def computation_is_running():
    return long(SQUARE)


def many_computations_are_pending():
    x = long(SQUARE)
    return [x := short(x) for _ in range(100)]


def results_are_dropped():
    for _ in range(5):
        long(SQUARE)


def sharded_computation_is_running():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    return long(jax.device_put(SQUARE, NamedSharding(mesh, PartitionSpec("x"))))


def every_device_is_busy():
    return [long(jax.device_put(SQUARE, device)) for device in jax.devices()]


def callback_is_running():
    return slow_callback(1.0)


def chain_of_callbacks_is_pending():
    x = np.float32(1)
    for _ in range(5):
        x = slow_callback(x)
    return x


def callback_of_a_dropped_result_is_running():
    slow_callback(1.0)


def ordered_callback_is_pending():
    long(SQUARE)
    jax.jit(lambda x: io_callback(lambda a: print("called", flush=True), None, x, ordered=True))(1.0)


def unordered_callback_is_pending():
    jax.jit(lambda x: io_callback(lambda a: (time.sleep(0.2), print("called", flush=True))[0], None, x))(1.0)


def debug_print_is_pending():
    jax.jit(lambda x: jax.debug.print("x is {x}", x=x))(3.0)


def callback_that_dispatches_is_running():
    def host(x):
        time.sleep(0.2)
        return np.asarray(short(np.asarray(x)))

    return jax.jit(lambda x: jax.pure_callback(host, scalar, x))(np.float32(1))


def failed_computation_is_never_read():
    def bad(x):
        raise ValueError("nobody reads this")

    return jax.jit(lambda x: jax.pure_callback(bad, scalar, x))(slow_callback(1.0))


def copy_to_the_host_is_pending():
    x = long(SQUARE)
    x.copy_to_host_async()
    return x


def copy_to_another_device_is_pending():
    return jax.device_put(long(SQUARE), jax.devices()[-1])


def copy_to_the_cpu_is_pending():
    return jax.device_put(long(SQUARE), jax.devices("cpu")[0])


def big_transfer_is_pending():
    return [jax.device_put(np.ones(1 << 22, np.float32)) for _ in range(4)]


def donated_chain_is_pending():
    step = jax.jit(lambda x: jnp.tanh(x @ x), donate_argnums=0)
    x = jax.device_put(SQUARE)
    for _ in range(50):
        x = step(x)
    return x


def deleted_while_running():
    x = jax.device_put(SQUARE)
    y = long(x)
    x.delete()
    y.delete()


def raises():
    kept.append(long(SQUARE))
    raise ValueError("from the program")


def raises_in_jax():
    kept.append(long(SQUARE))
    short(np.ones(3)) + short(np.ones(4))


def exits_with_a_status():
    kept.append(slow_callback(1.0))
    sys.exit(3)


def exits_in_a_thread():
    def work():
        kept.append(long(SQUARE))
        sys.exit(3)

    threading.Thread(target=work).start()


def exits_at_once():
    kept.append(long(SQUARE))
    kept.append(slow_callback(1.0))
    os._exit(4)


def is_terminated():
    kept.append(long(SQUARE))
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(20)


def is_interrupted():
    kept.append(long(SQUARE))
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)


def is_interrupted_while_waiting():
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    kept.append([slow_callback(slow_callback(1.0)).block_until_ready() for _ in range(3)])


def is_interrupted_while_compiling():
    def interrupt(frame, event, argument):
        if frame.f_globals["__name__"].endswith("mock_tpu.compiling"):
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(interrupt)
    kept.append(long(SQUARE))


def replaces_itself():
    kept.append(long(SQUARE))
    os.execv(sys.executable, [sys.executable, "-c", "print('another program')"])


def forks():
    kept.append(long(SQUARE))
    child = os.fork()
    if child == 0:
        print("child", flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def starts_another_program():
    kept.append(long(SQUARE))
    subprocess.run([sys.executable, "-c", "print('another program')"], check=True)


def spawns_a_process_that_uses_jax():
    kept.append(long(SQUARE))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(in_a_process, (2.0,)), flush=True)


def leaves_a_thread_that_dispatches():
    def work():
        for i in range(300):
            kept.append(short(float(i)))

    threading.Thread(target=work).start()


def leaves_a_thread_that_waits():
    threading.Thread(target=lambda: long(SQUARE).block_until_ready()).start()


def leaves_a_thread_that_compiles():
    threading.Thread(target=lambda: jax.jit(lambda x: jnp.linalg.svd(x)[1])(SQUARE[:50, :50])).start()


def leaves_a_daemon_thread_asleep_in_python():
    begun = threading.Event()

    def work():
        kept.append(long(SQUARE))
        begun.set()
        threading.Event().wait()

    threading.Thread(target=work, daemon=True).start()
    begun.wait()


def keeps_arrays_in_odd_places():
    class Cycle:
        def __init__(self, array):
            self.array, self.me = array, self

        def __del__(self):
            self.array.is_deleted()

    builtins.kept_by_builtins = [long(SQUARE), long, Cycle(short(SQUARE))]
    gc.disable()
    Cycle(short(SQUARE))


def runs_in_a_hook():
    atexit.register(lambda: print(float(short(long(SQUARE))[0, 1]), flush=True))


def runs_in_a_hook_after_jax():
    kept.append(long(SQUARE))


def clears_everything():
    kept.append(long(SQUARE))
    jax.clear_caches()
    clear_backends()


def collects_garbage_while_running():
    for _ in range(10):
        short(long(SQUARE[:50, :50]))
        gc.collect()


def in_a_process(x):
    """The program of the process that `spawns_a_process_that_uses_jax` starts."""
    return float(short(x))


kept = []
if __name__ == "__main__":
    jax.block_until_ready([short(1.0), long(SQUARE[:2, :2])])
    print("out", flush=True)
    kept.append(globals()[sys.argv[1]]())
