"""Build the site with mkdocs-material: navigation, search and theme around pages that are already HTML.

The configuration is generated in a folder of its own, so an mkdocs.yml in the working folder has no effect. The theme
loads nothing from the network. The same pages give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_visible
from framedex.guidebook.site import addresses
from framedex.guidebook.site.documents import Document, heading_anchor, resolve_links
from framedex.guidebook.site.templates import Page, Section

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page as Built

_ASSETS = Path(__file__).with_name("assets")
# The theme adds its own title to content without a heading.
_CONTENT_PLACEHOLDER = "<!-- framedex: the content, with its <h1> -->"
_PAGES_NEEDING_ADDRESS = ("404.html", "sitemap.xml")  # pages of the theme that need the site's address
# Separates search words: a name with underscores is one word.
_SEPARATOR = r"[\s\-.,:;!?=()\[\]{}<>\"'`/]+"


def build(title: str, sections: Sequence[Page | Section], documents: Sequence[Document], folder: Path) -> Path:
    """Build the site in a new folder inside the empty `folder`, and return the new folder.

    Raises FramedexError if mkdocs-material is not installed.
    """
    check_generator()
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    sources, site = folder / "sources", folder / "site"
    sources.mkdir()
    shutil.copytree(_ASSETS, sources / "assets" / "guidebook")
    configuration = folder / "mkdocs.yml"
    configuration.write_text(json.dumps(_build_configuration(title, sections, documents, sources, site)))
    config = load_config(str(configuration))
    config.mdx_configs["toc"]["slugify"] = heading_anchor
    config.plugins["framedex"] = _make_plugin(sections, documents)
    logger = logging.getLogger("mkdocs")
    level = logger.level
    logger.setLevel(logging.ERROR)  # mkdocs warns of links that `resolve_links` resolves
    try:
        build_site(config)
    finally:
        logger.setLevel(level)
    return site


def check_generator() -> None:
    """Raise FramedexError if mkdocs-material is not installed."""
    try:
        import material  # noqa: F401 - the theme, which mkdocs finds by name
        import mkdocs  # noqa: F401
    except ImportError as error:
        raise FramedexError(
            "The guidebook needs mkdocs-material, which is not installed.",
            "Install it: pip install 'framedex[guidebook]'",
        ) from error


def _build_configuration(
    title: str, sections: Sequence[Page | Section], documents: Sequence[Document], sources: Path, site: Path
) -> dict[str, Any]:
    schemes = (
        ("(prefers-color-scheme: light)", "default", "weather-night", "Switch to dark"),
        ("(prefers-color-scheme: dark)", "slate", "weather-sunny", "Switch to light"),
    )
    return {
        "site_name": html.escape(make_visible(title), quote=False),
        "docs_dir": str(sources),
        "site_dir": str(site),
        "nav": [*map(_navigation_entry, sections), *_documentation(documents)],
        "theme": {
            "name": "material",
            "font": False,  # system fonts: web fonts would need the network
            "features": [f"navigation.{name}" for name in ("prune", "tabs", "tabs.sticky", "top")],
            "icon": {"logo": "material/book-open-page-variant-outline"},
            "favicon": "assets/guidebook/icon.svg",
            "palette": [
                {
                    **{"media": media, "scheme": scheme, "primary": "custom", "accent": "custom"},
                    "toggle": {"icon": f"material/{icon}", "name": name},
                }
                for media, scheme, icon, name in schemes
            ],
        },
        "plugins": [{"search": {"separator": _SEPARATOR, "lang": "en"}}, "offline"],
        "markdown_extensions": [
            *("tables", "sane_lists", "md_in_html"),
            *("pymdownx.superfences", "pymdownx.highlight", "pymdownx.inlinehilite"),
            {"toc": {"toc_depth": 2}},  # deeper levels would duplicate landmark names
        ],
        "extra": {"homepage": "index.html", "polyfills": ["assets/guidebook/iframe-worker.js"], "generator": False},
        "extra_css": ["assets/guidebook/guidebook.css"],
    }


def _navigation_entry(entry: Page | Section) -> dict[str, Any]:
    if isinstance(entry, Page):
        return {str(escape(make_visible(entry.listed or entry.title))): _source_path(entry)}
    return {str(escape(make_visible(entry.title))): [_navigation_entry(each) for each in entry.entries]}


def _documentation(documents: Sequence[Document]) -> list[dict[str, Any]]:
    listed = [{str(escape(document.title)): document.source} for document in documents]
    return [{"Documentation": listed}] if listed else []


def _source_path(page: Page) -> str:
    return page.path.removesuffix(".html") + ".md"


def _search_boost(page: Page) -> float:
    """Return the search boost of a page: shorter names first among similar names, complete lists last."""
    if page.path in (addresses.RUNS, addresses.LINES):
        return 0.5
    return round(1 + (100 / max(len(page.title), 1)) ** 2, 3)


def _make_plugin(sections: Sequence[Page | Section], documents: Sequence[Document]) -> Any:
    """Return an mkdocs plug-in that provides the pages. The class is local because its base class needs mkdocs."""
    from mkdocs.plugins import BasePlugin, event_priority
    from mkdocs.structure.files import File
    from mkdocs.structure.toc import AnchorLink, TableOfContents

    pages: Mapping[str, Page] = {_source_path(page): page for page in Section("", tuple(sections)).pages()}
    documents_by_source: Mapping[str, Document] = {document.source: document for document in documents}
    contents: dict[str, str] = {}

    class Guidebook(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
        """Keeps HTML contents away from the Markdown parser and from the clean-up of the theme's HTML."""

        def on_config(self, config: MkDocsConfig) -> None:
            config.theme.static_templates.difference_update(_PAGES_NEEDING_ADDRESS)

        def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
            for path in _PAGES_NEEDING_ADDRESS:
                if (file := files.get_file_from_path(path)) is not None:
                    files.remove(file)
            for path, page in pages.items():
                head = json.dumps(
                    {"title": str(escape(make_visible(page.title))), "search": {"boost": _search_boost(page)}}
                )
                files.append(File.generated(config, path, content=f"---\n{head}\n---\n"))
            for path, document in documents_by_source.items():
                files.append(File.generated(config, path, content=document.text))
            pictures = {picture.source: picture.file for document in documents for picture in document.pictures}
            for path, picture in sorted(pictures.items()):
                files.append(File.generated(config, path, abs_src_path=str(picture)))
            return files

        def on_page_content(self, html_content: str, *, page: Built, config: MkDocsConfig, files: Files) -> str:
            path = page.file.src_uri
            if path in documents_by_source:
                contents[path] = resolve_links(html_content, documents_by_source[path], documents)
                return contents[path]
            own = pages[path]
            page.toc = TableOfContents(
                [AnchorLink(str(escape(make_visible(text))), anchor, 2) for anchor, text in own.headings]
            )
            contents[path] = own.html
            return own.searched

        @event_priority(-100)  # after the search plug-in, which reads the content
        def on_page_context(self, context: Any, *, page: Built, config: MkDocsConfig, nav: Any) -> Any:
            page.content = _CONTENT_PLACEHOLDER
            return context

        def on_post_page(self, output: str, *, page: Built, config: MkDocsConfig) -> str:
            frame = correct_theme(re.sub(r"\s*\n\s*", "\n", output))
            return add_policy(frame).replace(_CONTENT_PLACEHOLDER, contents.pop(page.file.src_uri))

    return Guidebook()


