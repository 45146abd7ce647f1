"""Lines of styled and linked text, and what the terminal at stdout can show of that.

Without a terminal the text is the same, bare. Links are OSC 8: to files in the de facto form `file://HOST/abs#LINE`, to
the web as they are. Those to files are left out in VS Code and JetBrains, where they do nothing and keep the terminal
from finding `path:line` by itself. Where a link cannot be shown, its address is written out.
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

from framedex.errors import FramedexError
from framedex.model.places import path_in_repository
from framedex.placetext import location_labels, place_text, recorded_text_labels
from framedex.plaintext import printable
from framedex.portable import host_name
from framedex.whereabouts.files import is_here

if TYPE_CHECKING:
    from framedex.model import Location


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line. `style` is a word of `_STYLES`; `link` is where a click leads.

    `elastic`: a path that nothing could open, so that it may lose its first folders where room is short. `address` is
    what stands in the place of the text where the link cannot be shown, empty for the text itself. `whole`: a command,
    which is not broken into two lines.
    """

    text: str
    style: str = ""
    link: Location | None = None
    elastic: bool = False
    address: str = ""
    whole: bool = False


Line = tuple[Span, ...]


def standard_output() -> TextIO:
    """stdout, where results go. Raises FramedexError where it was closed before this process began."""
    if sys.stdout is None or getattr(sys.stdout, "was_closed", False):
        raise FramedexError(
            "stdout cannot be written: it is closed.", "Redirect it to a file or a pipe, or leave it open."
        )
    return sys.stdout


# For terminals that hand `file:` links to the desktop, which drops the line; `framedex open` is registered for this.
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
    """What stdout can show. `width` is in columns; None: nothing has to fit, as what is printed goes elsewhere.

    `links` are those to files and to the web, whose `host` and `scheme` are given; `web_links` those to the web alone.
    """

    colors: bool
    links: bool
    host: str = ""
    scheme: str = "file"
    width: int | None = None
    web_links: bool = False

    @classmethod
    def of_stdout(cls) -> Terminal:
        """The capabilities of this process's stdout. Raises FramedexError where it was closed before we began."""
        return cls.of(standard_output().isatty(), os.environ)

    @classmethod
    def of(cls, is_terminal: bool, environment: Mapping[str, str]) -> Terminal:
        """The capabilities of a terminal by its environment variables; none where stdout is no terminal."""
        capable = is_terminal and environment.get("TERM") != "dumb"
        links = capable and _shows_links(environment)
        return cls(
            colors=capable and not environment.get("NO_COLOR"),
            links=links,
            host=host_name(),
            scheme=_OWN_SCHEME if environment.get("FRAMEDEX_LINK_SCHEME") == _OWN_SCHEME else "file",
            width=_columns() if is_terminal else None,
            web_links=links or (capable and _shows_web_links(environment)),
        )

    def follows(self, link: Location | None) -> bool:
        """Whether a click can lead there from any text."""
        return link is not None and (self.links or (self.web_links and link.url is not None))


def _columns() -> int:
    import shutil  # with compressors, which no pipe waits for

    return shutil.get_terminal_size().columns


def place_line(location: Location, labels: Sequence[str] | None = None) -> Line:
    """`path:line`, leading there if the file exists, and labels: by default how the line is known unless exactly.

    Where links can be shown, a cell of a notebook is named instead.

    Of a file that is not here it is a link to the public URL, if one is known. Where links cannot be shown it is that
    URL itself: every terminal finds those.
    """
    if labels is None:
        labels = [*location_labels(location), *recorded_text_labels(location)]
    is_here = source_is_here(location)
    words = [*labels] if is_here else [*labels, "not here"]
    if is_here:
        path = f"{printable(location.path)}:{location.line}"
        text = printable(place_text(location.path, location.line))
        place = Span(text, "place", replace(location, url=None), address=path if text != path else "")
    elif location.url is not None:
        text = f"{printable(path_in_repository(location.path))}:{location.line}"
        place = Span(text, "place", location, address=printable(location.url))
    else:
        place = Span(f"{printable(location.path)}:{location.line}")
    return (place, Span(f" [{', '.join(words)}]", "dim")) if words else (place,)


def stated_line(stated: str, location: Location | None, labels: Sequence[str]) -> Line:
    """A place of Python code that is of no file, as Python calls it; it leads to the file that it was made from."""
    link = location if location is not None and is_here(location.path) else None
    place = Span(printable(stated), "place" if link else "", replace(link, url=None) if link else None)
    return (place, Span(f" [{', '.join(labels)}]", "dim")) if labels else (place,)


def source_is_here(location: Location | None) -> bool:
    """Whether the file of a location is on this machine."""
    return location is not None and is_here(location.path)


def text_line(text: str, style: str = "") -> Line:
    """A line of one style; what comes from captures is made printable."""
    return (Span(printable(text), style),)


def as_shown(line: Line, terminal: Terminal) -> Line:
    """The line with addresses written out where the terminal cannot show the links that lead there."""
    return tuple(
        replace(span, text=span.address, address="") if span.address and not terminal.follows(span.link) else span
        for span in line
    )


def paint(line: Line, terminal: Terminal) -> str:
    """The line as the terminal shows it best."""
    return "".join(_paint(span, terminal) for span in as_shown(line, terminal)).rstrip(" ")


def _paint(span: Span, terminal: Terminal) -> str:
    text = click.style(span.text, **_STYLES[span.style]) if terminal.colors and span.style else span.text  # type: ignore[arg-type]
    if span.link is None or not terminal.follows(span.link):
        return text
    path = quote(span.link.path, errors="surrogateescape")
    target = span.link.url or f"{terminal.scheme}://{terminal.host}{path}#{span.link.line}"
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def _shows_links(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is known to follow OSC 8 links. FORCE_HYPERLINK, a common convention, decides first."""
    program = environment.get("TERM_PROGRAM", "")
    if forced := environment.get("FORCE_HYPERLINK"):
        return forced != "0"
    if program == "vscode" or "JetBrains" in environment.get("TERMINAL_EMULATOR", ""):
        return False
    if program == "tmux":
        return _version(environment.get("TERM_PROGRAM_VERSION", "")) >= (3, 4)
    if program in {"iTerm.app", "WezTerm", "ghostty", "rio", "Tabby"} or "WT_SESSION" in environment:
        return True
    if environment.get("TERM", "").startswith(("xterm-kitty", "xterm-ghostty", "foot", "alacritty", "wezterm")):
        return True
    return _number(environment, "VTE_VERSION") >= 5000 or _number(environment, "KONSOLE_VERSION") >= 201200


def _shows_web_links(environment: Mapping[str, str]) -> bool:
    """Whether the terminal follows OSC 8 links to the web, be it no others: VS Code, from version 1.72 on."""
    is_vscode = environment.get("TERM_PROGRAM") == "vscode" and environment.get("FORCE_HYPERLINK") != "0"
    return is_vscode and _version(environment.get("TERM_PROGRAM_VERSION", "")) >= (1, 72)


def _number(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "")
    return int(value) if value.isascii() and value.isdigit() else 0


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])
