"""A text's stated release: its frames lead to that release, whatever is installed, recorded or indexed here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import SilentProgress
from framedex.ingest.source_maps import export_map, import_map
from framedex.model import LocationEvidence, SourceMapInfo
from framedex.sources.releases import read_release_commits
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.gitrepository import make_checkout
from tests.indexer.text_stacks.test_places_against_files import OLD, environment, indexed, place, traceback

STATED = "jax==0.9.1\njaxlib==0.9.1\n"
JAX = f"https://github.com/jax-ml/jax/blob/{read_release_commits('0.9.1')['jax']}"
XLA = f"https://github.com/openxla/xla/blob/{read_release_commits('0.9.1')['xla']}"
CLIENT = "namespace xla {\nint Compile() {\n  return 1;\n}\n}\n"
GDB = "#0  0x00007f0000000001 in xla::Compile () at external/xla/xla/client.cc:3\n"
ELSEWHERE = "/home/user/env/lib/python3.14/site-packages/jax/_src/api.py"


@pytest.fixture(autouse=True)
def without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(text: str, index: Index | None = None) -> FoundFrame:
    """The last frame of a text, and its location."""
    *_, frame = read(text).frames()
    return Resolver(index, releases=StatedReleases(text)).find(frame)


def explained(text: str, *options: str) -> Result:
    result = CliRunner().invoke(cli, ["explain", *options], input=text)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def index_of_another_release(tmp_path: Path) -> Index:
    """An index with an XLA source map at a commit that no release was built from."""
    tree = tmp_path / "then" / "xla"
    commit = make_checkout(tree, {"xla/client.cc": CLIENT})
    info = SourceMapInfo("xla", "https://github.com/openxla/xla", commit, is_dirty=False, tool="test")
    with Store(tmp_path / "map.db") as store, (tmp_path / "xla.fdmap").open("wb") as stream:
        export_map(store, tree, str(tree), info, stream, SilentProgress())
    with Store(tmp_path / "other.db") as store:
        import_map(store, tmp_path / "xla.fdmap", SilentProgress())
    return Index.open(tmp_path / "other.db")


def test_a_build_line_is_at_the_stated_release_instead_of_another_map(
    index_of_another_release: Index,
) -> None:
    with index_of_another_release as index:
        unstated, stated = found(GDB, index), found(STATED + GDB, index)
    assert (place(unstated).path.startswith("xla@"), place(unstated).how) == (True, LocationEvidence.EXACT)
    assert (place(stated).url, place(stated).how) == (f"{XLA}/xla/client.cc#L3", LocationEvidence.EXACT)


def test_a_map_of_another_release_is_doubtful_if_the_stated_one_is_not_public(
    index_of_another_release: Index,
) -> None:
    with index_of_another_release as index:
        assert place(found(f"jaxlib==0.9.999\n{GDB}", index)).how is LocationEvidence.DOUBTFUL


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        (ELSEWHERE, "jax/_src/api.py"),
        ("/opt/conda/lib/python3.12/site-packages/jaxlib/xla_client.py", "jaxlib/xla_client.py"),
        ("/usr/lib/python3/dist-packages/jax/numpy/__init__.py", "jax/numpy/__init__.py"),
        (r"C:\Users\u\miniconda3\envs\j\Lib\site-packages\jax\_src\api.py", "jax/_src/api.py"),
        (r"\\server\share\site-packages\jax\_src\api.py", "jax/_src/api.py"),
    ],
)
def test_python_frames_lead_to_the_public_page_of_the_stated_release(path: str, inside: str) -> None:
    answer = found(STATED + traceback(path, 11, "device_put"))
    assert (place(answer).url, place(answer).how) == (f"{JAX}/{inside}#L11", LocationEvidence.EXACT)


@pytest.mark.parametrize(
    "path",
    [
        "/home/user/env/lib/python3.14/site-packages/flax/core.py",
        "/home/user/env/lib/python3.14/site-packages/jaxlib/mlir/ir.py",  # generated
        "/home/user/env/lib/python3.14/site-packages/jax_plugins/x.py",
        "/home/user/env/lib/python3.14/threading.py",
    ],
)
def test_other_python_frames_are_unchanged(path: str) -> None:
    assert found(STATED + traceback(path, 11, "run")).location is None


def test_python_frames_without_a_stated_release_are_unchanged() -> None:
    assert found(traceback(ELSEWHERE, 11, "device_put")).location is None
    assert found("jaxlib==0.9.1\n" + traceback(ELSEWHERE, 11, "device_put")).location is None


def test_an_installed_file_of_another_release_is_not_used(tmp_path: Path) -> None:
    new = environment(tmp_path, "0.12.0", OLD)
    for path in (ELSEWHERE, str(new)):
        answer = found(STATED + traceback(path, 11, "device_put"), indexed(tmp_path, new.parents[2]))
        assert (place(answer).url, place(answer).how) == (f"{JAX}/jax/_src/api.py#L11", LocationEvidence.EXACT)


def test_an_installed_file_of_the_stated_release_is_used(tmp_path: Path) -> None:
    same = environment(tmp_path, "0.9.1", OLD)
    answer = found(STATED + traceback(ELSEWHERE, 11, "device_put"), indexed(tmp_path, same.parents[2]))
    assert (place(answer).path, place(answer).how) == (str(same), LocationEvidence.EXACT)


def test_of_several_stated_releases_the_newest_is_used_and_marked_as_doubtful() -> None:
    text = "jaxlib==0.9.1\njaxlib==0.10.2\njax==0.9.1\n" + GDB + traceback(ELSEWHERE, 11, "device_put")
    newest = read_release_commits("0.10.2")["xla"]
    result = explained(text)
    assert f"{newest}/xla/client.cc#L3 [doubtful, not here]" in result.stdout
    assert f"{JAX}/jax/_src/api.py#L11 [not here]" in result.stdout
    assert "The text names 2 releases of jaxlib: 0.9.1, 0.10.2." in result.stderr
    assert "releases of jax:" not in result.stderr


def test_stated_releases_without_located_frames_are_not_reported(tmp_path: Path) -> None:
    """A log of an upgrade states two releases; the installed files match all frames."""
    here = environment(tmp_path, "0.9.1", OLD)
    text = f"jax==0.9.0\njax==0.9.1\n{traceback(here, 11, 'device_put')}"
    *_, frame = read(text).frames()
    resolver = Resolver(indexed(tmp_path, here.parents[2]), releases=StatedReleases(text))
    answer = resolver.find(frame)
    assert (place(answer).path, place(answer).how) == (str(here), LocationEvidence.EXACT)
    assert (resolver.released.conflicts, resolver.released.used) == ({}, {})


def test_the_summary_names_the_releases_of_located_frames() -> None:
    text = STATED + GDB + traceback(ELSEWHERE, 11, "device_put")
    placed = "Sources of XLA and JAX frames: jax 0.9.1 (stated in the text), jaxlib 0.9.1 (stated in the text)."
    assert placed in explained(text).stderr
    document = json.loads(explained(text, "--json").stdout)
    each = {"version": "0.9.1", "basis": "text"}
    assert (document["releases"], document["problems"]) == ({"jaxlib": each, "jax": each}, [])
    nothing = json.loads(explained(traceback(ELSEWHERE, 11, "device_put"), "--json").stdout)
    assert nothing["releases"] == {}
