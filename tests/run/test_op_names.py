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
def step(x, y):
    y = jnp.sin(x) / y
    x = activate(x)
    x = x @ y
    return x @ x, activate(jnp.exp(y))


step(jnp.ones((4, 4)), jnp.ones((4, 4)))
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


class Recorded:
    """The recorded program and its index."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)
        (folder / "site-packages").mkdir()
        (folder / "site-packages" / "library.py").write_text(LIBRARY)
        ran = Run.of([sys.executable, str(self.program)], folder, mock_environment(folder), TIMEOUT)
        self.index = index_without_sources(folder / "index.db", ran.capture)

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
        ("jit(step)/div", 11),
        ("jit(step)/jit(main)/exp", 14),  # as JAX releases before 0.7 name it
        ("jit(step)/cos", None),
        ("jit(other)/div", None),
    ],
)
def test_an_op_leads_to_its_line(recorded: Recorded, text: str, op: str, line: int | None) -> None:
    found = recorded.find(text.replace("OP ", f'"{op}" ').replace("OP\n", f'"{op}"\n'))
    assert found == ([(line, LocationEvidence.OP_NAME)] if line else [])


def test_an_op_of_several_lines_leads_to_all(recorded: Recorded) -> None:
    found = recorded.find(ALLOCATION.replace("OP\n", '"jit(step)/dot_general"\n'))
    assert sorted(found) == [(13, LocationEvidence.CANDIDATES), (14, LocationEvidence.CANDIDATES)]


def test_an_op_in_a_library_leads_to_its_callers(recorded: Recorded) -> None:
    found = recorded.find(ALLOCATION.replace("OP\n", '"jit(step)/tanh"\n'))
    assert sorted(found) == [(12, LocationEvidence.CANDIDATES), (14, LocationEvidence.CANDIDATES)]


def test_a_fusion_leads_to_the_lines_of_all_its_ops(recorded: Recorded) -> None:
    found = recorded.find(ALLOCATION.replace("OP\n", '"jit(step)/div;jit(step)/exp"\n'))
    assert found == [(11, LocationEvidence.OP_NAME), (14, LocationEvidence.OP_NAME)]


def test_explain_shows_the_op_the_line_and_the_size(recorded: Recorded) -> None:
    text = ALLOCATION.replace("OP\n", '"jit(step)/div"\n')
    result = CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["--index", str(recorded.index), "explain"], input=text)
    assert f"jit(step)/div  {recorded.program}:11 [op-name]" in result.stdout.replace("\n", "")
    assert "4.00G" in result.stdout
