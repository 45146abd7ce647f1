"""`framedex sources export` and `import`: lines without a checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources
from framedex.ingest.source_maps import import_map, import_wheel_maps
from framedex.model import LaunchInfo, Location, LocationEvidence
from framedex.sources.source_map import SourceMapError
from tests.gitrepository import commit_all, git
from tests.indexer.recorded import STRIPPED_SOURCE, Project

ADDRESS = "https://github.com/example/glue"


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def refusal(*arguments: str | Path) -> str:
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    assert result.exit_code == 1 and not result.stdout
    return result.stderr


def make_tree(folder: Path, source: str = STRIPPED_SOURCE) -> str:
    """A git checkout that defines the library's functions without debug information; its commit."""
    (folder / "glue").mkdir(parents=True)
    (folder / "glue" / "glue.cc").write_text(source)
    (folder / "glue" / "caller.py").write_text("def caller():\n    called()\n")
    commit = commit_all(folder)
    git(folder, "remote", "add", "origin", "git@github.com:example/glue.git")
    return commit


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_tree(tmp_path / "checkout")
    return tmp_path / "checkout"


@pytest.fixture
def source_map(tree: Path, tmp_path: Path) -> Path:
    run("sources", "export", tree, "-o", tmp_path / "glue.fdmap")
    return tmp_path / "glue.fdmap"


def convert(index_path: Path) -> Location | None:
    with Index.open(index_path) as index:
        return index.functions.find("glue::convert")[0].location


def test_a_checkout_is_exported_with_commit_and_address(tree: Path, tmp_path: Path) -> None:
    commit = git(tree, "rev-parse", "HEAD")
    (tree / "untracked.cc").write_text("int secret() { return 1; }\n")

    out = run("sources", "export", tree, "-o", tmp_path / "a.fdmap")

    assert f"glue@{commit[:12]}, 2 files" in out
    content = subprocess.run(["xz", "-dc", tmp_path / "a.fdmap"], capture_output=True, text=True).stdout
    if content:  # if xz is installed
        header, caller, glue, _ = map(json.loads, content.splitlines())
        assert (header["repository"], header["commit"], header["dirty"]) == (ADDRESS, commit, False)
        assert (caller[0], glue[0]) == ("glue/caller.py", "glue/glue.cc")
        assert "volatile" not in content and str(tmp_path) not in content


def test_the_bytes_do_not_depend_on_an_index(tree: Path, source_map: Path) -> None:
    run("index", "--source", tree)
    run("sources", "export", tree, "-o", "again.fdmap")
    assert Path("again.fdmap").read_bytes() == source_map.read_bytes()
    copy = shutil.copytree(tree, "elsewhere")
    run("sources", "export", copy, "-o", "copy.fdmap")
    assert Path("copy.fdmap").read_bytes() == source_map.read_bytes()


def test_a_lazy_index_is_completed(tree: Path, source_map: Path) -> None:
    run("index", "--lazy", "--source", tree)
    run("sources", "export", tree, "-o", "lazy.fdmap")
    assert Path("lazy.fdmap").read_bytes() == source_map.read_bytes()


def test_a_subfolder_of_a_checkout_has_repository_paths(tree: Path) -> None:
    run("sources", "export", tree / "glue", "-o", "part.fdmap", "--component", "glue")
    run("sources", "import", "part.fdmap")
    with Store(Path(".framedex/index.db")) as store:
        assert store.sources.definitions("caller", "python")[0][0].endswith(":glue/caller.py")


def test_modified_files_are_refused_or_marked(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tree / "glue" / "glue.cc").open("a") as file:
        file.write("int more() { return 1; }\n")

    assert "--allow-dirty" in refusal("sources", "export", tree, "-o", "x.fdmap")
    assert not Path("x.fdmap").exists()
    assert "+changes" in run("sources", "export", tree, "-o", "x.fdmap", "--allow-dirty")
    assert "changed files" in run("sources", "import", "x.fdmap")
    for checks in ("list_software_checks", "list_recording_checks"):  # they take a second, and do not involve maps
        monkeypatch.setattr(f"framedex.commands.doctor_checks.{checks}", lambda *_: ())
    assert "+changes (of changed files)" in run("doctor")


