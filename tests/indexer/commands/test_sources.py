"""`framedex sources`, command-line settings, and public URLs for frames without local files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.commands.output.terminal import Terminal, paint, render_location_line
from framedex.index import Index
from framedex.model import CallFilter, CodeObject, LaunchInfo, Location, LocationEvidence
from tests.gitrepository import make_checkout
from tests.indexer.recorded import Project, build_elsewhere, build_project

SITE = "/other/lib/python3.11/site-packages"
JAX = "990e6a0b84138346e6a38785412f36356e0e5dc3"
XLA = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"


@pytest.fixture
def elsewhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project as if its Python had another machine's jax 0.10.2, in its folder."""
    own = [replace(code, filename=f"{SITE}/jax/_src/demo.py") for code in project.capture.codes]
    codes = (*own, CodeObject(f"{SITE}/jaxlib/xla_client.py", "unused", 1, b""))
    launch = LaunchInfo(packages={"jax": "0.10.2", "jaxlib": "0.10.2"})
    metadata = replace(project.capture.metadata, launch=launch)
    monkeypatch.chdir(project.folder)
    return replace(project, capture=replace(project.capture, codes=codes, metadata=metadata))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def _json(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_without_an_index_the_error_says_how_to_create_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("sources")
    assert result.exit_code == 1 and "framedex run" in result.stderr


def test_components_without_sources_are_listed_with_the_remedy(elsewhere: Project) -> None:
    elsewhere.ingest().close()
    result = run("sources")
    assert f"git clone https://github.com/openxla/xla && git -C xla checkout {XLA}" in result.stdout
    assert f"git clone https://github.com/jax-ml/jax && git -C jax checkout {JAX}" in result.stdout
    assert "framedex sources add" in result.stderr


def test_for_an_unlisted_jaxlib_the_commit_comes_from_jax(elsewhere: Project) -> None:
    metadata = replace(elsewhere.capture.metadata, launch=LaunchInfo(packages={"jaxlib": "99.1"}))
    elsewhere.ingest(capture=replace(elsewhere.capture, metadata=metadata)).close()
    shown = run("sources").stdout
    assert "jaxlib 99.1 was built from a commit of XLA that this framedex does not know" in shown
    assert "to get it: `framedex sources fetch`, or `git clone https://github.com/openxla/xla`" in shown
    assert "JAX jax-v99.1 pins the commit" in shown


def test_a_folder_is_added_listed_with_its_mismatch_and_removed(elsewhere: Project, tmp_path: Path) -> None:
    elsewhere.ingest().close()
    checkout = tmp_path / "xla checkout"
    commit = make_checkout(checkout, {"xla/pjrt/pjrt_client.h": "void f() {}\n"})

    assert run("sources", "add", str(checkout)).exit_code == 0
    assert run("index").exit_code == 0
    result = run("sources")
    assert f"{checkout}  1 file read; XLA's sources; at {commit[:12]}" in result.stdout
    assert f"jaxlib 0.10.2 was built from XLA {XLA[:12]}; this checkout is at {commit[:12]}" in result.stdout
    (root,) = _json("sources")["roots"]
    assert (root["component"], root["matches"], root["checkout"]["commit"]) == ("xla", False, commit)

    assert run("sources", "remove", str(checkout)).exit_code == 0
    document = _json("sources")
    assert document["roots"] == []
    with Index.open(elsewhere.index) as index:
        assert index.sources.health().roots == ()


def test_a_missing_folder_is_refused(elsewhere: Project) -> None:
    elsewhere.ingest().close()
    for verb in ("add", "remove"):
        result = run("sources", verb, "/no/such\nfolder")
        assert result.exit_code == 1 and "folder" in result.stderr


def test_a_hostile_folder_name_is_escaped_and_an_undecodable_one_refused(elsewhere: Project, tmp_path: Path) -> None:
    elsewhere.ingest().close()
    hostile = tmp_path / "\x1b]0;owned\x07\n"
    hostile.mkdir()
    assert run("sources", "add", str(hostile)).exit_code == 0
    result = run("sources")
    assert "\x1b" not in result.stdout and "\\x1b]0;owned\\x07\\x0a" in result.stdout
    shown = str(hostile).replace("\x1b", "\\x1b").replace("\x07", "\\x07").replace("\n", "\\x0a")
    assert run("sources", "remove", shown).exit_code == 0
    undecodable = tmp_path / "\udcff"
    undecodable.mkdir()
    result = run("sources", "add", str(undecodable))
    assert result.exit_code == 1 and "not UTF-8" in result.stderr


def test_a_missing_folder_stays_listed_and_can_be_removed(elsewhere: Project, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    elsewhere.ingest(gone).close()
    gone.rmdir()
    assert "missing" in run("sources").stdout
    assert run("sources", "remove", str(gone)).exit_code == 0
    assert str(gone) not in run("sources").stdout


def test_sources_and_path_rules_of_the_settings_apply_to_index(elsewhere: Project, tmp_path: Path) -> None:
    elsewhere.ingest().close()
    here = tmp_path / "mine" / "renamed"
    here.mkdir(parents=True)
    (here / "demo.py").write_bytes(elsewhere.program.read_bytes())
    (tmp_path / "framedex.toml").write_text(f"""
        sources = ["mine"]
        path_map = 3
        [[path-map]]
        from = "{SITE}/jax/_src"
        to = "mine/renamed"
    """)
    result = run("index")
    assert result.exit_code == 0, result.stderr
    assert "path_map is not a setting; did you mean path-map?" in result.stderr
    trace = run("trace", "1").stdout
    assert f"{here}/demo.py:{elsewhere.line('return put')}" in trace and "not here" not in trace
    assert run("where", f"{here}/demo.py:{elsewhere.line('return put')}").stdout.count("framedex trace") == 3
    result = run("sources", "remove", str(tmp_path / "mine"))
    assert "remove it there" in result.stderr


def test_a_folder_outside_the_project_is_read_once_the_user_adds_it(
    elsewhere: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """If a stranger's settings name another folder, such as a home, it stays unread until the user agrees."""
    elsewhere.ingest().close()
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.py").write_text("def secret():\n    return 1\n")
    (tmp_path / "linked").symlink_to(outside)
    (tmp_path / "framedex.toml").write_text(f'sources = ["{outside}", "linked"]\n')

    result = run("index")
    assert result.exit_code == 0, result.stderr
    assert f"`framedex sources add {outside}`" in result.stderr
    assert str(outside) not in run("sources").stdout
    with Index.open(elsewhere.index) as index:
        assert not index.names.files_named("secret.py")

    assert run("sources", "add", str(outside)).exit_code == 0
    result = run("index")
    assert result.exit_code == 0 and "sources add" not in result.stderr
    with Index.open(elsewhere.index) as index:
        assert index.names.files_named("secret.py") == [str(outside / "secret.py")]


def test_a_path_rule_out_of_the_project_applies_once_the_user_adds_its_folder(
    elsewhere: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere.ingest().close()
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.py").write_text("def secret():\n    return 1\n")
    (tmp_path / "linked").symlink_to(outside)
    rules = "".join(f'[[path-map]]\nfrom = "{before}"\nto = "linked"\n' for before in ("/there", "/\\u001b[31m"))
    (tmp_path / "framedex.toml").write_text(rules)
    (tmp_path / "log.txt").write_text('  File "/there/secret.py", line 2, in secret\n')

    result = run("index")
    assert result.exit_code == 0, result.stderr
    assert "The path-map in " in result.stderr and f"`framedex sources add {tmp_path / 'linked'}`" in result.stderr
    assert "\x1b" not in result.stderr
    assert "/there/secret.py:2 [not here]" in run("explain", "log.txt").stdout
    assert run("open", "/there/secret.py:2").exit_code == 1

    assert run("sources", "add", str(outside)).exit_code == 0
    result = run("index")
    assert result.exit_code == 0 and "sources add" not in result.stderr
    assert f"{outside / 'secret.py'}:2" in run("explain", "log.txt").stdout


def test_the_index_of_the_settings_is_used(elsewhere: Project, tmp_path: Path) -> None:
    elsewhere.ingest().close()
    elsewhere.index.rename(tmp_path / "other.db")
    (tmp_path / "pyproject.toml").write_text('[tool.framedex]\nindex = "other.db"')
    assert run("calls").exit_code == 0


def test_lazy_and_rebuild_exclude_each_other(elsewhere: Project) -> None:
    result = run("index", "--lazy", "--rebuild")
    assert result.exit_code == 1 and "--lazy" in result.stderr


def test_frames_without_local_files_have_the_public_url_of_their_line(elsewhere: Project) -> None:
    elsewhere.ingest().close()
    url = f"https://github.com/jax-ml/jax/blob/{JAX}/jax/_src/demo.py#L{elsewhere.line('return put')}"

    assert f"{url} [not here]" in run("trace", "1").stdout
    place = f"{SITE}/jax/_src/demo.py:{elsewhere.line('return put')}"
    assert f"{url} [not here]" in run("where", place).stdout
    assert f"{url} [not here]" in run("callees", "transfer").stdout
    frames = _json("trace", "1")["frames"]
    assert url in [frame["location"]["url"] for frame in frames if frame["location"]]
    with Index.open(elsewhere.index) as index:
        lines = index.calls.python_lines(index.calls.find(CallFilter()))
    assert all(line.location.url for line in lines.values())


def test_an_xla_frame_has_its_url_from_debug_information(elsewhere: Project, tmp_path: Path) -> None:
    for prefix in ("external/xla/xla/pjrt", "/proc/self/cwd/external/+deps+xla/xla/pjrt"):
        project = build_project(tmp_path, build_elsewhere(tmp_path / prefix.replace("/", "_"), prefix))
        capture = replace(
            project.capture,
            path=tmp_path / prefix.replace("/", "_"),
            codes=elsewhere.capture.codes,
            metadata=elsewhere.capture.metadata,
        )
        with project.ingest(capture=capture) as index:
            frames = [frame for call in index.calls.find(CallFilter()) for frame in index.calls.trace(call.id).frames]  # type: ignore[union-attr]
        urls = {frame.location.url for frame in frames if frame.function.name == "runtime::allocate" and frame.location}
        assert urls == {f"https://github.com/openxla/xla/blob/{XLA}/xla/pjrt/runtime.cc#L11"}


def test_a_terminal_with_links_links_to_the_public_url() -> None:
    location = Location("/gone.py", 3, LocationEvidence.EXACT, "https://example.org/gone.py#L3")
    shown = paint(render_location_line(location), Terminal(colors=False, links=True, host="me"))
    assert shown.startswith("\x1b]8;;https://example.org/gone.py#L3\x1b\\")
    assert "file://" not in shown


def test_url_templates_of_the_settings_are_used(elsewhere: Project, tmp_path: Path) -> None:
    elsewhere.ingest().close()
    (tmp_path / "framedex.toml").write_text('[links]\njax = "https://mirror.example.org/{path}?at={commit}&l={line}"')
    assert f"https://mirror.example.org/jax/_src/demo.py?at={JAX}&l=" in run("trace", "1").stdout
    (tmp_path / "framedex.toml").write_text(f'[links]\n"{SITE}" = "https://root.example.org/{{path}}"')
    assert "https://root.example.org/jax/_src/demo.py" in run("trace", "1").stdout
