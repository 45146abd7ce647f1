"""Project settings: which file is used, what its keys mean, and messages for wrong ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from framedex.path_resolution.files import PathRule
from framedex.settings import Settings, list_setting_keys
from tests.indexer.privileges import run_without_privileges

REPOSITORY = Path(__file__).parents[2]


def _load(folder: Path) -> Settings:
    settings, problems = Settings.load(folder)
    assert problems == []
    return settings


def test_external_source_folders_count_if_the_user_names_them(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/usr")
    rules = [{"from": "/a", "to": "inside"}, {"from": "/b", "to": "link/share"}]
    named = {"sources": ["inside", "../outside", "link"], "path-map": rules}
    inside, *outside = tmp_path / "inside", tmp_path.parent / "outside", tmp_path / "link"

    of_folder, _ = Settings.from_mapping(named, tmp_path, "framedex.toml", is_user_owned=False)
    of_user, _ = Settings.from_mapping(named, tmp_path, "The editor's settings", of_folder)

    assert (of_folder.sources, of_folder.outside) == ((inside,), tuple(outside))
    assert (of_user.sources, of_user.outside) == ((inside, *outside), ())
    assert [rule.is_outside for rule in of_folder.path_map] == [False, True]
    assert [rule.is_outside for rule in of_user.path_map] == [False, False]


def test_without_a_file_all_settings_are_defaults(tmp_path: Path) -> None:
    assert _load(tmp_path) == Settings()


def test_every_key_is_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    project = tmp_path / "project"
    inner = project / "src" / "deep"
    inner.mkdir(parents=True)
    (project / "pyproject.toml").write_text("""
        [project]
        name = "x"
        [tool.framedex]
        sources = ["../xla", "/opt/jax"]
        index = "here.db"
        [[tool.framedex.path-map]]
        from = "/proc/self/cwd"
        to = "../xla"
        [tool.framedex.links]
        xla = "https://example.org/{commit}/{path}#L{line}"
        "../xla" = "https://mirror.example.org/{path}"
        [tool.framedex.editor]
        code-lens = false
    """)
    settings = _load(inner)
    xla = tmp_path / "xla"
    assert settings == Settings(
        outside=(xla, Path("/opt/jax")),
        path_map=(PathRule("/proc/self/cwd", xla, is_outside=True),),
        links={
            "xla": "https://example.org/{commit}/{path}#L{line}",
            str(xla): "https://mirror.example.org/{path}",
        },
        index=project / "here.db",
        editor={"code-lens": False},
        file=project / "pyproject.toml",
    )


def test_framedex_toml_wins_in_its_folder_and_the_nearest_folder_wins(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "framedex.toml").write_text('index = "own.db"')
    (tmp_path / "pyproject.toml").write_text('[tool.framedex]\nindex = "shared.db"')
    assert _load(inner).index == tmp_path / "own.db"
    (inner / "pyproject.toml").write_text('[project]\nname = "framedex-user"')
    assert _load(inner).index == tmp_path / "own.db"
    (inner / "pyproject.toml").write_text('[tool.framedex]\nsources = ["."]')
    assert _load(inner) == Settings(sources=(inner,), file=inner / "pyproject.toml")


def test_an_unknown_key_is_reported_with_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "framedex.toml").write_text(
        'source = ["a"]\nsources = ["b"]\nzzz = 1\n[[path-map]]\nfrom="/a"\nto="b"\nt=1'
    )
    settings, problems = Settings.load(tmp_path)
    assert settings.sources == (tmp_path / "b",)
    assert settings.path_map == (PathRule("/a", tmp_path / "b"),)
    file = tmp_path / "framedex.toml"
    assert problems == [
        f"{file}: source is not a setting; did you mean sources?",
        f"{file}: zzz is not a setting; the keys are budgets, captures, editor, guidebook, index, links, mirrors,"
        " path-map, sources.",
        f"{file}: path-map.t is not a setting; did you mean to?",
    ]


def test_an_invalid_value_is_one_problem_and_changes_nothing(tmp_path: Path) -> None:
    cases: list[tuple[str, object]] = [
        ("budgets", 1),
        ("sources", "../xla"),
        ("sources", [1]),
        ("sources", ["a\0b"]),
        ("path-map", "x"),
        ("path-map", {"from": "/a"}),
        ("path-map", [{"from": "/a"}]),
        ("path-map", [{"from": "", "to": "b"}]),
        ("path-map", ["x"]),
        ("links", []),
        ("links", {"xla": 3}),
        ("links", {"xla": "https://example.org/{line}"}),
        ("links", {"xla": "https://example.org/{path}/{user}"}),
        ("links", {"xla": "https://example.org/{path.__class__}"}),
        ("links", {"xla": "https://example.org/{path"}),
        ("links", {"xla": "javascript:{path}"}),
        ("index", 7),
        ("index", "~nobody-of-this-name/x"),
        ("guidebook", 7),
        ("guidebook", ""),
        ("guidebook", "javascript://alert(1)"),
        ("guidebook", "file:///etc"),
        ("guidebook", "https://example.org/a b"),
        ("guidebook", "https://example.org/\u202e"),
        ("editor", True),
    ]
    for key, value in cases:
        settings, problems = Settings.from_mapping({key: value}, tmp_path, "the editor")
        assert settings == Settings()
        assert len(problems) == 1
        assert problems[0].startswith(f"the editor: the value of {key}")


def test_editor_settings_override_the_file(tmp_path: Path) -> None:
    below = Settings(sources=(tmp_path / "a",), editor={"code-lens": False, "inlay-hints": False})
    values: dict[str, object] = {"editor": {"code-lens": True}, "index": "b.db"}
    settings, problems = Settings.from_mapping(values, tmp_path, "the editor", below)
    assert problems == []
    assert settings.sources == below.sources
    assert settings.index == tmp_path / "b.db"
    assert settings.editor == {"code-lens": True, "inlay-hints": False}


@pytest.mark.parametrize(
    "content", [b"[tool.framedex\n", b"[tool.framedex]\nsources = [\xff]", b"tool = {framedex = 3}"]
)
def test_an_unparsable_file_is_a_problem_with_its_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_bytes(content)
    settings, (problem,) = Settings.load(tmp_path)
    assert settings == Settings()
    assert str(file) in problem


def test_a_broken_file_of_other_tools_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[broken")
    assert _load(tmp_path) == Settings()


def test_deep_nesting_loops_and_odd_folders_do_not_raise(tmp_path: Path) -> None:
    (tmp_path / "framedex.toml").write_text("sources = " + "[" * 100_000)
    assert len(Settings.load(tmp_path)[1]) == 1
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "framedex.toml").symlink_to(loop)
    assert "cannot be read" in Settings.load(inner)[1][0]
    assert Settings.load(Path("a\0b")) == (Settings(), [])


def test_keys_that_tomllib_parses_slowly_are_not_parsed(tmp_path: Path) -> None:
    """tomllib takes time quadratic in the parts of a key: 300 kB may take minutes."""
    long_key, many_tables = "a" + ".a" * 150_000 + " = 1", "".join(f"[a{n}{'.a' * 900}]\n" for n in range(40))
    deep_table = f"[a{'.a' * 900}]\n" + "".join(f"b{n} = 1\n" for n in range(40_000))
    for text in (long_key, many_tables, deep_table):
        (tmp_path / "framedex.toml").write_text(text)
        settings, problems = Settings.load(tmp_path)
        assert (settings, len(problems)) == (Settings(), 1)
        assert "too many dots" in problems[0]
    packages = ", ".join(f'"package{n}==1.{n}.0"' for n in range(500))
    (tmp_path / "framedex.toml").write_text(f'sources = ["."]\nlinks = {{ a = "https://a.b/{{path}}" }} # {packages}')
    assert Settings.load(tmp_path)[1] == []


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "framedex.toml"
    file.write_text("")
    file.chmod(0)
    script = "import sys, pathlib, framedex.settings as s; print(s.Settings.load(pathlib.Path(sys.argv[1]))[1])"
    done = run_without_privileges([sys.executable, "-c", script, str(tmp_path)])
    assert f"{file} cannot be read: Permission denied" in done.stdout


def test_special_and_oversized_files_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "framedex.toml")
    (tmp_path / "pyproject.toml").symlink_to("/dev/zero")
    assert Settings.load(tmp_path) == (Settings(), [])
    large = tmp_path / "inner"
    large.mkdir()
    with (large / "pyproject.toml").open("wb") as file:
        file.truncate(1 << 40)
    assert Settings.load(large)[1] == [f"{large / 'pyproject.toml'} cannot be read: it has more than 1,048,576 bytes."]


def test_the_documentation_has_every_key() -> None:
    text = (REPOSITORY / "docs" / "reference" / "settings.md").read_text()
    for key in list_setting_keys():
        assert f"`{key}`" in text


@pytest.mark.parametrize(
    ("index", "is_taken"),
    [
        ("own.db", True),
        ("deep/../own.db", True),
        ("inside/any.name", True),
        ("../beside.db", False),
        ("~/notes.txt", False),
        ("~/notes.db", False),
        ("/etc/framedex.db", False),
        ("out/index.db", False),
        ("out-file.db", False),
        ("~/.local/share/framedex/project.db", True),
        ("~/.local/state/project.db", True),
        ("~/.cache/project.db", True),
        ("~/.cache/project", False),
        ("~/.cache/../.bashrc.db", False),
        ("~/.cache/led/project.db", False),
    ],
)
def test_the_index_of_a_project_is_inside_it_or_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: str, is_taken: bool
) -> None:
    """A hostile settings file with links beside it may try to turn a user's file into a database."""
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home / ".cache", home / "private", project / "inside"):
        folder.mkdir(parents=True)
    (project / "out").symlink_to(home / "private")
    (project / "out-file.db").symlink_to(home / "private" / "new.db")
    (home / ".cache" / "led").symlink_to(home / "private")
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    (project / "framedex.toml").write_text(f'index = "{index}"')
    settings, problems = Settings.load(project)
    assert (settings.index is not None) == is_taken
    assert [f"index leads to {tmp_path}" in each or "/etc" in each for each in problems] == [True] * (not is_taken)
    # Settings in the user's editor have priority.
    settings, problems = Settings.from_mapping({"index": index}, project, "The editor's settings")
    assert settings.index is not None and problems == []


