"""The indexing process of the server: its answers, cancellation and death."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from framedex.base.errors import FramedexError
from framedex.index import Index, Store
from framedex_server.jobs import IndexingWorker, record_script
from framedex_server.worker import WAITING_TEXT
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


class Told:
    """Records progress messages, and sets an event at one."""

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.first = asyncio.Event()

    def __call__(self, task: str, done: int, total: int | None) -> None:
        self.tasks.append(task)
        self.first.set()


@pytest_asyncio.fixture
async def worker() -> AsyncIterator[IndexingWorker]:
    working = IndexingWorker()
    yield working
    process = working._process
    working.close()
    if process is not None:
        await process.wait()


def index_request(recording: Recording, sources: Path) -> dict[str, Any]:
    return {
        "do": "index",
        "index": str(recording.index),
        "captures": [],
        "sources": [str(sources)],
        "rules": [],
        "lazy": False,
    }


def slow_tree(folder: Path) -> Path:
    """Sources that take longer to read than a cancellation takes to arrive."""
    text = "".join(f"int function_{number}(int x) {{ return other_{number}(x); }}\n" for number in range(2000))
    folder.mkdir()
    for number in range(400):
        (folder / f"file_{number}.cc").write_text(text)
    return folder


async def test_the_job_indexes_and_reports_progress(recording: Recording, worker: IndexingWorker) -> None:
    told = Told()
    result = await worker.run(index_request(recording, recording.root), told)
    assert result == {"captures": 0, "calls": 0, "refused": []}
    assert told.tasks
    with Index.open(recording.index) as index:
        assert index.sources.health().roots == (str(recording.root),)


async def test_a_problem_is_an_error_with_its_remedy(tmp_path: Path, worker: IndexingWorker) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(FramedexError) as caught:
        await worker.run({"do": "refresh", "index": str(notes), "files": []}, Told())
    assert "notes.txt" in caught.value.message and caught.value.remedy
    assert notes.read_text() == "mine"


@pytest.mark.exhaustive
async def test_cancelled_work_stops_and_the_next_job_runs(
    recording: Recording, worker: IndexingWorker, tmp_path: Path
) -> None:
    """When a long indexing is cancelled, the worker is soon free for the next task."""
    told = Told()
    work = asyncio.create_task(worker.run(index_request(recording, slow_tree(tmp_path / "slow")), told))
    await told.first.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert (await worker.run({"do": "refresh", "index": str(recording.index), "files": []}, Told()))["parsed"] == 0


async def test_after_a_crash_the_next_request_starts_a_new_worker(recording: Recording, worker: IndexingWorker) -> None:
    request = {"do": "refresh", "index": str(recording.index), "files": []}
    await worker.run(request, Told())
    assert worker._process is not None
    # Stopped first: it cannot answer before it is killed.
    worker._process.send_signal(signal.SIGSTOP)
    dying = asyncio.create_task(worker.run(request, Told()))
    await asyncio.sleep(0)
    worker._process.kill()
    with pytest.raises(FramedexError, match="ended unexpectedly"):
        await dying
    assert (await worker.run(request, Told()))["parsed"] == 0


async def test_the_job_waits_for_another_indexer_and_says_so(recording: Recording, worker: IndexingWorker) -> None:
    request = {"do": "refresh", "index": str(recording.index), "files": []}
    with Store(recording.index) as store:
        with store.transaction():
            told = Told()
            waiting = asyncio.create_task(worker.run(request, told))
            await asyncio.wait([waiting, asyncio.ensure_future(told.first.wait())], return_when=FIRST_COMPLETED)
            assert told.tasks == [WAITING_TEXT] and not waiting.done()
        assert (await waiting)["parsed"] == 0


async def test_a_cancelled_recording_interrupts_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os\nprint(os.getpid(), os.getppid(), flush=True)\nwhile True:\n    os.getpid()\n")
    printed: asyncio.Queue[str] = asyncio.Queue()
    recording = asyncio.create_task(record_script(program, tmp_path, printed.put_nowait))
    processes = [os.pidfd_open(int(process)) for process in (await printed.get()).split()]

    recording.cancel()

    await asyncio.wait_for(asyncio.gather(*(end_of(process) for process in processes)), 60)


async def end_of(process: int) -> None:
    """Wait for the process of a file descriptor to end, and close the descriptor."""
    loop, has_ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process, has_ended.set)
    try:
        await has_ended.wait()
    finally:
        loop.remove_reader(process)
        os.close(process)
