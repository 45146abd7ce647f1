"""`framedex cmake`: projects that real cmake and real clangd accept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from framedex.commands.main import cli
from tests.indexer.export.projects.trees import make_tree
from tests.indexer.privileges import run_without_privileges

SOURCES = {
    "lib/shape.h": "namespace lib {\nint Rank(int shape);\n}\n",
    "lib/shape.cc": '#include "lib/shape.h"\nint lib::Rank(int shape) { return shape; }\n',
    "inner/mhlo/ops.h": "inline int Ops() { return 1; }\n",
    "lib/use.cc": '#include "lib/shape.h"\n#include "mhlo/ops.h"\nint use = lib::Rank(Ops()) + LEVEL;\n',
    "lib/use_test.cc": "",
    "lib/kernel.cu": "int kernel;\n",
    "plain/old.c": "int old;\n",
    "only_headers/a.hpp": "",
}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["cmake", *map(str, arguments)])


def installed(program: str) -> str:
    """A program from this Python's environment, or else from the PATH."""
    found = shutil.which(program, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def codemodel(project: Path, build: Path) -> list[dict[str, Any]]:
    """The targets that cmake's file API reports for a project, which CLion uses."""
    query = build / ".cmake" / "api" / "v1" / "query"
    query.mkdir(parents=True)
    (query / "codemodel-v2").touch()
    configured = subprocess.run(
        [installed("cmake"), "-G", "Unix Makefiles", "-S", project, "-B", build], capture_output=True, text=True
    )
    assert configured.returncode == 0, configured.stderr
    assert "Warning" not in configured.stderr
    replies = (build / ".cmake" / "api" / "v1" / "reply").glob("target-*.json")
    return [json.loads(reply.read_text()) for reply in sorted(replies)]


def paths(targets: list[dict[str, Any]], project: Path) -> set[str]:
    return {os.path.normpath(project / source["path"]) for target in targets for source in target["sources"]}


def test_cmake_reads_every_file_with_its_include_folders_and_macros(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", SOURCES)

    defines = [part for define in DEFINES for part in ("--define", define)]
    result = run(tree, "-o", tmp_path / "ide", *defines, "--std", "20")
    targets = codemodel(tmp_path / "ide", tmp_path / "build")

    assert result.exit_code == 0, result.stderr
    assert paths(targets, tmp_path / "ide") == {str(tree / path) for path in SOURCES if path != "lib/use_test.cc"}
    groups = [group for target in targets for group in target["compileGroups"]]
    assert {group["language"] for group in groups} == {"C", "CXX"}
    for group in groups:
        assert [include["path"] for include in group["includes"]] == [str(tree), str(tree / "inner")]
        assert _macros_of(group) == set(DEFINES)
    assert {group["languageStandard"]["standard"] for group in groups if group["language"] == "CXX"} == {"20"}


# CMake warns about compile definitions with parameters or `#`, and drops them.
DEFINES = [
    *(
        "LEVEL=2",
        'NAME="a b"',
        "EMPTY=",
        "PLAIN",
        "é=ü",
        "GENERATED=$<1:x>$<",
        "LIST=a;b",
        "VARIABLE=${HOME}$ENV{HOME}",
    ),
    *("MAX(a, b)=((a)>(b)?(a):(b))", "LOG(...)=", "ALL(first, rest...)=rest", "TEXT(x)=#x", 'COLOUR="#fff"', "BACK=\\"),
]


def _macros_of(group: dict[str, Any]) -> set[str]:
    """The macros of a file group: as definitions, and as options quoted for make."""
    options = [part for fragment in group["compileCommandFragments"] for part in shlex.split(fragment["fragment"])]
    passed = {option[2:].replace("$$", "$") for option in options if option.startswith("-D")}
    return {define["define"] for define in group["defines"]} | passed


def test_compilers_take_every_macro(tmp_path: Path) -> None:
    """The compiler accepts the commands of compile_commands.json with macros of every form."""
    uses = (
        "static_assert(MAX(1, LEVEL) == 2); constexpr char text[] = TEXT(a b) COLOUR;\nstatic_assert(sizeof text == 8);"
    )
    tree = make_tree(tmp_path, {"a.cc": uses})
    run(tree, *(part for define in DEFINES for part in ("--define", define)))
    (command,) = json.loads((tree / "compile_commands.json").read_text())

    compiled = subprocess.run(
        [installed("c++"), *command["arguments"][1:], "-Werror", "-fsyntax-only"], capture_output=True, text=True
    )

    assert compiled.returncode == 0, compiled.stderr


@pytest.mark.exhaustive(keep=["1A=2", "F(x"])
@pytest.mark.parametrize(
    "define", ["", "=3", "1A=2", "A B=1", "-DA=1", "A-B", "F(1)=2", "F(x", "A=1\n#error", "A=\udce9"]
)
def test_a_build_without_macros_is_refused(tmp_path: Path, define: str) -> None:
    tree = make_tree(tmp_path, SOURCES)

    result = run(tree, "--define", "GOOD=1", "--define", define)

    assert result.exit_code == 1
    assert "is not a macro definition" in result.stderr and "NAME=VALUE" in result.stderr
    assert not (tree / "CMakeLists.txt").exists()


@pytest.mark.exhaustive(keep=["ide/deep"])
@pytest.mark.parametrize("folder", ["", "ide/deep"])
def test_a_project_moves_with_its_source_tree(tmp_path: Path, folder: str) -> None:
    tree = make_tree(tmp_path / "tree", SOURCES)
    assert run(tree, "-o", tree / folder).exit_code == 0

    moved = tree.rename(tmp_path / "moved")

    found = paths(codemodel(moved / folder, moved / folder / "cmake-build-debug"), moved / folder)
    assert str(moved / "lib/shape.cc") in found
    assert len(found) == len(SOURCES) - 1


HOSTILE = [
    *("a b.cc", 'q"uote.cc', "do$llar.cc", "ap'os.cc", "ha#sh.cc", "pa(ren.cc", "at@x@.cc", "st*ar.cc", "per%cent.cc"),
    *("$(touch pwned).cc", "-dash.cc", "ü.cc", "{.cc", "`ls`.cc", "l<t>.cc", "com,ma.cc", "\u202ebidi.cc"),
]
UNSPEAKABLE = ["se;mi.cc", "br[.cc", "back\\slash.cc", "new\nline.cc", "${tree}.cc", "$ENV{HOME}.cc", "$<1:x>.cc"]


def test_odd_names_reach_cmake_unchanged_or_are_listed_as_omitted(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "a tree", dict.fromkeys([*HOSTILE, *UNSPEAKABLE], "int x;\n"))

    result = run(tree, "-o", tmp_path / "ide")
    found = paths(codemodel(tmp_path / "ide", tmp_path / "build"), tmp_path / "ide")

    assert found == {str(tree / name) for name in HOSTILE}
    assert f"{len(UNSPEAKABLE)} files in compile_commands.json only" in result.stdout
    assert "\n     new\\x0aline.cc\n" in result.stdout
    commands = json.loads((tmp_path / "ide" / "compile_commands.json").read_text())
    assert {command["file"] for command in commands} == {str(tree / name) for name in [*HOSTILE, *UNSPEAKABLE]}


def test_the_output_is_deterministic_and_unchanged_files_are_not_touched(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, SOURCES)
    run(tree)
    first = {name: ((tree / name).stat().st_mtime_ns, (tree / name).read_bytes()) for name in OUTPUT}

    again = run(tree)

    assert {name: ((tree / name).stat().st_mtime_ns, (tree / name).read_bytes()) for name in OUTPUT} == first
    assert again.stdout.count("unchanged") == 2

    (tree / "lib" / "more.h").touch()
    changed = run(tree)

    assert re.findall(r"([\w.]+): written", changed.stdout) == ["CMakeLists.txt"]


OUTPUT = ("CMakeLists.txt", "compile_commands.json")


@pytest.mark.parametrize("name", OUTPUT)
def test_a_foreign_file_is_kept_without_force(tmp_path: Path, name: str) -> None:
    tree = make_tree(tmp_path / "tree", SOURCES | {name: "[]\n"})

    refused = run(tree)

    assert refused.exit_code == 1
    assert f"{name} exists" in refused.stderr and "--force" in refused.stderr
    assert (tree / name).read_text() == "[]\n"
    assert [path for path in OUTPUT if (tree / path).exists()] == [name]
    assert run(tree, "--force").exit_code == 0
    assert len((tree / name).read_text()) > 3


def test_a_file_replaced_by_a_link_is_never_written_through(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", SOURCES)
    run(tree, "-o", tmp_path / "theirs")
    theirs = tmp_path / "theirs" / "compile_commands.json"
    before = theirs.read_text()
    (tree / "compile_commands.json").symlink_to(theirs)

    assert run(tree, "--tests").exit_code == 1
    assert run(tree, "--tests", "--force").exit_code == 0
    assert theirs.read_text() == before
    assert not (tree / "compile_commands.json").is_symlink()


def test_a_tree_without_sources_is_refused(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a.py": "", "a_test.cc": ""})

    result = run(tmp_path)

    assert result.exit_code == 1
    assert "1 as tests" in result.stderr and "--tests" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "a_test.cc"]


@pytest.mark.parametrize(
    ("options", "reason", "remedy"),
    [
        (["--exclude", "*"], "2 by --exclude.", "Exclude less."),
        (["--exclude", "a*"], "1 by --exclude, 1 as tests.", "Exclude less. --tests includes them."),
        (["-o", "src"], "2 because they are in the output folder.", "Write elsewhere with -o."),
    ],
)
def test_the_reason_for_omitting_every_file_is_reported(
    tmp_path: Path, options: list[str], reason: str, remedy: str
) -> None:
    tree = make_tree(tmp_path / "tree", {"src/a.cc": "", "src/b_test.cc": ""})
    source, options = (tree, ["-o", str(tree / "src")]) if "-o" in options else (tree / "src", options)

    result = run(source, *options)

    assert result.exit_code == 1
    assert f"Every C and C++ file below {source} is left out: {reason}" in result.stderr
    assert remedy in result.stderr


def test_links_out_of_the_tree_are_omitted_and_listed(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", SOURCES)
    make_tree(tmp_path / "other", {"z.cc": ""})
    (tree / "root").symlink_to("/")
    (tree / "outside").symlink_to("../other")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "src").symlink_to(tree)

    result, document = run(tree), json.loads(run(tree, "--json").stdout)
    nothing = run(tmp_path / "links")

    assert "2 links left out, because they lead out of the tree:\n     outside\n     root\n" in result.stdout
    assert document["outward_links"] == ["outside", "root"]
    assert document["sources"] == len(SOURCES) - 1
    assert (
        "no C or C++ files" in nothing.stderr and "Links that lead out of it are not followed: src." in nothing.stderr
    )


def test_inaccessible_folders_are_named(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", {"a.cc": "", "closed/b.cc": ""})
    command = [sys.executable, "-c", "from framedex.commands.main import cli; cli()", "cmake", str(tree)]
    (tree / "closed").chmod(0)
    tree.chmod(0o555)
    try:
        elsewhere = run_without_privileges([*command, "-o", str(tmp_path / "ide")])
        inside = run_without_privileges(command)
        nothing = run_without_privileges([*command[:-1], str(tree / "closed")])
    finally:
        tree.chmod(0o755)
        (tree / "closed").chmod(0o755)

    assert elsewhere.returncode == 0
    assert f"1 folder could not be read:\n     {tree}/closed\n" in elsewhere.stdout
    assert inside.returncode == 1
    assert f"{tree}/CMakeLists.txt could not be written" in inside.stderr and "-o" in inside.stderr
    assert nothing.returncode in {1, 2}
    assert "closed" in nothing.stderr


def test_a_tree_of_headers_is_a_valid_project(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree", {"lib/a.h": "", "lib/b.inl": "", "c.hpp": ""})
    run(tree, "-o", tmp_path / "ide")

    assert len(paths(codemodel(tmp_path / "ide", tmp_path / "build"), tmp_path / "ide")) == 3
    (first, *_) = json.loads((tmp_path / "ide" / "compile_commands.json").read_text())
    assert first["arguments"][2:4] == ["-x", "c++-header"]


def test_json_output_has_the_same_content(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, SOURCES | {"lib/absl.h": '#include "absl/a.h"\n'})

    document = json.loads(run(tree, "--json", "--exclude", "plain").stdout)

    assert [file["written"] for file in document["files"]] == [True, True]
    assert (document["sources"], document["tests"], document["excluded"]) == (7, 1, 1)
    assert document["include_folders"] == {"own": ["", "inner"], "foreign": []}
    assert (document["includes"], document["missing_includes"]) == (4, {"absl": 1})


def test_clangd_leads_from_a_call_to_the_definition_in_another_folder(tmp_path: Path) -> None:
    """clangd finds everything in the written project, and reports no errors."""
    tree = make_tree(tmp_path, SOURCES)
    assert run(tree, "--define", "LEVEL=1").exit_code == 0

    places, complaints = asyncio.run(definitions(tree, tree / "lib" / "use.cc", ["Rank", "Ops"]))

    assert places == [f"{tree}/lib/shape.h:2", f"{tree}/inner/mhlo/ops.h:1"]
    assert complaints == []


async def definitions(tree: Path, file: Path, names: list[str]) -> tuple[list[str], list[str]]:
    """The definitions of a file's names according to a real clangd, and its diagnostics."""
    client = LanguageClient("framedex-test", "1")
    diagnosed: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()

    def diagnostics(parameters: types.PublishDiagnosticsParams) -> None:
        if not diagnosed.done():
            diagnosed.set_result([diagnostic.message for diagnostic in parameters.diagnostics])

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(diagnostics)
    await client.start_io(installed("clangd"), "--background-index=false", "--log=error", cwd=tree)
    await client.initialize_async(
        types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=tree.as_uri())
    )
    client.initialized(types.InitializedParams())
    text = file.read_text()
    document = types.TextDocumentItem(uri=file.as_uri(), language_id="cpp", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    complaints = await asyncio.wait_for(diagnosed, 60)
    places = []
    for name in names:
        before = text[: text.index(name)]
        position = types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
        found = await client.text_document_definition_async(
            types.DefinitionParams(types.TextDocumentIdentifier(file.as_uri()), position)
        )
        assert isinstance(found, list) and isinstance(found[0], types.Location)
        places.append(f"{found[0].uri.removeprefix('file://')}:{found[0].range.start.line + 1}")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return places, complaints
