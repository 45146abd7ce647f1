"""GitHub's workflows run the same `make` targets as here, with minimal permissions for each job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
GITHUB = REPOSITORY / ".github"
WORKFLOWS = {file.name: yaml.safe_load(file.read_text()) for file in sorted((GITHUB / "workflows").glob("*.yml"))}
JOBS = {f"{name} {job}": what for name, workflow in WORKFLOWS.items() for job, what in workflow["jobs"].items()}
# Permissions of a job besides reading the sources.
MAY = {
    "guidebook.yml publish": {"pages": "write", "id-token": "write"},
    "release.yml pypi": {"id-token": "write"},
    "release.yml github": {"contents": "write"},
    "release-maps.yml propose": {"contents": "write", "pull-requests": "write"},
    "release-maps.yml publish": {"contents": "write"},
}


def steps() -> Iterator[dict[str, Any]]:
    for job in JOBS.values():
        yield from job.get("steps", ())


def test_each_running_workflow_step_is_a_make_target() -> None:
    made = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", made, re.MULTILINE))
    commands = [step["run"] for step in steps() if "run" in step]
    assert len(commands) > 10
    for command in commands:
        found = re.fullmatch(r'make ([a-z-]+)(?: [A-Z]+=(?:\w+|"\$GITHUB_REF_NAME"))*', command)
        assert found and found[1] in targets, command


def test_test_editors_runs_each_test_that_it_sets_up() -> None:
    """Elsewhere these tests are skipped."""
    skips = re.compile(r'reason="[^"]+; `make test-editors`|needs[_]browser')
    tests = [file for file in (REPOSITORY / "tests").rglob("test_*.py") if skips.search(file.read_text())]
    skipped = {str(file.relative_to(REPOSITORY)) for file in tests}
    _, _, run = (REPOSITORY / "Makefile").read_text().partition("\nEDITOR_TESTS := ")
    assert len(skipped) >= 5
    assert skipped - set(run.partition("\n\n")[0].split()) == set()


def test_each_action_is_pinned_to_a_commit_with_its_version() -> None:
    for file in (GITHUB / "workflows").glob("*.yml"):
        for line in file.read_text().splitlines():
            if "uses:" in line and "uses: ./" not in line:
                assert re.search(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_an_action_has_one_version_everywhere() -> None:
    used = [step["uses"].split("@") for step in steps() if "uses" in step]
    assert len({name for name, _ in used}) == len({(name, commit) for name, commit in used})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_no_permissions_beyond_its_jobs(name: str) -> None:
    assert WORKFLOWS[name]["permissions"] == {}
    assert WORKFLOWS[name]["concurrency"]["group"]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_only_its_needed_permissions(name: str) -> None:
    assert JOBS[name]["permissions"] == MAY.get(name, {"contents": "read"})
    assert "uses" in JOBS[name] or JOBS[name]["timeout-minutes"] <= 180


def test_no_checkout_persists_its_token() -> None:
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_secrets_are_available_in_a_protected_environment_only() -> None:
    for name, job in JOBS.items():
        assert ("secrets." in str(job)) <= ("environment" in job), name


def test_downloaded_artifacts_come_from_a_required_job() -> None:
    handed = {job: _artifacts(what, "upload-artifact") for job, what in JOBS.items()}
    for name, job in JOBS.items():
        file = name.split()[0]
        before = [job for needed in _needed(file, job) for job in _expanded(file, needed)]
        there = {artifact for other in before for artifact in handed[other]}
        assert set(_artifacts(job, "download-artifact")) <= there, name


def test_only_a_release_tag_publishes() -> None:
    # YAML 1.1 parses `on` as true.
    release = {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}
    assert WORKFLOWS["release.yml"][True] == release
    assert WORKFLOWS["guidebook.yml"][True] == release | {"workflow_dispatch": None}
    proving = {name for name, job in JOBS.items() if "id-token" in job["permissions"]}
    assert proving == {"guidebook.yml publish", "release.yml pypi"}


def _artifacts(job: dict[str, Any], action: str) -> list[str]:
    used = [step for step in job.get("steps", ()) if step.get("uses", "").startswith(f"actions/{action}@")]
    return [step["with"]["name"] for step in used]


def _needed(file: str, job: dict[str, Any]) -> set[str]:
    """The jobs of a workflow that a job depends on, directly or indirectly."""
    needs = job.get("needs", [])
    found = {needs} if isinstance(needs, str) else set(needs)
    return found.union(*(_needed(file, WORKFLOWS[file]["jobs"][name]) for name in found))


def _expanded(file: str, name: str) -> list[str]:
    """The jobs behind a job: those of the workflow that it calls, or itself."""
    called = JOBS[f"{file} {name}"].get("uses", "")
    if not called.startswith("./"):
        return [f"{file} {name}"]
    return [job for job in JOBS if job.startswith(f"{Path(called).name} ")]
