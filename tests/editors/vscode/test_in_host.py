"""The tests in `host/`, each with its name here."""

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
    """Where the scripts are that the files are made into."""
    return tmp_path_factory.mktemp("scripts")


@pytest.fixture(scope="session")
def known() -> dict[Path, in_host.Outcomes]:
    """How the tests of the files that have been run ended."""
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
    """How the tests of the file `request.param` ended; they run when that is first asked."""
    file: Path = request.param
    if file not in known:
        known[file] = in_host.run(file, scripts, new_window(project.copy_to(tmp_path / "demo").folder))
    return known[file]


def test_they_fit_the_api() -> None:
    in_host.check_types()


@pytest.mark.parametrize(("outcomes", "file"), FILES, indirect=["outcomes"])
def test_all_are_listed(outcomes: in_host.Outcomes, file: Path) -> None:
    assert tuple(outcomes) == in_host.names(file)


@pytest.mark.parametrize(("outcomes", "name"), TESTS, indirect=["outcomes"])
def test_in_host(outcomes: in_host.Outcomes, name: str) -> None:
    problem = outcomes[name]
    assert problem is None, problem
