"""`framedex run --plugin`: the selected plug-in, how JAX gets its path, and refusals."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import framedex_native
from framedex.commands.main import cli
from tests import pythons
from tests.indexer.unplaced import index_without_sources
from tests.reading import Call, calls_of
from tests.run.invoking import Ended, framedex_run, program
from tests.running import build_small_plugin, build_with_api

PUT = program("put_through_plugin.py")
# A plug-in package's initialisation by JAX: it registers its own library by its own path.
REGISTERING = """
from pathlib import Path
from jax._src import xla_bridge
def initialize():
    xla_bridge.register_plugin("small", priority=500, library_path=str(Path(__file__).with_name("small.so")))
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small plug-in, built."""
    return build_small_plugin(tmp_path_factory.mktemp("small plugin"))


@pytest.fixture
def copied_mock(tmp_path: Path) -> Path:
    """A copy of the mock, which represents a working plug-in."""
    return Path(shutil.copy(framedex_native.library_path(), tmp_path / "other_mock.so"))


def calls(ended: Ended, folder: Path) -> list[Call]:
    """The recorded calls of a run in `folder`."""
    return calls_of(folder / ended.capture)


def test_a_tpu_plugin_is_loaded_by_path(copied_mock: Path, tmp_path: Path) -> None:
    ended = framedex_run("--plugin", f"tpu:{copied_mock}", PUT, "tpu", folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"tpu 1.5\n"), ended.stderr
    recorded = calls(ended, tmp_path)
    assert recorded[0].arguments["plugin"] == str(copied_mock)
    assert [call.function for call in recorded].count("PJRT_Client_BufferFromHostBuffer") == 1


@pytest.mark.exhaustive
def test_a_plugin_that_jax_registers_by_name_keeps_its_platform(copied_mock: Path, tmp_path: Path) -> None:
    ended = framedex_run("--plugin", f"elsewhere:{copied_mock}", PUT, "elsewhere", folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"tpu 1.5\n"), ended.stderr
    assert calls(ended, tmp_path)[0].arguments["plugin"] == str(copied_mock)


@pytest.mark.exhaustive(keep=["libtpu"])
@pytest.mark.parametrize("name", ["libtpu", "tpu"])
def test_an_installed_libtpu_is_loaded_by_name(copied_mock: Path, tmp_path: Path, name: str) -> None:
    package = tmp_path / "packages" / "libtpu"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('a plug-in is found without being imported')")
    library = shutil.copy(copied_mock, package / "libtpu.so")
    ended = framedex_run("--plugin", name, PUT, "tpu", folder=tmp_path, PYTHONPATH=str(package.parent))
    assert (ended.status, ended.stdout) == (0, b"tpu 1.5\n"), ended.stderr
    assert calls(ended, tmp_path)[0].arguments["plugin"] == str(library)


@pytest.mark.exhaustive(keep=["False"])
@pytest.mark.parametrize("by_path", [False, True])
def test_a_self_registering_plugin_is_recorded(small: Path, tmp_path: Path, by_path: bool) -> None:
    """With a jax_plugins package, the library that JAX opens is recorded at its own path."""
    package = tmp_path / "packages" / "jax_plugins" / "xla_small12"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(REGISTERING)
    library = Path(shutil.copy(small, package / "small.so"))
    wanted = str(library) if by_path else "small"
    ended = framedex_run(
        "--plugin", wanted, PUT, "small", folder=tmp_path, PYTHONPATH=str(package.parents[1]), JAX_PLATFORMS="small"
    )
    assert b"there is no such device" in ended.stderr
    recorded = calls(ended, tmp_path)
    assert recorded[0].arguments["plugin"] == str(library)
    assert "PJRT_Client_Create" in {call.function for call in recorded}


@pytest.mark.exhaustive
def test_a_program_that_never_loads_the_plugin_is_reported(small: Path, tmp_path: Path) -> None:
    ended = framedex_run(
        "--plugin", f"tpu:{small}", program("endings.py"), "returns", folder=tmp_path, JAX_PLATFORMS="cpu"
    )
    assert ended.said == [f"framedex: nothing was recorded: the program never loaded {small}, or ended before that."]


def test_a_python_with_torch_xla_instead_of_jax_is_recorded(tmp_path: Path) -> None:
    bare = next((p for v in pythons.RECORDABLE for p in pythons.found(v) if not p.has_jax), None)
    if bare is None:
        pytest.skip("every Python here has JAX")
    metadata = tmp_path / "packages" / "torch_xla-2.9.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: torch_xla\nVersion: 2.9.0\n")
    (tmp_path / "program.py").write_text("print('ran')")
    packages = str(tmp_path / "packages")
    ended = framedex_run("--python", bare.path, "program.py", folder=tmp_path, PYTHONPATH=packages)
    assert (ended.status, ended.stdout) == (0, b"ran\n"), ended.stderr


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plug-in that works, and is not one of framedex's libraries."""
    folder = tmp_path_factory.mktemp("working plugin")
    return build_with_api("rule_breaking_plugin.cc", folder / "working.so", "-shared", "-fPIC", "-ldl")


