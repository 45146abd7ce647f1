"""How contents become HTML: the templates, and what they may ask."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framedex import words
from framedex.calltext import error_headline
from framedex.commands.output.layout import cut
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
from framedex.plaintext import visible

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
"""What a page consists of: the names of templates, and of what they show."""

_MOST_ROWS = 30  # of a table; the verb that has them all is named below
_MOST_LOOPS = 5

_TEMPLATES = Path(__file__).with_name("templates")


def page_environment(places: Places) -> Environment:
    """What the templates of pages share.

    Nothing of a recording is more than text in them, and what is no visible character is escaped.
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
    """The same for the templates of what captures hold."""
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
    """HTML that is the same through a stdout of any encoding."""
    return text.encode("ascii", "xmlcharrefreplace").decode()


def part(name: str) -> str:
    """The text of a stylesheet or script beside the templates."""
    return (_TEMPLATES / name).read_text("utf-8")


def brief(text: str, most: int = 200) -> str:
    """A name that has a bounded length: those of templates, and programs given as code, may have any."""
    return cut(visible(text), most)


def memory_of(devices: Sequence[DeviceMemory]) -> str:
    """What `memory_total` says of devices."""
    return memory_total(list(held_on(devices)))


def _shown(value: Any) -> Any:
    """A text as it can be shown; it is still escaped for HTML."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
