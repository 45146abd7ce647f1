"""Programs that a user would write, one check for each feature of JAX: they compute on the mock what NumPy computes.

Each program of tests/programs/features runs in one process for each way of running it; each of its checks is a test.
"""

from __future__ import annotations

import functools
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import pythons
from tests.reading import calls_of
from tests.running import PROGRAMS, Run, mock_environment, run

FEATURES = PROGRAMS / "features"
SETTINGS = {"out_of_memory": {"FRAMEDEX_HBM": str(1 << 20)}}
WHOLE = 1200  # seconds for a program, whose every check has a limit of its own: each beside much else takes minutes
UNRECORDED, RECORDED = "unrecorded", "recorded"
# What the mock's own objects, threads and memory do. The numbers of all others come from what was compiled, recorded or
# not.
ALSO_UNRECORDED = ("asynchrony", "callbacks", "memory", "out_of_memory", "sharding")
# Recorded, too, with every release of jaxlib that there is an interpreter for.
JAXLIBS = ("0.8", "0.9", "0.10", "0.11", "0.12")


@dataclass(frozen=True)
class Checked:
    """What a run of a program found: the outcome and the reason of each check it came to, and how it ended."""

    outcomes: dict[str, tuple[str, str]]
    ending: str
    captures: tuple[Path, ...]


@functools.cache
def checked(program: str, way: str, folder: Path) -> Checked:
    """Run a program, once for each way."""
    python = own_python() if way in (UNRECORDED, RECORDED) else pythons.with_jaxlib(way)
    assert python is not None
    # Every program finds eight devices but the one that fills a single one.
    settings = SETTINGS.get(program, {"FRAMEDEX_DEVICES": "8"}) | {"JAX_PLATFORMS": "tpu,cpu"}
    settings |= {"FRAMEDEX_RECORD": "0"} if way == UNRECORDED else {}
    ran = Run.of([python.path, str(FEATURES / f"{program}.py")], folder, mock_environment(folder) | settings, WHOLE)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("[")]
    ending = f"exit status {ran.status}\n{ran.stderr[-4000:]}"
    return Checked({name: (outcome, reason) for name, reason, outcome in lines}, ending, ran.captures)


def own_python() -> pythons.Python:
    """The tests' own interpreter."""
    return pythons.found("{}.{}".format(*sys.version_info))[0]


def checks_of(program: Path) -> list[str]:
    """The names of a program's checks, without running it."""
    return re.findall(r"^@(?:check|in_types\(\w+\))\ndef (\w+)", program.read_text(), re.MULTILINE)


PROGRAM_NAMES = sorted(path.stem for path in FEATURES.glob("*.py") if checks_of(path))
CHECKS = [
    pytest.param(
        program, name, way, id=f"{program}-{name}-{way}", marks=[pytest.mark.exhaustive] if way == UNRECORDED else []
    )
    for program in PROGRAM_NAMES
    for way in (RECORDED, *([UNRECORDED] if program in ALSO_UNRECORDED else []))
    for name in checks_of(FEATURES / f"{program}.py")
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all these runs."""
    return tmp_path_factory.mktemp("features")


@pytest.mark.parametrize(("program", "name", "way"), CHECKS)
def test_a_feature_of_jax_gives_the_right_numbers(program: str, name: str, way: str, folder: Path) -> None:
    found = checked(program, way, below(folder, program, way))
    assert name in found.outcomes, f"{program}.py ended before it came to {name}: {found.ending}"
    outcome, reason = found.outcomes[name]
    if outcome == "skipped":
        pytest.skip(reason)
    assert outcome == "passed", reason


@pytest.mark.exhaustive
@pytest.mark.parametrize("jaxlib", JAXLIBS)
@pytest.mark.parametrize("program", PROGRAM_NAMES)
def test_features_under_other_releases_of_jaxlib(program: str, jaxlib: str, folder: Path) -> None:
    if own_python().jaxlib.startswith(f"{jaxlib}.") or pythons.with_jaxlib(jaxlib) is None:
        pytest.skip(f"no other Python with jaxlib {jaxlib} here: FRAMEDEX_TEST_PYTHONS names some")
    found = checked(program, jaxlib, below(folder, program, jaxlib))
    failed = {name: reason for name, (outcome, reason) in found.outcomes.items() if outcome == "failed"}
    assert not failed
    missing = set(checks_of(FEATURES / f"{program}.py")) - set(found.outcomes)
    assert not missing, found.ending


@pytest.mark.parametrize("program", PROGRAM_NAMES)
def test_every_execution_is_recorded(program: str, folder: Path) -> None:
    (capture,) = checked(program, RECORDED, below(folder, program, RECORDED)).captures
    executed = calls_of(capture, "PJRT_LoadedExecutable_Execute")
    assert len(executed) >= 5
    # Every call returned; those that failed are told by their error.
    assert all(call.duration >= 0 for call in executed)


def test_a_second_process_finds_the_first_ones_programs_in_the_persistent_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    settings = {"FRAMEDEX_DEVICES": "8", "JAX_PLATFORMS": "tpu,cpu"}
    first = run("compilation_cache.py", str(cache), folder=below(tmp_path, "first"), **settings)
    second = run("compilation_cache.py", str(cache), folder=below(tmp_path, "second"), **settings)
    assert first.result == {"right": [True] * 3, "hits": 0}
    assert second.result["right"] == [True] * 3
    assert second.result["hits"] >= 3
    compiled = [len(calls_of(ran.capture, "PJRT_Client_Compile")) for ran in (first, second)]
    assert compiled[1] < compiled[0]


def below(folder: Path, *names: str) -> Path:
    """A folder of its own for a run."""
    path = folder.joinpath(*names)
    path.mkdir(parents=True, exist_ok=True)
    return path
