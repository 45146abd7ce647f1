"""File system lookups are cached for one answer, and no longer."""

from __future__ import annotations

from pathlib import Path

from framedex.path_resolution.files import PathMap, PathRule, check_files_once, file_exists, find_file, is_process_path


def test_one_answer_sees_one_state_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.cc"
    file.write_text("short")
    with check_files_once():
        before = find_file(str(file))
        file.write_text("much longer")
        with check_files_once():  # an answer within the block includes it
            assert find_file(str(file)) == before
        assert find_file(str(file)) == before
        assert not file_exists(str(tmp_path / "b.cc"))
        (tmp_path / "b.cc").touch()
        assert not file_exists(str(tmp_path / "b.cc"))
    after = find_file(str(file))
    assert before is not None and after is not None
    assert (before.size, after.size) == (5, 11)
    assert file_exists(str(tmp_path / "b.cc"))


def test_files_below_proc_are_not_sources() -> None:
    below = ("/proc/self/cwd/a.cc", "//proc/self/stat", "/usr/../proc/self/stat", "/proc/./self/stat", "/proc")
    for path in (*below, "/dev/stdin", "//dev/fd/0"):
        assert is_process_path(path)
        assert not file_exists(path)
    assert not any(map(is_process_path, ("/procedures/a.cc", "/src/proc/a.cc", "x/../proc/a.cc", "")))


def test_a_rule_matches_a_path_with_two_leading_slashes(tmp_path: Path) -> None:
    (tmp_path / "a.cc").touch()
    for before in ("/their", "//their"):
        rules = PathMap([PathRule(before, tmp_path)])
        assert [rules.apply(path) for path in ("/their/a.cc", "//their/a.cc", "///their//a.cc")] == [
            f"{tmp_path}/a.cc"
        ] * 3
