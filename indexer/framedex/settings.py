"""A project's settings: source folders, mapping of recorded paths, and editor options.

They are in `framedex.toml`, or in the table `[tool.framedex]` of `pyproject.toml`. Only the nearest file above a folder
counts: files are never merged. If one folder has both, `framedex.toml` wins. docs/reference/settings.md lists every
key.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from framedex.base.errors import SystemLimitError
from framedex.base.folders import is_allowed_index_path, iterate_folders_upwards, leads_inside
from framedex.base.regularfile import read_regular
from framedex.base.words import find_nearest_name
from framedex.model.scopes import CaptureScope
from framedex.path_resolution.files import PathRule

_OWN_FILE = "framedex.toml"
_SHARED_FILE = "pyproject.toml"
_MAX_FILE_BYTES = 1 << 20  # bytes
_MAX_PARSE_STEPS = 10_000_000
"""The maximum number of steps that tomllib may take for the keys of a file: see `_estimate_parse_steps`."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# Every spelling of the key `tool.framedex` in TOML contains one of these: `tool.framedex`, `[tool]`, `tool = {`.
_MAY_HAVE_SETTINGS = re.compile(rb"""tool["'\s]*(?:\.["'\s]*framedex|[]=])""")
_PLACEHOLDERS = ("path", "line", "commit")
_MIRRORED = ("xla", "jax", "cpython")


