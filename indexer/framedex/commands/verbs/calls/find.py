"""`framedex find`: search symbols by part of a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.missing_answers import format_suggestion
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_counted_index
from framedex.commands.output.console import exit_nothing_found, json_option, note, print_json, print_lines
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.terminal import Line, Span, render_location_line
from framedex.texts.places import format_release_labels

if TYPE_CHECKING:
    from framedex.model import FoundSymbol


@click.command()
@click.argument("text")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show at most N symbols.")
@capture_option
@json_option
@click.pass_obj
def find(index_path: Path | None, text: str, limit: int, selection: CaptureSelection | None, as_json: bool) -> None:
    """Find functions, classes and FFI targets by part of a name.

    The search ignores case and includes runtime functions. `Client::Buffer` matches Buffer inside Client. The best
    match comes first; among equal matches, recorded ones.
    """
    if not text.strip():
        raise FramedexError("The name is empty.", "Give part of a name: `framedex find BufferFromHost`.")
    with open_counted_index(index_path, selection) as index:
        found = index.names.symbols(text, limit + 1)
        near = index.names.suggest_name(text) if not found else None
    shown = found[:limit]
    if as_json:
        print_json({"symbols": [asdict(symbol) for symbol in shown]})
    else:
        print_lines(_render_symbol_lines(shown))
    if not found:
        exit_nothing_found(f"No name in the index contains {text}.{format_suggestion(near)}")
    if not as_json and len(found) > limit:
        note(f"More symbols match. Show more: --limit {2 * limit}.")


def _render_symbol_lines(found: Sequence[FoundSymbol]) -> Iterator[Line]:
    for symbol in found:
        place: Line = ()
        if symbol.location is not None:
            place = (Span("  "), *render_location_line(symbol.location, format_release_labels(symbol.location)))
        language = "" if symbol.function is None else symbol.function.language.value
        yield (
            Span(f"{symbol.kind:<11}  "),
            Span(make_printable(symbol.name), language),
            *place,
            *_render_recorded_spans(symbol),
        )


def _render_recorded_spans(symbol: FoundSymbol) -> Line:
    if symbol.call is not None:
        return (Span(f"  {build_trace_command(symbol.call)}", "dim", is_unbreakable=True),)
    if symbol.function is not None:
        return (Span("  recorded", "dim"),)
    return ()
