"""Locations in a text are checked against the file: contradicted ones are followed or marked, never exact."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources
from framedex.ingest.source_maps import export_map, import_map
from framedex.model import Location, LocationEvidence, SourceMapInfo, Staleness
from framedex.path_resolution.precedence import PathResolver
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.frame_context import FoundFrame, find_quoted_source
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.gitrepository import make_checkout

OLD = '''\
"""A module of two versions."""

import functools


def helper(x):
    return x


def device_put(x):
    y = helper(x)
    return y
'''

# The same with an additional first function: every line of `device_put` is three lines further down.
NEW = OLD.replace("def helper", "def first():\n    pass\n\n\ndef helper")


def found(text: str, resolver: Resolver) -> FoundFrame:
    """The last frame of a text."""
    *_, frame = read(text).frames()
    return resolver.find(frame)


def place(found: FoundFrame) -> Location:
    assert found.location is not None
    return found.location


def traceback(path: Path | str, line: int, function: str) -> str:
    return f'Traceback (most recent call last):\n  File "{path}", line {line}, in {function}\nValueError: no\n'


def py_spy(path: str, line: int, function: str, head: str = "Python v3.11.7 (/usr/bin/python3.11)") -> str:
    return f'Process 7: python train.py\n{head}\n\nThread 7 (idle): "MainThread"\n    {function} ({path}:{line})\n'


def indexed(folder: Path, *roots: Path) -> Index:
    with Store(folder / "index.db") as store:
        with store.transaction():
            for root in roots:
                store.sources.add_root(str(root))
        find_sources(store, SilentProgress())
    return Index.open(folder / "index.db")


def environment(folder: Path, version: str, text: str) -> Path:
    """A folder of installed packages with `jax` in it; the file `jax/_src/api.py` has this text."""
    site = folder / f"env-{version}" / "lib" / "python3.11" / "site-packages"
    file = site / "jax" / "_src" / "api.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (site / f"jax-{version}.dist-info").mkdir()
    return file


def test_a_line_beyond_the_end_of_the_file_is_marked_and_clamped(tmp_path: Path) -> None:
    file = tmp_path / "xla.py"
    file.write_text("import os\n" * 27)
    there = place(found(traceback(file, 584, "backend_compile"), Resolver(None)))
    assert (there.how, there.line, there.stale, there.moved_from) == (
        LocationEvidence.DOUBTFUL,
        27,
        Staleness.GONE,
        584,
    )


def test_a_line_of_another_function_leads_to_the_named_definition(tmp_path: Path) -> None:
    file = tmp_path / "xla_client.py"
    file.write_text(OLD)
    there = place(found(traceback(file, 7, "device_put"), Resolver(None)))
    assert (there.how, there.line, there.moved_from) == (LocationEvidence.DEFINITION, 10, 7)
    assert place(found(traceback(file, 7, "make_cpu_client"), Resolver(None))).how is LocationEvidence.DOUBTFUL
    assert place(found(traceback(file, 7, "helper"), Resolver(None))).how is LocationEvidence.EXACT


SHAPES = """\
import functools
@functools.lru_cache(
    maxsize=3)
def decorated(a,
              b=[n for n in range(3)]):
    # nothing runs here
    table = [x
             for x in range(3)]
    def inner(): return lambda: table
    class Local:
        flag = 3
        def method(self):
            return self.flag

    return inner
value = (lambda:
         decorated(1))
