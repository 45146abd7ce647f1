"""What a user has set for the editor: the table `editor` of the project's settings, which the client's own go before.

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

from framedex.model.scopes import Counted

if TYPE_CHECKING:
    from framedex.settings import Settings
    from framedex.whereabouts.rules import PathRule

CLIENTS_OWN = ("server", "trace")
"""Keys of the section `framedex` that are for the editor's extension itself."""

OWN_GUIDEBOOK = Path(".framedex", "guidebook")
"""Where a project has its guidebook if no setting says so."""

_MOST_KNOWN = 4096

NOTABLE = "notable"
"""The value of a cost setting that shows a lens on notable lines only."""

OFF = "off"
"""The severity that shows no diagnostics."""

_SHOWN: tuple[bool | str, ...] = (NOTABLE, "lenses", "diagnostics", True, False)
_SEVERITIES: tuple[bool | str, ...] = ("information", "hint", "warning", OFF)
_CHOICES: Mapping[str, tuple[bool | str, ...]] = {
    "static_calls": ("incoming", True, False),
    "compiles": _SHOWN,
    "transfers": _SHOWN,
    "memory": _SHOWN,
    "waits": _SHOWN,
    "compiles_severity": _SEVERITIES,
    "transfers_severity": _SEVERITIES,
    "memory_severity": _SEVERITIES,
    "waits_severity": _SEVERITIES,
}
"""The values of the settings that have some of their own, the default first."""


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """How much the server shows unasked, and what it does by itself. A field's key has hyphens: `code-lens`."""

    auto_index: bool = True
    """Index a recording of the workspace as soon as it has ended, in the background."""

    code_lens: bool = False
    inlay_hints: bool = False

    compiles: bool | str = NOTABLE
    transfers: bool | str = NOTABLE
    memory: bool | str = NOTABLE
    waits: bool | str = NOTABLE
    """How lines show each of their costs: a lens on notable lines, lenses on all, diagnostics, both (True), or not."""

    compiles_severity: str = "information"
    transfers_severity: str = "information"
    memory_severity: str = "information"
    waits_severity: str = "information"
    """The severity of each cost's diagnostics; `off`: none."""

    static_calls: bool | str = "incoming"
    """The directions in which the call hierarchy lists calls that the sources show, but no recording, too, marked:
    True is both, False neither.
    """

    fold_glue: bool = True
    """Fold the interpreter's and glue frames of trace documents."""

    all_places: bool = False
    """Answer definition and declaration with every place, the likeliest first, not with that alone."""

    limit: int = 500
    """The most places that one list answers with."""

    @staticmethod
    def of(settings: Settings) -> tuple[EditorSettings, list[str]]:
        """The editor's part of a project's settings, and what is wrong with it, as sentences."""
        known = {each.name.replace("_", "-"): each for each in fields(EditorSettings)}
        defaults = EditorSettings()
        values: dict[str, bool | int | str] = {}
        problems = []
        for key, value in settings.editor.items():
            if key not in known:
                problems.append(f"editor.{key} is no setting; the keys are {', '.join(sorted(known))}.")
                continue
            name = known[key].name
            default: bool | int | str = getattr(defaults, name)
            if name in _CHOICES:
                choices = _CHOICES[name]
                if isinstance(value, bool | str) and value in choices:
                    values[name] = value
                else:
                    written = " or ".join(map(json.dumps, choices))
                    problems.append(f"The value of editor.{key} is not understood; write {written}.")
            elif isinstance(value, bool | int) and type(value) is type(default) and value >= 0:
                values[name] = value
            else:
                problems.append(f"The value of editor.{key} is not understood; write one like {str(default).lower()}.")
        return EditorSettings(**values), problems  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """What holds in one workspace folder."""

    editor: EditorSettings = field(default_factory=EditorSettings)
    sources: tuple[Path, ...] = ()
    index: Path | None = None
    path_map: tuple[PathRule, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    captures: Counted = Counted.LATEST
    guidebook: str = ""
    """Where the guidebook is: an address of the web, or a folder, which need not be there."""


class Configuration:
    """The settings of each workspace folder: its files', and before them those that the client gave for it.

    `roots` gives the workspace folders; `report` is told, once, what is wrong.
    """

    def __init__(self, roots: Callable[[], Sequence[Path]], report: Callable[[str], None]) -> None:
        self._roots = roots
        self._report = report
        self._told: set[str] = set()
        self._folders: dict[Path, FolderSettings] = {}
        self._known: dict[str, FolderSettings] = {}

    def at(self, path: Path | str) -> FolderSettings:
        """What holds for a file or folder: what is set for the innermost workspace folder around it, else the first."""
        known = self._known.get(str(path))
        if known is None:
            around = [root for root in self._folders if Path(path).is_relative_to(root)]
            root = max(around, key=lambda each: len(each.parts), default=next(iter(self._folders), None))
            known = self._folders[root] if root is not None else FolderSettings()
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[str(path)] = known
        return known

    def read(self, given: Mapping[Path, object]) -> None:
        """Read every folder's files anew; `given` is what the client has set for each, as JSON."""
        from framedex.settings import Settings

        folders: dict[Path, FolderSettings] = {}
        for root in self._roots():
            settings, problems = Settings.load(root)
            clients = given.get(root)
            if isinstance(clients, Mapping):
                values = {
                    key: _set(value) for key, value in clients.items() if key not in CLIENTS_OWN and value is not None
                }
                settings, more = Settings.from_mapping(values, root, "The editor's settings", settings)
                problems += more
            editor, wrong = EditorSettings.of(settings)
            origin = f"{settings.file}: " if settings.file else ""
            self._tell([*problems, *(f"{origin}{problem}" for problem in wrong)])
            found = FolderSettings(
                *(editor, settings.sources, settings.index, settings.path_map, settings.links, settings.captures),
                guidebook=settings.guidebook or str(root / OWN_GUIDEBOOK),
            )
            # Documents are known by their real paths, folders by those that the client opened.
            folders |= {root: found, Path(os.path.realpath(root)): found}
        self._folders, self._known = folders, {}

    def _tell(self, problems: Sequence[str]) -> None:
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                self._report(problem)


def _set(value: object) -> object:
    """A value without its keys that are null, by which a client says that a setting is not set."""
    return {key: each for key, each in value.items() if each is not None} if isinstance(value, Mapping) else value
