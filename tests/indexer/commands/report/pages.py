"""An HTML page as its elements: the checks for every report."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"br", "hr", "img", "input", "link", "meta", "path", "rect", "source"}


@dataclass
class Element:
    """An element: its attributes, its ancestors (outermost first), and its text."""

    tag: str
    attributes: dict[str, str]
    within: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A page; `problems` are sentences about malformed markup."""

    elements: list[Element] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[Element] = []

    @classmethod
    def of(cls, text: str) -> Page:
        """The page with this text."""
        found = cls()
        found.feed(text)
        found.close()
        found.problems += [f"<{element.tag}> is not closed" for element in found._open]
        return found

    def all(self, tag: str) -> list[Element]:
        """The elements with a tag."""
        return [element for element in self.elements if element.tag == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"<{tag}> has an attribute twice: {names}")
        element = Element(
            tag, {name: value or "" for name, value in attrs}, tuple(element.tag for element in self._open)
        )
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle an empty SVG element."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if not self._open or self._open[-1].tag != tag:
            self.problems.append(f"</{tag}> closes {self._open[-1].tag if self._open else 'nothing'}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add text to the open elements."""
        for element in self._open:
            element.text += data
