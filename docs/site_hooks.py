"""Hooks of `mkdocs.yml`: links to files outside docs/ lead to the repository, or become plain text without one.

`FRAMEDEX_REPOSITORY` is the public address of the checkout's files, such as https://github.com/OWNER/NAME/blob/main.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\.?/[^)\s]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The Markdown of a page with its links out of docs/ replaced."""
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def replaced(link: re.Match[str]) -> str:
        path = os.path.normpath(folder / link[2])
        if path.startswith("docs/"):
            return link[0]
        repository = os.environ.get("FRAMEDEX_REPOSITORY", "").rstrip("/")
        return f"[{link[1]}]({repository}/{path})" if repository else f"{link[1]} (`{path}`)"

    return _LINK.sub(replaced, markdown)