"""


def test_python_line_breaks_are_respected(tmp_path: Path) -> None:
    names = [
        (1, "<module>", True),
        (2, "<module>", True),
        (4, "<module>", True),
        (5, "<module>", True),
        (15, "<module>", False),
        (2, "decorated", True),
        (7, "decorated", True),
        (8, "<listcomp>", True),
        (8, "decorated.<locals>.<listcomp>", True),
        (8, "other.<locals>.<listcomp>", False),
        (6, "decorated", False),
        (14, "decorated", False),
        (9, "inner", True),
        (9, "decorated.<locals>.inner", True),
        (9, "decorated.<locals>.inner.<locals>.<lambda>", True),
        (9, "<lambda>", True),
        (7, "<lambda>", False),
        (11, "Local", True),
        (13, "Local", False),
        (13, "method", True),
        (13, "Local.method", True),
        (13, "Other.method", False),
        (13, "decorated", False),
        (17, "<lambda>", True),
        (17, "<cell line: 1>", True),
    ]
    file = tmp_path / "shapes.py"
    file.write_text(SHAPES)
    for line, function, fits in names:
        how = place(found(traceback(file, line, function), Resolver(None))).how
        assert (how is LocationEvidence.EXACT) == fits, (line, function)


CPP = """\
namespace xla {

template <typename T>
T
twice(T value) {
  return value + value;
}

int Compile(int size) {
  auto run = [&](int more) {
    return more + size;
  };
  return run(twice(size));
}

}  // namespace xla
"""


def test_a_cpp_line_is_checked_against_its_function(tmp_path: Path) -> None:
    lines = [
        (6, "int xla::twice<int>(int)", LocationEvidence.EXACT),
        (13, "xla::Compile(int)", LocationEvidence.EXACT),
        (11, "xla::Compile(int)::{lambda(int)#1}::operator()(int) const", LocationEvidence.EXACT),
        (11, "operator()", LocationEvidence.EXACT),
        (13, "_ZN3xla7CompileEi", LocationEvidence.EXACT),
        (6, "xla::Compile(int)", LocationEvidence.DEFINITION),
        (13, "xla::Removed(int)", LocationEvidence.DOUBTFUL),
        (90, "xla::Compile(int)", LocationEvidence.DEFINITION),
        (90, "xla::Removed(int)", LocationEvidence.DOUBTFUL),
    ]
    file = tmp_path / "compile.cc"
    file.write_text(CPP)
    for line, function, how in lines:
        text = f"    #0 0x7f00 in {function} {file}:{line}:3\n"
        assert place(found(text, Resolver(None))).how is how, (line, function)


def test_a_file_without_parser_is_checked_against_its_length_only(tmp_path: Path) -> None:
    file = tmp_path / "fast.pyx"
    file.write_text("x = 1\n" * 5)
    assert place(found(traceback(file, 5, "f"), Resolver(None))).how is LocationEvidence.EXACT
    assert place(found(traceback(file, 6, "f"), Resolver(None))).how is LocationEvidence.DOUBTFUL


def test_a_parser_may_report_the_end_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "open.py"
    file.write_text("f(\n")
    assert (
        place(found(f'  File "{file}", line 2\n    \nSyntaxError: no\n', Resolver(None))).how is LocationEvidence.EXACT
    )


def test_a_line_of_a_commit_is_mapped_to_its_current_position(tmp_path: Path) -> None:
    make_checkout(tmp_path / "tree", {"api.py": OLD})
    file = tmp_path / "tree" / "api.py"
    file.write_text(NEW)
    text = traceback(file, 11, "device_put")
    there = place(found(text, Resolver(None)))
    assert (there.how, there.line, there.stale, there.moved_from) == (
        LocationEvidence.FOLLOWED,
        15,
        Staleness.MOVED,
        11,
    )


def test_a_shortened_path_leads_to_the_consistent_version(tmp_path: Path) -> None:
    old, new = environment(tmp_path, "0.10.2", OLD), environment(tmp_path, "0.12.0", NEW)
    index = indexed(tmp_path, old.parents[2], new.parents[2])
    there = place(found(py_spy("jax/_src/api.py", 10, "device_put"), Resolver(index)))
    assert (there.path, there.line, there.how) == (str(old), 10, LocationEvidence.EXACT)
    there = place(found(py_spy("jax/_src/api.py", 16, "device_put"), Resolver(index)))
    assert (there.path, there.line, there.how) == (str(new), 16, LocationEvidence.EXACT)


def test_a_shortened_path_with_several_consistent_versions_has_candidates(tmp_path: Path) -> None:
    files = [environment(tmp_path, version, f"{OLD}# {version}\n") for version in ("0.10.2", "0.12.0")]
    answer = found(
        py_spy("jax/_src/api.py", 11, "device_put"), Resolver(indexed(tmp_path, *(f.parents[2] for f in files)))
    )
    assert place(answer).how is LocationEvidence.CANDIDATES
    assert {each.path for each in (place(answer), *answer.candidates)} == set(map(str, files))


def test_the_stated_release_decides(tmp_path: Path) -> None:
    statements = [
        "jax==0.10.2",
        "jax:    0.10.2\njaxlib: 0.10.2\nnumpy:  2.2.1",
        "jax 0.10.2",
        "INFO: running on jax version 0.10.2, jaxlib 0.10.2",
        "Successfully installed jax-0.10.2 jaxlib-0.10.2",
        "/opt/venv/lib/python3.11/site-packages/jax-0.10.2.dist-info",
        "jax.__version__ = '0.10.2'",
    ]
    old, new = environment(tmp_path, "0.10.2", OLD), environment(tmp_path, "0.12.0", f"{OLD}# newer\n")
    index = indexed(tmp_path, old.parents[2], new.parents[2])
    for stated in statements:
        text = f"{stated}\n{py_spy('jax/_src/api.py', 11, 'device_put')}"
        answer = found(text, Resolver(index, releases=StatedReleases(text)))
        assert (place(answer).path, place(answer).how, answer.candidates) == (str(old), LocationEvidence.EXACT, ()), (
            stated
        )


def test_a_file_of_another_release_is_never_exact(tmp_path: Path) -> None:
    new = environment(tmp_path, "0.12.0", OLD)
    for text in (  # from a release without a public commit
        f"jax==0.10.999\n{py_spy('jax/_src/api.py', 11, 'device_put')}",
        f"jax==0.10.999\n{traceback(new, 11, 'device_put')}",
    ):
        index = indexed(tmp_path, new.parents[2])
        answer = found(text, Resolver(index, releases=StatedReleases(text)))
        assert (place(answer).path, place(answer).how) == (str(new), LocationEvidence.DOUBTFUL)


def test_a_path_of_another_version_leads_to_the_consistent_environment(tmp_path: Path) -> None:
    old, new = environment(tmp_path, "0.10.2", OLD), environment(tmp_path, "0.12.0", NEW)
    index = indexed(tmp_path, old.parents[2], new.parents[2])
    text = traceback(new, 10, "device_put")
    assert (place(found(text, Resolver(index))).path, place(found(text, Resolver(index))).how) == (
        str(old),
        LocationEvidence.FOLLOWED,
    )
    text = f"jax==0.10.2\n{text}"
    assert place(found(text, Resolver(index, releases=StatedReleases(text)))) == Location(
        str(old), 10, LocationEvidence.EXACT
    )


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("/opt/env/lib/python3.11/site-packages/jax/_src/api.py", LocationEvidence.EXACT),
        ("/opt/env/lib/python3.12/site-packages/jax/_src/api.py", LocationEvidence.DOUBTFUL),
        ("/opt/env/site-packages/jax/_src/api.py", LocationEvidence.EXACT),
    ],
)
def test_a_file_of_another_python_is_doubtful(tmp_path: Path, path: str, how: LocationEvidence) -> None:
    """Its package may also be of another version, unless the text states the version."""
    here = environment(tmp_path, "0.10.2", OLD)
    index = indexed(tmp_path, here.parents[2])
    text = traceback(path, 11, "device_put")
    assert (place(found(text, Resolver(index))).path, place(found(text, Resolver(index))).how) == (str(here), how)
    stated = f"jax==0.10.2\n{text}"
    assert place(found(stated, Resolver(index, releases=StatedReleases(stated)))).how is LocationEvidence.EXACT


@pytest.mark.parametrize(
    ("path", "how"),
    [("/usr/lib/python3.11", LocationEvidence.EXACT), ("/usr/lib/python3.12", LocationEvidence.DOUBTFUL)],
)
def test_the_standard_library_of_another_version_is_doubtful(tmp_path: Path, path: str, how: LocationEvidence) -> None:
    here = tmp_path / "lib" / "python3.11" / "json" / "api.py"
    here.parent.mkdir(parents=True)
    here.write_text(OLD)
    index = indexed(tmp_path, here.parents[1])
    answer = found(traceback(f"{path}/json/api.py", 11, "device_put"), Resolver(index))
    assert (place(answer).path, place(answer).how) == (str(here), how)


def test_a_required_release_is_not_that_of_the_text() -> None:
    lines = [
        "jaxlib requires jax==0.10.2",
        "jax>=0.10.2",
        "This needs jax version 0.10.2 at least",
        "Please upgrade to jax 0.10.2",
        "mujax==0.10.2",
    ]
    assert [line for line in lines if StatedReleases(line).versions_of("jax")] == []


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "api.py"
    file.write_text(OLD)
    resolver = Resolver(None)
    assert place(found(traceback(file, 11, "device_put"), resolver)).how is LocationEvidence.EXACT
    file.write_text(NEW)
    os.utime(file, ns=(1, 1))
    assert place(found(traceback(file, 11, "device_put"), resolver)).how is LocationEvidence.DEFINITION


def quoting(path: Path, *frames: tuple[int, str, str], prefix: str = "") -> str:
    """A traceback with source lines, as Python prints it."""
    lines = ["Traceback (most recent call last):"]
    for line, function, source in frames:
        lines += [f'  File "{path}", line {line}, in {function}', f"    {source}", "    ^^^^^^"]
    return "".join(f"{prefix}{line}\n" for line in [*lines, "ValueError: no"])


@pytest.mark.exhaustive(keep=["12-return y-exact-", "11-y = helper(x, 3)-doubtful-E1120 worker 3] "])
@pytest.mark.parametrize("prefix", ["", "E1120 worker 3] "])
@pytest.mark.parametrize(
    ("line", "source", "how"),
    [
        (12, "return y", LocationEvidence.EXACT),
        (11, "y = helper(x)", LocationEvidence.EXACT),
        (11, "y = helper(x, 3)", LocationEvidence.DOUBTFUL),
        (11, "return y", LocationEvidence.DOUBTFUL),
        (11, "y = helper('\u00e9')", LocationEvidence.EXACT),  # in any encoding of a log
    ],
)
def test_the_source_quoted_by_a_traceback_is_compared(
    tmp_path: Path, line: int, source: str, how: LocationEvidence, prefix: str
) -> None:
    file = tmp_path / "api.py"
    file.write_text(OLD)
    text = quoting(file, (line, "device_put", source), prefix=prefix)
    (frame,) = read(text).frames()
    quoted = find_quoted_source(frame, text.split("\n"))
    assert quoted == (source if source.isascii() else "")
    assert place(Resolver(None).find(frame, quoted)).how is how


def test_a_line_is_located_by_its_quoted_source(tmp_path: Path) -> None:
    """Of two versions with the line in the same function, the one with the quoted text at that line is used."""
    newer = OLD.replace("    y = helper(x)\n", "    x = x\n    y = helper(x)\n")
    make_checkout(tmp_path / "tree", {"api.py": OLD})
    make_checkout(tmp_path / "tree", {"api.py": newer})
    file = tmp_path / "tree" / "api.py"
    text = quoting(file, (11, "device_put", "y = helper(x)"))
    (frame,) = read(text).frames()
    there = place(Resolver(None).find(frame, find_quoted_source(frame, text.split("\n"))))
    assert (there.how, there.line, there.moved_from) == (LocationEvidence.FOLLOWED, 12, 11)


def test_a_package_contradicted_by_one_frame_of_a_stack_is_of_another_version(tmp_path: Path) -> None:
    """In a dump of one version, a frame that fits both goes to the version of its stack's other frames."""
    old, new = environment(tmp_path, "0.10.2", OLD), environment(tmp_path, "0.12.0", NEW)
    for file in (old, new):
        (file.parent / "pjit.py").write_text(f"def call():\n    return 1\n\n# {file}\n")
    text = py_spy("jax/_src/api.py", 10, "device_put") + "    call (jax/_src/pjit.py:2)\n"
    first, second = read(text).frames()
    resolver = Resolver(indexed(tmp_path, old.parents[2], new.parents[2]))
    assert place(resolver.find(second)).how is LocationEvidence.CANDIDATES
    resolver.set_stack([(first, ""), (second, "")])
    assert place(resolver.find(first)) == Location(str(old), 10, LocationEvidence.EXACT)
    assert place(resolver.find(second)) == Location(str(old.parent / "pjit.py"), 2, LocationEvidence.EXACT)
    resolver.set_stack([(second, "")])
    assert place(resolver.find(second)).how is LocationEvidence.CANDIDATES


