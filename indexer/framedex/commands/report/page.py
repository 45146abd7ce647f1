"""The page of a report: filled templates, with all styles and scripts inside."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from markupsafe import Markup

from framedex.commands.report.filling import SECTIONS, brief, in_ascii, part, report_environment
from framedex.commands.report.places import Places
from framedex.scopetext import answer_heading
from framedex.version import VERSION

if TYPE_CHECKING:
    from jinja2 import Template

    from framedex.commands.report.contents import Contents

GENERATOR = "framedex"
"""The first word of the `generator` meta element, which marks a page of framedex."""


def page(contents: Contents, editor: str) -> str:
    """The report as HTML, the same for equal contents; `editor` is a key of `EDITORS`, for its links."""
    places = Places(contents.paths(), editor)
    return filled_page(
        report_environment(places).get_template("page.html"),
        tool="report",
        contents=contents,
        sections=SECTIONS,
        heading=brief(answer_heading(contents.answer)),
        files=places.files,
    )


def filled_page(template: Template, **values: object) -> str:
    """A page in ASCII, with its style, its script, and a content security policy that allows nothing else."""
    style, script = part("report.css") + part("dark.css"), part("report.js")
    filled = template.render(
        **values,
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
    return in_ascii(filled)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
