"""`framedex diff` of real recordings: a program before and after a user's change, on the mock TPU."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from tests.gitrepository import commit_all
from tests.indexer.commands.report.pages import Page
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.compiling import NOTED
from tests.running import run

BEFORE = """\
import jax
import numpy as np


@jax.jit
def step(x):
    return x + 1


@jax.jit
def scaled(x):
    return x * 2


def main():
    scaled(np.ones(4, np.float32))
    x = jax.device_put(np.ones(8, np.float32))
    for number in range(6):
        x = step(x)
    np.asarray(jax.device_put(np.zeros(4, np.float32)))
    float(x[0])


main()
"""
AFTER = """\
# A line above, so that all of them have moved.
import jax
import numpy as np


@jax.jit
def step(x):
    return x + 1


@jax.jit
def scaled(x):
    return jax.numpy.tanh(x) * 2


def main():
    scaled(np.ones(5, np.float32))
    x = jax.device_put(np.ones(16, np.float32))
    for number in range(9):
        x = step(x)
    step(x[:3])
    float(x[0])


main()
"""
SLOWER = f"""\
from framedex_native.behaviour import on


@on("PJRT_LoadedExecutable_Execute")
def slow(call):
    call.delay(20_000)


{BEFORE}"""
OBJECTS = """\
import dataclasses, jax, jax.numpy as jnp
from typing import Any
jax.device_put(1)
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: jax.Array
    fn: Any = dataclasses.field(metadata=dict(static=True))
