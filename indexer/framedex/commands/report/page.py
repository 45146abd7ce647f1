"""The page of a report: its templates, filled, with everything that it needs inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framedex import words
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
from framedex.commands.report.places import Places
from framedex.costtext import (
    change_text,
    compiles_total,
    device_name,
    held_on,
    memory_total,
    transfers_total,
    waits_total,
)
from framedex.model import PARTS_OF_STEPS, Activity
from framedex.plaintext import visible
from framedex.scopetext import answer_heading
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.commands.report.contents import Contents
    from framedex.model import DeviceMemory

GENERATOR = "framedex"
"""How a report says what wrote it: the first word of its `meta` element of that name."""

_MOST_ROWS = 30  # of a table; the verb that has them all is named below
_MOST_LOOPS = 5

_SECTIONS = {
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

_TEMPLATES = Path(__file__).with_name("templates")


def page(contents: Contents, editor: str) -> str:
    """The report as HTML, the same for the same contents; `editor` is the one whose links it has, of `EDITORS`.

    Nothing of a recording is taken for more than text, and what is no visible character is escaped. The page is ASCII,
    so that it is the same through a stdout of any encoding.
    """
    style, script = ((_TEMPLATES / name).read_text("utf-8") for name in ("report.css", "report.js"))
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    places = Places(contents.paths(), editor)
    environment.filters.update(
        duration=words.duration,
        size=words.size,
        seconds=words.seconds,
        clock=words.clock,
        count=words.count,
        program=words.command_short,
        place=places.of,
        change=change_text,
        device=device_name,
        of_compiles=compiles_total,
        of_memory=_memory_total,
        of_transfers=transfers_total,
        of_waits=waits_total,
        brief=_brief,
    )
    environment.globals.update(
        boxes=boxes,
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
        command=command,
    )
    filled = environment.get_template("page.html").render(
        contents=contents,
        sections=_SECTIONS,
        heading=_brief(answer_heading(contents.answer)),
        files=places.files,
        generator=f"{GENERATOR} {VERSION}",
        style=Markup(style),
        script=Markup(script),
        policy="; ".join(
            [
                "default-src 'none'",
                f"style-src '{_hash(style)}'",
                f"script-src '{_hash(script)}'",
                *("base-uri 'none'", "form-action 'none'"),
            ]
        ),
    )
    return filled.encode("ascii", "xmlcharrefreplace").decode()


def _shown(value: Any) -> Any:
    """A text as it can be shown; it is still escaped for HTML."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _memory_total(devices: Sequence[DeviceMemory]) -> str:
    """What `memory_total` says of devices."""
    return memory_total(list(held_on(devices)))


def _brief(text: str, most: int = 200) -> str:
    """A name that has a bounded length: those of templates, and programs given as code, may have any."""
    return cut(visible(text), most)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
