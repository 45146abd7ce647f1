"""FFI targets as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import proposing, trace_command
from framedex.commands.output.render_trace import folded_frames
from framedex.commands.output.terminal import Span, place_line, text_line
from framedex.errortext import innermost_lines
from framedex.ffi.explain import platform_name
from framedex.ffi.signature import signature_text
from framedex.model import Join
from framedex.plaintext import printable, shell_word

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.ffi.model import FfiHandler, FfiRegistration, FfiSiteTotals, FfiTarget, FfiTrouble, RunTotals
    from framedex.model import FfiSite, PythonLine

_MOST_LINES = 3
_MOST_SITES = 10


def target_lines(target: FfiTarget) -> Iterator[Line]:
    """A target in a few lines: times, handlers, platforms, sites and errors."""
    yield (Span(printable(target.name), "head"), Span(f"  {_totals(target.totals)}"))
    for handler in target.handlers:
        yield _handler(handler)
    yield from _registered(target.registrations)
    for totals in target.sites[:_MOST_SITES]:
        yield _site(totals)
    if len(target.sites) > _MOST_SITES:
        left_out = words.count(len(target.sites) - _MOST_SITES, "more site")
        yield proposing(f"  … {left_out}: `framedex ffi {shell_word(target.name)}`", "dim")
    yield from _rest(target)


def target_details(target: FfiTarget) -> Iterator[Line]:
    """A target with all its details."""
    yield (Span(printable(target.name), "head"), Span(f"  {_totals(target.totals)}"))
    for handler in target.handlers:
        yield _handler(handler)
        if handler.signature is not None:
            yield (Span("    takes  ", "dim"), Span(printable(signature_text(handler.signature))))
    yield from _registered(target.registrations)
    if target.shapes:
        yield text_line("run with", "head")
    for shapes in target.shapes:
        errors = f"  {words.count(shapes.errors, 'error')}" if shapes.errors else ""
        stage = "" if shapes.stage == "execute" else f"{shapes.stage}  "
        attributes = f"  {printable(shapes.attributes)}" if shapes.attributes else ""
        given = printable(f"({shapes.arguments}) -> ({shapes.results})") if shapes.stage == "execute" else ""
        yield (Span(f"{shapes.runs:>8,}  {stage}{given}{attributes}".rstrip()), Span(errors, "error"))
    for totals in target.sites:
        yield ()
        yield _site(totals)
        yield from folded_frames(totals.site.frames)
    yield from _rest(target)


def site_line(site: FfiSite) -> Line:
    """The program line of a site, and the lines that led to it."""
    if not site.lines:
        return (Span(f"site {site.key}, which another process made", "dim"),)
    spans: list[Span] = []
    left_out = len(site.lines) - _MOST_LINES
    shown = site.lines if left_out <= 0 else (*site.lines[: _MOST_LINES - 1], site.lines[-1])
    for place, line in enumerate(shown):
        if place:
            passed = f", … {left_out} more" if left_out > 0 and place == len(shown) - 1 else ""
            spans.append(Span(f"{passed}, from "))
        spans += _line(line)
    return tuple(spans)


def _totals(totals: RunTotals) -> str:
    if not totals.runs:
        return "never run"
    errors = f", {words.count(totals.errors, 'error')}" if totals.errors else ""
    lost = f", {totals.never_returned:,} never returned" if totals.never_returned else ""
    if totals.runs == totals.never_returned:
        return f"{words.count(totals.runs, 'run')}{lost}"
    return (
        f"{words.count(totals.runs, 'run')}, {words.duration(totals.total)} in all, median"
        f" {words.duration(totals.median)}, p99 {words.duration(totals.p99)}{errors}{lost}"
    )


def _handler(handler: FfiHandler) -> Line:
    stage = "handler" if handler.stage == "execute" else handler.stage
    made_from = handler.implementation
    spans = [Span(f"  {stage}  ", "dim"), Span(printable((made_from or handler.function).name), "native"), Span("  ")]
    place = made_from.location if made_from is not None and made_from.location is not None else handler.location
    spans += place_line(place) if place is not None else [Span(printable(handler.function.module), "dim")]
    if made_from is not None:
        spans.append(Span(f", registered as {printable(handler.function.name)}", "dim"))
    return tuple(spans)


def _registered(registrations: Sequence[FfiRegistration]) -> Iterator[Line]:
    """The lines that registered the target, each with its platforms."""
    by_line: dict[PythonLine | None, list[FfiRegistration]] = {}
    for registration in registrations:
        by_line.setdefault(registration.line, []).append(registration)
    for line, of_line in by_line.items():
        platforms = ", ".join(dict.fromkeys(platform_name(each.platform) for each in of_line))
        untyped = ", as an untyped custom call" if any(each.api_version == 0 for each in of_line) else ""
        missed = "" if all(each.is_wrapped for each in of_line) else "; its runs are not recorded: too many targets"
        where = [Span(" at "), *_line(line)] if line is not None else [Span(" by an installed package", "dim")]
        yield (Span("  registered  ", "dim"), Span(f"for {platforms}"), *where, Span(f"{untyped}{missed}", "dim"))


def _site(totals: FfiSiteTotals) -> Line:
    known = "" if totals.how is Join.EXACT else f" [{totals.how.value}]"
    median = words.duration(totals.totals.median) if totals.totals.runs > totals.totals.never_returned else "never"
    errors = f"  {words.count(totals.totals.errors, 'error')}" if totals.totals.errors else ""
    return (
        Span(f"{totals.totals.runs:>8,}  {median:>8}  "),
        *site_line(totals.site),
        Span(known, "dim"),
        Span(errors, "error"),
    )


def _rest(target: FfiTarget) -> Iterator[Line]:
    if target.unjoined:
        yield text_line(f"{target.unjoined:>8,}  without a known line of Python", "dim")
    for trouble in target.troubles:
        yield from _trouble(trouble)


def _trouble(trouble: FfiTrouble) -> Iterator[Line]:
    first, *others = innermost_lines(trouble.message)
    times = f" ({trouble.count:,} times)" if trouble.count > 1 else ""
    yield text_line(f"  ! {first}{times}", "error")
    for other in others:
        yield text_line(f"    {other}", "error")
    for site in trouble.sites:
        yield (Span("    called at "), *site_line(site))
    if trouble.explanation:
        yield text_line(f"    {trouble.explanation}")
    if trouble.remedy:
        yield text_line(f"    {trouble.remedy}")
    if trouble.call is not None:
        yield text_line(f"    {trace_command(trouble.call)}", "dim")


def _line(line: PythonLine) -> list[Span]:
    return [*place_line(line.location), Span(f" in {printable(line.function)}", "dim")]
