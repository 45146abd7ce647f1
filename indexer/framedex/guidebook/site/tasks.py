"""The pages of tasks: programs with marked steps, the calls of each step, and the stack path of every call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from framedex.base.plaintext import make_visible
from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData, run_setup
from framedex.guidebook.site.html_text import CharacterBudget, format_lines, render_path, render_prose, shorten
from framedex.guidebook.site.templates import Page, Templates
from framedex.model.guidebook import Step, StepCall, Task

_PATHS_CHARACTERS = 140_000  # characters of a page of at most 300 kB
_MAX_CALLS = 60  # per step


@dataclass(frozen=True, slots=True)
class DisplayedStep:
    """A step as displayed; `all` also counts the calls that are not shown."""

    title: str
    text: Markup
    code: Markup
    calls: list[tuple[StepCall, Markup]]
    all: int
    left_out: int
    has_missing_paths: bool


def build_task_page(task: Task, book: GuidebookData, templates: Templates) -> Page:
    """Return the page of a task."""
    path = book.task_pages[task]
    links = {each: addresses.relative_link(path, page) for each, page in book.function_pages.items()}
    html, headings = templates.page(
        "task.html",
        path,
        title=render_line(task.title, links),
        text=render_prose(task.text, links),
        run=book.runs[task.run],
        steps=_show_steps(task.steps, links),
        same=[
            (page, book.runs[other.run])
            for other, page in book.task_pages.items()
            if other.name == task.name and other is not task
        ],
    )
    title = f"{task.title.replace('`', '')} ({_format_setup(book, task)})"
    searched = templates.fill("task_searched.html", path, title=title, task=task)
    return Page(path, title, html, headings, searched, _format_setup(book, task))


def group_by_program(book: GuidebookData) -> list[tuple[str, list[Task]]]:
    """Return the tasks of each program, with its title as text."""
    programs: dict[str, list[Task]] = {}
    for task in book.observations.tasks:
        programs.setdefault(task.name, []).append(task)
    return [(tasks[0].title.replace("`", ""), tasks) for tasks in programs.values()]


def build_tasks_overview_page(book: GuidebookData, templates: Templates) -> Page:
    """Return the page of all tasks, grouped by program."""
    links = {each: addresses.relative_link(addresses.TASKS, page) for each, page in book.function_pages.items()}
    rows = [
        (
            render_line(tasks[0].title, links),
            render_prose(tasks[0].text, links),
            [(book.task_pages[task], book.runs[task.run]) for task in tasks],
        )
        for _, tasks in group_by_program(book)
    ]
    html, headings = templates.page("tasks.html", addresses.TASKS, tasks=rows)
    return Page(addresses.TASKS, "Tasks", html, headings, '<h1 id="top">Tasks</h1>')


def _format_setup(book: GuidebookData, task: Task) -> str:
    setup = run_setup(book.runs[task.run])
    return f"{setup.framework_name}, {setup.plugin}"


def render_line(text: str, links: dict[str, str]) -> Markup:
    """Return a one-line string as HTML, without a paragraph around it."""
    shown = render_prose(" ".join(text.split()), links)
    return Markup(shown.removeprefix("<p>").removesuffix("</p>"))


def _show_steps(steps: Sequence[Step], links: dict[str, str]) -> list[DisplayedStep]:
    """Return the steps. Each gets an equal share of the remaining room for stack paths."""
    shown, left = [], _PATHS_CHARACTERS
    for place, step in enumerate(steps):
        share = left // (len(steps) - place)
        budget = CharacterBudget(share)
        shown.append(_show_step(step, links, budget))
        left -= share - budget.left
    return shown


def _show_step(step: Step, links: dict[str, str], budget: CharacterBudget) -> DisplayedStep:
    listed = step.calls[:_MAX_CALLS]
    paths = {}
    lacks_paths = False
    for place in prioritize_calls(listed):
        path = render_path(listed[place].path) if listed[place].path else Markup("")
        fits = budget.try_spend(path)
        paths[place] = path if fits else Markup("")
        lacks_paths = lacks_paths or not fits
    shown = [(call, paths[place]) for place, call in enumerate(listed)]
    left_out = step.left_out + sum(1 + call.repeated for call in step.calls[_MAX_CALLS:])
    calls = sum(1 + call.repeated for call in step.calls) + step.left_out
    text, code = render_prose(step.text, links), highlight_python(step.code)
    return DisplayedStep(shorten(step.title), text, code, shown, calls, left_out, lacks_paths)


def prioritize_calls(calls: Sequence[StepCall]) -> list[int]:
    """Return the indices of calls in the order in which they get stack paths: the longest call of each function first.

    So a step that compiles shows the path to the compilation, even after many queries of buffers.
    """
    longest = sorted(range(len(calls)), key=lambda place: -(calls[place].duration or 0))
    firsts: dict[str, int] = {}
    for place in longest:
        firsts.setdefault(calls[place].function, place)
    return [*firsts.values(), *sorted(set(longest) - set(firsts.values()))]


def highlight_python(code: str) -> Markup:
    """Return highlighted Python code."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    if not code.strip():
        return Markup("")
    if len(code) > 20_000:
        return Markup('<div class="highlight"><pre><code>{}</code></pre></div>').format(format_lines(code))
    safe = "\n".join(make_visible(line) for line in code.expandtabs(4).splitlines())
    return Markup(highlight(safe, PythonLexer(), HtmlFormatter(cssclass="highlight", wrapcode=True)))
