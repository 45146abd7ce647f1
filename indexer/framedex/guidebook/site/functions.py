"""The page of a function: its ABI, our note, its observations, and the calls before and after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from framedex.base import words
from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData, Setup, run_setup, sum_counts
from framedex.guidebook.site.html_text import (
    CharacterBudget,
    draw_arrow_tip,
    format_times,
    render_paths,
    render_prose,
    shorten,
)
from framedex.guidebook.site.templates import Page, Templates
from framedex.model.guidebook import DisplayedLocation, Example, NameCount, ObservedError, ObservedFunction, Run
from framedex.model.path_trees import MAX_FRAMES, PathTrees

if TYPE_CHECKING:
    from framedex.model.guidebook import FunctionDescription


_PATHS_CHARACTERS = 170_000  # characters of a page of at most 300 kB
_MIN_FRAMES = 60  # frames per version
_MAX_LINES = 40
_MAX_EXAMPLES = 6
_MAX_ERRORS = 20


@dataclass(frozen=True, slots=True)
class FunctionCaller:
    """A set-up whose runs called a function; `medians` are the smallest and largest of their medians, in ns."""

    setup: Setup
    programs: int
    calls: int
    medians: tuple[int, int] | None
    longest: int | None
    errors: int


@dataclass(frozen=True, slots=True)
class DisplayedPaths:
    """The stack paths of a framework's version, from all its runs."""

    framework: str
    programs: int
    calls: int
    html: Markup
    left_out: int


def build_function_page(
    name: str, book: GuidebookData, templates: Templates, note: Callable[[str], str | None], table: tuple[str, str]
) -> Page:
    """Return the page of a function; `table` is the address and the title of its table."""
    path = book.function_pages[name]
    observed = book.find_observations(name)
    described = book.description(name)
    links = {each: addresses.relative_link(path, page) for each, page in book.function_pages.items() if each != name}
    words = note(name)
    before = sum_counts(each.before for each in observed)
    after = sum_counts(each.after for each in observed)
    lines = _count_lines(observed)
    errors = _count_errors(observed)
    contents = {
        "name": name,
        "described": described,
        "signature": _format_signature(name, described),
        "table": table,
        "words": render_prose(words, links) if words else None,
        "observed": observed,
        "callers": _find_callers(observed, book),
        "calls": book.calls(name),
        "lines": lines[:_MAX_LINES],
        "more_lines": len(lines) - _MAX_LINES,
        "paths": _find_paths(observed, book),
        "examples": _find_examples(observed, book)[:_MAX_EXAMPLES],
        "errors": errors[:_MAX_ERRORS],
        "more_errors": len(errors) - _MAX_ERRORS,
        "orders": draw_order(name, before, after, links) if before or after else None,
        "inside": sum_counts(each.inside for each in observed),
        "makes": sum_counts(each.makes for each in observed),
        "uses": sum_counts(each.uses for each in observed),
        "ends": sum_counts(each.ends for each in observed),
        "threads": sum_counts(each.threads for each in observed),
    }
    html, headings = templates.page("function.html", path, **contents)
    searched = templates.fill("function_searched.html", path, **contents)
    return Page(path, name, html, headings, searched)


def _format_signature(name: str, described: FunctionDescription | None) -> str:
    if described is None:
        return name
    if described.arguments:
        return f"{described.returns} {name}({described.arguments}* args)"
    parameters = [f"{each.type} {each.name}".strip() for each in described.parameters]
    joined = ", ".join(parameters)
    if len(joined) > 60:
        joined = "\n    " + ",\n    ".join(parameters)
    return f"{described.returns} {name}({joined})"


def _find_callers(observed: Sequence[ObservedFunction], book: GuidebookData) -> list[FunctionCaller]:
    """Return the set-ups that called a function, in book order."""
    found = []
    for setup in book.setups:
        runs = [each for each in observed if run_setup(book.runs[each.run]) == setup]
        if not runs:
            continue
        medians = [each.median for each in runs if each.median is not None]
        longest = [each.longest for each in runs if each.longest is not None]
        found.append(
            FunctionCaller(
                setup,
                len(runs),
                sum(each.calls for each in runs),
                (min(medians), max(medians)) if medians else None,
                max(longest, default=None),
                sum(error.calls for each in runs for error in each.errors),
            )
        )
    return found


