"""Find the calls of a capture that break a rule of the C API: reads what `framedex.plugins.validation` judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import CALL_COLUMNS, CALL_TABLES, Reader, build_call
from framedex.index.read.spans import KIND_TABLES
from framedex.model import CallRow
from framedex.plugins.validation import Violation
from framedex.plugins.validation.boundary import (
    PROBLEM_TEXTS,
    SIZE_TEXT,
    TABLE_FUNCTION,
    find_boundary_violations,
    find_null_functions,
    may_be_violation,
)
from framedex.plugins.validation.errors import (
    ERROR_CALLBACKS,
    ERROR_DESTROYER,
    ERROR_FUNCTIONS,
    find_undestroyed_errors,
    find_used_errors,
)
from framedex.plugins.validation.events import EVENT_FUNCTIONS, EVENT_TRIGGERS, find_event_violations
from framedex.plugins.validation.handles import (
    JUDGED_TYPES,
    MORE_VALUES,
    NULL_OBJECT,
    find_created_lists,
    find_null_handles,
    find_refused_buffers,
    find_unknown_handles,
    is_traced_completely,
)
from framedex.plugins.validation.references import POINTER, REFERENCE_FUNCTIONS, find_unreferenced_pointers
from framedex.plugins.validation.start import find_early_calls
from framedex.programs.objects import ViolationKind

_PJRT = "pjrt"
_MAX_FIRST_CALLS = 8  # more calls than a client makes before it initialises the plug-in
_CALLS_BY_KIND = (
    f"{KIND_TABLES} CROSS JOIN boundaries b ON b.id = k.boundary CROSS JOIN threads t ON t.id = k.thread"
    " CROSS JOIN arguments a ON a.id = c.arguments"
)


def find_violations(reader: Reader, capture: int, *, is_whole: bool) -> Iterator[Violation]:
    """Yield the violations in a capture, except those of lifetimes, which the index has.

    In an incomplete recording, only violations within a single call count.
    """
    calls = _ApiCalls(reader, capture)
    if not calls.functions:
        return
    suspects = [*calls.read_calls([TABLE_FUNCTION]), *calls.read_suspicious()]
    yield from find_boundary_violations(suspects)
    yield from find_null_handles(suspects)
    failed = calls.read_failed()
    yield from find_refused_buffers(call for call in failed if call.id not in calls.uses_of_deleted_objects)
    if not is_whole:
        return
    yield from find_early_calls(calls.read_first())
    if failed:
        errors = [*failed, *calls.read_calls(ERROR_FUNCTIONS)]
        if ERROR_DESTROYER not in calls.null_functions:
            yield from find_undestroyed_errors(errors, calls.last_ids_by_thread())
        if not any(name.startswith(ERROR_CALLBACKS) for name in calls.functions):
            yield from find_used_errors(errors)
    if EVENT_TRIGGERS & calls.functions.keys():
        yield from find_event_violations(calls.read_calls(EVENT_FUNCTIONS))
    if POINTER in calls.functions:
        yield from find_unreferenced_pointers(calls.read_calls(REFERENCE_FUNCTIONS))
    yield from find_unknown_handles(calls.iter_first_uses())


class _ApiCalls:
    """The calls of the C API in one capture, in order of start."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self._reader = reader
        self._capture = capture

    @cached_property
    def functions(self) -> dict[str, int]:
        """The functions with calls, by name."""
        query = "SELECT DISTINCT b.name, b.id FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        return dict(self._reader.rows(f"{query} WHERE k.capture = ? AND b.boundary = ?", self._capture, _PJRT))

    @cached_property
    def null_functions(self) -> list[str]:
        """The functions that are null in the plug-in's table."""
        return [name for call in self.read_calls([TABLE_FUNCTION]) for name in find_null_functions(call)]

    @cached_property
    def uses_of_deleted_objects(self) -> set[int]:
        """The ids of the calls that use a deleted object, according to the index."""
        query = (
            "SELECT v.call FROM object_ranges r CROSS JOIN violations v"
            " ON v.object BETWEEN r.first_object AND r.last_object WHERE r.capture = ? AND v.kind = ?"
        )
        return {call for (call,) in self._reader.rows(query, self._capture, ViolationKind.USE_AFTER_DELETE)}

    def read_calls(self, functions: Iterable[str]) -> list[CallRow]:
        """Return the calls of these functions."""
        return self._select(functions)

    def read_failed(self) -> list[CallRow]:
        """Return the calls that returned an error."""
        return self._select(self.functions, "k.error > 0")

    def read_first(self) -> list[CallRow]:
        """Return the first calls of the capture."""
        return self._in_range("1", limit=_MAX_FIRST_CALLS)

    def last_ids_by_thread(self) -> dict[int, int]:
        """Return the id of each thread's last call that is not about errors, by the system's thread id."""
        rows = self._reader.rows(
            "SELECT t.tid, max(k.latest_call) FROM call_kinds k JOIN threads t ON t.id = k.thread"
            " JOIN boundaries b ON b.id = k.boundary"
            " WHERE k.capture = ? AND b.boundary = ? AND b.name NOT GLOB 'PJRT_Error_*' GROUP BY k.thread",
            self._capture,
            _PJRT,
        )
        return dict(rows)

    def read_suspicious(self) -> list[CallRow]:
        """Return the calls whose arguments alone may show a violation.

        Most calls share arguments with others, so the arguments are searched first.
        """
        texts = ("null", SIZE_TEXT, *PROBLEM_TEXTS)
        rows = self._reader.iter_rows(
            f"SELECT id, json FROM arguments WHERE capture = ? AND ({' OR '.join(['instr(json, ?)'] * len(texts))})",
            self._capture,
            *texts,
        )
        arguments = [place for place, text in rows if NULL_OBJECT.search(text) or may_be_violation(text)]
        return self._in_range(f"c.arguments {IN_JSON}", build_json_list(arguments)) if arguments else []

    def iter_first_uses(self) -> Iterator[tuple[str, CallRow]]:
        """Yield the type and the first call of each object that no call created or named.

        Yields nothing if calls that are not recorded completely may have created objects.
        """
        if not is_traced_completely(next(iter(self.read_first()), None)):
            return
        rows = self._reader.rows(
            f"SELECT y.name, {CALL_COLUMNS} FROM object_types y CROSS JOIN object_rows o ON o.type = y.id"
            f" CROSS JOIN {CALL_TABLES} WHERE y.capture = ? AND y.name {IN_JSON} AND o.created_call IS NULL"
            " AND c.id = o.first_call ORDER BY o.id",
            self._capture,
            build_json_list(JUDGED_TYPES),
        )
        if rows and not self._has_hidden_objects():
            for noun, *row in rows:
                yield noun, build_call(tuple(row))

    def _has_hidden_objects(self) -> bool:
        """Whether the list of created objects of any call is missing, empty or truncated."""
        for function, field in find_created_lists():
            if function not in self.functions:
                continue
            known = (f'"{field}": [', f'"{field}": null')
            condition = "k.error = 0 AND ((NOT instr(a.json, ?) AND NOT instr(a.json, ?)) OR instr(a.json, ?)"
            if self._select([function], f"{condition} OR instr(a.json, ?))", *known, f'"{field}": []', MORE_VALUES):
                return True
        return False

    def _in_range(self, condition: str, *parameters: object, limit: int = -1) -> list[CallRow]:
        """Return the calls that match a condition about single calls."""
        rows = self._reader.rows(
            f"SELECT {CALL_COLUMNS} FROM captures p CROSS JOIN {CALL_TABLES} WHERE p.id = ?"
            f" AND c.id BETWEEN p.first_call AND p.last_call AND b.boundary = ? AND {condition} ORDER BY c.id LIMIT ?",
            self._capture,
            _PJRT,
            *parameters,
            limit,
        )
        return list(map(build_call, rows))

    def _select(self, functions: Iterable[str], condition: str = "1", *parameters: object) -> list[CallRow]:
        ids = [self.functions[name] for name in functions if name in self.functions]
        rows = self._reader.rows(
            f"SELECT {CALL_COLUMNS} FROM {_CALLS_BY_KIND}"
            f" WHERE k.capture = ? AND k.boundary {IN_JSON} AND ({condition}) ORDER BY c.id",
            self._capture,
            build_json_list(ids),
            *parameters,
        )
        return list(map(build_call, rows))
