"""The table of `framedex sources`: the origins of all recorded frames' lines."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.commands.output.console import fit_line
from framedex.commands.output.terminal import Terminal, paint
from framedex.commands.verbs.recording.sources import render_frame_source_lines, render_improvement_lines
from framedex.model import Capture, ComponentFrames, FramesBySource, LaunchInfo, LineSource
from tests.indexer.recorded import Project

SITE = "/other/lib/python3.11/site-packages"
JAX = "990e6a0b84138346e6a38785412f36356e0e5dc3"
XLA = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"


@pytest.fixture(autouse=True)
def in_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder)


def of_jax(project: Project, name: str, version: str, started: int = 0) -> Capture:
    """A recording whose Python looks like a module of another machine's jax, on its named Python."""
    codes = tuple(replace(code, filename=f"{SITE}/jax/_src/demo.py") for code in project.capture.codes)
    metadata = replace(
        project.capture.metadata,
        started_unix_ns=1_700_000_000_000_000_000 + started,
        launch=LaunchInfo(packages={"jax": version}),
        python="3.11.7 (main)",
    )
    return project.again(name, codes=codes, metadata=metadata)


def table() -> list[dict[str, Any]]:
    result = CliRunner().invoke(cli, ["sources", "--json"])
    assert result.exit_code == 0, result.stderr
    components: list[dict[str, Any]] = json.loads(result.stdout)["components"]
    return components


def lines() -> list[str]:
    result = CliRunner().invoke(cli, ["sources"])
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def kinds(component: dict[str, Any]) -> dict[str, int]:
    return {source["lines_from"]: source["frames"] for source in component["sources"]}


def frames_in(path: Path) -> int:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM frames").fetchone()[0])


def test_every_frame_counts_in_exactly_one_cell(project: Project) -> None:
    project.ingest(capture=of_jax(project, "first", "0.10.2")).close()

    components = table()

    assert sum(each["frames"] for each in components) == frames_in(project.index)
    assert all(sum(kinds(each).values()) == each["frames"] for each in components)
    assert len({(each["component"], each["name"], each["version"]) for each in components}) == len(components)


def test_a_component_is_listed_with_version_and_commit(project: Project) -> None:
    project.ingest(capture=of_jax(project, "first", "0.10.2")).close()

    (jax,) = [each for each in table() if each["component"] == "jax"]

    assert (jax["version"], jax["revision"], kinds(jax)) == ("0.10.2", JAX, {"code object": 5})
    assert [source["public"] for source in jax["sources"]] == [5]
    assert any(line.split() == ["JAX", "0.10.2", JAX[:12], "5", "code", "object,", "public"] for line in lines())


def test_a_plugin_has_its_own_row_and_stripped_frames_have_no_name(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "jax_cuda12_pjrt-0.10.2.dist-info").mkdir(parents=True)
    os.utime(site / "jax_cuda12_pjrt-0.10.2.dist-info", (1_600_000_000, 1_600_000_000))  # before the recording
    library, *others = project.capture.modules
    plugin = replace(library, path=f"{site}/jax_plugins/xla_cuda12/xla_cuda_plugin.so")
    project.ingest(capture=replace(project.capture, modules=(plugin, *others))).close()

    (row,) = [each for each in table() if each["component"] == "plugin"]

    assert (row["name"], row["version"], row["revision"]) == ("xla_cuda_plugin.so", "0.10.2", XLA)
    assert kinds(row) == {"no name": 2}


def test_lines_come_from_source_folders_local_files_or_are_missing(project: Project) -> None:
    project.ingest().close()
    (own,) = table()
    assert kinds(own) == {"file here": 8, "name only": 1}
    assert "1 frame of your own code has a name only: `framedex sources add DIR`" in "\n".join(lines())

    project.ingest(project.library.parent).close()
    (own,) = table()
    assert kinds(own) == {"source folder": 4, "file here": 5}
    assert {source["folder"] for source in own["sources"]} == {str(project.library.parent), ""}
    assert "9 frames: 9 have a local file, 0 a public page, 0 neither." in lines()


