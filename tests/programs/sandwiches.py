"""Enter the runtime from every combination of Python and C++ calls.

Every case records the truth, the interpreter's own view of the stack, on the line that enters the runtime. The last
line of output is `{"probes": [...], "puts": [...]}` with the notes in the order of each thread's calls. A note has the
thread's id, the case, and [file, line, qualname] of every Python frame, outermost first.
"""

# The unusual forms are deliberate.
# ruff: noqa: B015, B018, C400, C417, RUF001

import asyncio
import atexit
import bisect
import ctypes
import functools
import gc
import importlib
import itertools
import json
import operator
import re
import sys
import threading
import types
import weakref
from pathlib import Path

import jax
import numpy as np
from jax._src.lib import xla_client

probes = []
puts = []
case = "first"
device = jax.devices()[0]


def note(notes):
    """The caller's stack in the interpreter's own view."""
    stack = []
    frame = sys._getframe(1)
    while frame is not None:
        stack.append([frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname])
        frame = frame.f_back
    notes.append({"case": case, "thread": threading.get_native_id(), "stack": stack[::-1]})


def probe(*_):
    """Enter the runtime once: a C++ method of jaxlib calls PJRT_Device_MemoryStats without Python in between."""
    statistics = note(probes) or device.memory_stats()
    return 0 * len(statistics)


def put(value=1.0):
    """Enter it through all of JAX's own Python; `noting` records the note below that."""
    return jax.device_put(value)


def noting(*args, **kwargs):
    """Replaces the C++ function behind every device_put of this program."""
    return note(puts) or enter(*args, **kwargs)


enter = xla_client.batched_device_put
xla_client.batched_device_put = noting


class Object:
    """Called back by the interpreter's C code through its special methods."""

    def __del__(self):
        probe()

    def __eq__(self, other):
        probe()
        return True

    def __hash__(self):
        probe()
        return 0

    def __getattr__(self, name):
        probe()
        raise AttributeError(name)

    def __array__(self, dtype=None, copy=None):
        probe()
        return np.zeros((2, 3), np.float32)

    def __enter__(self):
        probe()

    def __exit__(self, *_):
        probe()

    def __iter__(self):
        probe()
        yield put()
        probe()

    def __lt__(self, other):
        probe()
        return True

    @property
    def value(self):
        """A property."""
        probe()

    @staticmethod
    def static():
        """A static method."""
        probe()


cases = {}


def named(function):
    """Make a function a case."""
    cases[function.__name__] = function
    return function


@named
def straight():
    probe()
    put()
    put(np.zeros((2, 3), np.float32))


@named
def several_lines():
    (
        probe(),
        jax.device_put(
            np.arange(
                6,
            ),
        ),
    )


@named
def lambdas_and_comprehensions():
    [probe() for _ in range(2)]
    list(probe() for _ in range(2))
    {probe(): probe() for _ in range(2)}
    (lambda: [put() for _ in (1,)])()


@named
def callbacks_from_c():
    sorted([2, 1], key=probe)
    list(map(probe, [1, 2]))
    list(filter(probe, [1]))
    max([1, 2], key=lambda _: sorted([1], key=lambda _: put() and 0) and 0)
    functools.reduce(lambda _, x: probe(), [1, 2, 3])
    functools.partial(functools.partial(put, 1.0))()
    sorted([2, 1], key=functools.cmp_to_key(lambda a, b: probe()))
    list(itertools.starmap(probe, [(1, 2)]))
    operator.methodcaller("static")(Object)
    re.sub("a", lambda _: str(probe()), "banana")
    bisect.bisect([1, 2, 3], 2, key=lambda x: probe() or x)
    functools.lru_cache(lambda x: probe())(1)
    eval("probe()")
    exec("def inner():\n  probe()\ninner()")


@named
def trees():
    jax.tree_util.tree_map(lambda x: jax.device_put(x), {"a": 1.0, "b": [2.0, (3.0,)]})
    jax.tree_util.tree_map(lambda x: list(map(lambda y: put(y), [x])), [1.0])
    jax.tree_util.register_pytree_node(
        types.SimpleNamespace, lambda n: (probe(),) and ((n.x,), None), lambda _, x: put(x[0])
    )
    jax.tree_util.tree_map(lambda x: x, types.SimpleNamespace(x=1.0))


@named
def generators():
    def outer():
        yield from inner()

    def inner():
        yield probe()
        yield put()

    list(outer())
    sum(probe() for _ in range(2))
    next(iter(Object()))


