"""The fixture `recorded`: record blocks of a test, query the recordings, and check them against budgets."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import pytest

from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word
from framedex.budgets.model import Budget, parse_budgets
from framedex.budgets.verdicts import build_budget_findings, format_findings, judge
from framedex.index import Index
from framedex.index.cost_tables import CostTables
from framedex.integrations.process_recorder import Recorder
from framedex.model import CallFilter, Metadata

if TYPE_CHECKING:
    from framedex.index.ask.call.calls import Calls
    from framedex.model import CaptureRow


class Recording(CostTables):
    """The recording of a block, for queries after its end. Durations are in ns, sizes in bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._captures: Sequence[Path] | None = None

    def set_captures(self, captures: Sequence[Path]) -> None:
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
        from framedex.ingest.temporary import write_plain_index

        write_plain_index(path, self._captures)
        index = Index.open(path)
        _check_completeness(index)
        return index

    @property
    def index_path(self) -> Path:
        """The path of the index; the file exists after the first query."""
        return self._folder / "index.db"

    def close(self) -> None:
        """Close the index; no further queries are possible."""
        if "index" in vars(self):
            self.index.close()

    def check_budgets(self, budgets: Sequence[Budget]) -> str:
        """The exceeded or unjudged budgets of the block as text; empty if all are met.

        Warns about data that the figures lack.
        """
        verdicts = judge([self.index], budgets)
        for doubt in dict.fromkeys(verdict.missing_data for verdict in verdicts if verdict.missing_data):
            warnings.warn(
                pytest.PytestWarning(f"A budget is met according to the recording, but: {doubt}."), stacklevel=2
            )
        problems = [verdict.problem for verdict in verdicts if verdict.problem]
        return "\n".join([*format_findings(build_budget_findings(verdicts)), *problems])


def _check_completeness(index: Index) -> None:
    """Raise FramedexError if missing calls could hide an exceeded budget."""
    from framedex.texts.captures import format_early_stop

    captures = index.captures()
    for capture in captures:
        if capture.stops:
            raise FramedexError(
                "Some calls are missing, so budgets cannot be checked.", format_early_stop(capture.stops)
            )
        if chosen := Metadata.parse(capture.metadata_text).selected_by:
            raise FramedexError(
                f"The recording excludes calls ({', '.join(sorted(chosen))}), so budgets cannot be checked.",
                "Run the tests without these variables.",
            )
    if not index.calls.find(CallFilter(function=_RUNTIME_PATTERN), 1) and (why := _empty_reason(captures)):
        raise FramedexError(f"No runtime calls were recorded, so budgets cannot be checked: {why}.", _PLATFORM_REMEDY)


_RUNTIME_PATTERN = "PJRT_*"
_PLATFORM_REMEDY = (
    "A conftest.py, a test or the code under test may set JAX_PLATFORMS, jax_platforms or jax_default_device: leave"
    " them to framedex, or set them to 'tpu,cpu'."
)


def _empty_reason(captures: Sequence[CaptureRow]) -> str:
    """The reason why nothing was recorded; empty if the code may simply have made no calls."""
    jax = sys.modules.get("jax")
    if jax is None:
        return "JAX was not imported"
    if any(capture.calls for capture in captures):
        return "the recorded calls are not from the PJRT C API"
    device = jax.config.jax_default_device
    platform: str = getattr(device, "platform", device) or jax.default_backend()
    return f"JAX runs on {platform}" if platform == "cpu" else ""


class BlockRecorder:
    """Records the blocks of one test. Captures and indexes are kept only if a block exceeds its budget."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="framedex-"))
        self._recorder = Recorder(self._folder / "captures")
        self._recordings: list[Recording] = []
        self._keeps_files = False

    def __call__(
        self,
        *,
        compiles: object = None,
        implicit_transfers: object = None,
        memory: int | str | None = None,
        clear_caches: bool = False,
    ) -> RecordedBlock:
        """Record a `with` block, whose value is a `Recording`; the budgets are as those of the mark.

        Raises FramedexError if a budget is malformed.
        """
        named = {"compiles": compiles, "implicit_transfers": implicit_transfers, "memory": memory}
        return self.block(parse_budgets(named), clear_caches=clear_caches)

    def block(self, budgets: Sequence[Budget], *, clear_caches: bool, owner: str = "this block") -> RecordedBlock:
        """Record a block with parsed budgets; `owner` names their owner in the message about an exceeded budget."""
        self._recordings.append(Recording(self._folder / f"{len(self._recordings) + 1}"))
        return RecordedBlock(self, self._recorder, self._recordings[-1], budgets, clear_caches, owner)

    def keep_files(self) -> None:
        """Keep the files of the recordings, because a message refers to them."""
        self._keeps_files = True

    def __enter__(self) -> BlockRecorder:
        return self

    def __exit__(self, *_: object) -> None:
        for recording in self._recordings:
            recording.close()
        if not self._keeps_files:
            shutil.rmtree(self._folder, ignore_errors=True)


class RecordedBlock:
    """A `with` block that is recorded, and fails at its end if it exceeds a budget."""

    def __init__(
        self,
        recorded: BlockRecorder,
        recorder: Recorder,
        recording: Recording,
        budgets: Sequence[Budget],
        clear_caches: bool,
        owner: str,
    ) -> None:
        self._recorded, self._recorder, self._recording = recorded, recorder, recording
        self._budgets, self._clear_caches, self._owner = budgets, clear_caches, owner
        self._stack = ExitStack()

    def __enter__(self) -> Recording:
        """Start recording. Raises FramedexError if that is impossible."""
        jax = sys.modules.get("jax")
        if self._clear_caches and jax is not None:
            jax.clear_caches()
        self._captures = self._stack.enter_context(self._recorder.block())
        return self._recording

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop recording, and fail if a budget is exceeded. An exception of the block takes precedence."""
        __tracebackhide__ = True
        self._stack.__exit__(kind, error, trace)
        self._recording.set_captures(self._captures)
        if error is None and self._budgets and (problems := self._check_budgets()):
            pytest.fail(problems, pytrace=self._owner != "this test")

    def _check_budgets(self) -> str:
        """The exceeded budgets, or the reason why they cannot be judged; empty if all are met."""
        try:
            broken = self._recording.check_budgets(self._budgets)
        except FramedexError as error:
            return str(error)
        if not broken:
            return ""
        self._recorded.keep_files()
        index = quote_shell_word(str(self._recording.index_path))
        more = f"For details: `framedex --index {index} compiles`, `transfers` or `memory`."
        return f"Over the budget of {self._owner}:\n{broken}\n{more}"
