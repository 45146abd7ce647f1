"""`framedex check` with budgets, on a program with known compilations, transfers and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.running import PROGRAMS, TIMEOUT, mock_environment, run

PROGRAM = PROGRAMS / "costs" / "budgets.py"
HELD = 4096 * 4 + 1024 * 4  # `jnp.ones`, and the parameters


def index_of(folder: Path, *captures: Path) -> Path:
    """An index of captures."""
    index_without_sources(folder / "index.db", *captures)
    return folder / "index.db"


def _record(folder: Path, **environment: str) -> Path:
    ran = run("costs/budgets.py", folder=folder, **environment)
    assert ran.status == 0, ran.stderr
    return index_of(folder, *ran.captures)


@pytest.fixture(scope="module")
def index() -> Path:
    """The index of one run of the program."""
    return made_once("costs-budgets", _record)


@pytest.fixture(scope="module")
def lacking() -> Path:
    """The index of a run without recorded compilations and buffers."""
    return made_once("costs-budgets-lacking", lambda folder: _record(folder, FRAMEDEX_INCLUDE="PJRT_Client_Devices"))


def check(index: Path, *arguments: str) -> Result:
    """Run the verb."""
    return CliRunner().invoke(cli, ["--index", str(index), "check", *arguments])


def budgets(index: Path, *arguments: str) -> list[dict[str, Any]]:
    """The verb's output for each budget."""
    found = check(index, "--json", *arguments)
    document: list[dict[str, Any]] = json.loads(found.stdout)["budgets"]
    assert found.exit_code == (0 if all(each["is_kept"] for each in document) else 1)
    return document


def line_of(text: str) -> int:
    """The program line with a text."""
    (number,) = [n for n, each in enumerate(PROGRAM.read_text().splitlines(), start=1) if text in each]
    return number


@pytest.mark.parametrize(
    ("budget", "found"),
    [
        ("budgets.py:*=3", 3),
        ("costs/budgets.py:train=3", 3),
        ("3", 3),
        ("step=3", 3),
        ("budgets.py:step=4", 3),
        ("evaluate=1", 1),
        ("e*e=1", 1),
        ("other.py:*=0", 0),
        ("predict=0", 0),
        (f"budgets.py:{line_of('held = [')}=1", 1),
    ],
)
def test_a_kept_budget_passes(index: Path, budget: str, found: int) -> None:
    (told,) = budgets(index, "--max-compiles", budget)
    assert told["is_kept"], told
    assert told["found"] == found


@pytest.mark.parametrize(
    "budget", ["budgets.py:*=2", "step=1", "1", "0", "s*=2", f"budgets.py:{line_of('w = step(')}=1"]
)
def test_an_exceeded_budget_fails(index: Path, budget: str) -> None:
    (told,) = budgets(index, "--max-compiles", budget)
    assert not told["is_kept"]
    assert told["found"] == 3


def test_an_exceeded_budget_is_a_finding_with_line_and_cause(index: Path) -> None:
    found = check(index, "--max-compiles", "budgets.py:*=1", "--only", "compiles", "--json")
    (finding,) = json.loads(found.stdout)["findings"]
    assert (finding["kind"], finding["severity"], finding["function"], finding["count"]) == (
        *("compiles", "error", "step"),
        3,
    )
    assert finding["line"]["location"]["line"] == line_of("w = step(")
    assert finding["message"].split("\n") == [
        "was compiled 3 times, 1 is allowed (budgets.py:*=1)",
        "x was float32[1], [2], [3]",
    ]


def test_the_last_matching_budget_counts(index: Path) -> None:
    general, of_step = budgets(index, "--max-compiles", "1", "--max-compiles", "step=3")
    assert general["is_kept"] and general["found"] == 1
    assert of_step["is_kept"] and of_step["found"] == 3
    of_step, general = budgets(index, "--max-compiles", "step=3", "--max-compiles", "1")
    assert of_step["is_kept"] and not general["is_kept"]


@pytest.mark.parametrize(
    ("budget", "meant"),
    [
        ("budget.py:*=1", "did you mean budgets.py?"),
        ("stp=1", "did you mean step?"),
        (f"budgets.py:{line_of('w = step(') + 1}=1", f"did you mean budgets.py:{line_of('w = step(')}?"),
        ("nothing_like_it=1", "matches no compiled function"),
    ],
)
def test_a_budget_without_matches_does_not_pass(index: Path, budget: str, meant: str) -> None:
    (told,) = budgets(index, "--max-compiles", budget)
    assert not told["is_kept"]
    assert meant in told["problem"]
    assert meant in check(index, "--max-compiles", budget).stdout


def test_a_zero_budget_without_matches_is_reported(index: Path) -> None:
    (told,) = budgets(index, "--max-compiles", "stp=0")
    assert told["is_kept"]
    assert told["doubt"] == "stp matches no compiled function; did you mean step?"


