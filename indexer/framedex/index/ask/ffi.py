"""Queries for FFI: targets with their handlers, call sites and runs, for all captures or one source line."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framedex.index.ask.ffi_sites import read_sites_by_id
from framedex.index.ask.name.functions import read_functions_at
from framedex.index.file.conventions import IN_JSON, Row, build_json_list
from framedex.index.file.paths import is_installed
from framedex.index.read.rows import decode_arguments, read_frames_by_id, read_functions_by_id
from framedex.index.read.spans import KIND_TABLES, IdRange, iter_call_ranges, iter_calls
from framedex.model import Location, LocationEvidence, PythonLine, SiteEvidence
from framedex.programs.ffi import UnknownTarget
from framedex.programs.ffi.model import (
    FfiHandler,
    FfiProblem,
    FfiRegistration,
    FfiShapes,
    FfiSiteTotals,
    FfiTarget,
    FfiUse,
    RunTotals,
    Signature,
    UnfinishedRun,
)
from framedex.programs.ffi.signatures import explain_error, explain_problem
from framedex.texts.errors import format_message_with_code

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader
    from framedex.index.read.subjects import LineQuery
    from framedex.model import FfiSite, FrameRow, FunctionRow

_EXECUTE = "execute"
_MAX_SHAPES = 4
_MAX_RECENT_RUNS = 2_000

_RUN_COLUMNS = "x.target, x.stage, c.id, k.stack, c.duration, k.error, c.arguments, r.join_id"
# Starts from the FFI functions, since most captures have far more other calls.
_RUN_TABLES = f"ffi_functions x CROSS JOIN {KIND_TABLES} LEFT JOIN ffi_runs r ON r.call = c.id"

_STACK_CALLS_OF_TARGET = (
    "ffi_functions x CROSS JOIN stack_calls k ON k.boundary = x.boundary AND k.calls > 0 WHERE x.target = ?"
)

_IN_SCOPE = "IN (SELECT id FROM captures)"


@dataclass(frozen=True, slots=True)
class Ffi:
    """Queries for FFI targets in all captures of the scope."""

    reader: Reader

    def captures(self) -> list[int]:
        """Return the captures in which FFI targets ran or had problems, oldest first."""
        rows = self.reader.rows(
            "SELECT id FROM captures p WHERE id IN (SELECT capture FROM ffi_problems)"
            " OR EXISTS (SELECT 1 FROM call_kinds k"
            " WHERE k.capture = p.id AND +k.boundary IN (SELECT boundary FROM ffi_functions))"
            " ORDER BY run, started, id"
        )
        return [capture for (capture,) in rows]

    def targets(self) -> list[FfiTarget]:
        """Return the FFI targets with their handlers, sites, runs and problems.

        Targets are sorted by total duration; targets without runs follow, those with problems first.
        """
        return _read_targets(self.reader)

    def unfinished_runs(self, target: str, stage: str) -> list[UnfinishedRun]:
        """Return the runs of a target's stage that had not returned at the end of their recording, oldest first."""
        rows = self.reader.rows(
            f"SELECT {_RUN_COLUMNS} FROM {_RUN_TABLES} WHERE k.capture {_IN_SCOPE} AND k.boundary = x.boundary"
            " AND x.target = ? AND x.stage = ? AND k.error < 0 ORDER BY c.id",
            target,
            stage,
        )
        runs = [_HandlerRun(*row) for row in rows]
        run_data = _RunData.read(self.reader, runs)
        return [run_data.build_unfinished(run) for run in runs]

    def find_use(self, target: str) -> FfiUse | None:
        """Return the use of a target in its latest runs, for hovers; None if it never ran."""
        return _read_use(self.reader, target) if self.is_called(target) else None

    def is_called(self, target: str) -> bool:
        """Whether a capture has a run of a target."""
        found = self.reader.rows(
            "SELECT 1 FROM ffi_functions x JOIN call_kinds k ON k.boundary = x.boundary"
            f" WHERE x.target = ? AND k.capture {_IN_SCOPE} LIMIT 1",
            target,
        )
        return bool(found)

    def handlers_implemented_by(self, functions: Iterable[int]) -> list[FunctionRow]:
        """Return the registered FFI handlers that any of these source functions implements."""
        rows = self.reader.rows(
            "SELECT DISTINCT fr.function FROM ffi_handlers h JOIN frames fr ON fr.id = h.frame"
            f" JOIN frames m ON m.id = h.implementation WHERE m.function {IN_JSON}",
            build_json_list(functions),
        )
        found = read_functions_by_id(self.reader, [function for (function,) in rows])
        return [found[function] for (function,) in rows]


