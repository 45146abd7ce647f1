"""`framedex ffi`: the native handlers of `jax.ffi.ffi_call`, and their Python lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.words import find_nearest_name
from framedex.commands.inputs.missing_answers import format_suggestion
from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs, render_heading_line
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_ffi_document
from framedex.commands.output.proposals import build_trace_command, render_proposal_line
from framedex.commands.output.render_trace import render_folded_frames
from framedex.commands.output.terminal import Span, render_location_line, render_text_line
from framedex.model import SiteEvidence
from framedex.programs.ffi.signatures import format_signature, jax_platform_name
from framedex.texts.errors import abbreviate_message

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.model import FfiSite, PythonLine
    from framedex.programs.ffi.model import FfiHandler, FfiProblem, FfiRegistration, FfiSiteTotals, FfiTarget, RunTotals


@click.command()
@click.argument("target", required=False)
@click.option("--all", "show_all", is_flag=True, help="Include targets that were never called.")
@capture_option
@json_option
@click.pass_obj
def ffi(
    index_path: Path | None, target: str | None, show_all: bool, selection: CaptureSelection | None, as_json: bool
) -> None:
    """Show FFI targets: handlers, Python lines and times.

    A line is the `ffi_call` of a handler's run.

    With TARGET (a name, or a unique part): its stages, C++ signature, registration, the stacks of its calls, shapes,
    attributes and errors.
    """
    with open_whole_runs(index_path, selection, lambda index: index.ffi.captures()) as (index, answer):
        targets = index.ffi.targets()
    shown = _find_target(targets, target) if target is not None else _select_used(targets, show_all)
    if as_json:
        print_json(build_ffi_document(answer, shown))
        return
    lines = [render_heading_line(answer)]
    for each in shown:
        lines += [(), *(render_target_lines(each) if target is None else target_details(each))]
    print_lines(lines)
    note_incomplete_captures(*answer.captures)
    if not targets:
        note("These captures registered and called no FFI targets.")
    elif len(shown) < len(targets) and target is None:
        others = words.count(len(targets) - len(shown), "more target")
        note(f"{others} registered but never called; --all lists them.")
    elif target is None and shown:
        first = quote_shell_word(shown[0].name)
        note(f"Next: `framedex ffi {first}` shows everything about one, `framedex trace {first}` the stack of a run.")


def _select_used(targets: Sequence[FfiTarget], show_all: bool) -> list[FfiTarget]:
    return [target for target in targets if show_all or target.totals.runs or target.handlers or target.troubles]


def _find_target(targets: Sequence[FfiTarget], name: str) -> list[FfiTarget]:
    """The target with this name, otherwise the one whose name contains it.

    Raises FramedexError unless exactly one matches.
    """
    matches = [target for target in targets if target.name == name]
    matches = matches or [target for target in targets if name.lower() in target.name.lower()]
    if not matches:
        near = find_nearest_name(name, [target.name for target in targets])
        raise FramedexError(
            f"No FFI target like '{name}' is in these captures.{format_suggestion(near)}",
            "`framedex ffi --all` lists its targets, `framedex captures` the captures for --capture.",
        )
    used = _select_used(matches, show_all=False) or matches
    if len(used) > 1:
        listed = "\n".join(target.name for target in used)
        raise FramedexError(f"Several targets match '{name}':\n{listed}", "Specify a longer part of the name.")
    return used


_MAX_LINES = 3
_MAX_SITES = 10


def render_target_lines(target: FfiTarget) -> Iterator[Line]:
    """A target in a few lines: times, handlers, platforms, sites and errors."""
    yield (Span(make_printable(target.name), "head"), Span(f"  {_format_totals(target.totals)}"))
    for handler in target.handlers:
        yield _render_handler_line(handler)
    yield from _render_registration_lines(target.registrations)
    for totals in target.sites[:_MAX_SITES]:
        yield _render_site_line(totals)
    if len(target.sites) > _MAX_SITES:
        left_out = words.count(len(target.sites) - _MAX_SITES, "more site")
        yield render_proposal_line(f"  … {left_out}: `framedex ffi {quote_shell_word(target.name)}`", "dim")
    yield from _render_trouble_lines(target)


def target_details(target: FfiTarget) -> Iterator[Line]:
    """A target with all its details."""
    yield (Span(make_printable(target.name), "head"), Span(f"  {_format_totals(target.totals)}"))
    for handler in target.handlers:
        yield _render_handler_line(handler)
        if handler.signature is not None:
            yield (Span("    takes  ", "dim"), Span(make_printable(format_signature(handler.signature))))
    yield from _render_registration_lines(target.registrations)
    if target.shapes:
        yield render_text_line("run with", "head")
    for shapes in target.shapes:
        errors = f"  {words.count(shapes.errors, 'error')}" if shapes.errors else ""
        stage = "" if shapes.stage == "execute" else f"{shapes.stage}  "
        attributes = f"  {make_printable(shapes.attributes)}" if shapes.attributes else ""
        given = make_printable(f"({shapes.arguments}) -> ({shapes.results})") if shapes.stage == "execute" else ""
        yield (Span(f"{shapes.runs:>8,}  {stage}{given}{attributes}".rstrip()), Span(errors, "error"))
    for totals in target.sites:
        yield ()
        yield _render_site_line(totals)
        yield from render_folded_frames(totals.site.frames)
    yield from _render_trouble_lines(target)


def render_site_line(site: FfiSite) -> Line:
    """The program line of a site, and the lines that led to it."""
    if not site.lines:
        return (Span(f"site {site.key}, which another process made", "dim"),)
    spans: list[Span] = []
    left_out = len(site.lines) - _MAX_LINES
    shown = site.lines if left_out <= 0 else (*site.lines[: _MAX_LINES - 1], site.lines[-1])
    for place, line in enumerate(shown):
        if place:
            passed = f", … {left_out} more" if left_out > 0 and place == len(shown) - 1 else ""
            spans.append(Span(f"{passed}, from "))
        spans += _render_line_spans(line)
    return tuple(spans)


def _format_totals(totals: RunTotals) -> str:
    if not totals.runs:
        return "never run"
    errors = f", {words.count(totals.errors, 'error')}" if totals.errors else ""
    lost = f", {totals.never_returned:,} never returned" if totals.never_returned else ""
    if totals.runs == totals.never_returned:
        return f"{words.count(totals.runs, 'run')}{lost}"
    return (
        f"{words.count(totals.runs, 'run')}, {words.format_duration(totals.total)} in all, median"
        f" {words.format_duration(totals.median)}, p99 {words.format_duration(totals.p99)}{errors}{lost}"
    )


def _render_handler_line(handler: FfiHandler) -> Line:
    stage = "handler" if handler.stage == "execute" else handler.stage
    implementation = handler.implementation
    spans = [
        Span(f"  {stage}  ", "dim"),
        Span(make_printable((implementation or handler.function).name), "native"),
        Span("  "),
    ]
    place = (
        implementation.location
        if implementation is not None and implementation.location is not None
        else handler.location
    )
    spans += (
        render_location_line(place) if place is not None else [Span(make_printable(handler.function.module), "dim")]
    )
    if implementation is not None:
        spans.append(Span(f", registered as {make_printable(handler.function.name)}", "dim"))
    return tuple(spans)


def _render_registration_lines(registrations: Sequence[FfiRegistration]) -> Iterator[Line]:
    """The lines that registered the target, each with its platforms."""
    by_line: dict[PythonLine | None, list[FfiRegistration]] = {}
    for registration in registrations:
        by_line.setdefault(registration.line, []).append(registration)
    for line, of_line in by_line.items():
        platforms = ", ".join(dict.fromkeys(jax_platform_name(each.platform) for each in of_line))
        untyped = ", as an untyped custom call" if any(each.api_version == 0 for each in of_line) else ""
        unrecorded = "" if all(each.is_wrapped for each in of_line) else "; runs not recorded: too many targets"
        where = (
            [Span(" at "), *_render_line_spans(line)] if line is not None else [Span(" by an installed package", "dim")]
        )
        yield (Span("  registered  ", "dim"), Span(f"for {platforms}"), *where, Span(f"{untyped}{unrecorded}", "dim"))


def _render_site_line(totals: FfiSiteTotals) -> Line:
    known = "" if totals.how is SiteEvidence.EXACT else f" [{totals.how.value}]"
    median = (
        words.format_duration(totals.totals.median) if totals.totals.runs > totals.totals.never_returned else "never"
    )
    errors = f"  {words.count(totals.totals.errors, 'error')}" if totals.totals.errors else ""
    return (
        Span(f"{totals.totals.runs:>8,}  {median:>8}  "),
        *render_site_line(totals.site),
        Span(known, "dim"),
        Span(errors, "error"),
    )


def _render_trouble_lines(target: FfiTarget) -> Iterator[Line]:
    if target.unjoined:
        yield render_text_line(f"{target.unjoined:>8,}  without a known Python line", "dim")
    for trouble in target.troubles:
        yield from _render_problem_lines(trouble)


def _render_problem_lines(trouble: FfiProblem) -> Iterator[Line]:
    first, *others = abbreviate_message(trouble.message)
    times = f" ({trouble.count:,} times)" if trouble.count > 1 else ""
    yield render_text_line(f"  ! {first}{times}", "error")
    for other in others:
        yield render_text_line(f"    {other}", "error")
    for site in trouble.sites:
        yield (Span("    called at "), *render_site_line(site))
    if trouble.explanation:
        yield render_text_line(f"    {trouble.explanation}")
    if trouble.remedy:
        yield render_text_line(f"    {trouble.remedy}")
    if trouble.call is not None:
        yield render_text_line(f"    {build_trace_command(trouble.call)}", "dim")


def _render_line_spans(line: PythonLine) -> list[Span]:
    return [*render_location_line(line.location), Span(f" in {make_printable(line.function)}", "dim")]
