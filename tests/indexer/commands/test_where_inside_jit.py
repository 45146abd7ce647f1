"""`framedex where` on lines of jitted functions, and on lines without data."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from tests.indexer.unplaced import index_without_sources
from tests.running import TIMEOUT, Run, mock_environment, plain_environment
from tests.shapes_of_programs import FRAMEDEX, Marked, recorded_shapes

CACHED = """\
import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return jnp.sin(x) \\


f(jnp.arange(4.0))
"""
# The same program, except that line 8 computes more.
CHANGED = CACHED.replace("\\\n\n\n", "\\\n        + jnp.cos(x)\n\n")


@pytest.fixture(scope="module")
def shapes() -> Marked:
    """The recorded program."""
    return recorded_shapes()


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index of four recordings: `cached.py` before and after a change, `unkept.py`, `loaded.py`."""
    folder = tmp_path_factory.mktemp("cached")
    captures = [
        record(folder, "cached.py", CACHED),
        record(folder, "cached.py", CHANGED),
        record(folder, "unkept.py", CACHED + 'odd = "\\d"\n', FRAMEDEX_PROGRAMS="0"),
    ]
    settings = (
        f"jax.config.update('jax_compilation_cache_dir', {str(folder / 'cache')!r}),"
        " jax.config.update('jax_persistent_cache_min_compile_time_secs', 0),"
        " jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)"
    )
    loaded = CACHED.replace("jax.numpy as jnp\n", f"jax.numpy as jnp\n{settings}\n")
    captures += [record(folder, "loaded.py", loaded) for _ in range(2)][1:]
    index_without_sources(folder / ".framedex" / "index.db", *captures)
    return folder


def record(folder: Path, name: str, text: str, **environment: str) -> Path:
    """Write a program and record it. Returns the capture."""
    (folder / name).write_text(text)
    output = folder / f"run-{len(list(folder.iterdir()))}"
    output.mkdir()
    ran = Run.of([sys.executable, str(folder / name)], output, mock_environment(output) | environment, TIMEOUT)
    assert ran.status == 0, ran.stderr
    return ran.capture


def ask(folder: Path, place: str, *options: str, status: int = 0) -> str:
    """The output of `framedex where` for a location in a folder."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(cli, ["where", place, *options])
    assert result.exit_code == status, result.output
    return result.stdout + result.stderr


def where(shapes: Marked, line: int, *options: str, status: int = 0) -> str:
    """The output for a line of the recorded program."""
    return ask(shapes.path.parent, f"{shapes.path.name}:{line}", *options, status=status)


def test_a_line_inside_jit_is_answered_in_a_few_lines(shapes: Marked) -> None:
    heading, first, program, compiled, run = where(shapes, shapes.line("plain", "sine")).splitlines()
    runs = f"{shapes.path}:{shapes.line('plain', 'runs')}"
    assert heading.startswith("Capture 1 of inside_jit.py, ")
    assert first == f"{shapes.path}:{shapes.line('plain', 'sine')}  is inside jit(plain)"
    assert program == "  in       jit_plain: op sine"
    assert compiled.startswith(f"  compiled once from main  {runs}  ")
    assert run.startswith(f"  run      3 times from main  {runs}  ") and " each  " in run and "framedex trace " in run


def test_the_line_that_runs_a_program_names_the_program_and_its_lines(shapes: Marked) -> None:
    told = where(shapes, shapes.line("plain", "runs"))
    assert "programs run from here, longest first:" in told
    assert "       3  jit_plain  " in told and ", compiled once  " in told
    assert f"          {shapes.path}:{shapes.line('plain', 'sine')} in plain  1 op" in told


def test_several_programs_with_one_name_are_listed(shapes: Marked) -> None:
    told = where(shapes, shapes.line("static", "sine"))
    assert "compiled twice as 2 different programs from main" in told


def test_json_output_has_the_same_content(shapes: Marked) -> None:
    document = json.loads(where(shapes, shapes.line("plain", "sine"), "--json"))
    (use,) = document["programs"]
    assert (use["name"], use["root"], use["ops"]) == ("jit_plain", "jit(plain)", [{"kind": "sine", "ops": 1}])
    assert use["calls"] == 3 and use["runs"][0]["line"]["location"]["line"] == shapes.line("plain", "runs")
    assert document["nearby"] is None
    assert json.loads(where(shapes, shapes.line("plain", "runs"), "--json"))["runs"][0]["name"] == "jit_plain"


def test_a_file_lists_its_lines_in_programs(shapes: Marked) -> None:
    told = ask(shapes.path.parent, shapes.path.name)
    assert f"{shapes.path}:{shapes.line('plain', 'sine')}  1 op of jit_plain" in told
    document = json.loads(ask(shapes.path.parent, shapes.path.name, "--json"))
    assert {"line": shapes.line("plain", "sine"), "ops": 1, "programs": ["jit_plain"]} in document["program_lines"]


@pytest.mark.exhaustive(keep=["comment", "unused"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the line is empty"),
        ("    # Never called.", "the line is a comment"),
        ("def never(x):", "nothing in never was recorded: it was not reached, or its result is unused"),
        (
            "    def body(_, x):",
            "no op of jit_looped comes from it: it runs only while body is traced, its result is unused, or"
            " it was not reached",
        ),
    ],
    ids=["empty", "comment", "unrecorded", "unused"],
)
def test_a_line_without_calls_gives_the_reason_and_the_nearest_lines(shapes: Marked, text: str, why: str) -> None:
    lines = shapes.path.read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if line == text and at > 10)
    told = where(shapes, number, status=1)
    assert f"No recorded call passes {shapes.path.name}:{number}: {why}. Nearest: {shapes.path.name}:" in told


def test_a_program_from_the_compilation_cache_has_no_lines_and_says_so(cached: Path) -> None:
    told = ask(cached, "loaded.py:11")
    assert "Unknown program: it was loaded as an executable, from a compilation cache" in told
    assert "No recorded call passes loaded.py:8" in ask(cached, "loaded.py:8", status=1)


def test_programs_that_were_not_stored_are_mentioned(cached: Path) -> None:
    told = ask(cached, "unkept.py:10")
    assert "Unknown program: it was not kept: FRAMEDEX_PROGRAMS=0" in told


def test_the_heading_mentions_other_captures_that_compiled_the_line(cached: Path) -> None:
    for asked in ("cached.py:7", "cached.py:10", "cached.py"):
        heading = ask(cached, asked).splitlines()[0]
        having = "that has it" if asked.endswith(":7") else "with calls here"
        assert heading.startswith("Capture 2 of cached.py, ") and f"(the latest {having}; " in heading
    assert "(of 4 the only one that has it)" in ask(cached, "cached.py:8").splitlines()[0]


def test_python_warnings_about_a_file_are_not_in_the_answer(cached: Path) -> None:
    command = [*FRAMEDEX, "where", "unkept.py:11"]
    done = subprocess.run(command, cwd=cached, env=plain_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "No recorded call passes" in done.stderr and "Warning" not in done.stderr
