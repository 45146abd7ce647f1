"""Figures that benchmarks measure: the JSON files of `results/` and the tables of `RESULTS.md`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
PAGE = FOLDER / "RESULTS.md"

_INTRODUCTION = """\
# Benchmark results

`python -m benchmarks --table` generates this page from `benchmarks/results/`. [README.md](README.md) describes how to
run a benchmark. Longer reports of earlier measurements are in the git history of this file.

A comparison is the ratio of the figure to the same figure of a peer, measured in the same run. Compare ratios: absolute
times depend on the machine and its load.
"""
_COLUMNS = ("benchmark", "figure", "value", "comparison", "machine", "date", "commit")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `ratio` is the value divided by the value of `peer`, which the same run measured.

    `note` is one sentence, for a figure that its name does not explain. `save_figures` fills in the last four fields.
    """

    name: str
    value: float
    unit: str = ""
    peer: str = ""
    ratio: float | None = None
    note: str = ""
    benchmark: str = ""
    machine: str = ""
    date: str = ""
    commit: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the figure among those of its subject."""
        return self.benchmark, self.name

    @property
    def comparison(self) -> str:
        """The comparison as a table shows it; empty without a peer."""
        return "" if self.ratio is None else f"{format_number(self.ratio)} times {self.peer}"


def read_figures(subject: str, folder: Path = RESULTS) -> list[Figure]:
    """Read the figures of a subject; empty if none were saved."""
    path = folder / f"{subject}.json"
    return [Figure(**row) for row in json.loads(path.read_text())] if path.exists() else []


def save_figures(subject: str, benchmark: str, figures: Iterable[Figure], folder: Path = RESULTS) -> Path:
    """Save measured figures with machine, date and commit, in place of figures with the same name; return the file.

    A figure without a note keeps the note of the figure that it replaces.
    """
    saved = {figure.key: figure for figure in read_figures(subject, folder)}
    machine, date, commit = describe_machine(), _today(), _commit()
    for figure in figures:
        complete = replace(figure, benchmark=benchmark, machine=machine, date=date, commit=commit)
        note = complete.note or (saved[complete.key].note if complete.key in saved else "")
        saved[complete.key] = replace(complete, note=note)
    folder.mkdir(exist_ok=True)
    path = folder / f"{subject}.json"
    path.write_text(format_figures(saved.values()))
    return path


def format_figures(figures: Iterable[Figure]) -> str:
    """Format figures as JSON without empty fields: one figure a line, for readable diffs."""
    rows = [{name: value for name, value in asdict(figure).items() if value not in ("", None)} for figure in figures]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n" if rows else "[]\n"


def render_page(titles: Mapping[str, str], folder: Path = RESULTS) -> str:
    """Render RESULTS.md: one table for each subject with figures. `titles` maps subjects to headings, in order."""
    sections = [_INTRODUCTION]
    for subject, title in titles.items():
        if figures := read_figures(subject, folder):
            sections.append(f"## {title}\n\n{_render_table(figures)}")
    return "\n".join(sections)


def format_number(value: float) -> str:
    """Format a number with three significant digits, and whole numbers with all of their digits."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def describe_machine() -> str:
    """Describe the processor, the number of usable cores and the load average of the last minute."""
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    cores = len(os.sched_getaffinity(0))
    return f"{models[0] if models else os.uname().machine}, {cores} cores, load {os.getloadavg()[0]:.1f}"


def _render_table(figures: Sequence[Figure]) -> str:
    rows = [_COLUMNS, ("---",) * len(_COLUMNS), *map(_cells, figures)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cells(figure: Figure) -> tuple[str, ...]:
    name = f"{figure.name}. {figure.note}" if figure.note else figure.name
    value = f"{format_number(figure.value)} {figure.unit}".strip()
    cells = (figure.benchmark, name, value, figure.comparison, figure.machine, figure.date, figure.commit)
    return tuple(cell.replace("|", "\\|") for cell in cells)


def _today() -> str:
    return datetime.now(tz=UTC).date().isoformat()


def _commit() -> str:
    command = ["git", "-C", str(FOLDER), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
