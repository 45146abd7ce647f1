"""What of the theme's own HTML is put right: what validators and readers of screens complain of."""

from __future__ import annotations

import re

_CHANGES = (
    (re.compile(r"<!doctype html>"), "<!DOCTYPE html>"),
    # A checkbox has nothing to complete.
    (re.compile(r'(<input class="md-toggle"[^>]*?) autocomplete="off"'), r"\1"),
    (re.compile(r' tabindex=""'), ""),
    # A `nav` cannot say of itself that it is open.
    (re.compile(r'(<nav class="md-nav"[^>]*?) aria-expanded="(?:true|false)"'), r"\1"),
    (re.compile(r'(<div class="md-search" data-md-component="search" role="dialog")>'), r'\1 aria-label="Search">'),
    # Both forms act while they are filled; the rules want a button all the same.
    (re.compile(r'(<form class="md-header__option"[^>]*>)'), r'\1<button type="submit" hidden>Choose</button>'),
    (re.compile(r'(<form class="md-search__form"[^>]*>)'), r'\1<button type="submit" hidden>Search</button>'),
)
_CONTENTS = 'aria-label="Table of contents"'


def settled(html: str) -> str:
    """A page of the theme without its own content, put right."""
    for pattern, replacement in _CHANGES:
        html = pattern.sub(replacement, html)
    if html.count(_CONTENTS) > 1:  # narrow windows have the list beside the page's own entry
        html = html.replace(_CONTENTS, 'aria-label="On this page"', 1)
    return html
