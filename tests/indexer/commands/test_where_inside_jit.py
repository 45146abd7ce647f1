"""`framedex where` on the lines of jitted functions, and on lines of which nothing is known."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.running import plain_environment
from tests.shapes_of_programs import FRAMEDEX, Marked, framedex, recorded_shapes

CACHED = """\
import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return jnp.sin(x)


f(jnp.arange(4.0))
"""


@pytest.fixture(scope="module")
def shapes() -> Marked:
    """The recorded program."""
    return recorded_shapes()


def where(shapes: Marked, line: int, *options: str, status: int = 0) -> str:
    """What `framedex where` prints for a line."""
    return framedex(shapes.path.parent, "where", f"{shapes.path.name}:{line}", *options, status=status)


def test_a_line_inside_is_answered_in_a_few_lines(shapes: Marked) -> None:
    heading, first, program, compiled, run = where(shapes, shapes.line("plain", "sine")).splitlines()
    runs = f"{shapes.path}:{shapes.line('plain', 'runs')}"
    assert heading.startswith("Capture 1 of inside_jit.py, ")
    assert first == f"{shapes.path}:{shapes.line('plain', 'sine')}  is inside jit(plain)"
    assert program == "  in       jit_plain: op sine"
    assert compiled.startswith(f"  compiled once from main  {runs}  ")
    assert run.startswith(f"  run      3 times from main  {runs}  ") and " each  " in run and "framedex trace " in run


def test_the_line_that_runs_it_names_the_program_and_its_lines(shapes: Marked) -> None:
    told = where(shapes, shapes.line("plain", "runs"))
    assert "programs run from here, longest first:" in told
    assert "       3  jit_plain  " in told and ", compiled once  " in told
    assert f"          {shapes.path}:{shapes.line('plain', 'sine')} in plain  1 op" in told


def test_several_programs_of_a_name_are_said(shapes: Marked) -> None:
    told = where(shapes, shapes.line("static", "sine"))
    assert "compiled twice as 2 different programs from main" in told


def test_json_has_the_same(shapes: Marked) -> None:
    document = json.loads(where(shapes, shapes.line("plain", "sine"), "--json"))
    (use,) = document["programs"]
    assert (use["name"], use["root"], use["ops"]) == ("jit_plain", "jit(plain)", [{"kind": "sine", "ops": 1}])
    assert use["calls"] == 3 and use["runs"][0]["line"]["location"]["line"] == shapes.line("plain", "runs")
    assert document["nearby"] is None
    assert json.loads(where(shapes, shapes.line("plain", "runs"), "--json"))["runs"][0]["name"] == "jit_plain"


def test_a_file_tells_of_its_lines_in_programs(shapes: Marked) -> None:
    told = framedex(shapes.path.parent, "where", shapes.path.name)
    assert f"{shapes.path}:{shapes.line('plain', 'sine')}  1 op of jit_plain" in told
    document = json.loads(framedex(shapes.path.parent, "where", "--json", shapes.path.name))
    assert {"line": shapes.line("plain", "sine"), "ops": 1, "programs": ["jit_plain"]} in document["program_lines"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the line is empty"),
        ("    # Nobody calls it.", "the line is a comment"),
        ("def never(x):", "nothing of never was recorded: it was not reached, or what it computes is not used"),
        (
            "    def body(_, x):",
            "no op of jit_looped comes from it: what it does is done while body is traced, its result is not used, or"
            " it was not reached",
        ),
    ],
)
def test_a_line_without_calls_says_why_and_names_the_nearest(shapes: Marked, text: str, why: str) -> None:
    lines = shapes.path.read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if line == text and at > 10)
    told = where(shapes, number, status=1)
    assert f"No recorded call passes {shapes.path.name}:{number}: {why}. Nearest: {shapes.path.name}:" in told


def test_what_came_from_the_compilation_cache_has_no_program_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "cached.py").write_text(CACHED)
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    framedex(tmp_path, "run", "-o", str(tmp_path / "first"), "cached.py", environment=cache)
    framedex(tmp_path, "run", "cached.py", environment=cache)
    framedex(tmp_path, "index")
    told = framedex(tmp_path, "where", "cached.py:10")
    assert "Which program it is is not known: it was loaded as an executable, from a compilation cache" in told
    assert "No recorded call passes cached.py:7" in framedex(tmp_path, "where", "cached.py:7", status=1)


def test_programs_that_were_not_kept_are_said(tmp_path: Path) -> None:
    (tmp_path / "cached.py").write_text(CACHED)
    framedex(tmp_path, "run", "cached.py", environment={"FRAMEDEX_PROGRAMS": "0"})
    framedex(tmp_path, "index")
    told = framedex(tmp_path, "where", "cached.py:10")
    assert "Which program it is is not known: it was not kept: FRAMEDEX_PROGRAMS=0" in told


def test_the_heading_knows_that_other_captures_compiled_the_line_too(tmp_path: Path) -> None:
    program = tmp_path / "cached.py"
    program.write_text(CACHED)
    framedex(tmp_path, "run", "cached.py")
    framedex(tmp_path, "run", "cached.py")
    framedex(tmp_path, "index")
    for asked in ("cached.py:7", "cached.py:10", "cached.py"):
        heading = framedex(tmp_path, "where", asked).splitlines()[0]
        having = "that has it" if asked.endswith(":7") else "with calls here"
        assert heading.startswith("Capture 2 of cached.py, ") and f"(the latest {having}; " in heading
    program.write_text(CACHED.replace("jnp.sin(x)", "jnp.sin(x) \\\n        + jnp.cos(x)"))
    framedex(tmp_path, "run", "cached.py")
    framedex(tmp_path, "index")
    assert "(of 3 the only one that has it)" in framedex(tmp_path, "where", "cached.py:8").splitlines()[0]


def test_what_python_thinks_of_a_file_is_not_in_the_answer(tmp_path: Path) -> None:
    (tmp_path / "cached.py").write_text(CACHED + 'odd = "\\d"\n')
    framedex(tmp_path, "run", "cached.py")
    framedex(tmp_path, "index")
    command = [*FRAMEDEX, "where", "cached.py:11"]
    done = subprocess.run(command, cwd=tmp_path, env=plain_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "No recorded call passes" in done.stderr and "Warning" not in done.stderr
