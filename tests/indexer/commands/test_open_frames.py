"""`framedex open` with a pasted frame of every format, and with ambiguous texts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from tests.server.recording import Recording, record


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sources and an editor that logs its arguments, without an index."""
    for name in ("src/xla/shape.cc", "src/a/twice.cc", "src/b/twice.cc", "x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "framedex.toml").write_text('sources = ["src", "src/a", "src/b"]\n')
    editing(tmp_path, monkeypatch)
    return tmp_path


def editing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = folder / "vim"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder / "log"}\n')
    editor.chmod(0o755)
    monkeypatch.setenv("FRAMEDEX_EDITOR", str(editor))
    for variable in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)


def open_text(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["open", *arguments])


def test_a_pasted_frame_of_any_format_opens(desk: Path) -> None:
    for frame, opened in (
        ('  File "x.py", line 12, in f', "x.py:12,1"),
        ('File "x.py", line 12', "x.py:12,1"),
        ("#3 0x00007f12 in fn (a=1) at /build/xla/shape.cc:12", "src/xla/shape.cc:12,1"),
        ("#3 0x00007f12 in fn /proc/self/cwd/external/xla/shape.cc:12:3", "src/xla/shape.cc:12,3"),
        ("#3 0x7f12 in fn at xla/shape.cc:12", "src/xla/shape.cc:12,1"),
        ("shape.cc:3: error: no (see xla/shape.cc:12)", None),
        ("E0000 1 xla/shape.cc:12] oops", "src/xla/shape.cc:12,1"),
        ("xla/shape.cc:12:3", "src/xla/shape.cc:12,3"),
        ('loc("xla/shape.cc":3:4)', "src/xla/shape.cc:3,4"),
        ('loc(callsite("f"("x.py":3:4) at "xla/shape.cc":9:1))', "x.py:3,4"),
        ('ROOT %a = f32[] add(), metadata={op_name="g" source_file="x.py" source_line=3}', "x.py:3,1"),
        ('source_file="x.py" source_line=3', "x.py:3,1"),
        ("    f (x.py:3)", "x.py:3,1"),
        ("x.py#L12", "x.py:12,1"),
        ("~/x.py:12", "x.py:12,1"),
        ("xla/shape.cc(12)", "src/xla/shape.cc:12,1"),
        ("x.py#12", "x.py:12,1"),
        (" x.py:12 ", "x.py:12,1"),
        ("\x1b[31mx.py:12\x1b[0m", "x.py:12,1"),
        ('  File \x1b[35m"x.py"\x1b[0m, line \x1b[35m12\x1b[0m, in \x1b[35mf\x1b[0m', "x.py:12,1"),
        ('  File "xla/shape.cc", line 1, in f\n    g()\n  File "x.py", line 12, in g\n', "x.py:12,1"),
        ('  File "x.py", line 12, in f\n    g()\n  File "<string>", line 1, in g\n', "x.py:12,1"),
        ("  7  xla::Foo  xla/shape.cc:7 [exact]", "src/xla/shape.cc:7,1"),
    ):
        (desk / "log").unlink(missing_ok=True)
        result = open_text(frame)

        if opened is None:
            assert result.exit_code == 1 and not (desk / "log").exists()
            continue
        path, _, cursor = opened.rpartition(":")
        assert result.exit_code == 0, result.stderr
        assert (desk / "log").read_text().splitlines() == [f"+call cursor({cursor})", str(desk / path)]


def test_an_ambiguous_location_is_listed_instead_of_opened(desk: Path) -> None:
    result = open_text("twice.cc:3")

    assert result.exit_code == 1 and not (desk / "log").exists()
    text = result.stderr.replace("\n", "").replace(" ", "")
    assert f"{desk}/src/a/twice.cc:3" in text and f"{desk}/src/b/twice.cc:3" in text


