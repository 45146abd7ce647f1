"""Programs that end with pending work: the right exit status, no lost data, no crash, no hang."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.running import PROGRAMS, run

# Statuses other than 0, and the text printed after "out".
STATUS = {
    "raises": 1,
    "raises_in_jax": 1,
    "exits_with_a_status": 3,
    "exits_at_once": 4,
    "is_terminated": -signal.SIGTERM,
    "is_interrupted": -signal.SIGINT,
    "is_interrupted_while_waiting": -signal.SIGINT,
    "is_interrupted_while_compiling": -signal.SIGINT,
}
PRINTED = {
    "ordered_callback_is_pending": "called",
    "unordered_callback_is_pending": "called",
    "debug_print_is_pending": "x is 3.0",
    "replaces_itself": "another program",
    "forks": "child",
    "starts_another_program": "another program",
    "spawns_a_process_that_uses_jax": "5.0",
    "runs_in_a_hook": "1.0",
    "runs_in_a_hook_after_jax": "2.0",
}
EXCEPTIONS = {
    "raises": "ValueError: from the program",
    "raises_in_jax": "TypeError",
    "failed_computation_is_never_read": "jax.pure_callback failed",  # as JAX logs it
    "is_interrupted": "KeyboardInterrupt",
    "is_interrupted_while_waiting": "KeyboardInterrupt",
    "is_interrupted_while_compiling": "KeyboardInterrupt",
}
CRASH = re.compile(
    r"Fatal|fatal|[Tt]erminate called|Check fail|Segmentation|Aborted|Deadlock|^F\d{4}|^\*\*\*", re.MULTILINE
)
ENDINGS = [
    name
    for name in re.findall(r"^def (\w+)\(\):$", (PROGRAMS / "pending.py").read_text(), re.MULTILINE)
    if name != "late"
]
# A pending callback and a signal.
KEPT = [
    "ordered_callback_is_pending",
    "is_interrupted_while_waiting",
]


@pytest.mark.exhaustive(keep=[f"{ending}-recorded" for ending in KEPT])
@pytest.mark.parametrize("way", ["recorded", "unrecorded"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_with_pending_work_exits_cleanly(ending: str, way: str, tmp_path: Path) -> None:
    settings = {"FRAMEDEX_DEVICES": "8", "JAX_PLATFORMS": "tpu,cpu"}
    settings |= {"FRAMEDEX_RECORD": "0"} if way == "unrecorded" else {}
    program_run = run("pending.py", ending, folder=tmp_path, **settings)
    # Python drops a KeyboardInterrupt that reaches the callback of a weak reference. What it interrupted fails then.
    is_dropped = "Exception ignored in" in program_run.stderr and "interrupted by the keyboard" in program_run.stderr
    assert program_run.status == (1 if is_dropped else STATUS.get(ending, 0)), program_run.stderr
    assert program_run.stdout.split("\n") == [*filter(None, ["out", PRINTED.get(ending)]), ""]
    assert not CRASH.search(program_run.stderr), program_run.stderr
    assert EXCEPTIONS.get(ending, "") in program_run.stderr
    assert ("Traceback" in program_run.stderr) == (ending in EXCEPTIONS), program_run.stderr


def test_every_ending_in_the_tables_exists_in_the_program() -> None:
    assert {*STATUS, *PRINTED, *EXCEPTIONS, *KEPT} <= set(ENDINGS)
    # These make up the figure of fifty clean exits, with and without recording.
    assert 2 * len(ENDINGS) >= 50
