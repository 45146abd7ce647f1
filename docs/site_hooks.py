"""Hooks of `mkdocs.yml`: links out of docs/, and a search that works without a server.

Links to files outside docs/ lead to the repository, or become plain text without one: `FRAMEDEX_REPOSITORY` is the
public address of the checkout's files, such as https://github.com/OWNER/NAME/blob/main.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

# The theme would load such a script from the web.
_WORKER = Path(__file__).parents[1] / "indexer/framedex/guidebook/site/assets/iframe-worker.js"
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\.?/[^)\s]+)\)")


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """The files of the site with the script that runs the search in `file:` pages."""
    files.append(File.generated(config, f"assets/{_WORKER.name}", content=_WORKER.read_text(encoding="utf-8")))
    return files


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
