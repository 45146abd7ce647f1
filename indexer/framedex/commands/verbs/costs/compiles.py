"""`framedex compiles`: the lines that compile, their compile times, and the reasons for recompiling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs, render_heading_line
from framedex.commands.output.console import exit_nothing_found, json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_compiles_document, build_startup_document
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.render_calls import render_caller_lines, render_hidden_rows_line, render_python_line
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line
from framedex.model.programs import to_module_name
from framedex.texts.compilations import (
    format_cache_miss_texts,
    format_change_with_advice,
    format_collective,
    format_failures,
)

if TYPE_CHECKING:
    from framedex.model import Compiles
    from framedex.programs.pass_log import ModulePasses


@click.command()
@click.option("--all-lines", is_flag=True, help="Show one row per call path, with the lines that led to each line.")
@click.option("--startup", is_flag=True, help="Show the whole time from the start of the process until its first step.")
@click.option(
    "--xla-log",
    "log",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Add XLA's longest passes, from its log. Write it with TF_CPP_MIN_LOG_LEVEL=0 and"
    " TF_CPP_VMODULE=hlo_pass_pipeline=1.",
)
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N rows; 0: all.")
@capture_option
@json_option
@click.pass_obj
def compiles(
    index_path: Path | None,
    all_lines: bool,
    startup: bool,
    log: Path | None,
    limit: int,
    selection: CaptureSelection | None,
    as_json: bool,
) -> None:
    """Show lines that compile, and what changed.

    A row is a line and a function that it compiled; the longest total comes first. Below the row is the difference
    from the nearest earlier compilation of that function: shapes, dtypes, shardings, donation, constants or code.
    Arguments are leaves of pytrees; unused arguments are left out. `loads` came from a compilation cache; `cache miss`
    compares a program with the nearest earlier one. Programs on several devices have their collectives. `trace` and
    `lower` are the times that JAX needed before.

    With --startup, a tree shows imports, the start of backends, tracing, lowering, compilations, the cache, transfers
    and the first step, without overlaps. The first step is the first run of the program that took longest to prepare,
    or of one in a loop that took about as long.
    """
    if startup:
        if all_lines or log is not None:
            raise click.UsageError(f"--startup and {'--all-lines' if all_lines else '--xla-log'} exclude each other.")
        _show_startup(index_path, selection, limit, as_json=as_json)
        return
    with open_whole_runs(index_path, selection, lambda index: index.captures_with_compiles()) as (index, answer):
        rows = index.compiles(all_lines=all_lines)
    passes = _read_log(log) if log is not None else []
    if as_json:
        document = build_compiles_document(answer, rows[:limit] if limit else rows)
        print_json(document if log is None else document | {"xla_passes": [asdict(each) for each in passes]})
    else:
        note_incomplete_captures(*answer.captures)
        print_lines([render_heading_line(answer), *(render_compiles_lines(rows, limit, passes) if rows else ())])
    if not rows:
        exit_nothing_found("No compilations in these captures. `framedex captures` lists the captures.")


def _read_log(log: Path) -> Sequence[ModulePasses]:
    """Return the passes in XLA's log; a note says that there are none."""
    from framedex.programs.pass_log import read_pass_log

    with log.open(encoding="utf-8", errors="replace") as lines:
        found = read_pass_log(lines)
    if not found:
        note(f"{make_printable(str(log))} has no times of XLA's passes. Write it with {_LOG_SETTINGS}.")
    return found


_LOG_SETTINGS = "TF_CPP_MIN_LOG_LEVEL=0 and TF_CPP_VMODULE=hlo_pass_pipeline=1"


def _show_startup(path: Path | None, selection: CaptureSelection | None, limit: int, *, as_json: bool) -> None:
    with open_whole_runs(path, selection, lambda index: index.captures_with_startup()) as (index, answer):
        found = index.startup()
    if as_json:
        print_json(build_startup_document(answer, found[:limit] if limit else found))
    else:
        from framedex.commands.output.render_startup import render_startup_lines

        note_incomplete_captures(*answer.captures)
        print_lines([render_heading_line(answer), *render_startup_lines(found, is_complete=not limit)])
    if not found:
        exit_nothing_found(_NO_STARTUP)


_NO_STARTUP = (
    "No times of a start in these captures. Record the program again: `framedex run SCRIPT`, without FRAMEDEX_FFI=0."
)
_HEADS = ("compiles", "time", "longest", "trace", "lower", "loads")
_MAX_CHANGES = 6
_MAX_COLLECTIVES = 5
_MAX_PASSES = 5
_INDENT = 8