def _read_targets(reader: Reader) -> list[FfiTarget]:
    """Return the FFI targets of all captures in scope, with handlers, sites, runs and problems.

    Targets are sorted by total duration; targets without runs follow, those with problems first.
    """
    rows = reader.rows(
        f"SELECT {_RUN_COLUMNS} FROM {_RUN_TABLES} WHERE k.capture {_IN_SCOPE} AND k.boundary = x.boundary"
        " ORDER BY c.id"
    )
    run_data = _RunData.read(reader, [_HandlerRun(*row) for row in rows])
    registrations = _read_registrations(reader)
    problems = _read_problems(reader)
    names = dict.fromkeys([*run_data.runs, *(problem.target for problem in problems), *registrations])
    found = [
        run_data.build_target(name, registrations.get(name, ()), _build_troubles(reader, problems, name, registrations))
        for name in names
    ]
    return sorted(found, key=lambda target: (-target.totals.total, not target.troubles, target.name))


def find_ffi_uses(line: LineQuery) -> list[FfiUse]:
    """Return the FFI targets called at the line, and the targets whose handler's source contains it."""
    return list(line.reader.cache.get_or_compute(("FFI uses", line.path, line.line), lambda: _find_uses(line)))


def _find_uses(line: LineQuery) -> list[FfiUse]:
    reader = line.reader
    called = reader.rows(
        "SELECT DISTINCT s.target FROM ffi_sites s JOIN nodes n ON n.id = s.user_node JOIN frames fr ON fr.id = n.frame"
        f" WHERE {line.condition('fr')}"
    )
    function_ids = build_json_list([function.id for function in read_functions_at(line)])
    handled = reader.rows(
        # CROSS JOIN leads from the few handlers to their stacks; the planner would start with all stacks.
        "SELECT DISTINCT x.target FROM ffi_handlers h CROSS JOIN frames fr ON fr.id = h.frame"
        " LEFT JOIN frames m ON m.id = h.implementation CROSS JOIN nodes n ON n.frame = fr.id"
        f" CROSS JOIN stacks s ON s.leaf = n.id CROSS JOIN {reader.totals_table('stack_calls')} k ON k.stack = s.id"
        f" CROSS JOIN ffi_functions x ON x.boundary = k.boundary WHERE fr.function {IN_JSON} OR m.function {IN_JSON}",
        function_ids,
        function_ids,
    )
    names = dict.fromkeys(name for (name,) in [*called, *handled])
    return [_read_use(reader, name) for name in names]


@dataclass(frozen=True, slots=True)
class _HandlerRun:
    target: str
    stage: str
    call: int
    stack: int
    duration: int
    error: int
    arguments: int
    join: int | None