def test_an_installed_package_contradicted_by_one_frame_is_doubtful_as_a_whole(tmp_path: Path) -> None:
    file = environment(tmp_path, "0.12.0", NEW)
    other = file.parent / "pjit.py"
    other.write_text("def call():\n    return 1\n")
    mine = tmp_path / "train.py"
    mine.write_text("def main():\n    return 1\n")
    text = traceback(file, 10, "device_put") + traceback(other, 2, "call") + traceback(mine, 2, "main")
    frames = [(frame, "") for frame in read(text).frames()]
    resolver = Resolver(None)
    resolver.set_stack(frames)
    assert [place(resolver.find(*frame)).how for frame in frames] == [
        LocationEvidence.DEFINITION,
        LocationEvidence.DOUBTFUL,
        LocationEvidence.EXACT,
    ]


def test_the_earlier_version_that_fits_the_whole_stack_is_used(tmp_path: Path) -> None:
    versions = [OLD.replace('"""A module', "# one more\n" * number + '"""A module') for number in range(4)]
    for version in versions:
        make_checkout(tmp_path / "tree", {"api.py": version})
    file = tmp_path / "tree" / "api.py"
    text = traceback(file, 11, "device_put") + traceback(file, 8, "helper")  # only in the second one
    frames = [(frame, "") for frame in read(text).frames()]
    resolver = Resolver(None)
    resolver.set_stack(frames)
    assert [(place(found).how, place(found).line) for found in (resolver.find(*frame) for frame in frames)] == [
        (LocationEvidence.FOLLOWED, 13),
        (LocationEvidence.FOLLOWED, 10),
    ]