def _find_paths(observed: Sequence[ObservedFunction], book: GuidebookData) -> list[DisplayedPaths]:
    """Return the stack paths by framework version: runs on one version share their lines and frames."""
    versions: dict[str, list[ObservedFunction]] = defaultdict(list)
    for each in observed:
        if each.paths:
            versions[run_setup(book.runs[each.run]).framework_name].append(each)
    shown = []
    for framework, group in versions.items():
        trees = PathTrees()
        for each in group:
            trees.add_trees(each.paths, each.omitted_calls)
        paths, left_out = trees.truncate(max(MAX_FRAMES // len(versions), _MIN_FRAMES))
        html = render_paths(paths, CharacterBudget(_PATHS_CHARACTERS // len(versions)))
        shown.append(DisplayedPaths(framework, len(group), sum(each.calls for each in group), html, left_out))
    return sorted(shown, key=lambda each: -each.calls)


def _count_lines(observed: Sequence[ObservedFunction]) -> list[tuple[DisplayedLocation, int]]:
    """Return the program lines that led to calls, most calls first."""
    counts: dict[DisplayedLocation, int] = defaultdict(int)
    for each in observed:
        for place, calls in each.lines:
            counts[place] += calls
    return sorted(counts.items(), key=lambda item: (-item[1], item[0].text))


def _find_examples(observed: Sequence[ObservedFunction], book: GuidebookData) -> list[tuple[Run, Example]]:
    """Return calls with different arguments, from as many runs as possible: the first of each run, then the second."""
    found: dict[tuple[tuple[str, str], ...], tuple[Run, Example]] = {}
    longest = max((len(each.examples) for each in observed), default=0)
    for index in range(longest):
        for each in observed:
            if index < len(each.examples):
                example = each.examples[index]
                found.setdefault(example.arguments, (book.runs[each.run], example))
    return list(found.values())


def _count_errors(observed: Sequence[ObservedFunction]) -> list[ObservedError]:
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for each in observed:
        for error in each.errors:
            counts[error.code, error.message] += error.calls
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [ObservedError(code, message, calls) for (code, message), calls in ordered]


_MAX_BOXES = 6  # boxes per side
_WIDTH, _ROW, _BOX, _SIDE, _GAP = 830, 36, 27, 250, 40
_MAX_LETTERS = 35  # longest name that fits its box


def draw_order(
    function: str, before: Sequence[NameCount], after: Sequence[NameCount], addresses: Mapping[str, str]
) -> Markup:
    """Return the picture: earlier calls on the left, later ones on the right; `addresses` are links to functions."""
    left, right = before[:_MAX_BOXES], after[:_MAX_BOXES]
    height = max(len(left), len(right), 1) * _ROW + 20
    middle = height / 2
    parts = [
        *_draw_column(left, 0, _SIDE, (_SIDE + _GAP, middle), height, addresses),
        *_draw_column(right, _WIDTH - _SIDE, _WIDTH - _SIDE, (_WIDTH - _SIDE - _GAP, middle), height, addresses),
        _draw_box(function, None, _SIDE + _GAP, middle, "this", ""),
    ]
    return Markup(
        '<svg class="orders" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group"'
        ' aria-labelledby="orders-t orders-d">'
        '<title id="orders-t">Functions called before and after {name}</title>'
        '<desc id="orders-d">Before: {before}. After: {after}.</desc>'
        "{tip}{parts}</svg>"
    ).format(
        w=_WIDTH,
        h=height,
        name=shorten(function),
        before=_format_counts(left),
        after=_format_counts(right),
        tip=draw_arrow_tip("orders-tip"),
        parts=Markup("").join(parts),
    )


def _draw_column(
    counted: Sequence[NameCount],
    x: float,
    edge: float,
    box: tuple[float, float],
    height: float,
    addresses: Mapping[str, str],
) -> list[Markup]:
    """Return the boxes of a side with their arrows, between `edge` and the middle box."""
    is_left = x == 0
    whole = sum(each.count for each in counted) or 1
    top = (height - len(counted) * _ROW) / 2 + _ROW / 2
    found = []
    for index, each in enumerate(counted):
        y = top + index * _ROW
        start, end = ((edge, y), box) if is_left else (box, (edge, y))
        found.append(
            Markup(
                '<path class="arrow" d="M{} {} C{} {} {} {} {} {}" stroke-width="{}" marker-end="url(#orders-tip)"/>'
            ).format(
                *(
                    start[0],
                    _format_number(start[1]),
                    start[0] + _GAP / 2,
                    _format_number(start[1]),
                    end[0] - _GAP / 2,
                    _format_number(end[1]),
                ),
                *(end[0], _format_number(end[1]), _format_number(1 + 2 * each.count / whole)),
            )
        )
        found.append(_draw_box(each.name, each.count, x, y, "other", addresses.get(each.name, "")))
    return found


def _draw_box(name: str, count: int | None, x: float, y: float, kind: str, address: str) -> Markup:
    shown = shorten(name if count is None else name.removeprefix("PJRT_"), _MAX_LETTERS - (0 if count is None else 6))
    label = Markup('<rect x="{}" y="{}" width="{}" height="{}" rx="5"/><text x="{}" y="{}">{}{}</text>').format(
        *(
            _format_number(x),
            _format_number(y - _BOX / 2),
            _SIDE,
            _BOX,
            _format_number(x + 9),
            _format_number(y + 4),
            shown,
        ),
        Markup(' <tspan class="count">{}</tspan>').format(format_times(count)) if count is not None else "",
    )
    inner = Markup('<g class="{}"><title>{}</title>{}</g>').format(kind, shorten(name), label)
    return Markup('<a href="{}">{}</a>').format(address, inner) if address else inner


def _format_counts(counted: Sequence[NameCount]) -> str:
    return ", ".join(f"{shorten(each.name)} {words.count(each.count, 'time')}" for each in counted) or "nothing"


def _format_number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