@dataclass(frozen=True, slots=True)
class _RunData:
    """Runs by target, with all rows that they refer to."""

    runs: Mapping[str, list[_HandlerRun]]
    joins: Mapping[int, tuple[SiteEvidence, tuple[int, ...]]]
    sites: Mapping[int, FfiSite]
    texts: Mapping[int, str]
    handlers: Mapping[int, tuple[FrameRow, FrameRow | None, Signature | None]]  # by stack

    @classmethod
    def read(cls, reader: Reader, runs: Sequence[_HandlerRun]) -> _RunData:
        by_target: dict[str, list[_HandlerRun]] = {}
        for run in runs:
            by_target.setdefault(run.target, []).append(run)
        joins: dict[int, tuple[SiteEvidence, tuple[int, ...]]] = {}
        for join, how, site in reader.rows(
            "SELECT j.id, j.how, k.site FROM ffi_joins j JOIN ffi_candidates k ON k.join_id = j.id"
            f" WHERE j.id {IN_JSON}",
            build_json_list(sorted({run.join for run in runs if run.join is not None})),
        ):
            joins[join] = SiteEvidence(how), (*joins.get(join, (None, ()))[1], site)
        wanted = build_json_list(sorted({run.arguments for run in runs}))
        texts: dict[int, str] = dict(reader.rows(f"SELECT id, json FROM arguments WHERE id {IN_JSON}", wanted))
        sites = read_sites_by_id(reader, {site for _, candidates in joins.values() for site in candidates})
        return cls(by_target, joins, sites, texts, _read_handlers(reader, {run.stack for run in runs}))

    def build_target(
        self, name: str, registrations: Sequence[FfiRegistration], troubles: Sequence[FfiProblem]
    ) -> FfiTarget:
        runs = self.runs.get(name, [])
        executed = [run for run in runs if run.stage == _EXECUTE]
        return FfiTarget(
            name=name,
            registrations=tuple(registrations),
            handlers=_distinct_handlers(((run.stage, run.stack) for run in runs), self.handlers),
            sites=self._sum_runs_by_site(executed),
            totals=_sum_runs(executed),
            unjoined=sum(run.join is None for run in executed),
            shapes=self.group_shapes(runs),
            troubles=(*troubles, *self._build_errors(runs)),
        )

    def _sum_runs_by_site(self, runs: Sequence[_HandlerRun]) -> tuple[FfiSiteTotals, ...]:
        by_site: dict[tuple[int, SiteEvidence], list[_HandlerRun]] = {}
        for run in runs:
            if run.join is not None:
                how, sites = self.joins[run.join]
                for site in sites:
                    by_site.setdefault((site, how), []).append(run)
        totals = [
            FfiSiteTotals(self.sites[site], how, _sum_runs(of_site), max(run.call for run in of_site))
            for (site, how), of_site in by_site.items()
        ]
        return tuple(sorted(totals, key=lambda each: (-each.totals.total, each.site.key)))

    def group_shapes(self, runs: Sequence[_HandlerRun]) -> tuple[FfiShapes, ...]:
        groups: dict[tuple[str, int], list[_HandlerRun]] = {}
        for run in runs:
            groups.setdefault((run.stage, run.arguments), []).append(run)
        merged: dict[tuple[str, str, str, str], tuple[int, int]] = {}
        for (stage, text), of_text in groups.items():
            decoded = decode_arguments(self.texts[text])
            key = (
                stage,
                _text_field(decoded, "arguments"),
                _text_field(decoded, "results"),
                _text_field(decoded, "attributes"),
            )
            runs_so_far, errors = merged.get(key, (0, 0))
            merged[key] = runs_so_far + len(of_text), errors + sum(run.error > 0 for run in of_text)
        found = [FfiShapes(*key, runs=count, errors=errors) for key, (count, errors) in merged.items()]
        return tuple(sorted(found, key=lambda shapes: (shapes.stage != _EXECUTE, -shapes.runs)))

    def build_unfinished(self, run: _HandlerRun) -> UnfinishedRun:
        """Return a run that did not return, with its sites and shapes."""
        (shapes,) = self.group_shapes([run])
        decoded = f"({shapes.arguments}) -> ({shapes.results})" if shapes.arguments or shapes.results else ""
        sites = self.joins[run.join][1] if run.join is not None else ()
        return UnfinishedRun(
            run.call, tuple(self.sites[site] for site in sites), "  ".join(filter(None, (decoded, shapes.attributes)))
        )

    def _build_errors(self, runs: Sequence[_HandlerRun]) -> list[FfiProblem]:
        """Return the errors of runs, once per message."""
        by_message: dict[str, list[_HandlerRun]] = {}
        for run in runs:
            if run.error > 0:
                by_message.setdefault(self.error_message(run), []).append(run)
        return [self._build_error(message, failed) for message, failed in by_message.items()]

    def error_message(self, run: _HandlerRun) -> str:
        """Return the error message of a run, or "" without an error."""
        return str(decode_arguments(self.texts[run.arguments]).get("error_message") or "")

    def _build_error(self, message: str, failed: Sequence[_HandlerRun]) -> FfiProblem:
        latest = max(failed, key=lambda run: run.call)
        signature = self.handlers[latest.stack][2] if latest.stack in self.handlers else None
        explained = explain_error(message, signature, decode_arguments(self.texts[latest.arguments]))
        sites = {site for run in failed if run.join is not None for site in self.joins[run.join][1]}
        return FfiProblem(
            message=message,
            explanation=explained.text if explained is not None else "",
            remedy=explained.remedy if explained is not None else "",
            count=len(failed),
            sites=tuple(self.sites[site] for site in sorted(sites)),
            call=latest.call,
        )


def _text_field(decoded: Mapping[str, object], name: str) -> str:
    value = decoded.get(name)
    return value if isinstance(value, str) else ""


