"""Paths of another machine: a library built with -ffile-prefix-map, and Python files with other local paths."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType

import pytest

from framedex.index import Index, Store
from framedex.ingest import CaptureFrameNamer, SilentProgress, find_needed_sources, find_sources, ingest_captures
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.model import CodeObject, FrameRow, LocationEvidence, PythonFrame, Stack
from framedex.path_resolution.files import PathMap, PathRule
from tests.indexer.recorded import LIBRARY_SOURCE, Project, build_elsewhere, build_project
from tests.once import made_once
from tests.oracle.whole_captures import add_capture

BUILD = "/proc/self/cwd/external/demo+/runtime/core"
ALLOCATE = 11  # a line of LIBRARY_SOURCE


def _built(folder: Path, prefix: str) -> Project:
    """The project in `folder`, with a library whose debug information has the build folder `prefix`."""
    name = f"elsewhere-{prefix.replace('/', '-')}"
    library = made_once(name, lambda shared: build_elsewhere(shared / "library", prefix))
    shutil.copytree(library.parent, folder)
    return build_project(folder, folder / library.name)


def _index(project: Project, roots: Sequence[Path], rules: Sequence[PathRule] = (), lazily: bool = False) -> None:
    with Store(project.index) as store:
        add_capture(store, project.capture, CaptureFrameNamer())
        with store.transaction():
            store.sources.replace_path_rules(rules)
            for root in roots:
                store.sources.add_root(str(root))
        (find_needed_sources if lazily else find_sources)(store, SilentProgress())


def _frames(project: Project) -> dict[str, FrameRow]:
    with Index.open(project.index) as index:
        trace = index.calls.trace(1)
    assert trace is not None
    return {frame.function.name: frame for frame in trace.frames}


def _tree(folder: Path, content: str = LIBRARY_SOURCE, below: str = "runtime/core") -> Path:
    source = folder / "tree" / below / "runtime.cc"
    source.parent.mkdir(parents=True)
    source.write_text(content)
    return source


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return _built(tmp_path / "built", BUILD)


@pytest.mark.parametrize("lazily", [False, True])
def test_a_path_rule_finds_the_file_and_keeps_lines_exact(project: Project, tmp_path: Path, lazily: bool) -> None:
    source = _tree(tmp_path, below="elsewhere")
    rules = [PathRule("/proc/self/cwd", tmp_path / "nowhere"), PathRule(f"{BUILD}/", source.parent)]
    _index(project, [], rules, lazily)
    frames = _frames(project)
    allocate = frames["runtime::allocate"].location
    assert allocate is not None
    assert (allocate.path, allocate.line, allocate.how) == (str(source), ALLOCATE, LocationEvidence.EXACT)
    with Index.open(project.index) as index:
        assert index.file(str(source)).recorded_lines()[ALLOCATE] == 3
        assert index.line(str(source), ALLOCATE).stacks()
        assert index.names.recorded_files(f"{BUILD}/runtime.cc".lstrip("/")) == [str(source)]


def test_a_relative_path_resolves_next_to_the_library(tmp_path: Path) -> None:
    project = _built(tmp_path / "built", ".")  # as our own wheels' libraries are compiled
    project.library_source.write_text(LIBRARY_SOURCE)
    _index(project, [])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None
    assert (location.path, location.line, location.how) == (
        str(project.library_source),
        ALLOCATE,
        LocationEvidence.EXACT,
    )


def test_a_relative_path_without_a_local_file_is_found_in_a_source_tree(tmp_path: Path) -> None:
    project = _built(tmp_path / "built", ".")
    source = _tree(tmp_path)
    for roots, path in (([], "/proc/self/cwd/runtime.cc"), ([tmp_path / "tree"], str(source))):
        _index(project, roots)
        location = _frames(project)["runtime::allocate"].location
        assert location is not None and location.path == path


def test_without_a_rule_the_unique_file_with_the_longest_tail_matches(project: Project, tmp_path: Path) -> None:
    source = _tree(tmp_path)
    _tree(tmp_path, "// of something else", below="core/runtime")
    _index(project, [tmp_path / "tree"])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None and (location.path, location.how) == (str(source), LocationEvidence.EXACT)


def test_two_files_with_the_same_tail_do_not_match(project: Project, tmp_path: Path) -> None:
    for copy in ("one", "two"):
        _tree(tmp_path, below=f"{copy}/runtime/core")
    _index(project, [tmp_path / "tree"])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None and location.path == f"{BUILD}/runtime.cc"


def test_in_a_tree_of_another_version_the_function_is_found_without_an_exact_line(
    project: Project, tmp_path: Path
) -> None:
    source = _tree(tmp_path, "\n" * 100 + LIBRARY_SOURCE)
    _index(project, [tmp_path / "tree"], [PathRule(BUILD, source.parent)])
    frames = _frames(project)
    for name in ("runtime::allocate", "PJRT_Client_BufferFromHostBuffer"):
        location = frames[name].location
        assert location is not None
        assert location.path == str(source) and location.line > 100 and location.how is not LocationEvidence.EXACT


def test_a_file_with_only_the_same_name_is_not_shown(project: Project, tmp_path: Path) -> None:
    _tree(tmp_path, "int unrelated() {\n  return 1;\n}\n" * 20)
    _index(project, [tmp_path / "tree"])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None and location.path == f"{BUILD}/runtime.cc"


def test_locations_follow_path_rules_and_revert_without_them(project: Project, tmp_path: Path) -> None:
    source = _tree(tmp_path, below="elsewhere")
    recorded = f"{BUILD}/runtime.cc"
    for rules, path in (([], recorded), ([PathRule(BUILD, source.parent)], str(source)), ([], recorded)):
        _index(project, [], rules)
        location = _frames(project)["runtime::allocate"].location
        assert location is not None
        assert (location.path, location.line, location.how) == (path, ALLOCATE, LocationEvidence.EXACT)


def test_running_again_changes_no_path(project: Project, tmp_path: Path) -> None:
    source = _tree(tmp_path, "\n" * 100 + LIBRARY_SOURCE)
    rules = [PathRule(BUILD, source.parent)]
    _index(project, [tmp_path / "tree"], rules)
    before = _frames(project)
    with Store(project.index) as store:
        changes = store.sources.connection.total_changes
        find_sources(store, SilentProgress())
        assert store.sources.connection.total_changes == changes
    assert _frames(project) == before


def test_a_build_relative_path_is_a_location_once_its_file_is_found(tmp_path: Path) -> None:
    project = _built(tmp_path / "built", ".")
    _index(project, [])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None and location.path == "/proc/self/cwd/runtime.cc"
    source = _tree(tmp_path, below="anywhere")
    _index(project, [tmp_path / "tree"])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None
    assert (location.path, location.line, location.how) == (str(source), ALLOCATE, LocationEvidence.EXACT)


@pytest.mark.exhaustive(keep=["/proc/self/cwd"])
@pytest.mark.parametrize("before", [".", "/proc/self/cwd", "runtime.cc", "./runtime.cc/"])
def test_relative_rules_start_at_the_build_folder(tmp_path: Path, before: str) -> None:
    project = _built(tmp_path / "built", ".")
    source = _tree(tmp_path, below="anywhere")
    _index(project, [], [PathRule(before, source if "runtime" in before else source.parent)])
    location = _frames(project)["runtime::allocate"].location
    assert location is not None and (location.path, location.how) == (str(source), LocationEvidence.EXACT)


def test_python_files_of_another_machine_are_found_by_their_functions(project: Project, tmp_path: Path) -> None:
    here = tmp_path / "checkout" / "package" / "demo.py"
    here.parent.mkdir(parents=True)
    here.write_bytes(project.program.read_bytes())
    codes = tuple(
        CodeObject("/build/site-packages/package/demo.py", code.qualname, code.first_line, code.line_table)
        for code in project.capture.codes
    )
    elsewhere = replace(project, capture=replace(project.capture, codes=codes))
    _index(elsewhere, [tmp_path / "checkout"])
    for name, text in (("transfer", "return put"), ("<module>", "main()  # start")):
        frame = _frames(elsewhere)[name]
        assert frame.location is not None and frame.function.location is not None
        assert (frame.location.path, frame.location.how) == (str(here), LocationEvidence.EXACT)
        assert frame.location.line == project.line(text)
        assert frame.function.location.path == str(here)


@pytest.mark.parametrize("shift", ["", "\n", "\n" * 3, "# a line\n" * 40])
def test_a_python_line_is_exact_only_if_its_function_begins_at_the_recorded_line(
    project: Project, tmp_path: Path, shift: str
) -> None:
    program = (
        "import functools\n\n\n@functools.cache\ndef put(value):\n    value += 1\n    value += 1\n    return value\n"
    )
    module = compile(program, "/build/package/put.py", "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    recorded = CodeObject(code.co_filename, code.co_qualname, code.co_firstlineno, code.co_linetable)
    frame = PythonFrame(0, next(start for start, _, line in code.co_lines() if line == 7), 7)
    capture = replace(project.capture, codes=(recorded,), frames=(frame,), stacks=(Stack((0,)),) * 3)
    here = tmp_path / "tree" / "package" / "put.py"
    here.parent.mkdir(parents=True)
    here.write_text(shift + program)
    moved = replace(project, capture=capture)
    _index(moved, [tmp_path / "tree"])
    location = _frames(moved)["put"].location
    assert location is not None and location.path == str(here)
    lines = len(shift.splitlines())
    assert (location.line, location.how) == (
        (7, LocationEvidence.EXACT) if not lines else (5 + lines, LocationEvidence.DEFINITION)
    )


def test_a_path_rule_finds_only_the_recorded_binary(project: Project, tmp_path: Path) -> None:
    there = project.library.parent
    here = tmp_path / "copied"
    there.rename(here)
    program = here / project.program.name
    capture = replace(project.capture, path=here / ".framedex" / "captures" / "first")
    moved = replace(project, folder=here, program=program, capture=capture)
    (here / "libglue.so").write_bytes((here / "libruntime.so").read_bytes())  # not recorded
    with Store(moved.index) as store:
        report = ingest_captures(store, [], [], SilentProgress(), rules=[PathRule(str(there), here)])
        namer = CaptureFrameNamer(RecordedBinaries(PathMap(store.sources.path_rules())))
        problems = add_capture(store, capture, namer).problems
    assert report.captures == ()
    assert "runtime::allocate" in _frames(moved)
    (problem,) = problems
    assert f"{there}/libglue.so is not on this machine; {here}/libglue.so has changed" in problem


@pytest.mark.exhaustive
def test_ten_thousand_path_rules_are_cheap_and_a_link_loop_is_not_a_file(project: Project, tmp_path: Path) -> None:
    source = _tree(tmp_path, below="elsewhere")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    rules = [PathRule(f"/build/{number}\n\x1b[31m", tmp_path) for number in range(10_000)]
    rules += [PathRule(BUILD, loop), PathRule(f"{BUILD}/runtime.cc", source)]
    _index(project, [], rules)
    location = _frames(project)["runtime::allocate"].location
    assert location is not None and location.path == str(source)