_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_CHARSET = '<meta charset="utf-8">'


def add_policy(html: str) -> str:
    """Return the page with its policy, which allows the page's inline scripts by digest."""
    scripts = sorted({f"'sha256-{_compute_digest(found[1])}'" for found in _SCRIPT.finditer(html)})
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' {' '.join(scripts)}",
            "style-src 'self' 'unsafe-inline'",  # the theme's search sets styles
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self'",
            "frame-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return html.replace(_CHARSET, f'{_CHARSET}\n<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)


def _compute_digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


_CHANGES = (
    (re.compile(r"<!doctype html>"), "<!DOCTYPE html>"),
    # `autocomplete` is not valid for checkboxes.
    (re.compile(r'(<input class="md-toggle"[^>]*?) autocomplete="off"'), r"\1"),
    (re.compile(r' tabindex=""'), ""),
    # `aria-expanded` is not valid for `nav`.
    (re.compile(r'(<nav class="md-nav"[^>]*?) aria-expanded="(?:true|false)"'), r"\1"),
    (re.compile(r'(<div class="md-search" data-md-component="search" role="dialog")>'), r'\1 aria-label="Search">'),
    # Both forms act on input, but accessibility rules require a submit button.
    (re.compile(r'(<form class="md-header__option"[^>]*>)'), r'\1<button type="submit" hidden>Choose</button>'),
    (re.compile(r'(<form class="md-search__form"[^>]*>)'), r'\1<button type="submit" hidden>Search</button>'),
)
_CONTENTS = 'aria-label="Table of contents"'


def correct_theme(html: str) -> str:
    """Return a page of the theme, without its own content, corrected."""
    for pattern, replacement in _CHANGES:
        html = pattern.sub(replacement, html)
    if html.count(_CONTENTS) > 1:  # narrow windows show the list twice
        html = html.replace(_CONTENTS, 'aria-label="On this page"', 1)
    return html
