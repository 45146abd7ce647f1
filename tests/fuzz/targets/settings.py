"""Settings: any content of framedex.toml, pyproject.toml or an editor gives valid settings and readable messages."""

from __future__ import annotations

import json

from framedex.settings import Settings
from framedex.sources.releases import build_public_url
from framedex_server.settings import EditorSettings
from tests.fuzz.inputs import scratch

MAX_SIZE = 4096


def run(data: bytes) -> None:
    """The first byte selects which of the three the rest is."""
    folder = scratch()
    if data[:1] == b"{":
        settings, problems = _of_editor(data)
    else:
        name = "pyproject.toml" if data[:1] == b"p" else "framedex.toml"
        (folder / name).write_bytes(data[1:])
        settings, problems = Settings.load(folder)
        (folder / name).unlink()
    _, more = EditorSettings.from_settings(settings)
    assert all(isinstance(problem, str) and problem for problem in (*problems, *more))
    for path in (*settings.sources, *(rule.after for rule in settings.path_map), *filter(None, [settings.index])):
        assert path.is_absolute() and "\0" not in str(path)
    for component in settings.links:
        url = build_public_url(component, "a b/c?.py\udc80", 3, "v1", settings.links)
        assert url is not None and url.isprintable() and " " not in url


def _of_editor(data: bytes) -> tuple[Settings, list[str]]:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return Settings(), []
    return Settings.from_mapping(values, scratch(), "The editor's settings")
