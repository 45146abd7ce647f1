"""Find the problems of a capture: errors, leaked or misused objects, unimplemented functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from framedex.base import words
from framedex.index.ask.call.objects import name_objects
from framedex.index.ask.call.plugin_names import read_plugin_names
from framedex.index.ask.call.python_lines import read_python_lines
from framedex.index.ask.capture.violations import find_violations
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader, decode_arguments
from framedex.index.read.spans import KIND_TABLES
from framedex.index.read.subjects import CaptureQuery
from framedex.model import CaptureRow, Check, Finding, Metadata, PythonLine, Severity
from framedex.plugins.validation import RULES_BY_NAME
from framedex.programs.sizes import find_unused_donations
from framedex.texts.captures import format_data_problems, format_early_stop, format_unrecorded_queries
from framedex.texts.errors import ErrorCode, format_message_with_code, name_error

_MAX_NAMES = 5  # limit of object names in a finding
_DISPATCHED_FROM = "(SELECT min(l.node) FROM call_links l WHERE l.call = c.id)"
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")

_BEHAVIOUR = "behaviour"
_CRASHES = {name: name for name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP")} | {
    "SIGKILL": "SIGKILL (kill -9, or the kernel when memory ran out: see dmesg)",
}
"""The signals that crash a program, as findings name them."""
_OUTCOMES = {
    "raised": (Severity.ERROR, "{name} failed on {function}"),
    "hung": (Severity.WARNING, "{name}{place} on {function} ran for too long"),
    "abandoned": (Severity.WARNING, "{name}{place} on {function} timed out, and the call continued without it"),
    "left out": (Severity.WARNING, "{name}{place} on {function} could not run, and the call continued without it"),
}


def check_capture(subject: CaptureQuery) -> Check:
    """Return all problems that the capture shows, and the checks that could not run."""
    reader, capture = subject.reader, subject.row()
    skipped = list(_explain_skipped_object_checks(capture))
    found = [
        *_find_errors(reader, capture),
        *_find_failed_behaviours(reader, capture),
        *_find_unreturned_calls(reader, capture),
    ]
    found += _find_unused_donations(reader, capture)
    found += _find_violations(reader, capture, is_whole=not skipped)
    if not skipped:
        found += [*_find_lifetime_violations(reader, capture), *_find_undestroyed(reader, capture)]
    lines = read_python_lines(
        reader, {group.finding.call: group.stack for group in found} | _read_earlier_stacks(reader, found)
    )
    order = list(Severity)
    plugins = _read_plugins_of_calls(reader, capture.id, found)
    findings = sorted(
        _merge_findings(found, lines, plugins),
        key=lambda each: (order.index(each.severity), each.kind, -each.count, each.call),
    )
    return Check(capture, tuple(findings), (*skipped, *_explain_doubts(capture)))


@dataclass(slots=True)
class _FindingGroup:
    """Calls with one stack and one dispatch site that share a finding."""

    finding: Finding
    stack: int
    total: int = 0  # number of created objects in all
    names: list[tuple[int, str]] = field(default_factory=list)  # (call, object name)

    def add(self, name: str, call: int, size: int | None) -> None:
        """Count a created object. Pass the calls in order."""
        found = self.finding
        sizes = [each for each in (found.size, size) if each is not None]
        latest = max(found.call, call)
        self.finding = replace(found, count=found.count + 1, call=latest, size=sum(sizes) if sizes else None)
        if len(self.names) < _MAX_NAMES:
            self.names.append((call, name))


def _explain_skipped_object_checks(capture: CaptureRow) -> Iterator[str]:
    if chosen := Metadata.parse(capture.metadata_text).selected_by:
        yield (
            f"Objects were not checked: only some calls were recorded ({', '.join(sorted(chosen))}),"
            f" so creations and destructions may be missing. {format_unrecorded_queries(capture.stops)}".rstrip()
        )
    elif capture.stops:
        stopped = format_early_stop(capture.stops)
        yield f"Objects were not checked, because creations and destructions may be missing. {stopped}"


def _explain_doubts(capture: CaptureRow) -> Iterator[str]:
    if capture.stops and Metadata.parse(capture.metadata_text).selected_by:
        yield format_early_stop(capture.stops)
    if format_data_problems(capture.problems):
        yield "The capture is incomplete (`framedex captures` says why), so some findings may have another cause."


def _find_errors(reader: Reader, capture: CaptureRow) -> Iterator[_FindingGroup]:
    rows = reader.rows(
        "SELECT b.name, k.error, k.stack, a.json, count(*), max(c.id)"
        f" FROM {KIND_TABLES} CROSS JOIN boundaries b ON b.id = k.boundary CROSS JOIN arguments a ON a.id = c.arguments"
        f" WHERE k.capture = ? AND k.error > 0 AND b.boundary <> ?"
        f" GROUP BY k.boundary, k.error, k.stack, a.json, {_DISPATCHED_FROM}",
        capture.id,
        _BEHAVIOUR,
    )
    for function, error, stack, text, count, call in rows:
        message = str(decode_arguments(text).get("error_message") or "")
        is_missing = error == ErrorCode.UNIMPLEMENTED
        kind, severity = ("unimplemented", Severity.NOTE) if is_missing else ("error", Severity.ERROR)
        yield _FindingGroup(
            Finding(kind, severity, f"returned {format_message_with_code(error, message)}", function, count, call),
            stack,
        )


def _find_failed_behaviours(reader: Reader, capture: CaptureRow) -> Iterator[_FindingGroup]:
    """Yield behaviours that failed; an error that a behaviour requested counts as one of the called function."""
    rows = reader.rows(
        "SELECT b.name, k.stack, a.json, count(*), max(c.id)"
        f" FROM {KIND_TABLES} CROSS JOIN boundaries b ON b.id = k.boundary CROSS JOIN arguments a ON a.id = c.arguments"
        " WHERE k.capture = ? AND k.error > 0 AND b.boundary = ?"
        f" GROUP BY k.boundary, k.stack, a.json, {_DISPATCHED_FROM}",
        capture.id,
        _BEHAVIOUR,
    )
    for function, stack, text, count, call in rows:
        fields = decode_arguments(text)
        outcome = fields.get("outcome")
        if outcome not in _OUTCOMES:
            continue
        severity, sentence = _OUTCOMES[outcome]
        place = f" ({fields['place']})" if fields.get("place") else ""
        message = sentence.format(
            name=fields.get("behaviour") or "a behaviour", place=place, function=fields.get("function")
        )
        first = str(fields.get("error_message") or "").partition("\n")[0]
        yield _FindingGroup(
            Finding("behaviour", severity, f"{message}{first and f': {first}'}", function, count, call), stack
        )


def _find_unreturned_calls(reader: Reader, capture: CaptureRow) -> Iterator[_FindingGroup]:
    rows = reader.rows(
        f"SELECT b.name, k.stack, count(*), max(c.id) FROM {KIND_TABLES} CROSS JOIN boundaries b ON b.id = k.boundary"
        f" WHERE k.capture = ? AND k.error < 0 GROUP BY k.boundary, k.stack, {_DISPATCHED_FROM}",
        capture.id,
    )
    ended_by = Metadata.parse(capture.metadata_text).ended_by
    is_crash = ended_by in _CRASHES
    kind, severity = ("crash", Severity.ERROR) if is_crash else ("never-returned", Severity.WARNING)
    end = f"{_CRASHES.get(ended_by, ended_by)} ended the program" if ended_by else "the recording ended"
    message = f"had not returned when {end}"
    if is_crash and not rows:
        message = f"was the latest call before {end}"
        rows = reader.rows(
            f"SELECT b.name, k.stack, 1, c.id FROM {KIND_TABLES} CROSS JOIN boundaries b ON b.id = k.boundary"
            " WHERE k.capture = ? ORDER BY c.id DESC LIMIT 1",
            capture.id,
        )
    for function, stack, count, call in rows:
        yield _FindingGroup(Finding(kind, severity, message, function, count, call), stack)


def _find_unused_donations(reader: Reader, capture: CaptureRow) -> Iterator[_FindingGroup]:
    """Yield programs with donated arguments whose memory no result can reuse."""
    rows = reader.rows(
        # A plug-in that reports no bytes of arguments reports no reuse of them either.
        "SELECT p.signature, n.text, CASE WHEN json_extract(x.sizes, '$.arguments') > 0"
        " THEN json_extract(x.sizes, '$.aliased') END, p.function, k.stack, count(*), max(x.call)"
        " FROM compilations x"
        " JOIN programs p ON p.id = x.program LEFT JOIN compile_texts n ON n.id = x.noted"
        " JOIN call_rows c ON c.id = x.call JOIN call_kinds k ON k.id = c.kind"
        " WHERE x.capture = ? AND k.error <= 0 AND p.signature IS NOT NULL"
        # A cheap test first: most programs have no donations, and signatures are long.
        " AND (instr(p.signature, 'jax.buffer_donor') OR instr(p.signature, 'tf.aliasing_output')"
        " OR coalesce(json_array_length(n.text, '$.donated'), 0)) GROUP BY x.program, x.noted, 3, k.stack",
        capture.id,
    )
    for signature_text, noted, reused, function, stack, count, call in rows:
        signature = json.loads(signature_text)
        donated = json.loads(noted).get("donated", ()) if noted else ()
        unused = list(find_unused_donations(signature, donated, reused))
        if not unused:
            continue
        lines = [f"cannot reuse the memory of {words.count(len(unused), 'donated argument')}"]
        for each in unused[:_MAX_NAMES]:
            argument = signature["arguments"][each.argument]
            size = f", {words.format_size(each.size)}" if each.size >= 0 else ""
            lines.append(f"argument {argument['name'] or each.argument}: {argument['type']}{size}; {each.reason}")
        if len(unused) > _MAX_NAMES:
            lines.append(f"and {words.count(len(unused) - _MAX_NAMES, 'more argument')}")
        finding = Finding("donation", Severity.WARNING, "\n".join(lines), function or "a program", count, call)
        yield _FindingGroup(finding, stack)


def _find_violations(reader: Reader, capture: CaptureRow, *, is_whole: bool) -> Iterator[_FindingGroup]:
    violations = list(find_violations(reader, capture.id, is_whole=is_whole))
    calls = name_objects(reader, [violation.call for violation in violations])
    for violation, call in zip(violations, calls, strict=True):
        rule = violation.rule
        earlier = None if violation.earlier is None else violation.earlier.id
        finding = Finding(rule.name, rule.severity, violation.message, call.function, 1, call.id, earlier)
        name = call.objects.get(violation.field)
        yield _FindingGroup(finding, call.stack, names=[(call.id, name)] if isinstance(name, str) else [])


def _find_lifetime_violations(reader: Reader, capture: CaptureRow) -> Iterator[_FindingGroup]:
    rows = reader.rows(
        "SELECT v.kind, b.name, o.type, o.number, v.call, v.earlier_call, e.name, c.stack, c.error"
        " FROM object_ranges r CROSS JOIN violations v ON v.object BETWEEN r.first_object AND r.last_object"
        " CROSS JOIN objects o ON o.id = v.object CROSS JOIN calls c ON c.id = v.call"
        " CROSS JOIN boundaries b ON b.id = c.boundary LEFT JOIN call_rows d ON d.id = v.earlier_call"
        " LEFT JOIN call_kinds f ON f.id = d.kind LEFT JOIN boundaries e ON e.id = f.boundary"
        " WHERE r.capture = ? ORDER BY v.call, v.id",
        capture.id,
    )
    for kind, function, noun, number, call, earlier_call, earlier, stack, error in rows:
        rule = RULES_BY_NAME[kind]
        message = rule.format_message(noun, earlier)
        if error > 0:
            message += f", and returned {name_error(error)}"
        finding = Finding(kind, rule.severity, message, function, 1, call, earlier_call)
        yield _FindingGroup(finding, stack, names=[(call, f"{noun}#{number}")])


def _find_undestroyed(reader: Reader, capture: CaptureRow) -> Iterator[_FindingGroup]:
    """Yield objects not destroyed: before their client was, or by the end of the recording."""
    types = reader.rows("SELECT id, name FROM object_types WHERE capture = ? ORDER BY id", capture.id)
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    groups: dict[tuple[object, ...], _FindingGroup] = {}
    created = _CreatedCounts(reader, capture.id)
    for type_id, noun in types:
        rows = reader.iter_rows(
            f"SELECT k.stack, k.boundary, {_DISPATCHED_FROM}, o.number, o.size, c.id, d.destroyed_call"
            " FROM object_rows o CROSS JOIN call_rows c ON c.id = o.created_call"
            " CROSS JOIN call_kinds k ON k.id = c.kind"
            " LEFT JOIN object_rows d ON d.id = o.client WHERE o.type = ? AND o.destroyed_call IS NULL ORDER BY o.id",
            type_id,
        )
        for stack, boundary, origin, number, size, call, client_gone in rows:
            is_leak = client_gone is not None
            key = type_id, stack, boundary, origin, client_gone
            known = groups.get(key)
            if known is None:
                finding = Finding(
                    "leak" if is_leak else "alive",
                    Severity.WARNING if is_leak else Severity.NOTE,
                    RULES_BY_NAME["leak"].format_message(noun)
                    if is_leak
                    else f"created {words.add_article(noun)} that still existed when the recording ended",
                    names[boundary],
                    0,
                    call,
                    client_gone,
                )
                known = groups[key] = _FindingGroup(finding, stack, created.take_count(type_id, stack, origin))
            known.add(f"{noun}#{number}", call, size)
    yield from groups.values()


class _CreatedCounts:
    """Counts the objects that calls with one stack created, by type; for linked calls, also by dispatch site."""

    def __init__(self, reader: Reader, capture: int) -> None:
        self._reader = reader
        self._capture = capture
        self._linked: dict[tuple[int, int, int], int] | None = None
        self._taken: set[tuple[int, int, int | None]] = set()

    def take_count(self, type_id: int, stack: int, origin: int | None) -> int:
        """Return the number at the first request, then 0, because groups of one stack and site share it."""
        key = type_id, stack, origin
        if key in self._taken:
            return 0
        self._taken.add(key)
        if origin is not None:
            return self._read_linked_counts().get((type_id, stack, origin), 0)
        rows = self._reader.rows(
            "SELECT coalesce(sum(x.objects), 0) FROM created_objects x JOIN call_kinds k ON k.id = x.kind"
            " WHERE x.type = ? AND k.stack = ?",
            type_id,
            stack,
        )
        total: int = rows[0][0]
        if not self._has_links(stack):
            return total
        return total - sum(
            count for (kind, of, _), count in self._read_linked_counts().items() if (kind, of) == (type_id, stack)
        )

    def _has_links(self, stack: int) -> bool:
        """Whether any call with this stack is linked: all calls of a stack are on Python threads, or none."""
        query = (
            "SELECT EXISTS (SELECT 1 FROM call_kinds k"
            " JOIN call_links l ON l.call BETWEEN k.first_call AND k.latest_call"
            " JOIN call_rows c ON c.id = l.call AND c.kind = k.id WHERE k.stack = ? AND k.capture = ?)"
        )
        return bool(self._reader.rows(query, stack, self._capture)[0][0])

    def _read_linked_counts(self) -> dict[tuple[int, int, int], int]:
        """Return object counts by (type, stack, site). This reads every object; few captures need it."""
        if self._linked is None:
            rows = self._reader.rows(
                "SELECT o.type, k.stack, l.node, count(*) FROM object_ranges r CROSS JOIN object_rows o"
                "  ON o.id BETWEEN r.first_object AND r.last_object"
                " CROSS JOIN (SELECT call, min(node) AS node FROM call_links GROUP BY call) l"
                " ON l.call = o.created_call"
                " CROSS JOIN call_rows c ON c.id = l.call CROSS JOIN call_kinds k ON k.id = c.kind"
                " WHERE r.capture = ? GROUP BY 1, 2, 3",
                self._capture,
            )
            self._linked = {(kind, stack, node): count for kind, stack, node, count in rows}
        return self._linked


def _read_earlier_stacks(reader: Reader, groups: Iterable[_FindingGroup]) -> dict[int, int]:
    """Return the stacks of the earlier calls of findings, by call."""
    calls = [group.finding.earlier_call for group in groups if group.finding.earlier_call is not None]
    query = f"SELECT c.id, k.stack FROM call_rows c JOIN call_kinds k ON k.id = c.kind WHERE c.id {IN_JSON}"
    return dict(reader.rows(query, build_json_list(calls))) if calls else {}


def _read_plugins_of_calls(reader: Reader, capture: int, groups: Iterable[_FindingGroup]) -> dict[int, str]:
    """Return the names of the plug-ins of findings, by call; empty if the capture has a single plug-in."""
    names = read_plugin_names(reader, capture)
    if not names:
        return {}
    query = (
        "SELECT c.id, b.boundary FROM call_rows c JOIN call_kinds k ON k.id = c.kind"
        f" JOIN boundaries b ON b.id = k.boundary WHERE c.id {IN_JSON}"
    )
    calls = build_json_list([group.finding.call for group in groups])
    return {call: names[boundary] for call, boundary in reader.rows(query, calls) if boundary in names}


def _merge_findings(
    groups: Iterable[_FindingGroup], lines: dict[int, PythonLine], plugins: dict[int, str]
) -> Iterator[Finding]:
    """Yield the findings of the groups, merging those with the same message at the same Python line."""
    merged: dict[tuple[object, ...], _FindingGroup] = {}
    for group in groups:
        rule = RULES_BY_NAME.get(group.finding.kind)
        finding = replace(
            group.finding,
            line=lines.get(group.finding.call),
            earlier_line=lines.get(group.finding.earlier_call or 0),
            broken_by=None if rule is None else rule.breaker.value,
            plugin=plugins.get(group.finding.call, ""),
        )
        key = (finding.kind, finding.plugin, finding.function, _NUMBER.sub("#", finding.message), finding.line)
        known = merged.get(key)
        if known is None:
            merged[key] = replace(group, finding=finding, names=group.names[:])
            continue
        known.total += group.total
        known.names += group.names
        latest = max((known.finding, finding), key=lambda each: each.call)
        sizes = [each.size for each in (known.finding, finding) if each.size is not None]
        known.finding = replace(latest, count=known.finding.count + finding.count, size=sum(sizes) if sizes else None)
    for group in merged.values():
        fields = f"{group.finding.message} ({group.finding.count:,} of {group.total:,})" if group.total > 1 else None
        yield replace(
            group.finding,
            objects=tuple(dict.fromkeys(name for _, name in sorted(group.names)))[:_MAX_NAMES],
            message=fields or group.finding.message,
        )
