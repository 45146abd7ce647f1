"""Small source trees for making projects."""

from __future__ import annotations

from pathlib import Path


def make_tree(root: Path, files: dict[str, str]) -> Path:
    """Write files by their path below `root`; return the root."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root
