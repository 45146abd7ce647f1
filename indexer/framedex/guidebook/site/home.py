"""The pages about the whole guidebook: home, runs, and calling program lines."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData, Setup, run_setup
from framedex.guidebook.site.html_text import draw_arrow_tip
from framedex.guidebook.site.templates import Page, Templates
from framedex.model.guidebook import DisplayedLocation, Kind, NameCount, Run

_LAYERS = (
    ("A line of Python", "jax.device_put(1)"),
    ("The framework", "jax, torch_xla, …"),
    ("Its C++ half", "jaxlib, torch_xla"),
    ("The PJRT C API", "recorded here"),
    ("The plug-in", "libtpu, the mock, …"),
)


def build_home_page(book: GuidebookData, templates: Templates) -> Page:
    """Return the first page."""
    runs: dict[Setup, list[Run]] = defaultdict(list)
    for run in book.observations.runs:
        runs[run_setup(run)].append(run)
    called = [name for name in book.function_pages if book.calls(name)]
    most = sorted((NameCount(name, book.calls(name)) for name in called), key=lambda each: (-each.count, each.name))
    html, headings = templates.page(
        *("home.html", addresses.HOME),
        setups=[(setup, runs[setup]) for setup in book.setups],
        called=sum(1 for each in book.described if book.calls(each.name)),
        most=most[:12],
        of_the_api=sum(1 for each in book.described if each.kind == Kind.API),
        callers=book.called_by_frameworks(Kind.API),
        picture=_draw_layers(),
        tasks=len({task.name for task in book.observations.tasks}),
    )
    searched = '<h1 id="top">Guidebook</h1>'
    return Page(addresses.HOME, "Overview", html, headings, searched)


def build_runs_page(book: GuidebookData, templates: Templates) -> Page:
    """Return the page of runs."""
    html, headings = templates.page("runs.html", addresses.RUNS)
    searched = templates.fill("runs_searched.html", addresses.RUNS)
    return Page(addresses.RUNS, "Runs", html, headings, searched)


def _draw_layers() -> Markup:
    """Draw the layers that a call passes through, with the one where it is recorded."""
    width, gap, height = 148, 20, 84
    parts = []
    for index, (name, example) in enumerate(_LAYERS):
        x = index * (width + gap)
        kind = "this" if index == 3 else "other"
        parts.append(
            Markup(
                '<g class="{}"><rect x="{}" y="2" width="{}" height="{}" rx="7"/><text x="{}" y="36">{}</text>'
                '<text class="count" x="{}" y="60">{}</text></g>'
            ).format(kind, x + 1, width - 2, height - 4, x + 11, name, x + 11, example)
        )
        if index:
            parts.append(
                Markup('<path class="arrow" d="M{} 42H{}" stroke-width="2" marker-end="url(#layers-tip)"/>').format(
                    x - gap + 2, x - 3
                )
            )
    whole = len(_LAYERS) * (width + gap) - gap
    return Markup(
        '<svg class="layers" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-labelledby="layers-t">'
        '<title id="layers-t">From a line of Python through the framework and its C++ half to the PJRT C API, where'
        " calls are recorded, and on to the plug-in</title>"
        "{tip}{parts}</svg>"
    ).format(w=whole, h=height, tip=draw_arrow_tip("layers-tip"), parts=Markup("").join(parts))


_MAX_FILES = 60
_MAX_LINES = 60  # per file
_MAX_FUNCTIONS = 12  # per line


def build_lines_page(book: GuidebookData, templates: Templates) -> Page:
    """Return the page: files by name, with their lines in order, and the functions called from each."""
    files: dict[str, dict[DisplayedLocation, dict[str, int]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(int))
    )
    for observed in book.observations.functions:
        for place, calls in observed.lines:
            files[place.text.rpartition(":")[0] or place.text][place][observed.function] += calls
    shown = [
        (file, _line_rows(files[file])[:_MAX_LINES], len(files[file]) - _MAX_LINES)
        for file in sorted(files)[:_MAX_FILES]
    ]
    html, headings = templates.page(
        *("lines.html", addresses.LINES), files=shown, left_out=len(files) - len(shown), most=_MAX_FUNCTIONS
    )
    searched = templates.fill("lines_searched.html", addresses.LINES, files=shown)
    return Page(addresses.LINES, "Lines", html, headings, searched)


def _line_rows(counts: dict[DisplayedLocation, dict[str, int]]) -> list[tuple[DisplayedLocation, str, int, list[str]]]:
    rows = []
    for place, functions in counts.items():
        line = place.text.rpartition(":")[2]
        rows.append(
            (place, line, sum(functions.values()), sorted(functions, key=lambda name: (-functions[name], name)))
        )
    rows.sort(key=lambda row: (int(row[1]) if row[1].isdecimal() else 0, row[1]))
    return rows