def test_two_plugins_of_a_program_are_recorded(working: Path, copied_mock: Path, tmp_path: Path) -> None:
    """Each call names its plug-in, and the calls of each plug-in have only its objects."""
    chosen = ("--plugin", "mock", "--plugin", f"other:{working}", "--validate")
    ended = framedex_run(*chosen, PUT, "tpu", "other", folder=tmp_path, REAL_PLUGIN=str(copied_mock))
    assert (ended.status, ended.stdout) == (0, b"tpu 1.5\ntpu 1.5\n"), ended.stderr
    assert b"broken by" not in ended.stderr
    index = index_without_sources(tmp_path / "index.db", tmp_path / ended.capture)
    printed = CliRunner().invoke(cli, ["--index", str(index), "calls", "--json"]).stdout
    named = json.loads(printed)["calls"]
    names = {call["plugin"] for call in named if call["function"].startswith("PJRT_")}
    assert names == {"the mock TPU", "working.so"}
    clients = {name: {call["objects"].get("client") for call in named if call["plugin"] == name} for name in names}
    assert len(clients["the mock TPU"] - {None}) == len(clients["working.so"] - {None}) == 1
    assert clients["the mock TPU"] & clients["working.so"] <= {None}
    for command in (["calls"], ["summary"]):
        shown = CliRunner().invoke(cli, ["--index", str(index), *command]).stdout
        assert "[the mock TPU] PJRT_Client_BufferFromHostBuffer" in shown
        assert "[working.so] PJRT_Client_BufferFromHostBuffer" in shown
    assert_memory_of_both(index)


def assert_memory_of_both(index: Path) -> None:
    """The memory of the mock TPU and of the other plug-in is in the answer, whose heading names the mock."""
    held = CliRunner().invoke(cli, ["--index", str(index), "memory"]).stdout
    assert held.splitlines()[0].endswith(", partly on the mock TPU; the mock's device times are its CPU's")
    assert re.search(r"^device 0 ", held, re.MULTILINE), held
    assert re.search(r"^memory#\d+ ", held, re.MULTILINE), held


def test_a_ring_keeps_the_names_and_the_memory_of_two_plugins(working: Path, copied_mock: Path, tmp_path: Path) -> None:
    chosen = ("--plugin", "mock", "--plugin", f"other:{working}", "--ring", "--limit", "1MB")
    puts = ["tpu", "other"] * 1500
    ended = framedex_run(*chosen, PUT, *puts, folder=tmp_path, REAL_PLUGIN=str(copied_mock))
    assert ended.status == 0, ended.stderr
    index = index_without_sources(tmp_path / "index.db", tmp_path / ended.capture)
    assert_memory_of_both(index)
    for names in (("the mock TPU", "working.so"), ("plug-in 1", "plug-in 2")):
        shown = CliRunner().invoke(cli, ["--index", str(index), "summary"]).stdout
        assert "GetPjrtApi" not in shown
        assert all(f"[{name}] PJRT_Client_BufferFromHostBuffer" in shown for name in names), shown
        with closing(sqlite3.connect(index)) as connection, connection:
            connection.execute("UPDATE captures SET plugins = NULL")  # as recorded by an earlier version


def test_a_path_with_a_colon_is_that_of_the_only_plugin(copied_mock: Path, tmp_path: Path) -> None:
    moved = tmp_path / "a:b" / "other_mock.so"
    moved.parent.mkdir()
    copied_mock.rename(moved)
    ended = framedex_run("--plugin", f"elsewhere:{moved}", PUT, "elsewhere", folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"tpu 1.5\n"), ended.stderr
    assert calls(ended, tmp_path)[0].arguments["plugin"] == str(moved)


def test_impossible_pairs_of_plugins_are_refused(small: Path, copied_mock: Path, tmp_path: Path) -> None:
    with_colon = tmp_path / "a:b" / "small.so"
    with_colon.parent.mkdir()
    shutil.copy(small, with_colon)
    for chosen, message in (
        (("mock", f"tpu:{small}"), "Two plug-ins have the name tpu in JAX."),
        ((f"one:{small}", f"two:{small}"), f"--plugin names {small} twice."),
        (("mock", f"one:{with_colon}"), f"The path {with_colon} contains ':', which separates plug-ins."),
        (("mock", f"one:{small}", f"two:{copied_mock}"), "3 plug-ins are too many: framedex records at most 2"),
    ):
        options = [word for plugin in chosen for word in ("--plugin", plugin)]
        ended = framedex_run(*options, PUT, "tpu", folder=tmp_path)
        assert ended.status == 1
        assert message in ended.said[0]


def test_invalid_plugins_are_refused(small: Path, tmp_path: Path) -> None:
    missing, text, other = tmp_path / "missing.so", tmp_path / "text.so", tmp_path / "other.so"
    text.write_text("not a library")
    shutil.copy(framedex_native.library_path().with_name("libframedex_recorder.so"), other)
    for plugin, message in (
        (missing, f"No such plug-in: {missing}."),
        (text, f"{text} is not a PJRT plug-in: it cannot be read as a library"),
        (other, f"{other} is not a PJRT plug-in: it has no function GetPjrtApi."),
        (small, "JAX does not register small.so by itself."),
        ("nothing", "has no plug-in called 'nothing'."),
    ):
        ended = framedex_run("--plugin", str(plugin), PUT, "tpu", folder=tmp_path)
        assert ended.status == 1
        assert ended.stdout == b""
        assert message in ended.said[0]


def test_mock_options_are_refused_with_a_plugin(small: Path, tmp_path: Path) -> None:
    ended = framedex_run("--plugin", str(small), "--devices", "2", PUT, folder=tmp_path)
    assert ended.status == 2
    assert b"are for the mock TPU, not for a plug-in" in ended.stderr