def _read_use(reader: Reader, name: str) -> FfiUse:
    """Return the use of a target in its latest runs, for hovers; fast regardless of their number."""
    reader = reader.restrict_to_latest_run(
        f"SELECT max(k.run) FROM {_STACK_CALLS_OF_TARGET}",
        name,
    )
    stacks = reader.rows(
        f"SELECT x.stage, k.stack, k.calls FROM ffi_functions x JOIN {reader.totals_table('stack_calls')} k"
        " ON k.boundary = x.boundary WHERE x.target = ?",
        name,
    )
    recent = _read_recent_runs(reader, name)
    run = reader.scope.run
    of_run = (
        f"captures p CROSS JOIN ffi_joins j ON j.capture = p.id AND p.run = {run}"
        " CROSS JOIN ffi_candidates k ON k.join_id = j.id"
    )
    sites = reader.rows(
        "SELECT id FROM ffi_sites s WHERE target = ?"
        f" AND EXISTS (SELECT 1 FROM {of_run if run else 'ffi_candidates k'} WHERE k.site = s.id)",
        name,
    )
    run_data = _RunData.read(reader, recent)
    shapes = (f"({each.arguments}) -> ({each.results})" for each in run_data.group_shapes(recent))
    failed = next((run for run in recent if run.error > 0), None)
    return FfiUse(
        target=name,
        handlers=_distinct_handlers(
            ((stage, stack) for stage, stack, _ in stacks), _read_handlers(reader, {stack for _, stack, _ in stacks})
        ),
        sites=tuple(read_sites_by_id(reader, [site for (site,) in sites]).values()),
        runs=sum(calls for stage, _, calls in stacks if stage == _EXECUTE),
        recent=_sum_runs(recent),
        shapes=tuple(shape for shape in dict.fromkeys(shapes) if shape != "() -> ()")[:_MAX_SHAPES],
        error=format_message_with_code(failed.error, run_data.error_message(failed)) if failed is not None else "",
    )


def _read_recent_runs(reader: Reader, name: str) -> list[_HandlerRun]:
    """Return the latest runs of a target, latest first."""
    calls = list(itertools.islice(_iter_runs_latest_first(reader, name), _MAX_RECENT_RUNS))
    query = f"SELECT call, join_id FROM ffi_runs WHERE call {IN_JSON}"
    joins: dict[int, int] = dict(reader.rows(query, build_json_list([row[0] for row in calls])))
    return [
        _HandlerRun(name, _EXECUTE, call, stack, duration, error, arguments_id, joins.get(call))
        for call, stack, duration, error, arguments_id in calls
    ]


def _iter_runs_latest_first(reader: Reader, name: str) -> Iterator[Row]:
    run = reader.scope.run
    condition = f" AND p.run = {run}" if run else f" AND p.run <= (SELECT max(k.run) FROM {_STACK_CALLS_OF_TARGET})"
    for capture, first, last in iter_call_ranges(reader, None, condition, *(() if run else (name,))):
        kinds = reader.rows(
            "SELECT k.id FROM ffi_functions x CROSS JOIN call_kinds k ON k.capture = ? AND k.boundary = x.boundary"
            " WHERE x.target = ? AND x.stage = ? AND k.calls > 0",
            capture,
            name,
            _EXECUTE,
        )
        columns = "c.id, k.stack, c.duration, k.error, c.arguments"
        some = [kind for (kind,) in kinds]
        yield from iter_calls(reader, columns, some, IdRange(first, first, last), backwards=True)


def _distinct_handlers(
    ends: Iterable[tuple[str, int]], handlers: Mapping[int, tuple[FrameRow, FrameRow | None, Signature | None]]
) -> tuple[FfiHandler, ...]:
    """Return the handlers at the ends of these stacks, the handler of the stage `execute` first."""
    found: dict[tuple[str, int], FfiHandler] = {}
    for stage, stack in ends:
        if stack in handlers:
            frame, implementation, signature = handlers[stack]
            found[stage, frame.function.id] = FfiHandler(
                stage=stage,
                function=frame.function,
                location=frame.location or frame.function.location,
                implementation=None if implementation is None else _find_source_function(implementation),
                signature=signature,
            )
    return tuple(sorted(found.values(), key=lambda handler: handler.stage != _EXECUTE))


