"""Data over a limit is omitted and reported; errors are explained with the line that caused them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ffi_running import CPU, FfiRun, run_ffi


@pytest.mark.exhaustive(keep=["500"])
@pytest.mark.parametrize("count", [500, 5000])
def test_eight_threads_lose_no_run(tmp_path: Path, count: int) -> None:
    completed = run_ffi("ffi_many.py", "8", str(count), folder=tmp_path, **CPU)
    runs = completed.calls("rms_norm")
    assert len(runs) == completed.result["runs"] == 8 * count
    assert {run.error for run in runs} == {0}
    by_site = {site["site"] for run in runs if (site := completed.site_of(run))}
    assert len(by_site) == 1


@pytest.mark.exhaustive
def test_without_free_trampolines_a_target_is_not_traced(tmp_path: Path) -> None:
    completed = run_ffi("ffi_pool.py", folder=tmp_path, **CPU)
    assert completed.result == [1.0, 1.0]
    left_alone = {target["target"] for target in completed.described("ffi_target") if not target["is_wrapped"]}
    assert "rms_norm" in left_alone
    assert completed.calls("rms_norm") == []


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """A run that calls targets in every wrong way."""
    return run_ffi("ffi_missing.py", folder=tmp_path_factory.mktemp("wrong"), **CPU)


def test_an_unregistered_target_is_explained(wrong: FfiRun) -> None:
    lines = wrong.result
    nowhere, elsewhere = wrong.described("ffi_problem")
    assert (nowhere["kind"], nowhere["target"], nowhere["registered_for"]) == ("not_registered", "nowhere", [])
    assert (elsewhere["target"], elsewhere["platform"]) == ("elsewhere", "Host")
    assert elsewhere["registered_for"] == ["CUDA"]
    for problem, line in ((nowhere, lines["nowhere"]), (elsewhere, lines["elsewhere"])):
        (site,) = [wrong.sites[site] for site in problem["sites"]]
        assert site["frames"][site["user_frame"]][1] == line
        assert problem["target"] in problem["message"]


def test_wrong_arguments_are_an_error_of_the_run_with_its_site(wrong: FfiRun) -> None:
    names = ("too many", "wrong attribute", "wrong attribute type", "wrong attribute kind", "wrong dtype")
    for run, name in zip(wrong.calls("rms_norm"), names, strict=True):
        site = wrong.site_of(run)
        assert site is not None
        assert site["frames"][site["user_frame"]][1] == wrong.result[name]
        assert run.error == 3
        assert run.arguments["error_message"]
