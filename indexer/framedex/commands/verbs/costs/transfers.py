"""`framedex transfers`: the lines that move data between host and devices, and the implicit transfers among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs, render_heading_line
from framedex.commands.output.console import exit_nothing_found, json_option, print_json, print_lines
from framedex.commands.output.documents import build_transfers_document
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.render_calls import render_caller_lines, render_hidden_rows_line, render_python_line
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns
from framedex.model import TransferDirection

if TYPE_CHECKING:
    from framedex.model import Transfers

_NOTHING_FOUND = "No transfers in these captures. `framedex captures` lists the captures."
_NOTHING_IMPLICIT = "No implicit transfers in these captures; `framedex transfers` shows the explicit ones."


@click.command()
@click.option("--implicit", "only_implicit", is_flag=True, help="Only implicit transfers.")
@click.option("--all-lines", is_flag=True, help="Show one row per call path, with the lines that led to each line.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N rows; 0: all.")
@capture_option
@json_option
@click.pass_obj
def transfers(
    index_path: Path | None,
    only_implicit: bool,
    all_lines: bool,
    limit: int,
    selection: CaptureSelection | None,
    as_json: bool,
) -> None:
    """Show lines that copy data between host and device.

    A row is a line, a direction and a cause; most bytes come first. A transfer is implicit if
    `jax.transfer_guard("disallow")` would stop it: an operand on the host, float(x), print(x), np.asarray(x).
    jax.device_put and jax.device_get are explicit. An array on several devices counts as one copy per device.
    """
    with open_whole_runs(index_path, selection, lambda index: index.captures_with_transfers()) as (index, answer):
        found = index.transfers(all_lines=all_lines)
    rows = [row for row in found if row.is_implicit or not only_implicit]
    if as_json:
        print_json(build_transfers_document(answer, rows[:limit] if limit else rows))
    else:
        note_incomplete_captures(*answer.captures)
        print_lines(
            [
                render_heading_line(answer, has_device_times=True),
                *render_total_lines(found),
                *(render_transfer_lines(rows, limit) if rows else ()),
            ]
        )
    if not rows:
        exit_nothing_found(_NOTHING_IMPLICIT if found else _NOTHING_FOUND)


_HEADS = ("bytes", "copies", "time", "direction", "moved by", "")
_NUMBERS = 3  # the first columns, which are right-aligned
_INDENT = 8


def render_total_lines(rows: Sequence[Transfers]) -> Iterator[Line]:
    """The totals of each direction, and their implicit part."""
    for direction in TransferDirection:
        moved = [row for row in rows if row.direction is direction]
        if moved:
            implicit = [row for row in moved if row.is_implicit]
            implicit_part = f"implicit {_format_total(implicit)}" if implicit else "none implicit"
            time = words.format_duration(sum(row.total_duration for row in moved))
            yield (Span(direction.value, "head"), Span(f"  {_format_total(moved)}, {time}; {implicit_part}"))


def _format_total(rows: Sequence[Transfers]) -> str:
    count, unsized = sum(row.count for row in rows), sum(row.unsized for row in rows)
    more = f" and {unsized:,} of unknown size" if unsized else ""
    return f"{count:,} {'copy' if count == 1 else 'copies'}, {words.format_size(sum(row.size for row in rows))}{more}"


def render_transfer_lines(rows: Sequence[Transfers], limit: int) -> Iterator[Line]:
    """The first `limit` rows (0: all)."""
    shown = rows[:limit] if limit else rows
    cells = [_format_row_cells(row) for row in shown]
    widths = measure_columns(_HEADS, *cells)
    yield (Span(f"{format_row(_HEADS, widths, _NUMBERS)}  line", "dim"),)
    for row, row_cells in zip(shown, cells, strict=True):
        yield (
            Span(f"{format_row(row_cells, widths, _NUMBERS)}  "),
            *render_python_line(row.line, 0),
            Span("  "),
            Span(build_trace_command(row.latest_call), "dim", is_unbreakable=True),
        )
        yield from render_caller_lines(row.outward, _INDENT)
    yield from render_hidden_rows_line(len(rows) - len(shown), "row")


def _format_row_cells(row: Transfers) -> tuple[str, ...]:
    known = words.format_size(row.size) if row.unsized < row.count else ""
    return (
        f"{known}{' + ?' if known else '?'}" if row.unsized else known,
        f"{row.count:,}",
        words.format_duration(row.total_duration),
        row.direction.value,
        make_printable(row.how) or "(unknown)",
        "implicit" if row.is_implicit else "",
    )
