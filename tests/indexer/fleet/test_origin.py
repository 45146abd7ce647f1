"""The job and rank of a capture."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from framedex.captures import read_metadata
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import build_job_folder_name, is_part_name, own_file_name, partition_folder
from framedex.model import Metadata
from tests.indexer.fleet.fleets import JOB, job


def test_the_recorder_stores_the_job_variables_only() -> None:
    for rank, capture in enumerate(job()):
        metadata = read_metadata(capture)

        assert metadata.job == {"FRAMEDEX_JOB": JOB, "SLURM_PROCID": str(rank)}
        assert "secret" not in metadata.text
        assert (Origin.from_metadata(metadata).job, Origin.from_metadata(metadata).rank) == (JOB, rank)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, ("", None)),
        ({"SLURM_JOB_ID": "71", "SLURM_PROCID": "3"}, ("71", 3)),
        ({"FRAMEDEX_JOB": "mine", "FRAMEDEX_RANK": "5", "SLURM_JOB_ID": "71", "SLURM_PROCID": "3"}, ("mine", 5)),
        ({"JAX_PROCESS_ID": "2", "JOB_COMPLETION_INDEX": "7"}, ("", 2)),
        ({"JOBSET_NAME": "train", "JOB_COMPLETION_INDEX": "7"}, ("train", 7)),
        ({"PMIX_NAMESPACE": "prterun-1", "OMPI_COMM_WORLD_RANK": "1"}, ("prterun-1", 1)),
        ({"FRAMEDEX_RANK": "first", "SLURM_PROCID": "4"}, ("", 4)),
        ({"FRAMEDEX_RANK": "-1"}, ("", None)),
        ({"FRAMEDEX_RANK": "٣"}, ("", None)),
        ({"FRAMEDEX_RANK": "9" * 5000}, ("", None)),
    ],
)
def test_the_environment_defines_job_and_rank(variables: dict[str, str], expected: tuple[str, int | None]) -> None:
    origin = Origin.from_metadata(Metadata.parse(json.dumps({"job": variables})))

    assert (origin.job, origin.rank) == expected


@pytest.mark.parametrize(
    ("started", "day"),
    [(None, "1970-01-01"), (1_795_485_700_201_608_334, "2026-11-24"), ((1 << 63) - 1, "1970-01-01"), (0, "1970-01-01")],
)
def test_an_impossible_clock_defines_no_day(started: int | None, day: str) -> None:
    origin = Origin.from_metadata(replace(Metadata(), started_unix_ns=started))

    assert origin.day == day


@pytest.mark.parametrize(
    "name", ["", "-", "..", "a/b", "../../etc", "%2F", "day=1/x", "\0", "é" * 300, "\udcff", "a\nb"]
)
def test_any_job_name_becomes_one_folder_name(name: str) -> None:
    origin = replace(Origin.from_metadata(Metadata()), job=name)
    _, folder = partition_folder(origin).split("/")

    assert folder.startswith("job=") and 4 < len(folder) < 200 and folder.isascii() and folder.isprintable()
    assert is_part_name(f"{partition_folder(origin)}/{own_file_name(origin, 'state', 1)}", origin.capture)


def test_two_jobs_have_two_folders() -> None:
    jobs = ["", "-", "%2D", ".", "a", "a/", "a%2F", "x" * 300, "x" * 301]

    assert len({build_job_folder_name(each) for each in jobs}) == len(jobs)
