"""Notes have JAX's reasons for tracing again, without running code of the program."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.native.ffi.test_notes import notes, run_code
from tests.run.costs.compiling import NOTED

HEAD = "import dataclasses, jax, jax.numpy as jnp\nfrom typing import NamedTuple, Any\n"


def differences(tmp_path: Path, program: str, name: str) -> list[dict[tuple[str, str], tuple[str | None, str | None]]]:
    """The keys that differ between consecutive compilations of `jit(name)`: (kind, subject) to both values."""
    folder = tmp_path / name.strip("<>")
    folder.mkdir()
    done = run_code(folder, HEAD + program, **NOTED)
    assert done.status == 0, done.stderr
    found = [keys(note) for note in notes(done.capture) if note["name"] == f"jit({name})"]
    return [
        {key: (old.get(key), new.get(key)) for key in {**old, **new} if old.get(key) != new.get(key)}
        for old, new in pairwise(found)
    ]


def keys(note: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(kind, subject): value for kind, subject, value in note["keys"]}


def test_another_function_has_another_number_even_at_the_same_address(tmp_path: Path) -> None:
    program = "for _ in range(3):\n    jax.jit(lambda x: x + 1)(1.0)\n"
    first, second = differences(tmp_path, program, "<lambda>")
    assert first.keys() == second.keys() == {("function", "")}
    assert len({*first["function", ""], *second["function", ""]}) == 3


def test_static_pytree_data_is_named_by_its_path(tmp_path: Path) -> None:
    program = """\
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: jax.Array
    scale: Any = dataclasses.field(metadata=dict(static=True))
class Pair(NamedTuple):
    a: Any
    b: Any
@jax.jit
def step(p, *, extra=None): return p.a["s"].w * 2
w = jnp.ones(3)
step(Pair({"s": State(w, 2)}, None))
step(Pair({"s": State(w, 3)}, None))
step(Pair({"s": State(w, 3)}, None), extra={"n": None})
"""
    scale, extra = differences(tmp_path, program, "step")
    assert scale == {("static data", "p.a['s'].scale"): ("2", "3")}
    assert extra == {
        ("structure", "the call"): ("1 positional", "1 positional, extra="),
        ("structure", "extra['n']"): (None, "None"),
    }


def test_an_eager_primitive_has_its_parameters_and_body_functions(tmp_path: Path) -> None:
    program = """\
def run(c): return jax.lax.scan(lambda c, _: (c * 0.9, None), c, None, length=3)[0]
x = jnp.float32(1)
run(run(x))
jnp.zeros(3), jnp.zeros(4)
"""
    (scan,) = differences(tmp_path, program, "scan")
    ((old, new),) = scan.values()
    assert scan.keys() == {("function", "jaxpr")}
    assert old is not None and new is not None and "<lambda> at " in old and " at program.py:3 #" in old and old != new
    changed = [each for each in differences(tmp_path, program, "broadcast_in_dim") if each]
    assert changed[-1] == {("parameter", "shape"): ("(3,)", "(4,)")}


def test_a_keyword_argument_makes_another_call(tmp_path: Path) -> None:
    program = "@jax.jit\ndef f(a, b): return a + b\nf(1.0, 2.0), f(1.0, b=2.0)\n"
    (found,) = differences(tmp_path, program, "f")
    assert found == {("structure", "the call"): ("2 positional", "1 positional, b=")}


def test_a_setting_is_noted_if_it_differs_from_the_first_trace(tmp_path: Path) -> None:
    program = """\
@jax.jit
def f(a): return a + a
f(jnp.ones(2))
with jax.numpy_rank_promotion("raise"): f(jnp.ones(2))
"""
    (found,) = differences(tmp_path, program, "f")
    assert found["setting", "jax_numpy_rank_promotion"] == (None, "'raise'")
    assert found["usual setting", "jax_numpy_rank_promotion"] == (None, "'allow'")


def test_no_program_code_runs_and_nothing_is_kept_alive(tmp_path: Path) -> None:
    program = """\
import gc, weakref
flattened = 0
class Box:
    def __init__(self, w, odd): self.w, self.odd = w, odd
def flatten(box):
    global flattened
    flattened += 1
    return (box.w,), box.odd
jax.tree_util.register_pytree_node(Box, flatten, lambda odd, kids: Box(kids[0], odd))
class Meta(type):
    def __eq__(self, other): raise SystemExit("compared")
    __hash__ = type.__hash__
class Odd(metaclass=Meta):
    def __eq__(self, other): return self is other
    def __hash__(self): return 5
    def __repr__(self): raise SystemExit("repr")
    def __getattribute__(self, name): raise SystemExit(name)
odd = Odd()
f = jax.jit(lambda box: box.w * 2)
f(Box(jnp.ones(2), odd))
print(flattened)
gone = weakref.ref(odd)
del odd, f
jax.clear_caches()
gc.collect()
assert gone() is None
"""
    recorded = run_code(tmp_path, HEAD + program, **NOTED)
    assert recorded.status == 0, recorded.stderr
    (tmp_path / "plain").mkdir()
    plain = run_code(tmp_path / "plain", HEAD + program, FRAMEDEX_FFI="0")
    assert recorded.stdout == plain.stdout


@pytest.mark.parametrize("leaves", [1_000, 20_000])
def test_a_large_tree_is_reduced_to_one_hash(tmp_path: Path, leaves: int) -> None:
    program = f"""\
@jax.jit
def f(t): return t[0][0]
t = [(1.0, None)] * {leaves}
f(t), f([*t, (1.0, None)])
"""
    done = run_code(tmp_path, HEAD + program, **NOTED)
    assert done.status == 0, done.stderr
    found = [note["keys"] for note in notes(done.capture) if note["name"] == "jit(f)"]
    assert len(found) == 2 and all(len(each) < 310 for each in found)
    assert found[0][-1][:2] == ["structure", "all arguments"] and found[0][-1] != found[1][-1]
