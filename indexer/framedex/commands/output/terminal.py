"""Lines of styled and linked text, and the capabilities of the terminal at stdout.

Without a terminal the text is the same, unstyled. Links are OSC 8: files as `file://HOST/abs#LINE`, the de facto form,
and web addresses unchanged. VS Code and JetBrains get no file links: these do nothing there and prevent the detection
of `path:line`. If the terminal does not support a link, the line shows its address.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO
from urllib.parse import quote

import click

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import host_name
from framedex.model.locations import path_in_repository
from framedex.path_resolution.files import file_exists
from framedex.texts.places import format_location, format_location_labels, format_recorded_text_labels

if TYPE_CHECKING:
    from framedex.model import Location


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line. `style` is a key of `_STYLES`; `link` is the target of a click.

    `can_shorten`: a path that cannot be opened, so its first folders may be omitted. `address` replaces the text if the
    terminal does not support the link; empty keeps the text. `is_unbreakable`: a command, which stays on one line.
    """

    text: str
    style: str = ""
    link: Location | None = None
    can_shorten: bool = False
    address: str = ""
    is_unbreakable: bool = False


Line = tuple[Span, ...]


def standard_output() -> TextIO:
    """Return stdout, for results. Raises FramedexError if stdout was closed before this process began."""
    if sys.stdout is None or getattr(sys.stdout, "was_closed", False):
        raise FramedexError(
            "stdout cannot be written: it is closed.", "Redirect it to a file or a pipe, or leave it open."
        )
    return sys.stdout


# For terminals that pass `file:` links to the desktop, which drops the line. `framedex open` handles this scheme.
_OWN_SCHEME = "framedex"

_STYLES: dict[str, dict[str, object]] = {
    "": {},
    "head": {"bold": True},
    "python": {"fg": "blue"},
    "native": {"fg": "green"},
    "place": {"fg": "cyan"},
    "dim": {"dim": True},
    "error": {"fg": "red"},
}


@dataclass(frozen=True, slots=True)
class Terminal:
    """The capabilities of stdout. `width` is in columns; None: unlimited, because stdout is not a terminal.

    `links`: file and web links are supported, with `host` and `scheme` for files. `web_links`: web links are supported.
    """

    colors: bool
    links: bool
    host: str = ""
    scheme: str = "file"
    width: int | None = None
    web_links: bool = False

    @classmethod
    def of_stdout(cls) -> Terminal:
        """The capabilities of this process's stdout.

        Raises FramedexError if stdout was closed before the process began.
        """
        return cls.detect(standard_output().isatty(), os.environ)

    @classmethod
    def detect(cls, is_terminal: bool, environment: Mapping[str, str]) -> Terminal:
        """The capabilities of a terminal according to its environment variables; none if stdout is not a terminal."""
        capable = is_terminal and environment.get("TERM") != "dumb"
        links = capable and _supports_links(environment)
        return cls(
            colors=capable and not environment.get("NO_COLOR"),
            links=links,
            host=host_name(),
            scheme=_OWN_SCHEME if environment.get("FRAMEDEX_LINK_SCHEME") == _OWN_SCHEME else "file",
            width=_terminal_columns() if is_terminal else None,
            web_links=links or (capable and _supports_web_links(environment)),
        )

    def supports(self, link: Location | None) -> bool:
        """Whether the terminal supports this link behind any text."""
        return link is not None and (self.links or (self.web_links and link.url is not None))


def _terminal_columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns


def render_location_line(location: Location, labels: Sequence[str] | None = None) -> Line:
    """`path:line` with a link if the file exists, and labels; the default labels show an inexact location.

    With links, a notebook cell appears by its name, and a missing file links to its public URL. Without links the URL
    itself appears, because every terminal detects URLs.
    """
    if labels is None:
        labels = [*format_location_labels(location), *format_recorded_text_labels(location)]
    is_here = source_is_here(location)
    words = [*labels] if is_here else [*labels, "not here"]
    if is_here:
        path = f"{make_printable(location.path)}:{location.line}"
        text = make_printable(format_location(location.path, location.line))
        place = Span(text, "place", replace(location, url=None), address=path if text != path else "")
    elif location.url is not None:
        text = f"{make_printable(path_in_repository(location.path))}:{location.line}"
        place = Span(text, "place", location, address=make_printable(location.url))
    else:
        place = Span(f"{make_printable(location.path)}:{location.line}")
    return (place, Span(f" [{', '.join(words)}]", "dim")) if words else (place,)