@named
def coroutines():
    async def main():
        await asyncio.gather(first(), first())

    async def first():
        probe()
        await asyncio.sleep(0)
        put()

    asyncio.run(main())


@named
def ctypes_callbacks():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: probe())
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare)

    def nested(depth):
        probe()
        if depth:
            ctypes.CFUNCTYPE(None, ctypes.c_int)(nested)(depth - 1)

    nested(4)


@named
def special_methods():
    thing = Object()
    {thing: 1}[thing]
    getattr(thing, "missing", None)
    thing.value
    thing < thing
    sorted([Object(), Object()])
    with thing:
        pass
    np.asarray(thing)
    jax.device_put(np.asarray(thing))
    np.vectorize(lambda x: probe())(np.zeros(1))


@named
def constructors():
    class Made:
        def __init__(self):
            probe()
            self.inside = put()

    def make():
        return Made()

    # After a few runs, the interpreter calls the constructor without C in between.
    for _ in range(40):
        make()


@named
def ends_of_objects():
    def returns_last_reference():
        thing = Object()
        return len([thing])

    returns_last_reference()
    thing = Object()
    del thing
    cycle = [Object()]
    cycle.append(cycle)
    del cycle
    gc.collect()
    thing = type("Referenced", (), {})()
    reference = weakref.ref(thing, probe)
    del thing
    assert reference() is None


@named
def exceptions():
    try:
        raise ValueError
    except ValueError:
        probe()
    finally:
        put()


@named
def the_same_site_on_other_paths():
    # The recorder's cached stack must not hide that its outer frames have changed since.
    def left():
        return middle()

    def right():
        return middle()

    def middle():
        return sorted([1], key=probe)

    def descend(depth):
        return descend(depth - 1) if depth else middle()

    generator = (probe() for _ in itertools.count())
    for i in range(40):
        left() if i % 3 else right()
        descend(i * 7 % 11)
        next(generator) if i % 2 else next(generator, None)
        if i % 5:
            probe()
        else:
            probe()
        put()


@named
def deep():
    def descend(depth):
        if depth:
            return descend(depth - 1)
        probe()
        return put()

    descend(900)


@named
def deep_through_c():
    def descend(depth):
        return max([depth], key=lambda _: descend(depth - 1) or 0) if depth else probe()

    descend(60)


@named
def classes_and_imports():
    class Body:
        probe()
        inside = put()

    type("Made", (), {"method": lambda self: probe()})().method()
    Path("imported_and_entering.py").write_text("import __main__\n\n__main__.probe()\n__main__.put()\n")
    sys.path.insert(0, ".")
    importlib.import_module("imported_and_entering")


@named
def other_alphabets():
    source = "def {0}():\n    probe()\n\n{0}()\n"
    for name in ("größe", "размер", "大きさ", "𝒙𝒚"):
        exec(compile(source.format(name), f"/nowhere/{name} 𝄞.py", "exec"), globals())
    exec(compile(source.format("größe"), "/nowhere/größe.py", "exec"), globals())


@named
def recreated_code():
    # The memory of a destroyed code object is soon reused for another one, and so is that of its name and tables.
    for letter in "abcdefghij":
        exec(compile(f"def made_{letter}(): probe()\nmade_{letter}()", f"<made {letter}>", "exec"), globals())
        del globals()[f"made_{letter}"]
    for letter in "abcdefghij":
        exec(compile("probe()", f"<only the file name tells {letter}>", "exec"), globals())
    for number in range(50):
        exec(
            compile("\n" * number + f"def made_{number}(): probe()\nmade_{number}()", f"<made {number}>", "exec"),
            globals(),
        )


@named
def traced_by_the_user():
    sys.settrace(lambda *_: None)
    probe()
    sys.settrace(None)
    sys.setprofile(lambda *_: None)
    probe()
    put()
    sys.setprofile(None)


@named
def long_function():
    # Line tables with long jumps, and instructions with prefixes.
    body = "".join(f"    x{i} = {i}\n" for i in range(400))
    source = (
        "def long():\n"
        + body
        + "\n" * 300
        + "    probe()\n"
        + body
        + "    sorted([1], key=probe)\n    return (\n\n probe())\nlong()\n"
    )
    exec(compile(source, "<long>", "exec"), globals())


@named
def threads():
    def work():
        for _ in range(3):
            probe()
            put()
            sorted([1], key=probe)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


for case in cases:
    cases[case]()


def at_exit():
    """Runs while the interpreter exits: the notes are complete after it."""
    probe()
    print(json.dumps({"probes": probes, "puts": puts}))


case = "at_exit"
atexit.register(at_exit)
