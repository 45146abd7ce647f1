"""Texts of XLA that name an op lead to the recorded lines of that op."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import LocationEvidence
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.running import TIMEOUT, Run, mock_environment

PROGRAM = """\
import sys

sys.path.insert(0, sys.argv[0].replace("program.py", "site-packages"))
import jax
import jax.numpy as jnp
from library import activate


@jax.jit
def unrolled(x):
    for _ in range(20):
        x = x + jnp.cos(x)
    return x


@jax.jit
def step(x, y):
    y = jnp.sin(x) / y
    x = activate(x)
    x = x @ y
    return x @ x, activate(jnp.exp(y))


step(jnp.ones((4, 4)), jnp.ones((4, 4)))
unrolled(jnp.ones(4))
"""
LIBRARY = """\
import jax.numpy as jnp


def activate(x):
    return jnp.tanh(x)
"""
REMATERIALIZED = (
    "2026-11-28 10:00:00.123456: W xla/service/spmd/spmd_partitioner.cc:652] [SPMD] Involuntary full rematerialization."
    " The compiler was not able to go from sharding {devices=[2,4]<=[8]} to {devices=[4,2]<=[2,4]T(1,0)} for HLO"
    " operation: %div.0 = f32[4,4]{1,0} divide(%a, %b), sharding={replicated}, metadata={op_name=OP stack_frame_id=4}."
)
ALLOCATION = "  Largest program allocations in hbm:\n\n  1. Size: 4.00G\n     Operator: op_name=OP\n"
"""As `tpu_program_memory.cc` prints them."""
ALARM = """\
E0912 06:24:12.423666   53703 slow_operation_alarm.cc:140] The operation took 2m31.718771361s

********************************
[Compiling module MODULE] Very slow compile? If you want to file a bug, run with envvar XLA_FLAGS=--xla_dump_to=/tmp/foo
********************************
"""


class Recorded:
    """The recorded program and its index."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)
        (folder / "site-packages").mkdir()
        (folder / "site-packages" / "library.py").write_text(LIBRARY)
        ran = Run.of([sys.executable, str(self.program)], folder, mock_environment(folder), TIMEOUT)
        self.index = index_without_sources(folder / "index.db", ran.capture)

    def explain(self, text: str) -> str:
        """The output of `framedex explain` for a text, in one line."""
        run = CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["--index", str(self.index), "explain"], input=text)
        return run.stdout.replace("\n", "")

    def find(self, text: str) -> list[tuple[int, LocationEvidence]]:
        """The lines of the only frame in a text, all in the program."""
        with Index.open(self.index) as index:
            (frame,) = read(text).frames()
            found = Resolver(index).find(frame)
        places = [place for place in (found.location, *found.candidates) if place is not None]
        assert {place.path for place in places} <= {str(self.program)}
        return [(place.line, place.how) for place in places]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return made_once("op-names", Recorded)


@pytest.mark.parametrize("text", [REMATERIALIZED, ALLOCATION])
@pytest.mark.parametrize(
    ("op", "line"),
    [
        ("jit(step)/div", 18),
        ("jit(step)/jit(main)/exp", 21),  # as JAX releases before 0.7 name it
        ("jit(step)/cos", None),
        ("jit(other)/div", None),
    ],
)
def test_an_op_leads_to_its_line(recorded: Recorded, text: str, op: str, line: int | None) -> None:
    found = recorded.find(text.replace("OP ", f'"{op}" ').replace("OP\n", f'"{op}"\n'))
    assert found == ([(line, LocationEvidence.OP_NAME)] if line else [])


def test_an_op_of_several_lines_leads_to_all(recorded: Recorded) -> None:
    found = recorded.find(ALLOCATION.replace("OP\n", '"jit(step)/dot_general"\n'))
    assert sorted(found) == [(20, LocationEvidence.CANDIDATES), (21, LocationEvidence.CANDIDATES)]


def test_an_op_in_a_library_leads_to_its_callers(recorded: Recorded) -> None:
    found = recorded.find(ALLOCATION.replace("OP\n", '"jit(step)/tanh"\n'))
    assert sorted(found) == [(19, LocationEvidence.CANDIDATES), (21, LocationEvidence.CANDIDATES)]


def test_a_fusion_leads_to_the_lines_of_all_its_ops(recorded: Recorded) -> None:
    found = recorded.find(ALLOCATION.replace("OP\n", '"jit(step)/div;jit(step)/exp"\n'))
    assert found == [(18, LocationEvidence.OP_NAME), (21, LocationEvidence.OP_NAME)]


@pytest.mark.parametrize("module", ["jit_unrolled", "jit_unrolled.12", "jit_unrolled for GPU"])
def test_a_slow_compile_alarm_leads_to_the_unrolled_loop(recorded: Recorded, module: str) -> None:
    text = ALARM.replace("MODULE", module)
    found = recorded.explain(text)
    assert f"jit_unrolled  {recorded.program}:12 [op-name]      from {recorded.program}:25" in found
    assert "line 12: 40 ops of an unrolled loop, in at least 20 copies" in found


def test_the_alarm_of_an_unknown_module_has_no_line(recorded: Recorded) -> None:
    assert "[op-name]" not in recorded.explain(ALARM.replace("MODULE", "jit_other"))


def test_the_lines_of_a_fusion_are_joined_by_and(recorded: Recorded) -> None:
    fused = recorded.explain(ALLOCATION.replace("OP\n", '"jit(step)/div;jit(step)/exp"\n'))
    assert f":18 [op-name]      and {recorded.program}:21" in fused
    several = recorded.explain(ALLOCATION.replace("OP\n", '"jit(step)/dot_general"\n'))
    assert f":20 [candidates]      or {recorded.program}:21" in several


def test_explain_shows_the_op_the_line_and_the_size(recorded: Recorded) -> None:
    text = recorded.explain(ALLOCATION.replace("OP\n", '"jit(step)/div"\n'))
    assert f"jit(step)/div  {recorded.program}:18 [op-name]" in text
    assert "4.00G" in text