def test_a_checkout_of_the_installed_version_is_not_another_location(tmp_path: Path) -> None:
    installed = environment(tmp_path, "0.10.2", OLD)
    checkout = tmp_path / "checkout" / "jax" / "_src" / "api.py"
    checkout.parent.mkdir(parents=True)
    checkout.write_text(OLD)
    index = indexed(tmp_path, tmp_path / "checkout", installed.parents[2])
    answer = found(py_spy("jax/_src/api.py", 11, "device_put"), Resolver(index))
    assert (place(answer), answer.candidates) == (Location(str(installed), 11, LocationEvidence.EXACT), ())
    answer = found(py_spy("jax/_src/api.py", 11, "nobody"), Resolver(index))
    assert {each.how for each in (place(answer), *answer.candidates)} == {LocationEvidence.DOUBTFUL}


def test_a_line_contradicted_by_the_local_file_is_found_in_a_source_map(tmp_path: Path) -> None:
    commit = make_checkout(tmp_path / "then" / "xla", {"xla/compile.cc": CPP})
    here = tmp_path / "now" / "xla" / "compile.cc"
    here.parent.mkdir(parents=True)
    here.write_text("namespace xla {\n\nint Removed() { return 1; }\n\n}  // namespace xla\n")
    indexed(tmp_path, tmp_path / "now")
    info = SourceMapInfo("xla", "https://github.com/openxla/xla", commit, is_dirty=False, tool="test")
    then = tmp_path / "then" / "xla"
    with Store(tmp_path / "map.db") as store, (tmp_path / "xla.fdmap").open("wb") as stream:
        export_map(store, then, str(then), info, stream, SilentProgress())
    with Store(tmp_path / "index.db") as store:
        import_map(store, tmp_path / "xla.fdmap", SilentProgress())
    index = Index.open(tmp_path / "index.db")
    answer = found(f"    #0 0x7f00 in xla::Compile(int) {here}:13:3\n", Resolver(index))
    assert (place(answer).path, place(answer).line, place(answer).how) == (
        f"xla@{commit[:12]}:xla/compile.cc",
        13,
        LocationEvidence.FOLLOWED,
    )


