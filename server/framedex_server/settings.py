"""Settings of the editor integration: the `editor` table of the project's settings, overridden by the client's.

The keys are the same in `[tool.framedex.editor]` of a pyproject.toml, in `framedex.toml`, and under `framedex` in an
editor's settings. docs/reference/language-server.md lists them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.model.scopes import CaptureScope

if TYPE_CHECKING:
    from framedex.path_resolution.files import PathRule
    from framedex.settings import Settings

EXTENSION_KEYS = ("server", "trace")
"""Keys of the section `framedex` that only the editor's extension reads."""

DEFAULT_GUIDEBOOK = Path(".framedex", "guidebook")
"""The default folder of a project's guidebook."""

_MAX_CACHED_PATHS = 4096

NOTABLE = "notable"
"""The value of a cost setting that shows a lens on notable lines only."""

OFF = "off"
"""The severity that shows no diagnostics."""

_COST_DISPLAYS: tuple[bool | str, ...] = (NOTABLE, "lenses", "diagnostics", True, False)
_SEVERITIES: tuple[bool | str, ...] = ("information", "hint", "warning", OFF)
_CHOICES: Mapping[str, tuple[bool | str, ...]] = {
    "static_calls": ("incoming", True, False),
    "compiles": _COST_DISPLAYS,
    "transfers": _COST_DISPLAYS,
    "memory": _COST_DISPLAYS,
    "waits": _COST_DISPLAYS,
    "compiles_severity": _SEVERITIES,
    "transfers_severity": _SEVERITIES,
    "memory_severity": _SEVERITIES,
    "waits_severity": _SEVERITIES,
}
"""The values of settings that are enumerations, the default first."""


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """Editor features that are on, and automatic actions. Keys are the fields' names with hyphens: `code-lens`."""

    auto_index: bool = True
    """Index a recording of the workspace in the background as soon as it has finished."""

    code_lens: bool = False
    inlay_hints: bool = False

    compiles: bool | str = NOTABLE
    transfers: bool | str = NOTABLE
    memory: bool | str = NOTABLE
    waits: bool | str = NOTABLE
    """How lines show each cost: a lens on notable lines, lenses on all, diagnostics, both (True), or not (False)."""

    compiles_severity: str = "information"
    transfers_severity: str = "information"
    memory_severity: str = "information"
    waits_severity: str = "information"
    """The severity of each cost's diagnostics; `off`: none."""

    static_calls: bool | str = "incoming"
    """The directions in which the call hierarchy also lists calls found in sources only, marked as such.

    True means both directions, False neither.
    """

    fold_glue: bool = True
    """Fold the interpreter's and glue frames of trace documents."""

    all_places: bool = False
    """Return every location for definition and declaration, likeliest first, instead of the likeliest only."""

    limit: int = 500
    """The maximum number of locations in one answer."""

    @staticmethod
    def from_settings(settings: Settings) -> tuple[EditorSettings, list[str]]:
        """Return the editor's part of a project's settings, and its errors as sentences."""
        known = {each.name.replace("_", "-"): each for each in fields(EditorSettings)}
        defaults = EditorSettings()
        values: dict[str, bool | int | str] = {}
        problems = []
        for key, value in settings.editor.items():
            if key not in known:
                problems.append(f"editor.{key} is not a setting. The settings are {', '.join(sorted(known))}.")
                continue
            name = known[key].name
            default: bool | int | str = getattr(defaults, name)
            if name in _CHOICES:
                choices = _CHOICES[name]
                if isinstance(value, bool | str) and value in choices:
                    values[name] = value
                else:
                    written = " or ".join(map(json.dumps, choices))
                    problems.append(f"The value of editor.{key} is invalid. Use {written}.")
            elif isinstance(value, bool | int) and type(value) is type(default) and value >= 0:
                values[name] = value
            else:
                problems.append(f"The value of editor.{key} is invalid. Use a value such as {str(default).lower()}.")
        return EditorSettings(**values), problems  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """The settings of one workspace folder."""

    editor: EditorSettings = field(default_factory=EditorSettings)
    sources: tuple[Path, ...] = ()
    index: Path | None = None
    path_map: tuple[PathRule, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    captures: CaptureScope = CaptureScope.LATEST
    guidebook: str = ""
    """The guidebook: a URL, or a folder, which need not exist."""
    mirrors: Mapping[str, str] = field(default_factory=dict)


class Configuration:
    """The settings of each workspace folder: those in its files, overridden by the client's.

    `roots` returns the workspace folders; `report` gets each error once.
    """

    def __init__(self, roots: Callable[[], Sequence[Path]], report: Callable[[str], None]) -> None:
        self._roots = roots
        self._report = report
        self._reported: set[str] = set()
        self._folders: dict[Path, FolderSettings] = {}
        self._cached: dict[str, FolderSettings] = {}

    def settings_for(self, path: Path | str) -> FolderSettings:
        """Return the settings of the innermost workspace folder around a path, else those of the first folder."""
        known = self._cached.get(str(path))
        if known is None:
            enclosing = [root for root in self._folders if Path(path).is_relative_to(root)]
            root = max(enclosing, key=lambda each: len(each.parts), default=next(iter(self._folders), None))
            known = self._folders[root] if root is not None else FolderSettings()
            if len(self._cached) >= _MAX_CACHED_PATHS:
                self._cached.clear()
            self._cached[str(path)] = known
        return known

    def reload(self, client_settings: Mapping[Path, object]) -> None:
        """Reload every folder's files; `client_settings` has the client's settings for each folder, as JSON."""
        from framedex.settings import Settings

        folders: dict[Path, FolderSettings] = {}
        for root in self._roots():
            settings, problems = Settings.load(root)
            clients = client_settings.get(root)
            if isinstance(clients, Mapping):
                values = {
                    key: _remove_nulls(value)
                    for key, value in clients.items()
                    if key not in EXTENSION_KEYS and value is not None
                }
                settings, more = Settings.from_mapping(values, root, "The editor's settings", settings)
                problems += more
            editor, editor_problems = EditorSettings.from_settings(settings)
            origin = f"{settings.file}: " if settings.file else ""
            self._report_new([*problems, *(f"{origin}{problem}" for problem in editor_problems)])
            found = FolderSettings(
                *(editor, settings.sources, settings.index, settings.path_map, settings.links, settings.captures),
                guidebook=settings.guidebook or str(root / DEFAULT_GUIDEBOOK),
                mirrors=settings.mirrors,
            )
            # Documents are looked up by real path, folders by the path that the client opened.
            folders |= {root: found, Path(os.path.realpath(root)): found}
        self._folders, self._cached = folders, {}

    def _report_new(self, problems: Sequence[str]) -> None:
        for problem in problems:
            if problem not in self._reported:
                self._reported.add(problem)
                self._report(problem)


def _remove_nulls(value: object) -> object:
    """Return the value without keys whose value is null: clients send null for an unset setting."""
    return {key: each for key, each in value.items() if each is not None} if isinstance(value, Mapping) else value