def test_a_component_with_two_versions_has_a_row_for_each(project: Project) -> None:
    project.ingest(capture=of_jax(project, "first", "0.10.1")).close()
    later = of_jax(project, "second", "0.10.2", started=1_000_000_000)
    moved = tuple(replace(code, qualname=f"{code.qualname}_renamed") for code in later.codes)
    project.ingest(capture=replace(later, codes=moved)).close()

    rows = [each for each in table() if each["component"] == "jax"]

    assert [(row["version"], row["frames"]) for row in rows] == [("0.10.2", 5), ("0.10.1", 5)]
    assert sum(each["frames"] for each in table()) == frames_in(project.index)


def placed_in(path: Path, prefix: str, release: str | None) -> None:
    """Resolve the native frames of an index by a map with this prefix: an imported map, or a release map."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE files SET path = ? || 'xla/shape.cc' WHERE path LIKE '%.cc'", (prefix,))
        connection.execute(
            "INSERT INTO source_maps(prefix, component, repository, revision, is_dirty, tool, is_nearest, release)"
            " VALUES (?, 'xla', 'https://github.com/openxla/xla', ?, 0, '', ?, ?)",
            (prefix, XLA, "+nearest" in prefix, release),
        )


@pytest.mark.parametrize(
    ("prefix", "release", "kind"),
    [
        (f"xla@{XLA[:12]}:", None, "imported map"),
        (f"xla@{XLA[:12]}:", "0.10.2", "release map"),
        (f"xla@{XLA[:12]}+nearest:", "0.10.2", "nearest release"),
    ],
)
def test_lines_from_maps_are_attributed_to_the_map_and_public(
    project: Project, prefix: str, release: str | None, kind: str
) -> None:
    project.ingest().close()
    placed_in(project.index, prefix, release)

    (own,) = table()

    assert kinds(own) == {"file here": 5, kind: 3, "name only": 1}
    assert "9 frames: 5 have a local file, 3 a public page, 1 neither." in lines()


def test_an_index_without_recordings_has_no_table(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "sources"
    folder.mkdir()
    assert CliRunner().invoke(cli, ["index", "--source", str(folder)]).exit_code == 0

    assert table() == []
    assert lines()[0].startswith(str(folder))


def shown(*sources: FramesBySource, name: str = "", version: str = "0.10.2") -> list[str]:
    component = ComponentFrames("plugin" if name else "xla", name, version, JAX, sources)
    terminal = Terminal(colors=False, links=False, width=80)
    rows = [row for line in render_frame_source_lines([component]) for row in fit_line(line, terminal)]
    return [paint(row, terminal) for row in rows]


def test_the_table_fits_a_terminal_of_80_columns() -> None:
    rows = shown(
        FramesBySource(LineSource.SOURCE_FOLDER, "/home/someone/with/long/paths/src/openxla", 123_456, 0),
        FramesBySource(LineSource.DEBUG_INFORMATION, "", 654_321, 12_345),
        name="pjrt_c_api_some_vendor_plugin.so.1.2.3",
    )
    assert max(map(len, rows)) <= 80
    assert rows[1].endswith("123,456  source folder …/src/openxla")
    assert rows[2].endswith("654,321  debug information, some public")


def test_each_improvement_is_listed_with_its_command() -> None:
    nearest = FramesBySource(LineSource.NEAREST_RELEASE, "", 40, 40)
    component = ComponentFrames("xla", "", "0.10.2", JAX, (nearest,))
    (line,) = render_improvement_lines([component])
    told = "".join(span.text for span in line)
    assert "40 frames of XLA have lines of the nearest release" in told
    assert "`framedex sources fetch`" in told

    here = replace(component, sources=(FramesBySource(LineSource.RELEASE_MAP, "", 40, 40),))
    assert not list(render_improvement_lines([here]))


def test_a_long_version_is_truncated() -> None:
    rows = shown(FramesBySource(LineSource.NAME_ONLY, "", 1, 0), version="0.10.2.dev20261122+1a2b3c4d5e")
    assert rows[1].split()[:2] == ["XLA", "0.10.2.dev202…"]


def test_the_query_plan_reads_frames_but_no_calls(project: Project) -> None:
    with project.ingest() as index:
        queries: list[str] = []
        index._reader.connection.set_trace_callback(queries.append)
        index.sources.frames({})
    assert not any(table in query for query in queries for table in ("call_rows", "call_kinds", "arguments"))
