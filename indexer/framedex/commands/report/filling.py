"""Fill the HTML templates of pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framedex import words
from framedex.calltext import error_headline
from framedex.commands.output.proposals import command
from framedex.commands.report.charts import (
    HEIGHT,
    OWN,
    WIDTH,
    layers,
    memory_outline,
    span_of,
    step_height,
    step_layers,
    told_apart,
)
from framedex.commands.report.flames import HEIGHT as BOX_HEIGHT
from framedex.commands.report.flames import boxes, by_time
from framedex.costtext import (
    change_text,
    compiles_total,
    device_name,
    held_on,
    memory_total,
    transfers_total,
    waits_total,
)
from framedex.errortext import innermost_lines
from framedex.model import PARTS_OF_STEPS, Activity
from framedex.plaintext import truncate, visible

if TYPE_CHECKING:
    from framedex.commands.report.places import Places
    from framedex.model import DeviceMemory

SECTIONS = {
    "summary": "Summary",
    "compiles": "Compiles",
    "transfers": "Transfers",
    "memory": "Memory",
    "waits": "Waits",
    "timeline": "Timeline",
    "flames": "Flame graph",
    "functions": "Functions",
    "findings": "Findings",
}
"""The sections of a page: names of templates, and their titles."""

_MOST_ROWS = 30  # rows of a table; the verb with all rows is named below
_MOST_LOOPS = 5

_TEMPLATES = Path(__file__).with_name("templates")


def page_environment(places: Places) -> Environment:
    """The template environment that all pages share.

    Texts from a recording are inserted as plain text, with invisible characters escaped.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(duration=words.duration, count=words.count, place=places.of, brief=brief)
    environment.filters.update(error_headline=error_headline, innermost_lines=innermost_lines)
    environment.globals.update(boxes=boxes, command=command)
    return environment


def report_environment(places: Places) -> Environment:
    """The template environment for pages with captures."""
    environment = page_environment(places)
    environment.filters.update(
        size=words.size,
        seconds=words.seconds,
        clock=words.clock,
        program=words.command_short,
        change=change_text,
        device=device_name,
        of_compiles=compiles_total,
        of_memory=memory_of,
        of_transfers=transfers_total,
        of_waits=waits_total,
    )
    environment.globals.update(
        by_time=by_time,
        layers=layers,
        step_height=step_height,
        step_layers=step_layers,
        parts_of_steps=PARTS_OF_STEPS,
        own=OWN,
        memory_outline=memory_outline,
        span_of=span_of,
        told_apart=told_apart,
        activities=list(Activity),
        chart={"width": WIDTH, "height": HEIGHT, "box": BOX_HEIGHT},
        most=_MOST_ROWS,
        most_loops=_MOST_LOOPS,
    )
    return environment


def in_ascii(text: str) -> str:
    """HTML in ASCII, which any encoding of stdout preserves."""
    return text.encode("ascii", "xmlcharrefreplace").decode()


def part(name: str) -> str:
    """The text of a stylesheet or script beside the templates."""
    return (_TEMPLATES / name).read_text("utf-8")


def brief(text: str, most: int = 200) -> str:
    """A name cut to a bounded length: names of C++ templates, and programs given as code, may be very long."""
    return truncate(visible(text), most)


def memory_of(devices: Sequence[DeviceMemory]) -> str:
    """The text of `memory_total` for devices."""
    return memory_total(list(held_on(devices)))


def _shown(value: Any) -> Any:
    """A text with invisible characters escaped; HTML escaping follows."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
