"""Enter a state and remain there: states.py STATE LIBRARY.

The program prints its process id and the Python frames of the threads that called `enter`, by kernel thread id,
innermost first.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
import time

STILL_S = 0.5  # the frames are printed when they have not changed for this time

library = ctypes.CDLL(sys.argv[2])
never = threading.Event()
entered = {}


def enter(threads=1, then=never.wait):
    """Print the frames of `threads` threads when they no longer change, and call `then`. Each thread calls this."""
    entered[threading.get_ident()] = threading.get_native_id()
    if len(entered) == threads:
        threading.Thread(target=print_still_frames, args=[then], daemon=True).start()


def enter_now():
    """Print the frames of this thread: it ends, or lets no other thread run, on the line that calls this."""
    print_frames({threading.get_native_id(): list_frames(sys._getframe(1))})


def print_frames(frames):
    print(json.dumps({"pid": os.getpid(), "frames": frames}), flush=True)


def print_still_frames(then):
    latest, since = None, time.monotonic()
    while latest is None or time.monotonic() - since < STILL_S:
        time.sleep(0.02)
        current = sys._current_frames()
        frames = {native: list_frames(current[ident]) for ident, native in entered.items()}
        if frames != latest:
            latest, since = frames, time.monotonic()
    print_frames(latest)
    then()


def list_frames(frame):
    frames = []
    while frame is not None:
        frames.append([frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return frames


def loop():
    enter()
    exec("while True: pass")  # one line, so that the truth has one


def generator():
    def numbers():
        enter()
        yield never.wait()

    return sum(number for number in (each for each in numbers()))


def coroutine():
    async def inner():
        enter()
        library.wait_for_signal()

    async def outer():
        async with contextlib.AsyncExitStack():
            await asyncio.gather(inner(), asyncio.sleep(1))

    asyncio.run(outer())


def recursion(depth=300):
    if depth:
        return recursion(depth - 1)
    enter()
    return never.wait()


def classes():
    class Meta(type):
        def __call__(cls, *arguments):
            return super().__call__(*arguments)

    class Made(metaclass=Meta):
        def __init__(self, value):
            self.value = value

        @property
        def text(self):
            enter()
            return f"{[never.wait() for _ in [self.value]]}"

        def __eq__(self, other):
            return self.text == other

        __hash__ = None

    return [1].index(Made(2))


def switched():
    from greenlet import greenlet

    def inner():
        enter()
        never.wait()

    greenlet(lambda: greenlet(inner).switch()).switch()


def called_by_c():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def wait(_first, _second):
        enter()
        return library.wait_for_signal()

    numbers = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(numbers, ctypes.c_size_t(2), ctypes.c_size_t(4), compare(wait))


def signal_handler():
    def handle(_number, _frame):
        enter()
        never.wait()

    signal.signal(signal.SIGUSR1, handle)
    os.kill(os.getpid(), signal.SIGUSR1)


def locks():
    first, second = threading.Lock(), threading.RLock()

    def work():
        with second:
            enter(2)
            with first:
                pass

    with first:
        threading.Thread(target=work, daemon=True).start()
        enter(2)
        never.wait()


def gil_holder():
    def count():
        while True:
            pass

    threading.Thread(target=count, daemon=True).start()
    enter_now() or ctypes.PyDLL(sys.argv[2]).wait_for_signal()


def forked():
    threading.Thread(target=never.wait, daemon=True).start()
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        enter()
        never.wait()


def compilation():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        for number in range(1_500):
            x = jnp.sort(jnp.tanh(x * number), axis=number % 2)
        return x

    lowered = step.lower(jnp.ones((64, 64)))
    enter()
    lowered.compile()


def execution():
    import jax

    step = jax.jit(lambda x: jax.lax.while_loop(lambda y: y < 2, lambda y: y * 0.5, x))
    enter()
    step(1.0).block_until_ready()


def callback():
    import jax
    import jax.numpy as jnp

    def host(x):
        enter(2 if threading.current_thread() is not threading.main_thread() else 1)
        never.wait()
        return x

    @jax.jit
    def step(x):
        return jax.pure_callback(host, jax.ShapeDtypeStruct((4,), jnp.float32), x)

    x = jnp.ones(4)
    entered[threading.get_ident()] = threading.get_native_id()
    step(x).block_until_ready()


def call_handler(name, then):
    import jax
    import jax.numpy as jnp

    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, f"{name}Handler")), platform="cpu")
    step = jax.jit(lambda x: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((4,), jnp.float32))(x))
    x = jnp.ones(4)
    enter(then=then)
    step(x).block_until_ready()


def handler():
    call_handler("Wait", never.wait)


def segmentation_fault():
    strlen = ctypes.CDLL(None).strlen

    def compare(_):
        enter_now() or strlen(None)

    max([1, 2], key=compare)


def abort_in_callback():
    import jax
    import jax.numpy as jnp

    def host(_):
        enter_now() or os.abort()

    jax.jit(lambda x: jax.pure_callback(host, x, x))(jnp.ones(4)).block_until_ready()


def bus_error():
    enter_now() or library.read_beyond_file(f"{os.getpid()}.empty".encode())


def division_in_handler():
    signal.signal(signal.SIGUSR1, lambda *_: None)
    call_handler("Divide", lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1))


def illegal_instruction():
    enter_now() or library.execute_illegal_instruction()


def stack_overflow():
    enter_now() or library.overflow_stack(0)


def quit_of_fork():
    if child := os.fork():
        os.waitpid(child, 0)
        os.kill(os.getpid(), signal.SIGKILL)
    [enter_now() or os.kill(os.getpid(), signal.SIGQUIT) for _ in "x"]


def quit_while_waiting():
    enter(then=lambda: os.kill(os.getpid(), signal.SIGQUIT))
    never.wait()


globals()[sys.argv[1]]()
