"""Finding source files, and handling unusual files."""

import os
import random
import threading
import time
from pathlib import Path

import pytest

from framedex.sources import extract_files, find_files, parse_file


def test_sources_are_found_in_order_without_build_output_or_loops(tmp_path: Path) -> None:
    for name in ["b/x.cc", "a/y.py", "a/z.h", "README.md", ".git/h.py", "node_modules/n.py", "build/o.cc", "c.cu"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "bazel-out").symlink_to(tmp_path / "b", target_is_directory=True)
    (tmp_path / "dangling.cc").symlink_to(tmp_path / "nowhere.cc")

    found = [str(Path(file.path).relative_to(tmp_path)) for file in find_files(tmp_path)]

    assert found == ["c.cu", "a/y.py", "a/z.h", "b/x.cc"]


def test_links_are_followed_except_to_parent_folders(tmp_path: Path) -> None:
    """A link to a folder that links to `/` and to its own parent adds only that folder."""
    for name in ("site/jax/a.py", "checkout/own/b.py", "checkout/c.py", "machine.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for link, target in (
        *(("site/own", "../checkout/own"), ("site/b.py", "../checkout/own/b.py"), ("site/above", "..")),
        *(("checkout/own/up", ".."), ("checkout/own/root", "/"), ("checkout/own/processes", "/proc")),
    ):
        (tmp_path / link).symlink_to(target)

    found = [str(Path(file.path).relative_to(tmp_path)) for file in find_files(tmp_path / "site")]

    assert found == ["checkout/own/b.py", "site/jax/a.py"]


def test_a_link_is_followed_only_inside_allowed_folders(tmp_path: Path) -> None:
    for name in ("tree/a.py", "other/b.py", "c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tree" / "other").symlink_to("../other")
    (tmp_path / "tree" / "c.py").symlink_to("../c.py")
    asked = []

    def may_follow(link: str, target: str) -> bool:
        asked.append((link, target))
        return link.endswith(".py")

    found = [file.path for file in find_files(tmp_path / "tree", may_follow=may_follow)]

    assert found == [f"{tmp_path}/tree/a.py", f"{tmp_path}/c.py"]
    assert asked == [
        (f"{tmp_path}/tree/c.py", f"{tmp_path}/c.py"),
        (f"{tmp_path}/tree/other", f"{tmp_path}/other"),
    ]


def test_a_missing_root_has_no_files(tmp_path: Path) -> None:
    assert list(find_files(tmp_path / "missing")) == []


def test_the_root_may_be_hidden(tmp_path: Path) -> None:
    root = tmp_path / ".venv"
    root.mkdir()
    (root / "a.py").write_text("")
    assert [file.path for file in find_files(root)] == [str(root / "a.py")]


def test_a_file_has_its_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"def f(): pass\n")
    os.utime(path, ns=(5, 7))
    parsed = parse_file(path)
    assert (parsed.path, parsed.size, parsed.modified) == (str(path), 14, 7)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"int f() {}\0\1\2", "binary"),
        (b"x = 1;" * 1_000_000, "larger"),
        (b"(" * 1_000_000, "parsed"),
        (b"int \xff\xfef() { return 1; }\n", "UTF-8"),
    ],
)
def test_an_unreadable_source_is_a_problem_without_an_exception(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "file.cc"
    path.write_bytes(content)
    parsed = parse_file(path)
    assert len(parsed.problems) == 1 and problem in parsed.problems[0]


def test_a_missing_file_and_a_folder_are_problems(tmp_path: Path) -> None:
    assert "cannot be read" in parse_file(tmp_path / "missing.py").problems[0]
    assert "cannot be read" in parse_file(tmp_path).problems[0]


def test_a_long_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.cc"
    path.write_text("int f(int a) { return a; } " * 20_000)
    assert len(parse_file(path).definitions) == 20_000


@pytest.mark.exhaustive(keep=[".cc"])
@pytest.mark.parametrize("suffix", [".cc", ".py"])
def test_noise_never_raises_or_hangs(tmp_path: Path, suffix: str) -> None:
    dice = random.Random(7)
    path = tmp_path / f"noise{suffix}"
    began = time.process_time()
    for _ in range(20):
        path.write_bytes(bytes(dice.choices(b"(){}[]<>,;:=*&\"'\\abc \n#", k=5000)))
        parse_file(path)
    path.write_bytes(b"X_ASSIGN_OR_RETURN(a," * 20_000)
    parse_file(path)
    assert time.process_time() - began < 60


def test_a_pipe_and_an_oversized_file_are_problems_and_not_read(tmp_path: Path) -> None:
    """From a pipe without a writer, and 100 MB on one line, only a few megabytes are read."""
    os.mkfifo(tmp_path / "pipe.cc")
    with (tmp_path / "line.cc").open("wb") as file:
        file.truncate(100 << 20)
    read = _bytes_read()
    pipe, line = parse_file(tmp_path / "pipe.cc"), parse_file(tmp_path / "line.cc")
    assert "not a regular file" in pipe.problems[0] and "larger" in line.problems[0]
    assert _bytes_read() - read < 10 << 20


def _bytes_read() -> int:
    """The number of bytes that this process has read from files."""
    return int(Path("/proc/self/io").read_text().split()[1])


def test_files_are_read_on_threads_and_an_abandoned_run_ends(tmp_path: Path) -> None:
    paths = []
    for number in range(300):
        paths.append(str(tmp_path / f"file_{number}.py"))
        Path(paths[-1]).write_text(f"def f_{number}(): g()\n")
    assert {file.path for file in extract_files(paths, threads=4)} == set(paths)
    run = extract_files(paths, threads=2)
    next(run)
    del run


def test_a_file_written_right_after_reading_counts_as_changed(tmp_path: Path) -> None:
    """A second version of the same size never has the first one's time."""
    path = tmp_path / "a.py"
    for _ in range(50):
        path.write_text("def first(): pass\n")
        parsed = parse_file(path)
        path.write_text("def other(): pass\n")
        assert path.stat().st_mtime_ns != parsed.modified
        assert [definition.name for definition in parsed.definitions] == ["first"]


@pytest.mark.exhaustive
def test_a_file_written_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f(): pass\n" * 20_000)
    done = threading.Event()

    def write() -> None:
        while not done.is_set():
            path.touch()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        read = [parse_file(path) for _ in range(5)]
    finally:
        done.set()
        writer.join()
    for file in read:
        assert file.problems in ((), ("It changed while it was read; index it again.",))
        assert (file.modified == 0) == bool(file.problems)
    assert not parse_file(path).problems


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", "x = " + "lambda:" * 10_000 + "1\n"),
        ("b.py", "x = " + "lambda x=" * 5_000 + "1" + ":1" * 5_000 + "\n"),
        ("a.cc", "class a {" * 5_000 + "int f() { return 1; }" + "};" * 5_000),
        ("b.cc", "int f() { return " + "[]{ return " * 5_000 + "1" + "; }" * 5_000 + "; }"),
        ("a.proto", "message A {" * 5_000 + "}" * 5_000),
    ],
)
def test_nested_scopes_do_not_grow_names_without_bounds(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    definitions = parse_file(tmp_path / name).definitions
    assert len(definitions) >= 5_000
    assert max(len(definition.name) + len(definition.parameters or "") for definition in definitions) < 4_000
