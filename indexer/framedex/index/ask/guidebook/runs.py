"""The run of a capture, from the capture alone: framework, plug-in, versions."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Any

from framedex.index.ask.capture.tree import capture_tree
from framedex.index.ask.guidebook.places import file_name
from framedex.index.ask.guidebook.withoutpaths import without_paths
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader, arguments
from framedex.index.read.urls import builds
from framedex.missing import all_problems, doubts
from framedex.model import CaptureRow, Metadata
from framedex.model.guidebook.observed import Run
from framedex.releases.builds import installed_version

LEGACY = "TPU"
"""The API of a run over the C API of jaxlib 0.4.13, which has no version."""

BEHAVIOURS = "behaviour"
"""The boundary of `framedex run --behaviour`: its calls are not API calls, but they change those of the API."""

_TABLE = "GetPjrtApi"
_LEGACY_BOUNDARY = "tpu_executor"
_MOCK = "the mock TPU"
_NATIVE = "a native program"
# A framework has frames on the stacks. The order matters: torch_xla may use jax, and pypjrt is a client of its own.
_FRAMEWORKS = (
    ("torch_xla", re.compile(r"/(?:torch_xla/|_XLAC)")),
    ("pypjrt", re.compile(r"/pypjrt/")),
    ("jax", re.compile(r"/(?:jax|jaxlib)/|/libjax_common|/xla_extension")),
)
_INSTALLED = r"(/.*)/{}/"
_INTERPRETER = re.compile(r"python[\d.]*")


def run_of(reader: Reader, found: CaptureRow) -> Run:
    """Return the run of a capture, with an empty key."""
    capture = found.id
    metadata = Metadata.parse(found.metadata_text)
    framework, modules = _framework(reader, capture)
    packages = dict(metadata.launch.packages) if metadata.launch else {}
    components = {build.component: build.version for build in reversed(builds(reader, capture))} | packages
    version = components.get(framework) or _installed(modules, framework, metadata.started_unix_ns)
    plugin, api = _plugin(reader, capture)
    selected = f"Only some calls were recorded: {', '.join(metadata.selected_by)}." if metadata.selected_by else ""
    lacks = [*([selected] if selected else []), *doubts(all_problems(found.stops, found.problems))]
    return Run(
        key="",
        title=_title(metadata, found),
        framework=framework,
        framework_version=version,
        plugin=plugin,
        api=api,
        versions=tuple(sorted(components.items())),
        calls=found.calls - _calls(reader, capture, BEHAVIOURS),
        left_out=without_paths(" ".join(lacks)),
    )


def _framework(reader: Reader, capture: int) -> tuple[str, list[str]]:
    """Return the framework on the stacks, and those of its files that appear there."""
    frames = {frame for _, _, frame in capture_tree(reader, capture).nodes}
    modules = [
        module
        for (module,) in reader.rows(
            "SELECT DISTINCT fn.module FROM frames fr JOIN functions fn ON fn.id = fr.function"
            f" WHERE fr.id {IN_JSON} ORDER BY 1",
            json_list(frames),
        )
    ]
    for name, pattern in _FRAMEWORKS:
        if own := [module for module in modules if pattern.search(module)]:
            return name, own
    has_python = any(module.endswith(".py") for module in modules)
    return ("Python" if has_python else _NATIVE), []


def _installed(modules: list[str], package: str, started: int | None) -> str:
    """Return a package's version from its installation metadata, or "" if there is none."""
    pattern = re.compile(_INSTALLED.format(re.escape(package)))
    sites = dict.fromkeys(match[1] for module in modules if (match := pattern.match(module)))
    return next(filter(None, (installed_version(Path(site), package, started) for site in sites)), "")


def _plugin(reader: Reader, capture: int) -> tuple[str, str]:
    """Return plug-in names and the versions of their tables; the names note behaviours that ran."""
    tables = [
        arguments(text)
        for (text,) in reader.rows(
            "SELECT a.json FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
            " JOIN call_rows c ON c.id = k.first_call JOIN arguments a ON a.id = c.arguments"
            " WHERE k.capture = ? AND k.calls > 0 AND b.name = ? ORDER BY c.id",
            capture,
            _TABLE,
        )
    ]
    if not tables:
        return (_MOCK, LEGACY) if _calls(reader, capture, _LEGACY_BOUNDARY) else ("", "")
    names = ", ".join(dict.fromkeys(file_name(str(table.get("plugin") or "")) for table in tables))
    changed = " under behaviours" if _calls(reader, capture, BEHAVIOURS) else ""
    return f"{names}{changed}", ", ".join(dict.fromkeys(map(_version, tables)))


def _calls(reader: Reader, capture: int, boundary: str) -> int:
    """Return the number of a capture's calls of one boundary."""
    query = (
        "SELECT coalesce(sum(k.calls), 0) FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        " WHERE k.capture = ? AND k.calls > 0 AND b.boundary = ?"
    )
    ((calls,),) = reader.rows(query, capture, boundary)
    return int(calls)


def _version(table: dict[str, Any]) -> str:
    return f"{table.get('major_version', '?')}.{table.get('minor_version', '?')}"


def _title(metadata: Metadata, capture: CaptureRow) -> str:
    """Return the program and its arguments without folders: `train.py --steps 3`."""
    words = list(metadata.argv) or capture.command.split()
    if len(words) > 1 and _INTERPRETER.fullmatch(PurePath(words[0]).name):
        words = words[1:]
    if words[:1] == ["-m"] and len(words) > 1:
        words = words[1:]
    return " ".join(file_name(word) if word.startswith("/") else PurePath(word).name for word in words)