def _find_source_function(implementation: FrameRow) -> FunctionRow:
    """Return the source function of a handler. A shared capture has only the location of its frame."""
    function = implementation.function
    return replace(function, location=function.location or implementation.location)


def _read_handlers(
    reader: Reader, stacks: Iterable[int]
) -> dict[int, tuple[FrameRow, FrameRow | None, Signature | None]]:
    """Return (frame, frame of the source function, signature) of the handler at the end of each stack.

    The frame belongs to the physical function, which called all functions that were inlined into it.
    """
    rows = reader.rows(
        "WITH RECURSIVE ends(stack, frame, depth, parent) AS ("
        " SELECT s.id, f.id, f.depth, n.parent FROM stacks s JOIN nodes n ON n.id = s.leaf"
        f" JOIN frames f ON f.id = n.frame WHERE s.id {IN_JSON}"
        " UNION ALL SELECT e.stack, f.id, f.depth, n.parent FROM ends e JOIN nodes n ON n.id = e.parent"
        " JOIN frames f ON f.id = n.frame WHERE e.depth > 0"
        ") SELECT e.stack, e.frame, h.implementation, h.signature FROM ends e"
        " LEFT JOIN ffi_handlers h ON h.frame = e.frame WHERE e.depth = 0",
        build_json_list(sorted(stacks)),
    )
    frames = read_frames_by_id(reader, {frame for row in rows for frame in row[1:3] if frame is not None})
    return {
        stack: (frames[frame], frames.get(made_from), _parse_signature(text)) for stack, frame, made_from, text in rows
    }


def _parse_signature(text: str | None) -> Signature | None:
    if text is None:
        return None
    content = json.loads(text)
    return Signature(tuple(content["arguments"]), tuple(content["results"]), tuple(content["attributes"]))


def _sum_runs(runs: Sequence[_HandlerRun]) -> RunTotals:
    durations = sorted(run.duration for run in runs if run.duration >= 0)

    def quantile(percent: int) -> int:
        return durations[max(-(-len(durations) * percent // 100) - 1, 0)] if durations else 0

    return RunTotals(
        runs=len(runs),
        errors=sum(run.error > 0 for run in runs),
        never_returned=len(runs) - len(durations),
        total=sum(durations),
        median=quantile(50),
        p99=quantile(99),
    )


def _read_registrations(reader: Reader) -> dict[str, list[FfiRegistration]]:
    found: dict[str, list[FfiRegistration]] = {}
    for name, platform, version, stages, is_wrapped, frames in reader.rows(
        "SELECT name, platform, api_version, stages, is_wrapped, registered_at FROM ffi_targets"
        f" WHERE capture {_IN_SCOPE} ORDER BY id"
    ):
        line = _find_registering_line(json.loads(frames))
        entry = FfiRegistration(platform, version, tuple(json.loads(stages)), bool(is_wrapped), line)
        known = found.setdefault(name, [])
        if entry not in known:  # each process registers its own
            known.append(entry)
    return found


def _find_registering_line(frames: Sequence[tuple[str, int, str]]) -> PythonLine | None:
    """Return the innermost program line; None if an installed package, such as JAX, registered the target itself."""
    for path, line, function in frames:
        if not is_installed(path):
            return PythonLine(function, Location(path, line, LocationEvidence.EXACT))
        if function == "<module>":  # an imported package registers its own targets
            return None
    return None


def _read_problems(reader: Reader) -> list[UnknownTarget]:
    rows = reader.rows(
        f"SELECT target, platform, registered_for, sites, message FROM ffi_problems WHERE capture {_IN_SCOPE}"
        " GROUP BY target, platform, registered_for, sites, message ORDER BY min(id)"
    )
    return [UnknownTarget(row[0], row[1], tuple(json.loads(row[2])), tuple(json.loads(row[3])), row[4]) for row in rows]


def _build_troubles(
    reader: Reader, problems: Iterable[UnknownTarget], target: str, registered: Collection[str]
) -> list[FfiProblem]:
    found = []
    for problem in problems:
        if problem.target == target:
            explained = explain_problem(problem, registered)
            query = f"SELECT id FROM ffi_sites WHERE key {IN_JSON}"
            ids = [site for (site,) in reader.rows(query, build_json_list(problem.sites))]
            sites = tuple(read_sites_by_id(reader, ids).values())
            found.append(FfiProblem(problem.message, explained.text, explained.remedy, 1, sites, None))
    return found
