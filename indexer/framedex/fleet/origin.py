"""The job, rank and day of a capture, from its metadata."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import Metadata

# The first variable that is set counts. A rank must be a number.
_JOBS = ("FRAMEDEX_JOB", "SLURM_JOB_ID", "JOBSET_NAME", "JOB_NAME", "PMIX_NAMESPACE", "PMI_JOBID")
_RANKS = (
    *("FRAMEDEX_RANK", "JAX_PROCESS_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"),
    *("JOB_COMPLETION_INDEX", "TPU_WORKER_ID"),
)
_MAX_RANKS = 1 << 31
# Variables with the number of ranks of a job.
_SIZES = ("SLURM_NTASKS", "JAX_NUM_PROCESSES", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_LATEST = 1 << 62  # ns since the Unix epoch, in 2116; leaves room in 64 bits for durations
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Origin:
    """The run that a capture belongs to.

    `capture` is its id, a hash of its metadata: copies share an id, different captures do not. `started_ns` is in ns
    since 1970, or 0 if the start time is missing or impossible. `day` is the day of `started_ns` in UTC. `job` is empty
    and `rank` None if the environment did not set them.
    """

    capture: str
    started_ns: int
    day: str
    job: str
    rank: int | None

    @classmethod
    def from_metadata(cls, metadata: Metadata) -> Origin:
        """Return the origin of a capture with this metadata."""
        recorded_ns = metadata.started_unix_ns or 0
        began = recorded_ns if recorded_ns < _LATEST else 0
        ranks = (metadata.job.get(name, "") for name in _RANKS)
        return cls(
            capture=hashlib.sha256(metadata.text.encode("utf-8", "surrogateescape")).hexdigest()[:32],
            started_ns=began,
            day=(_EPOCH + timedelta(microseconds=began // 1000)).date().isoformat(),
            job=next((metadata.job[name] for name in _JOBS if metadata.job.get(name)), ""),
            rank=next((int(rank) for rank in ranks if _is_rank(rank)), None),
        )


def read_job_size(metadata: Metadata) -> int | None:
    """The number of ranks of a capture's job, None if the environment did not set it."""
    sizes = (metadata.job.get(name, "") for name in _SIZES)
    return next((int(size) for size in sizes if _is_rank(size) and int(size) > 0), None)


def _is_rank(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 11 and int(text) < _MAX_RANKS
