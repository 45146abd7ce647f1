"""What there is too much of is left out and said; what goes wrong is explained with the line that caused it."""

from __future__ import annotations

from pathlib import Path

from tests.ffi_running import CPU, run_ffi


def test_eight_threads_lose_no_run(tmp_path: Path) -> None:
    ended = run_ffi("ffi_many.py", "8", "5000", folder=tmp_path, **CPU)
    runs = ended.calls("rms_norm")
    assert len(runs) == ended.result["runs"] == 8 * 5000
    assert {run.error for run in runs} == {0}
    by_site = {site["site"] for run in runs if (site := ended.site_of(run))}
    assert len(by_site) == 1


def test_without_trampolines_left_a_target_is_left_alone(tmp_path: Path) -> None:
    ended = run_ffi("ffi_pool.py", folder=tmp_path, **CPU)
    assert ended.result == [1.0, 1.0]
    left_alone = {target["target"] for target in ended.described("ffi_target") if not target["is_wrapped"]}
    assert "rms_norm" in left_alone
    assert ended.calls("rms_norm") == []


def test_a_target_that_nobody_registered_is_explained(tmp_path: Path) -> None:
    ended = run_ffi("ffi_missing.py", folder=tmp_path, **CPU)
    lines = ended.result
    nowhere, elsewhere = ended.described("ffi_problem")
    assert (nowhere["kind"], nowhere["target"], nowhere["registered_for"]) == ("not_registered", "nowhere", [])
    assert (elsewhere["target"], elsewhere["platform"]) == ("elsewhere", "Host")
    assert elsewhere["registered_for"] == ["CUDA"]
    for problem, line in ((nowhere, lines["nowhere"]), (elsewhere, lines["elsewhere"])):
        (site,) = [ended.sites[site] for site in problem["sites"]]
        assert site["frames"][site["user_frame"]][1] == line
        assert problem["target"] in problem["message"]


def test_wrong_arguments_are_an_error_of_the_run_with_its_site(tmp_path: Path) -> None:
    ended = run_ffi("ffi_missing.py", folder=tmp_path, **CPU)
    for run, name in zip(ended.calls("rms_norm"), ("too many", "wrong attribute", "wrong dtype"), strict=True):
        site = ended.site_of(run)
        assert site is not None
        assert site["frames"][site["user_frame"]][1] == ended.result[name]
        assert run.error == 3
        assert run.arguments["error_message"]