def test_a_foreign_path_may_belong_to_any_tree_with_the_same_tail(tmp_path: Path) -> None:
    old, new = environment(tmp_path, "0.10.2", OLD), environment(tmp_path, "0.12.0", f"{OLD}# newer\n")
    index = indexed(tmp_path, old.parents[2], new.parents[2])
    resolver = Resolver(index, PathResolver(sources=[new.parents[2]], index=index))
    answer = found(traceback("/opt/app/jax/_src/api.py", 11, "device_put"), resolver)
    assert {each.path for each in (place(answer), *answer.candidates)} == {str(old), str(new)}
    assert place(answer).how is LocationEvidence.CANDIDATES


@pytest.mark.parametrize(
    ("function", "line", "how"),
    [
        ("glue::twice(int)", 4, LocationEvidence.EXACT),
        ("std::__invoke_impl<int>(int)", 2, LocationEvidence.DOUBTFUL),  # another file of that name
        ("main", 9, LocationEvidence.DOUBTFUL),  # as in every program
    ],
)
def test_a_file_name_without_its_function_proves_nothing(
    tmp_path: Path, function: str, line: int, how: LocationEvidence
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "invoke.h").write_text(
        "// Calls.\n\nnamespace glue {\nint twice(int x) { return 2 * x; }\n}\n\n"
        "int main() {\n  int x = 1;\n  return x;\n}\n"
    )
    answer = found(f"==7==    at 0x4C3: {function} (invoke.h:{line})\n", Resolver(indexed(tmp_path, tree)))
    assert (place(answer).line, place(answer).how) == (line, how)