def test_the_whole_line_is_tried_if_the_clicked_word_is_not_a_location(desk: Path) -> None:
    assert open_text("12,", "--in", '  File "x.py", line 12, in f').exit_code == 0
    assert (desk / "log").read_text().splitlines()[0] == "+call cursor(12,1)"

    for word in ("x.py", "12,"):
        assert open_text(word, "--in", '  File "x.py", line 13, in f').exit_code == 0
        assert (desk / "log").read_text().splitlines()[0] == "+call cursor(13,1)"
    assert open_text("xla/shape.cc", "--in", 'loc("xla/shape.cc":3:4)').exit_code == 0
    assert (desk / "log").read_text().splitlines()[0] == "+call cursor(3,4)"
    for around in ("x.py  xla/shape.cc:9", "x.py", ""):
        assert open_text("x.py", "--in", around).exit_code == 0
        assert (desk / "log").read_text().splitlines() == [str(desk / "x.py")]

    result = open_text("oops", "--in", "nothing here either")
    assert result.exit_code == 1 and "There is no file oops" in result.stderr


def test_a_symbol_without_location_says_that_it_needs_an_index(desk: Path) -> None:
    result = open_text("    @     0x7f12 (unknown) xla::Foo()")

    assert result.exit_code == 1
    assert "No source is known for xla::Foo()" in result.stderr and "--index" in result.stderr


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return record(tmp_path_factory.mktemp("recorded"))


@pytest.mark.parametrize(
    "frame", ["    @     0x7f12 (unknown) {}()", "    @ 0x7f12 {}()", "#4 0x7f12 in {} (x=1) from /l.so", "{}"]
)
def test_a_symbol_without_location_is_looked_up_in_the_index(
    recording: Recording, monkeypatch: pytest.MonkeyPatch, frame: str
) -> None:
    editing(recording.root, monkeypatch)

    result = open_text(frame.format("xla::Client::BufferFromHost"))

    assert result.exit_code == 0, result.stderr
    assert Path((recording.root / "log").read_text().splitlines()[1]).name == "client.cc"
    missing = open_text(frame.format("xla::Nobody::Knows"))
    assert missing.exit_code == 1 and "xla::Nobody::Knows" in missing.stderr


def test_an_unopenable_location_says_why(desk: Path) -> None:
    for text, said in (
        ("#3 0x7f12 in main (a=1) at /home/me/main.cc:3", "There is no file /home/me/main.cc"),
        ("/proc/self/cwd/external/xla/nobody.cc:3", "There is no file /proc/self/cwd/external/xla/nobody.cc"),
        ("xla::Nobody::Knows", "No source is known for xla::Nobody::Knows"),
        ("nobody_knows", "There is no file nobody_knows"),
        ('  File "<frozen importlib._bootstrap>", line 241, in f', "is not a file: its code was generated"),
        ("/dev/null", "/dev/null is not a regular file"),
        ("src", "src is a folder"),
        ("https://example.com/a.cc#L1", "not a line in a repository"),
        (" \n", "nothing to open"),
    ):
        result = open_text(text)

        assert result.exit_code == 1 and said in " ".join(result.stderr.split())
        assert not (desk / "log").exists()