def test_implicit_transfers_are_counted_by_line(index: Path) -> None:
    """An operand of each step, `float`, and the transfer of `jnp.ones`; `device_put` was explicit."""
    (broken,) = budgets(index, "--no-implicit-transfers")
    assert not broken["is_kept"] and broken["found"] == 3
    (kept,) = budgets(index, "--max-implicit-transfers", "3")
    assert kept["is_kept"]
    of_all, of_train = budgets(index, "--no-implicit-transfers", "--max-implicit-transfers", "budgets.py:train=3")
    assert of_train["is_kept"] and of_train["found"] == 3
    assert not of_all["is_kept"] and of_all["found"] < 3
    (of_put,) = budgets(index, "--max-implicit-transfers", f"budgets.py:{line_of('device_put')}=0")
    assert of_put["is_kept"] and of_put["fits"] == 1


def test_memory_budgets_are_exact_to_the_byte(index: Path) -> None:
    (kept,) = budgets(index, "--max-memory", "1MiB")
    assert kept["is_kept"] and kept["found"] >= HELD
    peak = kept["found"]
    assert budgets(index, "--max-memory", str(peak))[0]["is_kept"]
    assert not budgets(index, "--max-memory", str(peak - 1))[0]["is_kept"]
    told = check(index, "--max-memory", "1KiB").stdout
    assert "device 0 held" in told and "1 KiB is allowed" in told
    assert f"{PROGRAM}:{line_of('held = [')}" in told


def test_a_memory_budget_without_memory_data_does_not_pass(lacking: Path) -> None:
    """A recording without calls that create buffers."""
    (told,) = budgets(lacking, "--max-memory", "1TiB")
    assert not told["is_kept"]
    assert "device memory is unknown" in told["problem"]


def test_budgets_of_the_settings_apply_and_options_override_them(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "framedex.toml").write_text('[budgets]\ncompiles = {"*" = 1, "step" = 3}\nmemory = "1KiB"\n')
    told = budgets(index)
    assert [(each["text"], each["is_kept"]) for each in told] == [("*=1", True), ("step=3", True), ("1 KiB", False)]
    told = budgets(index, "--max-memory", "1MiB", "--max-compiles", "step=2")
    assert [each["is_kept"] for each in told] == [True, True, True, False, True]
    assert check(index).exit_code == 1
    (tmp_path / "framedex.toml").write_text("[budgets]\ncompile = 1\n")
    found = check(index)
    assert found.exit_code == 1
    assert "framedex.toml: Unknown budget 'compile'." in found.stderr
    assert "Did you mean compiles?" in found.stderr


def test_a_malformed_budget_is_a_usage_error(index: Path) -> None:
    for option, wrong in [
        ("--max-compiles", "budgets.py:*"),
        ("--max-compiles", "12=1"),
        ("--max-implicit-transfers", "many"),
        ("--max-memory", "much"),
    ]:
        found = check(index, option, wrong)
        assert found.exit_code == 2, found.output
        assert option in found.output


def test_without_budgets_nothing_changes(index: Path) -> None:
    found = check(index)
    assert found.exit_code == 0
    assert "\nbudgets\n" not in found.stdout
    assert json.loads(check(index, "--json").stdout)["budgets"] == []


@pytest.mark.exhaustive
def test_each_process_has_its_own_budget(index: Path, tmp_path: Path) -> None:
    (capture,) = run("costs/budgets.py", folder=tmp_path).captures
    (first,) = made_once("costs-budgets", _record).parent.glob("captures/*")
    both = index_of(tmp_path, first, capture)
    (told,) = budgets(both, "--capture", "all", "--max-compiles", "step=3")
    assert told["is_kept"] and told["found"] == 3


@pytest.mark.exhaustive
def test_a_recording_with_lost_calls_does_not_pass(tmp_path: Path) -> None:
    ran = run("costs/budgets.py", "often", folder=tmp_path, FRAMEDEX_LIMIT=str(256 << 10))
    found = check(index_of(tmp_path, *ran.captures), "--max-compiles", "9")
    assert "Recording stopped early" in found.stderr
    assert found.exit_code == 1


def test_a_running_program_does_not_pass(tmp_path: Path) -> None:
    with _waiting_program(tmp_path) as process:
        index = index_of(tmp_path, *(tmp_path / "captures").iterdir())
        found = check(index, "--max-compiles", "3")
        assert found.exit_code == 1
        assert "still being written" in found.stderr
        assert check(index).exit_code == 0
        process.communicate("\n", timeout=TIMEOUT)


@pytest.mark.exhaustive
def test_an_ended_program_passes_once_it_is_indexed_again(tmp_path: Path) -> None:
    with _waiting_program(tmp_path) as process:
        index_of(tmp_path, *(tmp_path / "captures").iterdir())
        process.communicate("\n", timeout=TIMEOUT)
    whole = check(index_of(tmp_path, *(tmp_path / "captures").iterdir()), "--max-compiles", "3")
    assert whole.exit_code == 0, whole.output


@contextmanager
def _waiting_program(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The program, recorded into `folder`, while it waits for a line on stdin."""
    command = [sys.executable, str(PROGRAM), "wait"]
    with subprocess.Popen(
        command, env=mock_environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        while process.stdout.readline().strip() not in ("ready", ""):
            pass
        yield process


def test_a_sampled_recording_passes_no_budget(lacking: Path) -> None:
    found = check(lacking, "--max-compiles", "0")

    assert found.exit_code == 1 and "Budgets were checked against some calls only" in found.stderr