def test_the_main_function_of_another_program_is_not_located(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "main.cc").write_text("int main() {\n  return 1;\n}\n")
    resolver = Resolver(indexed(tmp_path, tmp_path / "tree"))
    assert found("#1 0x4 in main /srv/other/main.cc:2:1\n", resolver).location is None
    assert found("    @  0x7f1bb00a8eed  8  main\n", resolver).location is None


def test_the_script_of_another_program_is_doubtful(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "train.py").write_text("x = 1\ny = 2\n")
    index = indexed(tmp_path, tmp_path / "tree")
    resolver = Resolver(index)
    assert place(found(py_spy("train.py", 2, "<module>"), resolver)).how is LocationEvidence.DOUBTFUL
    beside = Resolver(index, PathResolver(folders=[tmp_path / "tree"], index=index))
    assert place(found(py_spy("train.py", 2, "<module>"), beside)).how is LocationEvidence.EXACT


def test_a_path_with_a_tilde_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tools.py").write_text("def check(x):\n    return x\n")
    text = "File ~/tools.py:2, in check(x)\n      1 def check(x):\n----> 2     return x\n"
    answer = found(text, Resolver(None))
    assert (place(answer).path, place(answer).line, place(answer).how) == (
        str(tmp_path / "tools.py"),
        2,
        LocationEvidence.EXACT,
    )
