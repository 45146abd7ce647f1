"""The recording of a block of code, with the answers of its own index."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framedex.budgets.judging import judge
from framedex.budgets.telling import budget_findings, finding_texts
from framedex.errors import FramedexError
from framedex.index import Index
from framedex.index.answered import Answered
from framedex.model import CallFilter, Metadata

if TYPE_CHECKING:
    from framedex.budgets.model import Budget
    from framedex.index.ask.call.calls import Calls
    from framedex.model import CaptureRow


class Recording(Answered):
    """The recording of a block, for queries after its end. Durations are in ns, sizes in bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._captures: Sequence[Path] | None = None

    def ended(self, captures: Sequence[Path]) -> None:
        """Mark the block as ended, and store its captures."""
        self._captures = captures

    @property
    def calls(self) -> Calls:
        """The recorded calls and their stacks."""
        return self.index.calls

    @cached_property
    def index(self) -> Index:
        """The index of the block alone.

        Raises FramedexError before the end of the block, and if nothing could be recorded.
        """
        if self._captures is None:
            raise FramedexError("Query a recording after its `with` block.", "Move the query below the block.")
        path = self.index_path
        _write_index(path, self._captures)
        index = Index.open(path)
        _check_that_it_tells(index)
        return index

    @property
    def index_path(self) -> Path:
        """The path of the index; the file exists after the first query."""
        return self._folder / "index.db"

    def close(self) -> None:
        """Close the index; no further queries are possible."""
        if "index" in vars(self):
            self.index.close()

    def hold_to(self, budgets: Sequence[Budget]) -> str:
        """The exceeded or unjudged budgets of the block as text; empty if all are kept.

        Warns about data that the figures lack.
        """
        verdicts = judge([self.index], budgets)
        for doubt in dict.fromkeys(verdict.doubt for verdict in verdicts if verdict.doubt):
            warnings.warn(pytest.PytestWarning(f"A budget is kept as far as is known: {doubt}."), stacklevel=2)
        problems = [verdict.problem for verdict in verdicts if verdict.problem]
        return "\n".join([*finding_texts(budget_findings(verdicts)), *problems])


def _write_index(path: Path, captures: Sequence[Path]) -> None:
    """Index captures without the sources of native functions, which answers about Python lines do not need."""
    from framedex.index import Store
    from framedex.ingest import Silence, ingest_captures, no_sources

    with Store(path) as store:
        report = ingest_captures(store, captures, [], Silence(), no_sources)
    for capture, error in report.refused:
        raise FramedexError(f"{capture} cannot be read: {error.message}", error.remedy)


def _check_that_it_tells(index: Index) -> None:
    """Raise FramedexError if missing calls could make a budget appear kept."""
    from framedex.missing import stopped_early

    captures = index.captures()
    for capture in captures:
        if capture.stops:
            raise FramedexError("Some calls are missing, so budgets cannot be checked.", stopped_early(capture.stops))
        if chosen := Metadata.parse(capture.metadata_text).selected_by:
            raise FramedexError(
                f"The recording excludes calls ({', '.join(sorted(chosen))}), so budgets cannot be checked.",
                "Run the tests without these variables.",
            )
    if not index.calls.find(CallFilter(function=_RUNTIME), 1) and (why := _why_nothing(captures)):
        raise FramedexError(f"No runtime calls were recorded, so budgets cannot be checked: {why}.", _ON_ANOTHER_DEVICE)


_RUNTIME = "PJRT_*"
_ON_ANOTHER_DEVICE = (
    "A conftest.py, a test or the code under test may set JAX_PLATFORMS, jax_platforms or jax_default_device: leave"
    " them to framedex, or set them to 'tpu,cpu'."
)


def _why_nothing(captures: Sequence[CaptureRow]) -> str:
    """Why nothing could be recorded; empty if the code may simply have made no calls."""
    jax = sys.modules.get("jax")
    if jax is None:
        return "JAX was not imported"
    if any(capture.calls for capture in captures):
        return "what was recorded is not of the PJRT C API"
    device = jax.config.jax_default_device
    platform: str = getattr(device, "platform", device) or jax.default_backend()
    return f"JAX runs on {platform}" if platform == "cpu" else ""