def test_a_folder_without_git_needs_an_explicit_commit(tree: Path, tmp_path: Path) -> None:
    shutil.rmtree(tree / ".git")
    assert "--commit" in refusal("sources", "export", tree, "-o", "x.fdmap")
    assert "cannot be exported" in refusal("sources", "export", tree, "-o", "x.fdmap", "--commit", "main")
    assert "cannot be exported" in refusal(
        "sources", "export", tree, "-o", "x.fdmap", "--commit", "1" * 40, "--repository", "https://me:secret@h/x"
    )
    out = run("sources", "export", tree, "-o", "x.fdmap", "--commit", "1" * 40, "--component", "glue")
    assert "without --repository" in out


def test_recorded_functions_get_lines_and_public_addresses(project: Project, source_map: Path) -> None:
    project.ingest().close()
    assert convert(project.index) is None

    run("--index", project.index, "sources", "import", source_map)

    commit = git(source_map.parent / "checkout", "rev-parse", "HEAD")
    place = convert(project.index)
    assert place == Location(f"glue@{commit[:12]}:glue/glue.cc", 2, LocationEvidence.DEFINITION)
    assert place.url == f"{ADDRESS}/blob/{commit}/glue/glue.cc#L2"
    text = run("--index", project.index, "trace", "1")
    assert f"{place.url} [definition, not here]" in text
    document = json.loads(run("--index", project.index, "trace", "1", "--json"))
    (frame,) = (frame for frame in document["frames"] if frame["function"]["name"] == "glue::convert")
    assert frame["location"]["url"] == place.url and frame["source_is_here"] is False