def render_compiles_lines(rows: Sequence[Compiles], limit: int, passes: Sequence[ModulePasses] = ()) -> Iterator[Line]:
    """The first `limit` rows (0: all), and the totals of all rows.

    The passes of a module follow the row with the longest time of its function.
    """
    passes_of = {each.module: each for each in passes}
    shown = rows[:limit] if limit else rows
    columns = [0, 1, 2]
    columns += [3, 4] if any(row.traces or row.lowerings for row in rows) else []
    columns += [5] if any(row.loads for row in rows) else []
    all_cells = (_HEADS, *map(_cells, shown), _format_total_cells(rows))
    heads, *cells, total_cells = (tuple(each[column] for column in columns) for each in all_cells)
    widths = measure_columns(heads, *cells, total_cells)
    yield (Span(f"{format_row(heads, widths)}  function, and the line that compiled it", "dim"),)
    for row, row_cells in zip(shown, cells, strict=True):
        yield (
            Span(f"{format_row(row_cells, widths)}  "),
            Span(_function_name(row), "head"),
            Span("  "),
            *render_python_line(row.line, 0),
            Span("  "),
            Span(build_trace_command(row.latest_call), "dim", is_unbreakable=True),
        )
        yield from render_caller_lines(row.outward, _INDENT)
        yield from _render_reason_lines(row)
        yield from _render_pass_lines(passes_of.pop(f"jit_{to_module_name(row.function)}", None))
    yield (Span(f"{format_row(total_cells, widths)}  total", "dim"),)
    yield from render_hidden_rows_line(len(rows) - len(shown), "row")


def _render_reason_lines(row: Compiles) -> Iterator[Line]:
    if row.failed:
        yield render_text_line(f"{'':{_INDENT}}{format_failures(row)}", "error")
    for change in row.changes[:_MAX_CHANGES]:
        yield render_text_line(f"{'':{_INDENT}}{make_printable(format_change_with_advice(change))}")
    if len(row.changes) > _MAX_CHANGES:
        yield render_text_line(
            f"{'':{_INDENT}}and {words.count(len(row.changes) - _MAX_CHANGES, 'more change')}", "dim"
        )
    for text in format_cache_miss_texts(row):
        yield render_text_line(f"{'':{_INDENT}}{make_printable(text)}")
    yield from _render_collective_lines(row)
    if row.problem:
        yield render_text_line(f"{'':{_INDENT}}Incomplete compilation data: {make_printable(row.problem)}.", "dim")


def _render_collective_lines(row: Compiles) -> Iterator[Line]:
    shown = row.collectives[:_MAX_COLLECTIVES]
    for each in shown:
        line = () if each.line is None else (Span("  "), *render_python_line(each.line, 0))
        yield (Span(f"{'':{_INDENT}}{make_printable(format_collective(each))}"), *line)
    if len(row.collectives) > len(shown):
        yield render_text_line(
            f"{'':{_INDENT}}and {words.count(len(row.collectives) - len(shown), 'more collective')}", "dim"
        )


def _render_pass_lines(module: ModulePasses | None) -> Iterator[Line]:
    if module is not None:
        longest = ", ".join(
            f"{each.name} {words.format_duration(each.duration)}{f' ({each.count:,} times)' if each.count > 1 else ''}"
            for each in module.passes[:_MAX_PASSES]
        )
        text = f"XLA's passes on {module.module}: {words.format_duration(module.duration)}, the longest: {longest}"
        yield render_text_line(f"{'':{_INDENT}}{make_printable(text)}")


def _function_name(row: Compiles) -> str:
    """The name of the function; executables from a compilation cache have none."""
    return make_printable(row.function) or ("(from a compilation cache)" if row.loads else "(unknown)")


def _cells(row: Compiles) -> tuple[str, ...]:
    return (
        f"{row.compiles:,}" if row.compiles else "",
        words.format_duration(row.total_duration) if row.compiles else "",
        words.format_duration(row.longest_duration) if row.compiles > 1 else "",
        words.format_duration(row.trace_duration) if row.traces else "",
        words.format_duration(row.lower_duration) if row.lowerings else "",
        f"{row.loads:,} in {words.format_duration(row.load_duration)}" if row.loads else "",
    )


def _format_total_cells(rows: Sequence[Compiles]) -> tuple[str, ...]:
    loads, load_duration = sum(row.loads for row in rows), sum(row.load_duration for row in rows)
    return (
        f"{sum(row.compiles for row in rows):,}",
        words.format_duration(sum(row.total_duration for row in rows)),
        "",
        words.format_duration(sum(row.trace_duration for row in rows)),
        words.format_duration(sum(row.lower_duration for row in rows)),
        f"{loads:,} in {words.format_duration(load_duration)}" if loads else "",
    )
