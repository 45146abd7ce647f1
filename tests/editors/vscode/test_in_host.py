"""The tests in `host/`, each listed by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.vscode import in_host
from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

FILES = [pytest.param(file, file, id=file.name) for file in in_host.test_files()]
TESTS = [
    pytest.param(file, name, id=f"{file.name}: {name}") for file in in_host.test_files() for name in in_host.names(file)
]


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled scripts."""
    return tmp_path_factory.mktemp("scripts")


@pytest.fixture(scope="session")
def known() -> dict[Path, in_host.Outcomes]:
    """The results of the tests in executed files."""
    return {}


@pytest.fixture
def outcomes(
    request: pytest.FixtureRequest,
    scripts: Path,
    known: dict[Path, in_host.Outcomes],
    project: Project,
    new_window: Callable[[Path], Workbench],
    tmp_path: Path,
) -> in_host.Outcomes:
    """The results of the tests in the file `request.param`, which runs on first use."""
    file: Path = request.param
    if file not in known:
        window = new_window(project.copy_to(tmp_path / "demo").folder)
        outcomes = in_host.run(file, scripts, window)
        told = in_host.notifications(window)
        known[file] = {name: problem and f"{problem}\n{told}" for name, problem in outcomes.items()}
    return known[file]


def test_extension_api_types_match() -> None:
    in_host.check_types()


@pytest.mark.parametrize(("outcomes", "file"), FILES, indirect=["outcomes"])
def test_every_host_test_is_listed(outcomes: in_host.Outcomes, file: Path) -> None:
    assert tuple(outcomes) == in_host.names(file)


@pytest.mark.parametrize(("outcomes", "name"), TESTS, indirect=["outcomes"])
def test_host_tests_pass(outcomes: in_host.Outcomes, name: str) -> None:
    problem = outcomes[name]
    assert problem is None, problem