def test_a_trace_document_leads_to_map_locations(project: Project, source_map: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    place = convert(project.index)
    assert place is not None
    run("--index", project.index, "trace", "1", "-o", "it.fdtrace")
    assert f"glue::convert at {place.path}:2 [definition]" in Path("it.fdtrace").read_text()

    assert f"{place.url} [definition, not here]" in run("--index", project.index, "explain", "it.fdtrace")


def test_a_map_of_other_sources_belongs_to_no_jaxlib_release(
    project: Project, source_map: Path, tmp_path: Path
) -> None:
    capture = replace(
        project.capture,
        codes=(
            replace(project.capture.codes[0], filename="/other/site-packages/jaxlib/x.py"),
            *project.capture.codes[1:],
        ),
        metadata=replace(project.capture.metadata, launch=LaunchInfo(packages={"jaxlib": "0.10.1"})),
    )
    project.ingest(capture=capture).close()
    run("--index", project.index, "sources", "import", source_map)
    place = convert(project.index)
    assert place is not None
    text = tmp_path / "crash.txt"
    for statement in ("", "jaxlib==0.4.20\n"):
        text.write_text(f"{statement}    @ 0x1234  12  glue::convert()\n")
        result = CliRunner().invoke(cli, ["--index", str(project.index), "explain", str(text)])
        assert f"{place.url} [definition, not here]" in result.stdout
        assert "jaxlib" not in result.stderr


def test_maps_are_listed_and_removed_by_component(project: Project, source_map: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    assert f"a source map of {ADDRESS}" in run("--index", project.index, "sources")
    assert json.loads(run("--index", project.index, "sources", "--json"))["maps"][0]["component"] == "glue"

    run("--index", project.index, "sources", "remove", "glue")

    assert "glue@" not in run("--index", project.index, "sources")
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
        assert store.sources.definitions("convert", "cpp") == []
    assert convert(project.index) is None


def test_indexing_again_keeps_map_locations(project: Project, source_map: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    before = convert(project.index)
    with Store(project.index) as store:
        assert find_sources(store, SilentProgress()).removed == 0
    assert convert(project.index) == before is not None


def test_a_source_folder_overrides_a_map_for_the_same_file(project: Project, source_map: Path, tree: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    with project.ingest(tree) as index:
        here = Location(str(tree / "glue" / "glue.cc"), 2, LocationEvidence.DEFINITION)
        assert index.functions.find("glue::convert")[0].location == here
    (tree / "glue" / "glue.cc").unlink()
    with Store(project.index) as store:
        find_sources(store, SilentProgress())
    place = convert(project.index)
    assert place is not None and place.path.startswith("glue@")


def test_another_commit_replaces_the_previous_one(project: Project, source_map: Path, tree: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    assert "replaced: the same commit" in run("--index", project.index, "sources", "import", source_map)
    old = git(tree, "rev-parse", "HEAD")
    (tree / "glue" / "glue.cc").write_text("// moved\n" + STRIPPED_SOURCE)
    commit_all(tree)
    run("sources", "export", tree, "-o", source_map)

    assert f"replaced: glue@{old[:12]}" in run("--index", project.index, "sources", "import", source_map)

    place = convert(project.index)
    assert place is not None and place.line == 3 and old[:12] not in place.path
    with Store(project.index) as store:
        assert len(store.sources.maps()) == 1 and len(store.sources.definitions("convert", "cpp")) == 1


def test_a_damaged_map_leaves_the_index_unchanged(project: Project, source_map: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    before = convert(project.index)
    content = source_map.read_bytes()
    with Store(project.index) as store:
        for length in range(0, len(content), 10):
            source_map.write_bytes(content[:length])
            with pytest.raises(SourceMapError):
                import_map(store, source_map, SilentProgress())
        assert len(store.sources.maps()) == 1
    assert convert(project.index) == before is not None
    message = refusal("--index", project.index, "sources", "import", source_map)
    assert "Nothing was imported" in message


def test_a_rebuild_reads_the_maps_again(project: Project, source_map: Path) -> None:
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    run("--index", project.index, "index", "--rebuild")
    with Store(project.index) as store:
        assert len(store.sources.maps()) == 1 and len(store.sources.definitions("convert", "cpp")) == 1

    source_map.write_bytes(source_map.read_bytes()[:-20])
    assert "no longer contains this source map" in " ".join(run("--index", project.index, "index", "--rebuild").split())
    with Store(project.index) as store:
        assert store.sources.maps() == [] and store.sources.definitions("convert", "cpp") == []


@pytest.mark.exhaustive
def test_concurrent_imports_both_succeed(source_map: Path) -> None:
    code = "from framedex.commands.main import cli; cli()"
    command = [sys.executable, "-c", code, "--index", "both.db", "sources", "import", str(source_map)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    running = [subprocess.Popen(command, env=environment) for _ in range(3)]

    assert [process.wait() for process in running] == [0, 0, 0]
    with Store(Path("both.db")) as store:
        assert len(store.sources.maps()) == 1 and len(store.sources.definitions("convert", "cpp")) == 1


def test_a_map_beside_a_recorded_binary_is_found(project: Project, source_map: Path) -> None:
    """As in a wheel, beside its library."""
    beside = project.library.with_name("glue.fdmap")
    shutil.copy(source_map, beside)
    try:
        project.ingest().close()
        with Store(project.index) as store:
            assert list(import_wheel_maps(store, SilentProgress())) == []
            find_sources(store, SilentProgress())
        place = convert(project.index)
        assert place is not None and place.path.startswith("glue@")
        beside.write_bytes(b"broken")
        with Store(project.index) as store:
            assert "is not a source map" in " ".join(import_wheel_maps(store, SilentProgress()))
        assert convert(project.index) == place
    finally:
        beside.unlink()


def test_the_map_of_a_wheel_does_not_replace_an_imported_one(project: Project, source_map: Path, tree: Path) -> None:
    beside = project.library.with_name("glue.fdmap")
    project.ingest().close()
    run("--index", project.index, "sources", "import", source_map)
    before = convert(project.index)
    commit_all(tree)
    run("sources", "export", tree, "-o", beside)
    try:
        with Store(project.index) as store:
            assert list(import_wheel_maps(store, SilentProgress())) == []
            find_sources(store, SilentProgress())
        assert convert(project.index) == before is not None
    finally:
        beside.unlink()


def test_a_crash_text_leads_to_the_public_repository_by_a_map(tree: Path, source_map: Path) -> None:
    commit = git(tree, "rev-parse", "HEAD")
    shutil.rmtree(tree)
    run("sources", "import", source_map)
    Path("crash.log").write_text(
        "    @     0x7f1bb00a8eed        112  glue::twice()\n"
        "#1  0x4 in glue::convert(int) () at /build/machine/glue/glue.cc:2\n"
    )
    result = run("explain", "crash.log")
    assert f"{ADDRESS}/blob/{commit}/glue/glue.cc#L3 [definition, not here]" in result
    assert f"{ADDRESS}/blob/{commit}/glue/glue.cc#L2 [not here]" in result


def test_a_crash_text_prefers_files_to_maps(tree: Path, source_map: Path) -> None:
    run("sources", "import", source_map)
    run("index", "--source", tree)
    Path("crash.log").write_text("    @     0x7f1bb00a8eed        112  glue::twice()\n")
    assert f"{tree}/glue/glue.cc:3 [definition]\n" in run("explain", "crash.log")
