"""Which job a capture is of, as which rank, and on which day: told by what the capture itself says of its run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import Metadata

# The first of them that is set counts. A rank is a number, whatever tells it.
_JOBS = ("FRAMEDEX_JOB", "SLURM_JOB_ID", "JOBSET_NAME", "JOB_NAME", "PMIX_NAMESPACE", "PMI_JOBID")
_RANKS = (
    *("FRAMEDEX_RANK", "JAX_PROCESS_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"),
    *("JOB_COMPLETION_INDEX", "TPU_WORKER_ID"),
)
_MOST_RANKS = 1 << 31
_LATEST = 1 << 62  # ns since 1970, in 2116: what is added to it later is still an integer of 64 bits
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a capture comes from.

    `capture` is its id, a hash of all that the recorder wrote of the run: a copy has the same, and of two that only
    claim to be the same one each has its own. `began` is in ns since 1970, 0 where the capture's clock tells nothing
    that can be, and `day` the day of that in UTC. `job` is empty and `rank` None where the environment named none.
    """

    capture: str
    began: int
    day: str
    job: str
    rank: int | None

    @classmethod
    def of(cls, metadata: Metadata) -> Origin:
        """The origin that the metadata of a capture tell."""
        told = metadata.started_unix_ns or 0
        began = told if told < _LATEST else 0
        ranks = (metadata.job.get(name, "") for name in _RANKS)
        return cls(
            capture=hashlib.sha256(metadata.text.encode("utf-8", "surrogateescape")).hexdigest()[:32],
            began=began,
            day=(_EPOCH + timedelta(microseconds=began // 1000)).date().isoformat(),
            job=next((metadata.job[name] for name in _JOBS if metadata.job.get(name)), ""),
            rank=next((int(rank) for rank in ranks if _is_rank(rank)), None),
        )


def _is_rank(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 11 and int(text) < _MOST_RANKS