def render_stated_line(stated: str, location: Location | None, labels: Sequence[str]) -> Line:
    """A position in Python code without a file, such as `<stdin>`, with a link to its source file if known."""
    link = location if location is not None and file_exists(location.path) else None
    place = Span(make_printable(stated), "place" if link else "", replace(link, url=None) if link else None)
    return (place, Span(f" [{', '.join(labels)}]", "dim")) if labels else (place,)


def source_is_here(location: Location | None) -> bool:
    """Whether the file of a location exists on this machine."""
    return location is not None and file_exists(location.path)


def render_text_line(text: str, style: str = "") -> Line:
    """A line of one style; texts from captures become printable."""
    return (Span(make_printable(text), style),)


def replace_unsupported_links(line: Line, terminal: Terminal) -> Line:
    """Replace links that the terminal does not support with their addresses."""
    return tuple(
        replace(span, text=span.address, address="") if span.address and not terminal.supports(span.link) else span
        for span in line
    )


def paint(line: Line, terminal: Terminal) -> str:
    """Format the line as text, with the styles and links that the terminal supports."""
    return "".join(_paint_span(span, terminal) for span in replace_unsupported_links(line, terminal)).rstrip(" ")


def _paint_span(span: Span, terminal: Terminal) -> str:
    text = click.style(span.text, **_STYLES[span.style]) if terminal.colors and span.style else span.text  # type: ignore[arg-type]
    if span.link is None or not terminal.supports(span.link):
        return text
    path = quote(span.link.path, errors="surrogateescape")
    target = span.link.url or f"{terminal.scheme}://{terminal.host}{path}#{span.link.line}"
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def _supports_links(environment: Mapping[str, str]) -> bool:
    """Whether the terminal supports OSC 8 links. FORCE_HYPERLINK, a common convention, takes precedence."""
    program = environment.get("TERM_PROGRAM", "")
    if forced := environment.get("FORCE_HYPERLINK"):
        return forced != "0"
    if program == "vscode" or "JetBrains" in environment.get("TERMINAL_EMULATOR", ""):
        return False
    if program == "tmux":
        return _parse_version(environment.get("TERM_PROGRAM_VERSION", "")) >= (3, 4)
    if program in {"iTerm.app", "WezTerm", "ghostty", "rio", "Tabby"} or "WT_SESSION" in environment:
        return True
    if environment.get("TERM", "").startswith(("xterm-kitty", "xterm-ghostty", "foot", "alacritty", "wezterm")):
        return True
    return (
        _environment_number(environment, "VTE_VERSION") >= 5000
        or _environment_number(environment, "KONSOLE_VERSION") >= 201200
    )


def _supports_web_links(environment: Mapping[str, str]) -> bool:
    """Whether the terminal supports OSC 8 links to the web, even if no others: VS Code since version 1.72."""
    is_vscode = environment.get("TERM_PROGRAM") == "vscode" and environment.get("FORCE_HYPERLINK") != "0"
    return is_vscode and _parse_version(environment.get("TERM_PROGRAM_VERSION", "")) >= (1, 72)


def _environment_number(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "")
    return int(value) if value.isascii() and value.isdigit() else 0


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])


_COLUMN_GAP = "  "


def measure_columns(*rows: Sequence[str]) -> list[int]:
    """The width of each column: that of its widest cell. All rows have the same number of cells."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def format_row(cells: Sequence[str], widths: Sequence[int], numbers: int | None = None) -> str:
    """Format a row: the first `numbers` cells (None: all) are right-aligned, the others left-aligned."""
    right_aligned = len(cells) if numbers is None else numbers
    return _COLUMN_GAP.join(
        cell.rjust(width) if column < right_aligned else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
