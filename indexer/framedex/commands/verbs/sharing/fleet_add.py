"""`framedex fleet add`: add captures to a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word
from framedex.commands.inputs.options import store_option
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import json_option, note, print_error, print_json, print_lines
from framedex.commands.output.render_answers import render_problem_lines
from framedex.commands.output.terminal import render_text_line

if TYPE_CHECKING:
    from framedex.base.progress import Progress
    from framedex.fleet.adding import AddedCapture


@click.command("add")
@click.argument("captures", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False))
@store_option
@click.option(
    "--scheduler", metavar="ADDRESS", help="Add them on a Dask cluster: tcp://HOST:PORT, or a scheduler file."
)
@click.option("--workers", metavar="N", type=click.IntRange(0), help="Number of local processes; 0: one.")
@json_option
@click.pass_context
def add_to_fleet(
    ctx: click.Context,
    captures: tuple[Path, ...],
    store: str,
    scheduler: str | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Add captures to a store, each exactly once.

    DIR is a capture or a folder of captures. You can interrupt it: the next run continues. The job and rank of a
    capture come from FRAMEDEX_JOB and FRAMEDEX_RANK at recording time, else from JAX, Slurm, Kubernetes or MPI.

    Default: one process, or one per processor for more than 256 MiB of captures if Dask is installed.
    """
    if scheduler is not None and workers is not None:
        raise click.UsageError("--workers is for local processes. Leave it out with --scheduler.")
    folders, refused = _find_captures(captures)
    for path, error in refused:
        print_error(_not_added_error(path, error))
    done: dict[Path, AddedCapture | FramedexError] = {}
    if folders:
        with (
            progress_on_terminal() as progress,
            _add_captures(folders, store, scheduler, workers, progress) as outcomes,
        ):
            for path, outcome in outcomes:
                done[path] = outcome
                if isinstance(outcome, FramedexError):
                    print_error(_not_added_error(path, outcome))
                elif not as_json:
                    _print_added(outcome)
    added: list[AddedCapture] = []
    for path in folders:  # in the given order, not in the order of completion
        if isinstance(outcome := done[path], FramedexError):
            refused.append((path, outcome))
        else:
            added.append(outcome)
    if as_json:
        print_json(
            {
                "store": store,
                "captures": [_build_added_document(each) for each in added],
                "left_out": _build_refused_documents(refused),
            }
        )
    elif added:
        note(f"Next: `framedex fleet query --store {quote_shell_word(store)}`")
    if refused:
        ctx.exit(1)


@contextmanager
def _add_captures(
    captures: Sequence[Path], store: str, scheduler: str | None, workers: int | None, progress: Progress
) -> Iterator[Iterator[tuple[Path, AddedCapture | FramedexError]]]:
    """Add captures on an existing cluster, with local processes, or in this process, and yield the outcomes."""
    from framedex.fleet.store_root import StoreRoot

    place = StoreRoot(store)
    if scheduler is None and workers is None:
        from framedex.fleet.cluster.sizes import count_worthwhile_processes

        workers = count_worthwhile_processes(captures)
    if scheduler is not None:
        from framedex.fleet.cluster.adding import add_by_cluster
        from framedex.fleet.cluster.existing import existing_cluster

        with existing_cluster(scheduler) as cluster:
            yield add_by_cluster(cluster, place, captures, progress)
    elif workers:
        from framedex.fleet.cluster.adding import add_by_cluster
        from framedex.fleet.cluster.local import local_cluster

        with local_cluster(workers, progress) as processes:
            yield add_by_cluster(processes, place, captures, progress)
    else:
        from framedex.fleet.adding import add_captures
        from framedex.fleet.naming import FrameNamer

        with FrameNamer() as names:
            yield add_captures(place, captures, names, progress)


def _find_captures(captures: Sequence[Path]) -> tuple[list[Path], list[tuple[Path, FramedexError]]]:
    """The captures that folders are or contain, each once, and the folders without captures with the reason."""
    from framedex.captures import find_captures_within

    found: dict[Path, None] = {}
    refused = []
    for folder in captures:
        try:
            found |= dict.fromkeys(path.absolute() for path in find_captures_within(folder))
        except FramedexError as error:
            refused.append((folder, error))
    return list(found), refused


def _not_added_error(path: Path, error: FramedexError) -> FramedexError:
    return FramedexError(f"{path} was not added. {error.message}", error.remedy)


def _print_added(added: AddedCapture) -> None:
    origin = added.origin
    rank = "" if origin.rank is None else f", rank {origin.rank}"
    of_job = f" of {origin.job}{rank}" if origin.job else rank
    contents = f"{words.count(added.calls, 'call')}, {words.count(added.stacks, 'stack')}"
    remark = "" if added.is_new else " (already in the store)"
    print_lines([render_text_line(f"{added.path}: {origin.capture}{of_job}: {contents}{remark}", "head")])
    print_lines(render_problem_lines(added.problems))


def _build_added_document(added: AddedCapture) -> dict[str, Any]:
    origin = added.origin
    return {
        "path": str(added.path),
        "capture": origin.capture,
        "day": origin.day,
        "job": origin.job,
        "rank": origin.rank,
        "calls": added.calls,
        "stacks": added.stacks,
        "is_new": added.is_new,
        "problems": list(added.problems),
    }


def _build_refused_documents(refused: Sequence[tuple[Path, FramedexError]]) -> list[dict[str, str]]:
    return [{"path": str(path), "problem": error.message, "remedy": error.remedy} for path, error in refused]
