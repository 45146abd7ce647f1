"""The page of a function: its ABI, our note, and its observations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import Book, Setup, setup_of, total
from framedex.guidebook.site.orders import orders_svg
from framedex.guidebook.site.page import Page
from framedex.guidebook.site.prose import prose
from framedex.guidebook.site.roads import Budget, roads_html
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook.observed import Example, Observed, Place, Run, SeenError
from framedex.roadtrees import MOST_ROADS, RoadTrees

if TYPE_CHECKING:
    from framedex.model.guidebook.described import Described

_ROADS = 170_000  # characters of a page of at most 300 kB
_FEWEST_ROADS = 60  # frames per version
_MOST_LINES = 40
_MOST_EXAMPLES = 6
_MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Caller:
    """A set-up whose runs called a function; `medians` are the smallest and largest of their medians, in ns."""

    setup: Setup
    programs: int
    calls: int
    medians: tuple[int, int] | None
    longest: int | None
    errors: int


@dataclass(frozen=True, slots=True)
class ShownRoads:
    """The stack paths of a framework's version, from all its runs."""

    framework: str
    programs: int
    calls: int
    html: Markup
    left_out: int


def function_page(
    name: str, book: Book, templates: Templates, note: Callable[[str], str | None], table: tuple[str, str]
) -> Page:
    """Return the page of a function; `table` is the address and the title of its table."""
    path = book.function_pages[name]
    observed = book.observed(name)
    described = book.description(name)
    links = {each: addresses.between(path, page) for each, page in book.function_pages.items() if each != name}
    words = note(name)
    before = total(each.before for each in observed)
    after = total(each.after for each in observed)
    lines = _lines(observed)
    errors = _errors(observed)
    contents = {
        "name": name,
        "described": described,
        "signature": _signature(name, described),
        "table": table,
        "words": prose(words, links) if words else None,
        "observed": observed,
        "callers": _callers(observed, book),
        "calls": book.calls(name),
        "lines": lines[:_MOST_LINES],
        "more_lines": len(lines) - _MOST_LINES,
        "roads": _roads(observed, book),
        "examples": _examples(observed, book)[:_MOST_EXAMPLES],
        "errors": errors[:_MOST_ERRORS],
        "more_errors": len(errors) - _MOST_ERRORS,
        "orders": orders_svg(name, before, after, links) if before or after else None,
        "inside": total(each.inside for each in observed),
        "makes": total(each.makes for each in observed),
        "uses": total(each.uses for each in observed),
        "ends": total(each.ends for each in observed),
        "threads": total(each.threads for each in observed),
    }
    html, headings = templates.page("function.html", path, **contents)
    searched = templates.fill("function_searched.html", path, **contents)
    return Page(path, name, html, headings, searched)


def _signature(name: str, described: Described | None) -> str:
    if described is None:
        return name
    if described.arguments:
        return f"{described.returns} {name}({described.arguments}* args)"
    given = [f"{each.type} {each.name}".strip() for each in described.parameters]
    joined = ", ".join(given)
    if len(joined) > 60:
        joined = "\n    " + ",\n    ".join(given)
    return f"{described.returns} {name}({joined})"


def _callers(observed: Sequence[Observed], book: Book) -> list[Caller]:
    """Return the set-ups that called a function, in book order."""
    found = []
    for setup in book.setups:
        runs = [each for each in observed if setup_of(book.runs[each.run]) == setup]
        if not runs:
            continue
        medians = [each.median for each in runs if each.median is not None]
        longest = [each.longest for each in runs if each.longest is not None]
        found.append(
            Caller(
                setup,
                len(runs),
                sum(each.calls for each in runs),
                (min(medians), max(medians)) if medians else None,
                max(longest, default=None),
                sum(error.calls for each in runs for error in each.errors),
            )
        )
    return found


def _roads(observed: Sequence[Observed], book: Book) -> list[ShownRoads]:
    """Return the stack paths by framework version: runs on one version share their lines and frames."""
    versions: dict[str, list[Observed]] = defaultdict(list)
    for each in observed:
        if each.roads:
            versions[setup_of(book.runs[each.run]).calls_from].append(each)
    shown = []
    for framework, group in versions.items():
        trees = RoadTrees()
        for each in group:
            trees.add_roads(each.roads, each.roads_left_out)
        roads, left_out = trees.cut(max(MOST_ROADS // len(versions), _FEWEST_ROADS))
        html = roads_html(roads, Budget(_ROADS // len(versions)))
        shown.append(ShownRoads(framework, len(group), sum(each.calls for each in group), html, left_out))
    return sorted(shown, key=lambda each: -each.calls)


def _lines(observed: Sequence[Observed]) -> list[tuple[Place, int]]:
    """Return the program lines that led to calls, most calls first."""
    counts: dict[Place, int] = defaultdict(int)
    for each in observed:
        for place, calls in each.lines:
            counts[place] += calls
    return sorted(counts.items(), key=lambda item: (-item[1], item[0].text))


def _examples(observed: Sequence[Observed], book: Book) -> list[tuple[Run, Example]]:
    """Return calls with different arguments, from as many runs as possible: the first of each run, then the second."""
    found: dict[tuple[tuple[str, str], ...], tuple[Run, Example]] = {}
    longest = max((len(each.examples) for each in observed), default=0)
    for index in range(longest):
        for each in observed:
            if index < len(each.examples):
                example = each.examples[index]
                found.setdefault(example.arguments, (book.runs[each.run], example))
    return list(found.values())


def _errors(observed: Sequence[Observed]) -> list[SeenError]:
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for each in observed:
        for error in each.errors:
            counts[error.code, error.message] += error.calls
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [SeenError(code, message, calls) for (code, message), calls in ordered]
