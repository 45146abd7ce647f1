"""`framedex fleet query`: query a store by SQL or by a prepared query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_visible
from framedex.base.words import find_nearest_name
from framedex.commands.inputs.options import store_option
from framedex.commands.output.console import exit_nothing_found, json_option, note, print_json, print_lines
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line

if TYPE_CHECKING:
    from framedex.fleet.store_queries import QueryResult

_MAX_SHOWN = 100  # rows of a prepared query


@click.command("query")
@click.argument("query", metavar="[NAME|SQL]", required=False)
@store_option
@json_option
def query_fleet(query: str | None, store: str, as_json: bool) -> None:
    """Query all captures of a store, by a prepared query or SQL.

    Without an argument: list the prepared queries, and the views with their columns. SQL is one SELECT for DuckDB. With
    --json a prepared query includes its SQL.
    """
    from framedex.fleet.prepared_queries import PREPARED_QUERIES
    from framedex.fleet.store_queries import StoreConnection
    from framedex.fleet.store_root import StoreRoot

    sql = query
    if query is not None and len(query.split()) < 2:
        sql = PREPARED_QUERIES[_check_name(query.strip(), list(PREPARED_QUERIES))].sql
    with StoreConnection(StoreRoot(store)) as connection:
        answer = connection.query(sql)
    if as_json:
        document: dict[str, Any] = {"store": store, "sql": sql, "columns": list(answer.columns)}
        document |= (
            {"questions": {name: each.description for name, each in PREPARED_QUERIES.items()}} if sql is None else {}
        )
        print_json(
            document | {"rows": [list(map(_to_json_value, row)) for row in answer.rows], "left_out": answer.left_out}
        )
    else:
        if sql is None:
            width = max(map(len, PREPARED_QUERIES))
            print_lines(
                render_text_line(f"{name:{width}}  {each.description}") for name, each in PREPARED_QUERIES.items()
            )
            print_lines([()])
        print_lines(_answer_lines(answer, None if sql == query else _MAX_SHOWN))
        for problem in answer.left_out:
            note(problem)
    if not answer.rows:
        exit_nothing_found("No rows in the store match.")


def _check_name(name: str, names: list[str]) -> str:
    if name not in names:
        similar = find_nearest_name(name, names)
        raise FramedexError(
            f"There is no prepared query {name!r}.",
            f"Did you mean {similar!r}?" if similar else f"Prepared queries: {', '.join(names)}. Or write a SELECT.",
        )
    return name


def _answer_lines(answer: QueryResult, limit: int | None) -> Iterator[Line]:
    shown = answer.rows[:limit]
    cells = [
        [make_visible(name) for name in answer.columns],
        *([_format_value(value) for value in row] for row in shown),
    ]
    if not shown:
        return
    widths = measure_columns(*cells)
    for number, row in enumerate(cells):
        yield (Span(format_row(row, widths, 0).rstrip(), "" if number else "head"),)
    if len(shown) < len(answer.rows):
        yield render_text_line(f"… {len(answer.rows) - len(shown):,} more; --json lists all", "dim")


def _to_json_value(value: Any) -> Any:
    """Convert a value for JSON; types that JSON lacks become text."""
    if isinstance(value, (list, tuple)):
        return [_to_json_value(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _to_json_value(each) for key, each in value.items()}
    is_number = isinstance(value, (int, float)) and value == value and abs(value) != float("inf")
    return value if value is None or isinstance(value, str) or is_number else str(value)


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    return make_visible(value if isinstance(value, str) else json.dumps(_to_json_value(value), ensure_ascii=False))
