"""The pages of API versions and of differences: between two chosen sides, and between a framework's versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData
from framedex.guidebook.site.templates import Page, Templates
from framedex.model.guidebook import ApiRelease, ChangedStep, ComparedFunction, Comparison


def build_versions_page(book: GuidebookData, releases: Sequence[ApiRelease], templates: Templates) -> Page:
    """Return the page: minor versions, newest first, with the functions and fields added in each."""
    functions: dict[int, list[str]] = defaultdict(list)
    shipped: dict[int, list[ApiRelease]] = defaultdict(list)
    for release in releases:
        shipped[release.minor].append(release)
    fields: dict[int, list[tuple[str, list[str]]]] = defaultdict(list)
    for each in book.described:
        if each.since is not None:
            functions[each.since].append(each.name)
        added: dict[int, list[str]] = defaultdict(list)
        for parameter in each.parameters:
            if parameter.since is not None and parameter.since != each.since:
                added[parameter.since].append(parameter.name)
        for version, names in added.items():
            fields[version].append((each.name, names))
    minors = sorted({*functions, *fields, *shipped}, reverse=True)
    html, headings = templates.page(
        *("versions.html", addresses.VERSIONS),
        versions=[(minor, shipped[minor], functions[minor], fields[minor]) for minor in minors],
    )
    return Page(addresses.VERSIONS, "Versions", html, headings, '<h1 id="top">Versions of the API</h1>')


_MAX_PATHS = 50
_MAX_CALLS = 30  # of a stack path, from a little before its first difference
_CALLS_BEFORE = 3


@dataclass(frozen=True, slots=True)
class DisplayedCall:
    """A call in a side-by-side list; `sign` is "-" if only the left side has it, "+" if only the right, else empty."""

    sign: str
    function: str


def build_comparison_page(comparison: Comparison, templates: Templates) -> Page:
    """Return the page of a comparison: functions called by one side only, those called by both, and differing steps."""
    both = [each for each in comparison.functions if each.left and each.right]
    html, headings = templates.page(
        *("comparison.html", addresses.COMPARISON),
        comparison=comparison,
        one_sided=[
            (comparison.left, [each for each in comparison.functions if not each.right]),
            (comparison.right, [each for each in comparison.functions if not each.left]),
        ],
        both=sorted(both, key=_call_ratio_key),
        changed_steps=_show_changes(comparison.changed_steps),
        more=len(comparison.changed_steps) - _MAX_PATHS,
    )
    return Page(addresses.COMPARISON, "Comparison", html, headings, '<h1 id="top">Comparison</h1>')


def build_changes_page(changed_steps: Sequence[ChangedStep], templates: Templates) -> Page:
    """Return the page of steps that changed between a framework's versions."""
    html, headings = templates.page(
        *("changes.html", addresses.CHANGES),
        changed_steps=_show_changes(changed_steps),
        more=len(changed_steps) - _MAX_PATHS,
    )
    return Page(addresses.CHANGES, "Changed stack paths", html, headings, '<h1 id="top">Changed stack paths</h1>')


def _call_ratio_key(each: ComparedFunction) -> tuple[float, str]:
    """Return a sort key that puts the functions with the largest ratio of calls first."""
    left, right = (each.left.calls if each.left else 0), (each.right.calls if each.right else 0)
    return (min(left, right) / max(left, right, 1), each.function)


def _show_changes(changed_steps: Sequence[ChangedStep]) -> list[tuple[ChangedStep, list[DisplayedCall], int]]:
    """Return the changed steps with their calls side by side, and the number of calls not shown."""
    shown = []
    for step in changed_steps[:_MAX_PATHS]:
        calls = _align_calls(step)
        start = max(next((index for index, call in enumerate(calls) if call.sign), 0) - _CALLS_BEFORE, 0)
        part = calls[start : start + _MAX_CALLS]
        shown.append((step, part, len(calls) - start - len(part)))
    return shown


def _align_calls(step: ChangedStep) -> list[DisplayedCall]:
    found = []
    matcher = SequenceMatcher(a=step.left_calls, b=step.right_calls, autojunk=False)
    for kind, left, left_end, right, right_end in matcher.get_opcodes():
        if kind == "equal":
            found += [DisplayedCall("", name) for name in step.left_calls[left:left_end]]
        else:
            found += [DisplayedCall("-", name) for name in step.left_calls[left:left_end]]
            found += [DisplayedCall("+", name) for name in step.right_calls[right:right_end]]
    return found