@jax.jit
def step(s): return s.fn(s.w)
step(State(jnp.ones(3), lambda w: w * 2))
"""
Said = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def folder() -> Path:
    """A repository with an index of both, the captures 1 and 2."""
    return made_once("diff-before-and-after", _record)


def _record(folder: Path, *texts: str, **environment: str) -> Path:
    program, index = folder / "train.py", folder / ".framedex" / "index.db"
    indexed: list[Path] = []
    for text in texts or (BEFORE, AFTER):
        program.write_text(text)
        commit_all(folder)
        ran = run(str(program), folder=folder, **environment)
        assert ran.status == 0, ran.stderr
        index_without_sources(index, *(each for each in ran.captures if each not in indexed))
        indexed += ran.captures
    return folder


@pytest.fixture(scope="module")
def diff(folder: Path) -> Callable[..., Result]:
    """Run the verb on that index; repeated commands use the cached result."""
    index = str(folder / ".framedex" / "index.db")
    return functools.cache(lambda *given: CliRunner().invoke(cli, ("--index", index, "diff", *map(str, given))))


@pytest.fixture(scope="module")
def said(diff: Callable[..., Result]) -> Said:
    """The document of a comparison with times removed."""

    def document(*arguments: str) -> dict[str, Any]:
        result = diff(*arguments, "--ignore", "times", "--format", "json")
        assert result.exit_code == 0, result.output
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    return document


def number_of(text: str, program: str) -> int:
    return next(number for number, line in enumerate(program.splitlines(), 1) if text in line)


def line_at(document: dict[str, Any], before: int | None, after: int | None) -> dict[str, Any]:
    """The comparison of the line with these numbers in its two versions."""
    numbered = {(_recorded(line["before"]), _recorded(line["after"])): line for line in document["lines"]}
    found: dict[str, Any] = numbered[before, after]
    return found


def _recorded(line: dict[str, Any] | None) -> int | None:
    return None if line is None else line["location"]["moved_from"] or line["location"]["line"]


def numbers(quantities: Sequence[dict[str, Any]], name: str) -> dict[str, tuple[int | None, int | None]]:
    return {each["of"]: (each["before"], each["after"]) for each in quantities if each["name"] == name}


def test_numbers_and_lines_of_function_objects_are_not_a_difference(tmp_path: Path) -> None:
    """A function was traced before and all lines have moved, but everything else is the same."""
    _record(tmp_path, OBJECTS, f"import jax\njax.jit(lambda x: x - 1)(1.0)\n{OBJECTS}", **NOTED)
    index = str(tmp_path / ".framedex" / "index.db")
    result = CliRunner().invoke(cli, ("--index", index, "diff", "1", "2", "--ignore", "times", "--limit", "0"))
    assert result.exit_code == 0 and "PJRT_Client_Compile" in result.output
    assert "step: " not in result.output


def test_a_recording_does_not_differ_from_itself(diff: Callable[..., Result], said: Said) -> None:
    document = said("1", "1")
    assert [document[name] for name in ("functions", "lines", "loops", "devices")] == [[]] * 4
    assert document["unchanged"] > 3
    result = diff(1, 1, "--exit-code")
    assert result.exit_code == 0
    assert "Nothing differs." in result.stdout


def test_functions_differ_by_their_exact_calls(said: Said) -> None:
    functions = {each["function"]: numbers(each["quantities"], "calls") for each in said("1", "2")["functions"]}

    executions, after = functions["PJRT_LoadedExecutable_Execute"][""]
    assert executions is not None and after is not None and after > executions


def test_a_moved_line_is_matched(said: Said) -> None:
    document = said("1", "2")

    looped = line_at(document, number_of("x = step(x)", BEFORE), number_of("x = step(x)", AFTER))

    assert numbers(looped["quantities"], "calls")["PJRT_LoadedExecutable_Execute"] == (6, 9)


def test_a_rewritten_line_is_compared_in_bytes(said: Said) -> None:
    document = said("1", "2")

    put = line_at(document, number_of("np.ones(8", BEFORE), number_of("np.ones(16", AFTER))

    assert [*numbers(put["quantities"], "moved").values()] == [(32, 64)]
    assert numbers(put["quantities"], "calls") == {}
    assert put["roads"] == []


def test_a_changed_program_is_described_by_arguments_and_ops(said: Said) -> None:
    line = line_at(said("1", "2"), number_of("scaled(np", BEFORE), number_of("scaled(np", AFTER))

    assert line["why"] == ["scaled: shape of x float32[4] -> float32[5]"]
    assert numbers(line["quantities"], "ops of scaled") == {"tanh": (None, 1)}


def test_added_and_removed_lines_have_no_counterpart(said: Said) -> None:
    document = said("1", "2")

    came = [line for line in document["lines"] if line["before"] is None]
    went = [line for line in document["lines"] if line["after"] is None]

    assert [line["after"]["location"]["line"] for line in came] == [number_of("step(x[:3])", AFTER)]
    assert numbers(came[0]["quantities"], "compiles")["step"] == (None, 1)
    assert [_recorded(line["before"]) for line in went] == [number_of("np.zeros", BEFORE)]
    assert came[0]["roads"] == went[0]["roads"] == []


def test_swapped_sides_swap_all_results(said: Said) -> None:
    ahead, back = said("1", "2"), said("2", "1")

    assert ahead["before"] == back["after"]
    for name in ("functions", "devices"):
        assert [_turned(each) for each in ahead[name]] == back[name]
    assert _in_order(map(_turned, ahead["lines"])) == _in_order(back["lines"])
    assert [bool(each["roads"]) for each in ahead["lines"]].count(True) == sum(
        bool(each["roads"]) for each in back["lines"]
    )


def _turned(found: dict[str, Any]) -> dict[str, Any]:
    """A difference with the sides swapped; stack paths are compared separately."""
    turned = {name: value for name, value in found.items() if name not in ("roads", "why")}
    for one, other in (("before", "after"), ("call_before", "call_after"), ("duration_before", "duration_after")):
        if one in turned:
            turned |= {one: found[other], other: found[one]}
    if "quantities" in turned:
        turned["quantities"] = _in_order(map(_turned, found["quantities"]))
    return turned


def _in_order(found: Any) -> list[dict[str, Any]]:
    kept = [{name: value for name, value in each.items() if name not in ("roads", "why")} for each in found]
    for each in kept:
        if "quantities" in each:
            each["quantities"] = sorted(each["quantities"], key=json.dumps)
    return sorted(kept, key=json.dumps)


def test_the_exit_status_reports_differences(diff: Callable[..., Result]) -> None:
    assert diff(1, 2, "--only", "bytes", "--format", "json").exit_code == 0
    assert diff(1, 2, "--only", "bytes", "--exit-code").exit_code == 1
    assert diff(1, 2, "--ignore", "times", "--only", "times", "--exit-code").exit_code == 0


def test_only_selected_quantities_are_compared(diff: Callable[..., Result]) -> None:
    document = json.loads(diff(1, 2, "--only", "bytes", "--format", "json").stdout)

    abouts = {each["about"] for line in document["lines"] for each in line["quantities"]}
    assert abouts == {"bytes"}
    assert document["functions"] == []


@pytest.mark.exhaustive
def test_the_given_threshold_decides_which_times_differ(tmp_path: Path) -> None:
    """The same program with 20 ms more for each run of a compiled function."""
    index = _record(tmp_path, BEFORE, SLOWER) / ".framedex" / "index.db"
    compare = ("--index", str(index), "diff", "1", "2", "--only", "times", "--format", "json")

    page = tmp_path / "d.html"
    html = ("--index", str(index), "diff", "1", "2", "--format", "html", "-o", str(page))
    assert CliRunner().invoke(cli, html).exit_code == 0
    assert colours_of(Page.of(page.read_text())) & {"came", "more"}
    strict, loose = (
        json.loads(CliRunner().invoke(cli, (*compare, "--threshold", threshold)).stdout)
        for threshold in ("3", "100000")
    )

    rounds = [numbers(loop["quantities"], "quick iteration") for loop in strict["loops"]]
    assert any(before and after and after > before for each in rounds for before, after in each.values())
    told = [each for kind in ("functions", "lines", "loops") for row in loose[kind] for each in row["quantities"]]
    assert told and all(each["before"] is None or each["after"] is None for each in told)


def test_text_and_json_have_the_same_content(diff: Callable[..., Result], said: Said) -> None:
    text = diff(1, 2, "--limit", 0, "--ignore", "times").stdout

    for each in said("1", "2")["functions"]:
        assert each["function"] in text
    assert "(only after)" in text and "(only before)" in text
    assert "moved" in text and "32 B -> 64 B" in text


def colours_of(page: Page) -> set[str | None]:
    """The times in the flame graph rectangles of a page."""
    return {each.attributes.get("class") for each in page.all("svg") if "svg" in each.within}


def test_the_page_has_a_flame_graph_and_loads_nothing(diff: Callable[..., Result], tmp_path: Path) -> None:
    written = tmp_path / "d.html"

    result = diff(1, 2, "--format", "html", "-o", written)

    assert result.exit_code == 0, result.output
    page = Page.of(written.read_text())
    assert page.problems == []
    assert "same" in colours_of(page)  # whether other times differ by more than noise depends on the machine
    assert [each.attributes["id"] for each in page.all("section")][:5] == [
        *("differences", "changed_functions", "changed_lines", "changed_loops", "changed_flames")
    ]
    assert diff(1, 2, "--format", "html", "-o", "-").stdout == written.read_text()


def test_a_foreign_file_is_not_overwritten(diff: Callable[..., Result], tmp_path: Path) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<p>mine</p>")

    result = diff(1, 2, "--format", "html", "-o", mine)

    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert mine.read_text() == "<p>mine</p>"


@pytest.mark.exhaustive(keep=["CAPTURE-INDEX:1"])
@pytest.mark.parametrize(
    ("one", "other"),
    [("CAPTURE", "INDEX:1"), ("FOLDER:1", "1"), ("latest", "FOLDER"), ("INDEX", "INDEX:latest"), ("2", "")],
)
def test_a_side_may_be_a_folder_an_index_or_a_capture(
    diff: Callable[..., Result], folder: Path, tmp_path: Path, one: str, other: str
) -> None:
    index = shutil.copy(folder / ".framedex" / "index.db", tmp_path / "other.db")
    first = sorted((folder / "captures").iterdir())[0]
    paths = {"CAPTURE": first, "INDEX": index, "FOLDER": folder}
    sides = [re.sub(r"[A-Z]+", lambda name: str(paths[name[0]]), side) for side in (one, other) if side]

    same = diff(*sides, "--exit-code")

    assert (same.exit_code, "Nothing differs." in same.stdout) == (0, True), same.output


@pytest.mark.parametrize(
    ("side", "status", "said_of_it"),
    [
        ("99", 1, "There is no capture 99"),
        ("no such", 2, "is not a capture or an index"),
        ("empty", 1, "is not a capture"),
        ("unread", 1, "not in an index yet"),
        ("text.txt", 1, "not a framedex index"),
        ("1,x", 2, "is not a capture or an index"),
    ],
)
def test_an_invalid_side_is_reported_with_a_remedy(
    diff: Callable[..., Result], folder: Path, tmp_path: Path, side: str, status: int, said_of_it: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("no index")
    shutil.copytree(sorted((folder / "captures").iterdir())[0], tmp_path / "unread")
    given = str(tmp_path / side) if (tmp_path / side).exists() else side

    result = diff(given, "1")

    assert result.exit_code == status, result.output
    assert said_of_it in result.stderr
