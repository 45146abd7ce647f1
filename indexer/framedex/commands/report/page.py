"""The HTML page of a report, from templates, with all styles and scripts inside."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_visible, truncate
from framedex.base.regularfile import open_regular
from framedex.base.version import VERSION
from framedex.commands.editor.browser import choose_browser, open_page
from framedex.commands.output.proposals import format_command
from framedex.commands.report.charts import (
    BOX_HEIGHT,
    CHART_HEIGHT,
    CHART_WIDTH,
    OWN,
    compute_step_height,
    draw_memory_outline,
    draw_step_layers,
    draw_thread_layers,
    find_busy_threads,
    find_common_span,
    lay_out_flame_boxes,
    sort_functions_by_time,
)
from framedex.commands.report.places import ReportLocations
from framedex.model import PARTS_OF_STEPS, CallActivity
from framedex.texts.calls import format_error_headline
from framedex.texts.captures import format_device_answer_heading
from framedex.texts.compilations import format_change, format_compiles_total
from framedex.texts.costs import (
    format_device_name,
    format_memory_total,
    format_saving,
    format_temporaries_source,
    format_transfers_total,
    format_waits_total,
    list_memory_by_line,
)
from framedex.texts.errors import abbreviate_message
from framedex.texts.startup import format_startup_title, format_traced_line

if TYPE_CHECKING:
    from jinja2 import Template

    from framedex.commands.report.contents import ReportContents
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

_MAX_ROWS = 30  # rows of a table; the verb that shows all of them is below the table
_MAX_LOOPS = 5

_TEMPLATES = Path(__file__).with_name("templates")


def build_page_environment(locations: ReportLocations) -> Environment:
    """Create the template environment that all pages share.

    Texts from a recording are inserted as plain text, with invisible characters escaped.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escape_invisible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        duration=words.format_duration, count=words.count, place=locations.format, brief=abbreviate
    )
    environment.filters.update(error_headline=format_error_headline, innermost_lines=abbreviate_message)
    environment.globals.update(boxes=lay_out_flame_boxes, command=format_command)
    return environment


def report_environment(locations: ReportLocations) -> Environment:
    """Create the template environment for pages with captures."""
    environment = build_page_environment(locations)
    environment.filters.update(
        size=words.format_size,
        seconds=words.format_seconds,
        clock=words.format_local_time,
        program=words.shorten_command,
        change=format_change,
        device=format_device_name,
        saving_text=format_saving,
        startup_title=format_startup_title,
        temporaries_source=format_temporaries_source,
        traced_line=format_traced_line,
        of_compiles=format_compiles_total,
        of_memory=format_device_memory,
        of_transfers=format_transfers_total,
        of_waits=format_waits_total,
    )
    environment.globals.update(
        functions_by_time=sort_functions_by_time,
        thread_layers=draw_thread_layers,
        step_height=compute_step_height,
        step_layers=draw_step_layers,
        parts_of_steps=PARTS_OF_STEPS,
        own=OWN,
        memory_outline=draw_memory_outline,
        common_span=find_common_span,
        busy_threads=find_busy_threads,
        activities=list(CallActivity),
        chart={"width": CHART_WIDTH, "height": CHART_HEIGHT, "box": BOX_HEIGHT},
        most=_MAX_ROWS,
        most_loops=_MAX_LOOPS,
    )
    return environment


def escape_to_ascii(text: str) -> str:
    """Escape HTML to ASCII, which any encoding of stdout preserves."""
    return text.encode("ascii", "xmlcharrefreplace").decode()


def read_template_file(name: str) -> str:
    """The text of a stylesheet or script beside the templates."""
    return (_TEMPLATES / name).read_text("utf-8")


def abbreviate(text: str, limit: int = 200) -> str:
    """Truncate a name: names of C++ templates, and programs given as code, may be very long."""
    return truncate(make_visible(text), limit)


def format_device_memory(devices: Sequence[DeviceMemory]) -> str:
    """Format the memory of devices, as `format_memory_total` does."""
    return format_memory_total(list(list_memory_by_line(devices)))


def _escape_invisible(value: Any) -> Any:
    """Escape the invisible characters of a text; HTML escaping follows."""
    return make_visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


GENERATOR = "framedex"
"""The first word of the `generator` meta element, which marks a page of framedex."""


def page(contents: ReportContents, editor: str) -> str:
    """Return the report as HTML. Equal contents give the same page; `editor` is a key of `EDITORS`, for the links."""
    places = ReportLocations(contents.paths(), editor)
    return render_page(
        report_environment(places).get_template("page.html"),
        tool="report",
        contents=contents,
        sections=SECTIONS,
        heading=abbreviate(format_device_answer_heading(contents.answer)),
        files=places.files,
    )


def render_page(template: Template, **values: object) -> str:
    """Fill a template. The page is ASCII, and its content security policy allows only its own style and script."""
    style, script = read_template_file("report.css") + read_template_file("dark.css"), read_template_file("report.js")
    html = template.render(
        **values,
        generator=f"{GENERATOR} {VERSION}",
        style=Markup(style),
        script=Markup(script),
        policy="; ".join(
            [
                "default-src 'none'",
                f"style-src '{_hash_content(style)}'",
                f"script-src '{_hash_content(script)}'",
                *("base-uri 'none'", "form-action 'none'"),
            ]
        ),
    )
    return escape_to_ascii(html)


def _hash_content(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


_GENERATOR_WINDOW = 1024  # bytes at the start of a page that contain its generator


def default_editor() -> str:
    """The editor for links if the user did not choose one."""
    return "framedex" if os.environ.get("FRAMEDEX_LINK_SCHEME") == "framedex" else "vscode"


def check_replaceable_report(path: Path) -> None:
    """Raise FramedexError if the file exists and is not a page of framedex."""
    try:
        with open_regular(path) as file:
            is_own = f'<meta name="generator" content="{GENERATOR} '.encode() in file.read(_GENERATOR_WINDOW)
    except FileNotFoundError:
        return
    except OSError:
        is_own = False
    if not is_own:
        raise FramedexError(
            f"{path} exists and is not a framedex report.",
            "Write elsewhere with -o, or replace it with --force.",
        )


def open_in_browser(path: Path) -> None:
    """Open a page in the browser. Raises FramedexError if there is no browser, or if it fails."""
    address = path.absolute().as_uri()
    browser = choose_browser(os.environ)
    if browser is None:
        raise FramedexError("No browser was found.", f"Open the page yourself: {address}")
    open_page(address, browser)
