"""`framedex doctor`: check the installation and the index."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.commands import doctor_checks
from framedex.commands.doctor_checks import Finding, run_checks
from framedex.commands.inputs.project_index import find_index_path, read_settings_here, report_if_changed
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_capture_document
from framedex.commands.output.proposals import render_proposal_line
from framedex.commands.output.render_answers import render_problem_lines
from framedex.commands.output.terminal import Span, render_text_line
from framedex.index.file.values import to_storable
from framedex.model import SourceProblem
from framedex.texts.captures import format_all_problems

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.model import CaptureRow, SourceHealth, SourceTotals

_SUBJECT_WIDTH = 13
_LANGUAGES = {"cpp": "C and C++", "python": "Python", "protobuf": "Protocol Buffers", "tablegen": "TableGen"}


@click.command()
@click.option(
    "--python",
    default=sys.executable,  # noqa: TID251
    type=click.Path(dir_okay=False),
    help="Check recording with this Python. Default: framedex's own.",
)
@json_option
@click.pass_obj
def doctor(index_path: Path | None, python: str, as_json: bool) -> None:
    """Check this installation and suggest fixes.

    The checks are real: they load the mock TPU, import JAX, and start the language server. For an index, doctor
    reports its state and unreadable files.
    """
    found = list(
        run_checks(
            [
                *doctor_checks.list_software_checks(),
                *doctor_checks.list_recording_checks(python),
                *doctor_checks.list_environment_checks(),
            ]
        )
    )
    captures: list[CaptureRow] = []
    sources: SourceHealth | None = None
    path: Path | None = None
    try:
        path = find_index_path(index_path, read_settings_here()[0])
        if path is not None:
            captures, sources = _inspect_index(path)
    except FramedexError as error:
        found.append(Finding("index", error.message, error.remedy, is_well=False))
    if as_json:
        print_json(
            {
                "installation": [asdict(each) for each in found],
                "index": str(path) if path else None,
                "captures": [build_capture_document(capture) for capture in captures],
                "sources": asdict(sources) if sources else None,
            }
        )
        return
    print_lines([line for each in found for line in _render_finding_lines(each)])
    if sources is None:
        if path is None:
            note("There is no index here or above. Next: `framedex run SCRIPT`, then `framedex index`.")
        return
    print_lines(
        [render_text_line(f"index {path}", "head"), *_render_capture_lines(captures), *_render_source_lines(sources)]
    )
    if not sources.roots:
        note("No source folders. Next: `framedex index --source FOLDER`.")


def _inspect_index(path: Path) -> tuple[list[CaptureRow], SourceHealth]:
    """The incomplete captures of an index, and the state of its sources."""
    from framedex.index import Index

    with Index.open(path) as index:
        report_if_changed(index)
        captures = [capture for capture in index.captures() if capture.stops or capture.problems]
        sources = index.sources.health()
        read = index.sources.files()
    return captures, replace(sources, problems=(*_find_unread_files(sources.roots, read), *sources.problems))


def _render_finding_lines(finding: Finding) -> Iterator[Line]:
    mark = Span("  ") if finding.is_well else Span("! ", "error")
    first, *more = finding.text.split("\n")
    yield (mark, Span(f"{finding.subject:{_SUBJECT_WIDTH}} ", "head"), *render_proposal_line(first))
    for line in (*more, *filter(None, [finding.remedy])):
        yield render_proposal_line(f"  {'':{_SUBJECT_WIDTH}} {line}", "dim")


def _find_unread_files(roots: Sequence[str], read: Collection[str]) -> Iterator[SourceProblem]:
    """Files below the source folders that are missing from the index, and unreadable folders."""
    from framedex.sources import find_files

    folders: list[str] = []
    existing = [file.path for root in roots if Path(root).is_dir() for file in find_files(Path(root), folders.append)]
    if folders:
        message = "It cannot be read, so its files are left out. Check its permissions."
        yield SourceProblem(message, len(folders), tuple(folders[:3]), "folder")
    if missing := [path for path in dict.fromkeys(existing) if path not in read and to_storable(path) == path]:
        message = "It has not been read yet, so its definitions are missing. Run `framedex index`."
        yield SourceProblem(message, len(missing), tuple(missing[:3]))


def _render_capture_lines(captures: list[CaptureRow]) -> Iterator[Line]:
    for capture in captures:
        yield render_text_line(f"capture {capture.id}: {capture.path}", "head")
        yield from render_problem_lines(format_all_problems(capture.stops, capture.problems))


def _render_source_lines(sources: SourceHealth) -> Iterator[Line]:
    for root in sources.roots:
        missing_mark = "" if Path(root).is_dir() else " (missing)"
        yield render_text_line(f"source folder {root}{missing_mark}", "head")
    for each in sources.maps:
        changed = " (of changed files)" if each.is_dirty else ""
        yield render_text_line(f"source map {each.prefix[:-1]}{changed}", "head")
    for totals in sources.totals:
        yield render_text_line(_format_totals(totals))
    if sources.macros:
        yield render_text_line(
            f"{words.count(sources.macros, 'macro')} read from #define, to parse the code that uses them"
        )
    for problem in sources.problems:
        yield render_proposal_line(f"{words.count(problem.count, problem.unit)}: {problem.message}", "head")
        more = problem.count - len(problem.examples)
        for path in problem.examples:
            yield render_text_line(f"     {path}")
        if more:
            yield render_text_line(f"     and {more:,} more", "dim")


def _format_totals(totals: SourceTotals) -> str:
    """Format the totals of one language. Languages without calls, such as Protocol Buffers, omit their number."""
    text = f"{_LANGUAGES[totals.language]}: {words.count(totals.files, 'file')}"
    text += f" with {words.count(totals.definitions, 'definition')}"
    if totals.calling:
        text += f", {totals.calling:,} of them with calls"
    if totals.with_errors:
        share = 100 * totals.broken / max(totals.definitions, 1)
        text += (
            f"; {words.count(totals.with_errors, 'file')} could not be parsed completely. This affects {share:.2g} %"
        )
        text += " of the definitions, and functions may be missing"
    return text
