"""Corrections of the theme's HTML for validators and screen readers."""

from __future__ import annotations

import re

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


def settled(html: str) -> str:
    """Return a page of the theme, without its own content, corrected."""
    for pattern, replacement in _CHANGES:
        html = pattern.sub(replacement, html)
    if html.count(_CONTENTS) > 1:  # narrow windows show the list twice
        html = html.replace(_CONTENTS, 'aria-label="On this page"', 1)
    return html
