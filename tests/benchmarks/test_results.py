"""Saved benchmark figures, the page made from them, and the command line of the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks.__main__ import SUBJECTS, TITLES, find_subject, main
from benchmarks.figures import FOLDER, PAGE, RESULTS, Figure, format_figures, read_figures, render_page, save_figures

NAMES = [name for subject in SUBJECTS for name in subject.benchmarks]


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == render_page(TITLES), "run `python -m benchmarks --table`"


def test_every_figure_names_a_benchmark_of_its_subject_and_its_source() -> None:
    for path in sorted(RESULTS.glob("*.json")):
        figures = read_figures(path.stem)
        assert path.read_text() == format_figures(figures)
        for figure in figures:
            subject = find_subject(figure.benchmark)
            assert subject is not None, f"{path.name}: no benchmark is named {figure.benchmark!r}"
            assert subject.module == path.stem
            assert figure.machine and figure.date and figure.commit
            assert bool(figure.peer) == (figure.ratio is not None)


def test_no_two_benchmarks_have_the_same_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_there_are_at_most_27_python_files() -> None:
    """Excludes the programs that are measured."""
    measured = {"programs", "drivers"}
    assert len([path for path in FOLDER.rglob("*.py") if measured.isdisjoint(path.relative_to(FOLDER).parts)]) <= 27


def test_every_benchmark_has_help() -> None:
    for name in NAMES:
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0, result.output
        assert result.output.startswith(f"Usage: main {name}")


def test_without_a_name_every_benchmark_is_listed() -> None:
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 0
    for name in NAMES:
        assert f"  {name} " in result.output


def test_an_unknown_name_is_refused_with_a_remedy() -> None:
    similar = CliRunner().invoke(main, ["dispatsh"])
    assert similar.exit_code == 2
    assert "Did you mean dispatch?" in similar.output
    unknown = CliRunner().invoke(main, ["xyzzy"])
    assert unknown.exit_code == 2
    assert "List them: python -m benchmarks" in unknown.output


def test_a_new_figure_replaces_the_saved_one_and_keeps_its_note(tmp_path: Path) -> None:
    first = [Figure("loop", 2.0, "us", note="One call."), Figure("start", 1.0, "s")]
    save_figures("recording", "device-put-loop", first, tmp_path)
    save_figures("recording", "device-put-loop", [Figure("loop", 3.0, "us", "unrecorded", 1.5)], tmp_path)
    loop, start = read_figures("recording", tmp_path)
    assert (loop.value, loop.comparison, loop.note) == (3.0, "1.5 times unrecorded", "One call.")
    assert (start.name, start.value) == ("start", 1.0)
    assert loop.machine and loop.date and loop.commit
    assert len(json.loads((tmp_path / "recording.json").read_text())) == 2


def test_a_subject_without_figures_has_no_table(tmp_path: Path) -> None:
    assert "##" not in render_page(TITLES, tmp_path)
