"""The project's own documentation as pages of the site: Markdown that GitHub also renders."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_LINK = re.compile(r'<a (?P<before>[^>]*?)href="(?P<to>[^"]*)"(?P<after>[^>]*)>(?P<text>.*?)</a>', re.DOTALL)
_PICTURE = re.compile(r"\]\(([^)\s]+\.(?:png|svg))\)|(?:src|srcset)=\"([^\"]+\.(?:png|svg))\"")
_WIDE_BLOCK = '<div class="wide" tabindex="0">'  # scrolls on its own in narrow windows
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|#")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its path, the same in the repository and in the site, and its file."""

    source: str
    file: Path


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown page: its path in the repository and in the site (`source`), its title, text and pictures.

    `public` is the web address of the repository's files, None if unknown.
    """

    path: str
    source: str
    title: str
    text: str
    pictures: tuple[Picture, ...]
    public: str | None


def find_documents(repository: Path, public: str | None) -> list[Document]:
    """Return the documentation of a checkout, the README first. `public` is the web address of its folder."""
    paths = [repository / name for name in _PAGES if (repository / name).is_file()]
    paths[1:1] = sorted(path for path in (repository / "docs").rglob("*.md") if path.is_file())
    return [_read_document(path, repository, public) for path in paths]


def _read_document(file: Path, repository: Path, public: str | None) -> Document:
    text = file.read_text("utf-8")
    path = file.relative_to(repository).as_posix()
    title = _HEADING.search(text)
    pictures = sorted(
        {
            Picture(posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1] or found[2])), found_file)
            for found in _PICTURE.finditer(text)
            if (found_file := file.parent / (found[1] or found[2])).is_file()
        },
        key=lambda picture: picture.source,
    )
    name = "About framedex" if path == "README.md" else _strip_markup(title[1]) if title else file.stem
    # mkdocs would turn a README into the index page of its folder.
    source = "about.md" if path == "README.md" else path
    return Document(path, source, name, text, tuple(pictures), public)


def _strip_markup(heading: str) -> str:
    return re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", heading).strip()


def heading_anchor(text: str, separator: str) -> str:
    """Return the anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def resolve_links(html: str, document: Document, documents: Sequence[Document]) -> str:
    """Return a document's HTML with links to pages of the site or to the web; other links are replaced by their text.

    mkdocs has already resolved links between pages of the same name.
    """
    pages = {each.path: each.source.removesuffix(".md") + ".html" for each in documents}
    own = pages[document.path]
    built = {posixpath.normpath(page) for page in pages.values()}
    built.update(picture.source for each in documents for picture in each.pictures)

    def resolve(found: re.Match[str]) -> str:
        link = found["to"]
        if _ADDRESS.match(link):
            return found[0]
        path, mark, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(own), path))
        if target in built:
            return found[0]
        if target in pages:
            link = posixpath.relpath(pages[target], posixpath.dirname(own) or ".") + mark + anchor
        elif document.public and not target.startswith(".."):
            link = f"{document.public}/{target}{mark}{anchor}"
        else:
            return found["text"]
        return f'<a {found["before"]}href="{link}"{found["after"]}>{found["text"]}</a>'

    html = html.replace("<table>", _WIDE_BLOCK + '<table class="data">').replace("</table>", "</table></div>")
    return _LINK.sub(resolve, html)
