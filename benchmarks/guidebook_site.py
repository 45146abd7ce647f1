"""What a guidebook costs: to index captures, to observe them, to write the site; and how large it is.

    python benchmarks/guidebook_site.py CAPTURES [--rounds 3]

CAPTURES is a folder of captures, such as build/guidebook/captures after `make guidebook-captures`. Each round indexes
all of them anew, observes them, keeps and reads what was observed, and writes the site, one after the other in this
process. Seconds of processor time and by the clock, medians; the share is of processor time. mkdocs-material has to be
installed (`pip install 'framedex[guidebook]'`).
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from framedex.captures import captures_within
from framedex.guidebook.described import described, releases
from framedex.guidebook.keeping import kept, read_kept
from framedex.guidebook.observing import observe
from framedex.guidebook.site.writing import write_site
from framedex.index import Index, Store
from framedex.ingest import Silence, ingest_captures

_STEPS = ("index", "observe", "keep", "read what is kept", "write the site")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    captures = captures_within(options.captures)
    taken: dict[str, list[tuple[float, float]]] = {step: [] for step in _STEPS}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            runs, calls, sizes = _round(captures, Path(folder), taken)
    processor = {step: statistics.median(each[0] for each in times) for step, times in taken.items()}
    clock = {step: statistics.median(each[1] for each in times) for step, times in taken.items()}
    table = Table("step", "processor, s", "clock, s", "share")
    for step in _STEPS:
        share = processor[step] / sum(processor.values())
        table.add_row(step, f"{processor[step]:.1f}", f"{clock[step]:.1f}", f"{share:.0%}")
    table.add_row("all", f"{sum(processor.values()):.1f}", f"{sum(clock.values()):.1f}", "")
    Console().print(f"{runs} runs, {calls:,} calls; {sizes}; {_peak():.0f} MiB at most")
    Console().print(table)


def _round(captures: list[Path], folder: Path, taken: dict[str, list[tuple[float, float]]]) -> tuple[int, int, str]:
    index, kept_in, site = folder / "index.db", folder / "kept.json", folder / "site"
    with _timed(taken["index"]), Store(index) as store:
        ingest_captures(store, captures, [], Silence())
    with _timed(taken["observe"]), Index.open(index) as opened:
        observations = observe(opened)
    with _timed(taken["keep"]):
        kept_in.write_text(kept(observations))
    with _timed(taken["read what is kept"]):
        read_kept(kept_in)
    with _timed(taken["write the site"]):
        write_site(observations, described(), site, title="Guidebook", releases=releases())
    pages = [page.stat().st_size for page in site.rglob("*.html")]
    everything = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    sizes = (
        f"site {everything / 1e6:.1f} MB, {len(pages)} pages, the largest {max(pages) / 1e3:.0f} kB;"
        f" kept {kept_in.stat().st_size / 1e6:.1f} MB"
    )
    return len(observations.runs), sum(run.calls for run in observations.runs), sizes


@contextmanager
def _timed(times: list[tuple[float, float]]) -> Iterator[None]:
    processor, clock = _processor(), time.perf_counter()
    yield
    times.append((_processor() - processor, time.perf_counter() - clock))


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