@pytest.mark.parametrize("name", ["Client::BufferFromHost", "Client::BufferFromHost(char const*)"])
def test_an_unambiguous_name_needs_no_namespace(
    name: str, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    editing(recording.root, monkeypatch)

    result = open_text(name)

    assert result.exit_code == 0, result.stderr
    assert Path((recording.root / "log").read_text().splitlines()[1]).name == "client.cc"


def test_a_whole_name_does_not_match_as_a_prefix(desk: Path) -> None:
    (desk / "src" / "pool.cc").write_text(
        "struct Pool {\n  int allocate();\n  int allocated_size();\n};\n\n"
        "int Pool::allocate() { return 1; }\nint Pool::allocated_size() { return 2; }\n"
    )
    assert CliRunner().invoke(cli, ["index"]).exit_code == 0

    assert open_text("Pool::allocate").exit_code == 0
    assert (desk / "log").read_text().splitlines() == ["+call cursor(6,1)", str(desk / "src" / "pool.cc")]
    assert "Several locations" in open_text("Pool::allocat").stderr


def test_a_recorded_function_without_a_definition_opens_at_its_recorded_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record(tmp_path)
    with closing(sqlite3.connect(recording.index)) as connection, connection:
        connection.execute(
            "UPDATE functions SET file = NULL, line = NULL WHERE name = 'PJRT_Client_BufferFromHostBuffer'"
        )
    editing(recording.root, monkeypatch)

    result = open_text("    @     0x7f12 (unknown) PJRT_Client_BufferFromHostBuffer()")

    assert result.exit_code == 0, result.stderr
    assert (recording.root / "log").read_text().splitlines() == [
        f"+call cursor({recording.mock_allocates},1)",
        str(recording.mock),
    ]


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ('[links]\n"/build" = "https://example.com/{path}#L{line}"\n', "https://example.com/moved.cc#L20"),
        ("", "The index has no source for jax::Moved"),
    ],
)
def test_a_function_of_a_foreign_file_starts_no_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: str, said: str
) -> None:
    recording = record(tmp_path)
    (recording.root / "framedex.toml").write_text(links)
    editing(recording.root, monkeypatch)

    result = open_text("    @     0x7f12 (unknown) jax::Moved()")

    assert result.exit_code == 1 and said in "".join(result.stderr.split("\n  ")), result.stderr
    assert not (recording.root / "log").exists()


def test_a_damaged_index_is_reported_with_its_remedy_and_skipped(desk: Path) -> None:
    (desk / ".framedex").mkdir()
    (desk / ".framedex" / "index.db").write_bytes(b"spoilt " * 1000)

    result = open_text("xla/shape.cc:12")

    assert result.exit_code == 0 and (desk / "log").exists()
    assert "framedex: " in result.stderr and "--rebuild" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "$(touch pwned).cc:3",
        '  File "`touch pwned`; \x1b]0;a\x07\u202e", line 3, in f',
        "    @ 0x7f12 \x1b[2J;$(touch pwned)()",
        'loc("../../../../$(touch pwned)":3:4)',
        "-cmd:touch pwned:3",
        "a\nb.cc:3",
    ],
)
def test_hostile_texts_are_escaped_and_never_run(desk: Path, text: str) -> None:
    result = CliRunner().invoke(cli, ["open", "--", text])

    assert result.exit_code == 1
    assert not any(hidden in result.stderr for hidden in ("\x1b", "\u202e", "\x07"))
    assert not (desk / "log").exists() and not list(desk.rglob("pwned"))


@pytest.mark.parametrize(
    "name", ["-c quit.py", "+call system('touch pwned').py", "a\nb.py", "$(touch pwned);`x`'\".py"]
)
def test_hostile_file_names_reach_the_editor_as_one_argument(desk: Path, name: str) -> None:
    (desk / name).touch()

    result = CliRunner().invoke(cli, ["open", "--", f"{name}:3"])

    assert result.exit_code == 0, result.stderr
    assert (desk / "log").read_text() == f"+call cursor(3,1)\n{desk}/{name}\n"
    assert not list(desk.rglob("pwned"))


def test_a_frame_that_the_file_contradicts_is_reported(desk: Path) -> None:
    (desk / "x.py").write_text("def helper():\n    pass\n\n\ndef make():\n    return helper()\n")
    moved = open_text('  File "x.py", line 2, in make')
    assert "[definition, was line 2, edited since]" in moved.stderr
    assert (desk / "log").read_text().splitlines()[0] == "+call cursor(5,1)"
    other = open_text('  File "x.py", line 2, in other')
    assert "[doubtful]" in other.stderr
    behind = open_text("x.py:584")
    assert "x.py has 6 lines: line 584 is from another version" in behind.stderr
    assert open_text("x.py:5").stderr == ""
