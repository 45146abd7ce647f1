"""What a capture shows to be wrong: errors, objects that were not destroyed or were used wrongly, missing functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from framedex.errorcodes import ErrorCode, error_name
from framedex.index.ask.call.pythonlines import python_lines
from framedex.index.read.asked import AskedCapture
from framedex.index.read.rows import Reader, arguments
from framedex.missing import doubts, stopped_early
from framedex.model import CaptureRow, Check, Finding, Metadata, PythonLine, Severity
from framedex.objects import ViolationKind

_SHOWN = 5  # names of objects in a finding
_DISPATCHED_FROM = "(SELECT min(l.node) FROM call_links l WHERE l.call = c.id)"
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")

_WHAT_IS_WRONG = {
    ViolationKind.USE_AFTER_DESTROY: "was given {a_type} that {earlier} had destroyed",
    ViolationKind.DOUBLE_DESTROY: "was given {a_type} that had been destroyed before",
    ViolationKind.UNKNOWN_DESTROY: "was given {a_type} to destroy that no recorded call created",
    ViolationKind.FOREIGN_DESTROY: "was given {a_type} to destroy that belongs to the client",
    ViolationKind.USE_AFTER_DELETE: "was given {a_type} whose content was gone, deleted or donated",
    ViolationKind.DESTROYED_IN_USE: "destroyed {a_type} that {earlier} was using on another thread",
    ViolationKind.USE_AFTER_CLIENT: "was given {a_type} whose client had been destroyed",
}


def check_capture(asked: AskedCapture) -> Check:
    """Everything that the capture shows to be wrong, and what could not be judged."""
    reader, capture = asked.reader, asked.row()
    unjudged = list(_why_objects_are_not_judged(capture))
    found = [*_errors(reader, capture), *_unreturned(reader, capture)]
    if not unjudged:
        found += [*_violations(reader, capture), *_undestroyed(reader, capture)]
    lines = python_lines(reader, {group.finding.call: group.stack for group in found})
    order = list(Severity)
    findings = sorted(
        _findings(found, lines), key=lambda each: (order.index(each.severity), each.kind, -each.count, each.call)
    )
    return Check(capture, tuple(findings), (*unjudged, *_doubts(capture)))


@dataclass(slots=True)
class _Group:
    """Calls with one stack, dispatched from one place, that share a finding."""

    finding: Finding
    stack: int
    total: int = 0  # created objects: how many in all
    names: list[str] = field(default_factory=list)


def _why_objects_are_not_judged(capture: CaptureRow) -> Iterator[str]:
    if chosen := Metadata.parse(capture.metadata_text).selected_by:
        yield (
            f"Objects are not judged: the recording left out calls ({', '.join(sorted(chosen))}),"
            " so it does not tell what was created and destroyed."
        )
    elif capture.stops:
        stopped = stopped_early(capture.stops)
        yield f"Objects are not judged, as what was created and destroyed is not all there. {stopped}"


def _doubts(capture: CaptureRow) -> Iterator[str]:
    if capture.stops and Metadata.parse(capture.metadata_text).selected_by:
        yield stopped_early(capture.stops)
    if doubts(capture.problems):
        yield "The capture is not whole (`framedex captures` says why), so some of these may have another cause."


def _errors(reader: Reader, capture: CaptureRow) -> Iterator[_Group]:
    rows = reader.rows(
        "SELECT b.name, c.error, c.stack, a.json, count(*), max(c.id)"
        " FROM calls c JOIN boundaries b ON b.id = c.boundary JOIN arguments a ON a.id = c.arguments"
        f" WHERE c.capture = ? AND c.error > 0 GROUP BY c.boundary, c.error, c.stack, a.json, {_DISPATCHED_FROM}",
        capture.id,
    )
    for function, error, stack, text, count, call in rows:
        message = str(arguments(text).get("error_message") or "")
        name = error_name(error)
        told = message if message.startswith(name) else f"{name}: {message}" if message else name
        is_missing = error == ErrorCode.UNIMPLEMENTED
        kind, severity = ("unimplemented", Severity.NOTE) if is_missing else ("error", Severity.WARNING)
        yield _Group(Finding(kind, severity, f"answered {told}", function, count, call), stack)


def _unreturned(reader: Reader, capture: CaptureRow) -> Iterator[_Group]:
    rows = reader.rows(
        "SELECT b.name, c.stack, count(*), max(c.id) FROM calls c JOIN boundaries b ON b.id = c.boundary"
        f" WHERE c.capture = ? AND c.duration < 0 GROUP BY c.boundary, c.stack, {_DISPATCHED_FROM}",
        capture.id,
    )
    for function, stack, count, call in rows:
        finding = Finding(
            "never-returned", Severity.WARNING, "had not returned when the recording ended", function, count, call
        )
        yield _Group(finding, stack)


def _violations(reader: Reader, capture: CaptureRow) -> Iterator[_Group]:
    rows = reader.rows(
        "SELECT v.kind, b.name, o.type, o.number, v.call, v.earlier_call, e.name, c.stack, c.error"
        " FROM objects o JOIN violations v ON v.object = o.id JOIN calls c ON c.id = v.call"
        " JOIN boundaries b ON b.id = c.boundary LEFT JOIN calls d ON d.id = v.earlier_call"
        " LEFT JOIN boundaries e ON e.id = d.boundary WHERE o.capture = ? ORDER BY v.call",
        capture.id,
    )
    for kind, function, noun, number, call, earlier_call, earlier, stack, error in rows:
        message = _WHAT_IS_WRONG[ViolationKind(kind)].format(a_type=_a(noun), earlier=earlier)
        if error > 0:
            message += f", and answered {error_name(error)}"
        finding = Finding(kind, Severity.ERROR, message, function, 1, call, earlier_call)
        yield _Group(finding, stack, names=[f"{noun}#{number}"])


def _undestroyed(reader: Reader, capture: CaptureRow) -> Iterator[_Group]:
    """What was created and not destroyed: before its client was, or by the end of the recording."""
    created = {
        tuple(row[:3]): row[3]
        for row in reader.rows(
            f"SELECT o.type, c.stack, {_DISPATCHED_FROM}, count(*)"
            " FROM objects o JOIN calls c ON c.id = o.created_call WHERE o.capture = ? GROUP BY 1, 2, 3",
            capture.id,
        )
    }
    rows = reader.rows(
        f"SELECT o.type, c.stack, {_DISPATCHED_FROM}, o.number, o.size, o.created_call, b.name, k.destroyed_call"
        " FROM objects o JOIN calls c ON c.id = o.created_call JOIN boundaries b ON b.id = c.boundary"
        " LEFT JOIN objects k ON k.id = o.client"
        " WHERE o.capture = ? AND o.destroyed_call IS NULL ORDER BY o.created_call",
        capture.id,
    )
    totals: Counter[tuple[object, ...]] = Counter()
    for noun, stack, origin, number, size, call, function, client_gone in rows:
        is_leak = client_gone is not None
        key = noun, stack, origin
        first = not totals[key]
        totals[key] += 1
        finding = Finding(
            "leak" if is_leak else "alive",
            Severity.WARNING if is_leak else Severity.NOTE,
            f"created {_a(noun)} that was not destroyed before its client"
            if is_leak
            else f"created {_a(noun)} that was still there when the recording ended",
            function,
            1,
            call,
            client_gone,
            size=size,
        )
        yield _Group(finding, stack, created[key] if first else 0, [f"{noun}#{number}"])


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _findings(groups: Iterable[_Group], lines: dict[int, PythonLine]) -> Iterator[Finding]:
    """The findings of the groups; groups with the same message at the same line of Python share one."""
    merged: dict[tuple[object, ...], _Group] = {}
    for group in groups:
        finding = replace(group.finding, line=lines.get(group.finding.call))
        key = (finding.kind, finding.function, _NUMBER.sub("#", finding.message), finding.line)
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
        told = f"{group.finding.message} ({group.finding.count:,} of {group.total:,})" if group.total > 1 else None
        yield replace(
            group.finding, objects=tuple(dict.fromkeys(group.names))[:_SHOWN], message=told or group.finding.message
        )