@pytest.mark.parametrize(
    ("guidebook", "read"),
    [
        ("https://example.org/guidebook/", "https://example.org/guidebook"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("site", "{project}/site"),
        ("deep/../site", "{project}/site"),
        ("../site", ""),
        ("/usr/share/doc", ""),
        ("~/site", ""),
        ("out/site", ""),
    ],
)
def test_the_guidebook_of_a_project_is_on_the_web_or_inside_it(tmp_path: Path, guidebook: str, read: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "out").symlink_to(tmp_path)
    (project / "framedex.toml").write_text(f'guidebook = "{guidebook}"')
    settings, problems = Settings.load(project)
    assert settings.guidebook == read.format(project=project)
    assert len(problems) == (not read)
    # Settings in the user's editor have priority.
    settings, problems = Settings.from_mapping({"guidebook": guidebook}, project, "The editor's settings")
    assert settings.guidebook and problems == []


@pytest.mark.parametrize("scheme", ["file", "vscode", "command", "FILE", "javascript", "ssh"])
def test_links_of_a_project_lead_to_the_web_only(tmp_path: Path, scheme: str) -> None:
    template = f"{scheme}://host/{{path}}#{{line}}"
    (tmp_path / "framedex.toml").write_text(f'links.xla = "{template}"\nlinks.jax = "https://host/{{path}}"\n')
    settings, problems = Settings.load(tmp_path)
    assert settings.links == {"jax": "https://host/{path}"}
    assert len(problems) == 1 and "https://" in problems[0]
    mine, problems = Settings.from_mapping({"links": {"xla": template}}, tmp_path, "The editor's settings")
    assert mine.links == {"xla": template} and problems == []


def test_the_data_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "framedex.toml").write_text('index = "../data/x.db"')
    monkeypatch.setenv("XDG_DATA_HOME", "../data")
    assert Settings.load(project)[0].index is None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Settings.load(project)[0].index == tmp_path / "data" / "x.db"