@dataclass(frozen=True, slots=True)
class Settings:
    """A project's settings; paths are absolute.

    - `sources`: its source roots.
    - `outside`: source roots that its file names outside its folder; unused until the user adds them to the index.
    - `path_map`: the local paths of recorded paths (the longest prefix wins).
    - `links`: the URL template of a component (`xla`) or of a source root (its path).
    - `mirrors`: the address from which a component's repository is fetched (a folder is absolute).
    - `index`: the index file; None for the default.
    - `guidebook`: the guidebook that hovers link to, as a web address or a folder; empty for the default.
    - `captures`: which captures count if several have an answer.
    - `budgets`: the budgets of `framedex check`, not validated.
    - `editor`: the editors' own table, not validated.
    - `file`: the file of these settings.
    """

    sources: tuple[Path, ...] = ()
    outside: tuple[Path, ...] = ()
    path_map: tuple[PathRule, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    mirrors: Mapping[str, str] = field(default_factory=dict)
    index: Path | None = None
    guidebook: str = ""
    captures: CaptureScope = CaptureScope.LATEST
    budgets: Mapping[str, object] = field(default_factory=dict)
    editor: Mapping[str, object] = field(default_factory=dict)
    file: Path | None = None

    @classmethod
    def load(cls, folder: Path) -> tuple[Settings, list[str]]:
        """The settings that apply in a folder, and their problems as sentences. Never raises."""
        try:
            real = os.path.realpath(folder)
        except (OSError, ValueError):  # a removed folder; a zero byte
            return cls(), []
        for above in map(Path, iterate_folders_upwards(real)):
            for name in (_OWN_FILE, _SHARED_FILE):
                file = above / name
                values, problems = _read_file(file)
                if values is not None:
                    settings, troubles = cls.from_mapping(values, above, str(file), is_user_owned=False)
                    return replace(settings, file=file), troubles
                if problems:
                    return cls(), problems
        return cls(), []

    @classmethod
    def from_mapping(
        cls,
        values: Mapping[str, object],
        folder: Path,
        origin: str,
        defaults: Settings | None = None,
        *,
        is_user_owned: bool = True,
    ) -> tuple[Settings, list[str]]:
        """Settings from the keys of `[tool.framedex]`, and their problems as sentences. Never raises.

        Relative paths count from `folder`; `origin` names the source in the sentences. Missing or wrong values come
        from `defaults`. Unless the settings are the user's own (`is_user_owned`), they may not redirect output
        elsewhere or add other source folders.
        """
        reading = _SettingsReader(folder, origin, is_user_owned)
        settings = defaults or cls()
        for key, value in values.items():
            if key in _READERS:
                settings = _READERS[key](reading, settings, value)
            else:
                reading.problems.append(_unknown_key_problem(origin, key, sorted(_READERS)))
        return settings, reading.problems


def list_setting_keys() -> list[str]:
    """Every top-level key of the settings."""
    return sorted(_READERS)


class _SettingsReader:
    """Reads the values of one file or of an editor's settings, and collects their problems."""

    def __init__(self, folder: Path, origin: str, is_user_owned: bool) -> None:
        self._folder, self._origin, self._is_user_owned = folder, origin, is_user_owned
        self.problems: list[str] = []

    def read_sources(self, settings: Settings, value: object) -> Settings:
        if isinstance(value, Sequence) and not isinstance(value, str):
            paths = [self._read_path("sources", each, 'each source is a folder: ["../xla"]') for each in value]
            named = tuple(dict.fromkeys(path for path in paths if path))
            inside = tuple(path for path in named if self._is_user_owned or leads_inside(path, self._folder))
            return replace(settings, sources=inside, outside=tuple(path for path in named if path not in inside))
        self._report_wrong_value("sources", 'write a list of folders: ["../xla"]')
        return settings

    def read_path_map(self, settings: Settings, value: object) -> Settings:
        remedy = 'write tables [[path-map]] with from = "/build" and to = "../xla"'
        if not isinstance(value, Sequence) or isinstance(value, str):
            self._report_wrong_value("path-map", remedy)
            return settings
        rules = []
        for each in value:
            before, after = (each.get("from"), each.get("to")) if isinstance(each, Mapping) else (None, None)
            if not isinstance(before, str) or not before:
                self._report_wrong_value("path-map", remedy)
            elif path := self._read_path("path-map", after, remedy):
                rules.append(PathRule(before, path, not self._is_user_owned and not leads_inside(path, self._folder)))
                self._report_unknown_keys("path-map", each, ("from", "to"))
        return replace(settings, path_map=tuple(rules))

    def read_links(self, settings: Settings, value: object) -> Settings:
        if not isinstance(value, Mapping):
            self._report_wrong_value("links", 'write a table: xla = "https://example.org/{commit}/{path}#L{line}"')
            return settings
        links = {}
        for key, template in value.items():
            if (
                isinstance(template, str)
                and _is_template(template)
                and (self._is_user_owned or _is_web_address(template))
            ):
                links[self._read_component(str(key))] = template
            elif isinstance(template, str) and _is_template(template):
                self._report_wrong_value(
                    f"links.{key}", "write a URL that begins with https://, or put it into your editor's settings"
                )
            else:
                self._report_wrong_value(
                    f"links.{key}", "write a URL with {path}, and {line} and {commit} where they belong"
                )
        return replace(settings, links=links)

    def read_mirrors(self, settings: Settings, value: object) -> Settings:
        from framedex.sources.fetching.addresses import find_address_problem, is_local

        if not isinstance(value, Mapping):
            self._report_wrong_value("mirrors", 'write a table: xla = "https://git.example.org/xla.git"')
            return settings
        self._report_unknown_keys("mirrors", value, _MIRRORED)
        mirrors = {}
        for component in (each for each in _MIRRORED if each in value):
            address = value[component]
            problem = find_address_problem(address) if isinstance(address, str) else "write the address of a repository"
            if problem is not None or not isinstance(address, str):
                self._report_wrong_value(f"mirrors.{component}", problem or "")
            elif is_local(address) and not address.startswith("file:"):
                if path := self._read_path(f"mirrors.{component}", address, "write a folder"):
                    mirrors[component] = str(path)
            else:
                mirrors[component] = address
        return replace(settings, mirrors=mirrors)

    def read_index(self, settings: Settings, value: object) -> Settings:
        path = self._read_path("index", value, "write the path of a file")
        if path is not None and not self._is_user_owned and not is_allowed_index_path(path, self._folder):
            self.problems.append(
                f"{self._origin}: index leads to {os.path.realpath(path)}, outside of {self._folder}; name a file"
                " inside, or one that ends in .db below ~/.local/share, ~/.local/state or ~/.cache, or use"
                " `framedex --index FILE index`."
            )
            path = None
        return replace(settings, index=path or settings.index)

    def read_guidebook(self, settings: Settings, value: object) -> Settings:
        if isinstance(value, str) and _SCHEME.match(value):
            if _is_web_address(value) and value.isprintable() and " " not in value:
                return replace(settings, guidebook=value.rstrip("/"))
            self._report_wrong_value("guidebook", "write an address that begins with https://, or a folder")
            return settings
        folder = self._read_path("guidebook", value, "write an address that begins with https://, or a folder")
        if folder is not None and not (self._is_user_owned or leads_inside(folder, self._folder)):
            self._report_wrong_value(
                "guidebook", f"write a folder in {self._folder}, or put it into your editor's settings"
            )
            folder = None
        return replace(settings, guidebook=str(folder)) if folder is not None else settings

    def read_captures(self, settings: Settings, value: object) -> Settings:
        rules = {rule.value: rule for rule in (CaptureScope.LATEST, CaptureScope.ALL)}
        if isinstance(value, str) and value in rules:
            return replace(settings, captures=rules[value])
        self._report_wrong_value("captures", 'write "latest" or "all"')
        return settings

    def read_budgets(self, settings: Settings, value: object) -> Settings:
        if isinstance(value, Mapping):
            return replace(settings, budgets={str(name): each for name, each in value.items()})
        self._report_wrong_value("budgets", 'write a table: compiles = "train.py:*=1"')
        return settings

    def read_editor(self, settings: Settings, value: object) -> Settings:
        if isinstance(value, Mapping):
            return replace(settings, editor={**settings.editor, **value})
        self._report_wrong_value("editor", "write a table")
        return settings

    def _read_path(self, key: str, value: object, remedy: str) -> Path | None:
        if not isinstance(value, str) or not value or "\0" in value:
            self._report_wrong_value(key, remedy)
            return None
        try:
            return Path(os.path.normpath(self._folder / Path(value).expanduser()))
        except RuntimeError:  # the user's home folder is unknown
            self._report_wrong_value(key, "write the full path instead of ~")
            return None

    def _read_component(self, key: str) -> str:
        """The key with a folder (`../xla`, `/src/xla`) made absolute; a component's name is unchanged."""
        return os.path.normpath(self._folder / key) if "/" in key or key in (".", "..") else key

    def _report_unknown_keys(self, key: str, table: Mapping[str, object], known: Sequence[str]) -> None:
        self.problems += [
            _unknown_key_problem(self._origin, f"{key}.{name}", known) for name in table if name not in known
        ]

    def _report_wrong_value(self, key: str, remedy: str) -> None:
        self.problems.append(f"{self._origin}: the value of {key} is invalid; {remedy}.")


_READERS: Mapping[str, Callable[[_SettingsReader, Settings, object], Settings]] = {
    "sources": _SettingsReader.read_sources,
    "path-map": _SettingsReader.read_path_map,
    "links": _SettingsReader.read_links,
    "mirrors": _SettingsReader.read_mirrors,
    "index": _SettingsReader.read_index,
    "guidebook": _SettingsReader.read_guidebook,
    "captures": _SettingsReader.read_captures,
    "budgets": _SettingsReader.read_budgets,
    "editor": _SettingsReader.read_editor,
}


def _unknown_key_problem(origin: str, key: str, known: Sequence[str]) -> str:
    prefix, _, name = key.rpartition(".")
    near = find_nearest_name(name, known)
    advice = f"did you mean {near}?" if near else f"the keys are {', '.join(known)}."
    return f"{origin}: {f'{prefix}.' if prefix else ''}{name} is not a setting; {advice}"


def _is_template(text: str) -> bool:
    import string

    try:
        fields = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return False
    is_url = bool(_SCHEME.match(text)) and text.isprintable() and " " not in text
    return is_url and "path" in fields and all(name in _PLACEHOLDERS for name in fields)


def _is_web_address(template: str) -> bool:
    """Whether a link opens a web page, not a file or the URL scheme of another program."""
    return template.lower().startswith(("https://", "http://"))


def _estimate_parse_steps(text: bytes) -> int:
    """An estimate of tomllib's steps for the keys of a text: each part of a key, times the parts of key and table."""
    lines = text.split(b"\n")
    of_table = max((line.count(b".") for line in lines if line.lstrip().startswith(b"[")), default=0)
    return sum(parts * (parts + of_table) for parts in (line.count(b".") + 1 for line in lines))


def _read_file(file: Path) -> tuple[Mapping[str, object] | None, list[str]]:
    """The settings in a file, None if it has none; and its problems."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a folder, or a pipe that would block
            return None, []
        text = read_regular(file, _MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None, []
    except OSError as error:
        advice = "; check its permissions" if isinstance(error, PermissionError) else ""
        return None, [f"{file} cannot be read: {error.strerror or error}{advice}."]
    except SystemLimitError as error:
        return None, [str(error)]
    is_own = file.name == _OWN_FILE
    if not is_own and not _MAY_HAVE_SETTINGS.search(text):
        return None, []
    if _estimate_parse_steps(text) > _MAX_PARSE_STEPS:
        return None, [f"{file} cannot be read: its keys have too many dots; shorten them."]
    import tomllib

    try:
        values: object = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:
        return None, [f"{file} cannot be read: {error}; correct it there."]
    for name in () if is_own else ("tool", "framedex"):
        values = values.get(name) if isinstance(values, Mapping) else None
    if values is None or isinstance(values, Mapping):
        return values, []
    return None, [f"{file}: the value of tool.framedex is invalid; write a table [tool.framedex]."]
