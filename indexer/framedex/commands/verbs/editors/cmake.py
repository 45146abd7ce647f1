"""`framedex cmake`: write a project for CLion and clangd for a tree that does not use CMake."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import read_regular
from framedex.commands.output.atomic_files import write_atomic
from framedex.commands.output.console import json_option, print_json, print_lines
from framedex.commands.output.terminal import Line, render_text_line
from framedex.export.projects import (
    IncludeRoots,
    Project,
    SourceTree,
    build_cmakelists,
    compile_commands_text,
    find_include_roots,
    find_tree,
    is_compiled,
    is_definition,
    project_files,
)

_MAX_SHOWN = 8


@click.command()
@click.argument("source", metavar="SOURCE_DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The output folder. Default: SOURCE_DIR, where CLion and clangd look first.",
)
@click.option(
    "--include",
    "includes",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="A folder with headers that the tree lacks (absl, protobuf, llvm). Repeatable.",
)
@click.option("--define", "defines", metavar="NAME[=VALUE]", multiple=True, help="Define a macro. Repeatable.")
@click.option(
    "--std",
    "standard",
    type=click.Choice(["11", "14", "17", "20", "23"]),
    default="17",
    show_default=True,
    help="The C++ standard.",
)
@click.option(
    "--exclude",
    "excluded",
    metavar="PATTERN",
    multiple=True,
    help="Leave out matching paths below SOURCE_DIR, such as '*/rocm'. Repeatable.",
)
@click.option("--tests", "with_tests", is_flag=True, help="Include tests.")
@click.option("--force", is_flag=True, help="Replace files that framedex did not write.")
@json_option
def cmake(
    source: Path,
    output: Path | None,
    includes: tuple[Path, ...],
    defines: tuple[str, ...],
    standard: str,
    excluded: tuple[str, ...],
    with_tests: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write a project for CLion and clangd.

    Writes a CMakeLists.txt and a compile_commands.json for a large C++ tree without CMake, such as XLA or jaxlib.
    The project is for reading and navigating; it does not build. Include folders come from the tree's #include
    lines. Unchanged files are not rewritten.
    """
    for define in defines:
        if not is_definition(define):
            raise FramedexError(
                f"--define {make_printable(shlex.quote(define))} is not a macro definition.",
                "Write NAME, NAME=VALUE or 'NAME(PARAMETERS)=VALUE', on one line.",
            )
    folder = source if output is None else output
    tree = find_tree(source, folder, excluded, with_tests)
    if not tree.files:
        raise _no_files_error(source, tree)
    if project_files.is_inexpressible(str(tree.root)):
        raise FramedexError(f"CMake cannot name the folder {tree.root}.", "Rename the folder.")
    project = Project(tree, find_include_roots(tree, includes), standard, defines)
    if not force:
        _check_replaceable(folder)
    _create_folder(folder)
    files = {
        str(path): _write_if_changed(path, text)
        for path, text in (
            (folder / "CMakeLists.txt", build_cmakelists(project, folder)),
            (folder / "compile_commands.json", compile_commands_text(project)),
        )
    }
    if as_json:
        print_json(_build_cmake_document(project, files))
    else:
        print_lines(_report_lines(project, files))


def _no_files_error(source: Path, tree: SourceTree) -> FramedexError:
    left_out = [
        (tree.excluded, "by --exclude", "Exclude less."),
        (tree.tests, "as tests", "--tests includes them."),
        (tree.in_output, "because they are in the output folder", "Write elsewhere with -o."),
        (tree.unnamed, "because their names are not UTF-8", "Rename them."),
    ]
    reasons = [(f"{count:,} {why}", remedy) for count, why, remedy in left_out if count]
    remedies = [remedy for _, remedy in reasons]
    if tree.external_links:
        remedies.append(f"Links that lead out of it are not followed: {_format_some(tree.external_links)}.")
    if tree.unreadable:
        remedies.append(
            f"{words.count(len(tree.unreadable), 'folder')} could not be read: {_format_some(tree.unreadable)}."
        )
    if reasons:
        message = f"Every C and C++ file below {source} is left out: {', '.join(reason for reason, _ in reasons)}."
    else:
        message = f"There are no C or C++ files below {source}."
    return FramedexError(message, " ".join(remedies) or "Name the folder of a source tree.")


def _format_some(paths: Sequence[str]) -> str:
    more = len(paths) - _MAX_SHOWN
    return f"{', '.join(paths[:_MAX_SHOWN])}{f' and {more:,} more' if more > 0 else ''}"


def _check_replaceable(folder: Path) -> None:
    """Raise FramedexError if one of the output files exists and was not written by this command."""
    for name, is_own in (
        ("CMakeLists.txt", project_files.is_own_cmakelists),
        ("compile_commands.json", project_files.is_own_compile_commands),
    ):
        path = folder / name
        try:
            own = not path.is_symlink() and is_own(path)
        except FileNotFoundError:
            continue
        except OSError:
            own = False
        if not own:
            raise FramedexError(
                f"{path} exists, and framedex did not write it.",
                "Write elsewhere with -o, or replace it with --force.",
            )


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FramedexError(
            f"The folder {folder} cannot be created: {error.strerror or error}.", "Choose another folder with -o."
        ) from error


def _write_if_changed(path: Path, text: str) -> bool:
    """Write the file unless its content is unchanged, and return whether it was written."""
    try:
        if not path.is_symlink() and read_regular(path) == text.encode():
            return False
    except OSError:
        pass
    write_atomic(path, text, through_links=False)
    return True


def _build_cmake_document(project: Project, files: Mapping[str, bool]) -> dict[str, Any]:
    tree = project.tree
    return {
        "files": [{"path": path, "written": written} for path, written in files.items()],
        "root": str(tree.root),
        "sources": len(tree.files),
        "tests": tree.tests,
        "excluded": tree.excluded,
        "in_output": tree.in_output,
        "unnamed": tree.unnamed,
        "only_in_compile_commands": _inexpressible_paths(tree),
        "outward_links": list(tree.external_links),
        "unreadable": list(tree.unreadable),
        "include_folders": {"own": list(project.roots.own), "foreign": list(project.roots.foreign)},
        "includes": project.roots.includes,
        "missing_includes": dict(project.roots.missing),
    }


def _report_lines(project: Project, files: Mapping[str, bool]) -> Iterator[Line]:
    tree, roots = project.tree, project.roots
    for path, written in files.items():
        yield render_text_line(f"{path}: {'written' if written else 'unchanged'}", "head")
    compiled = sum(map(is_compiled, tree.files))
    yield render_text_line(
        f"{words.count(compiled, 'source file')} and {words.count(len(tree.files) - compiled, 'header')}"
        f" below {tree.root}"
    )
    if tree.tests:
        yield render_text_line(f"{words.count(tree.tests, 'file')} of tests left out; --tests includes them")
    if tree.excluded:
        yield render_text_line(f"{words.count(tree.excluded, 'file')} excluded")
    if tree.in_output:
        yield render_text_line(f"{words.count(tree.in_output, 'file')} left out: they are in the output folder")
    if tree.unnamed:
        yield render_text_line(f"{words.count(tree.unnamed, 'file')} left out: their names are not UTF-8")
    if unspeakable := _inexpressible_paths(tree):
        yield render_text_line(
            f"{words.count(len(unspeakable), 'file')} in compile_commands.json only, because CMake cannot name them:"
        )
        yield from _render_path_lines(unspeakable)
    if tree.external_links:
        yield render_text_line(
            f"{words.count(len(tree.external_links), 'link')} left out, because they lead out of the tree:"
        )
        yield from _render_path_lines(tree.external_links)
    if tree.unreadable:
        yield render_text_line(f"{words.count(len(tree.unreadable), 'folder')} could not be read:")
        yield from _render_path_lines(tree.unreadable)
    yield render_text_line("include folders:")
    for root in [*(str(tree.root / root) for root in roots.own), *roots.foreign]:
        yield render_text_line(f"     {root}")
    yield from _render_missing_lines(roots)


def _render_missing_lines(roots: IncludeRoots) -> Iterator[Line]:
    missing = sum(roots.missing.values())
    if not missing:
        return
    first = [f"{folder} {count:,}" for folder, count in list(roots.missing.items())[:_MAX_SHOWN]]
    more = len(roots.missing) - len(first)
    yield render_text_line(
        f"{missing:,} of {words.count(roots.includes, '#include line')} name headers that are not here:"
        f" {', '.join(first)}{f' and {more:,} more' if more > 0 else ''}"
    )
    yield render_text_line("     --include DIR adds a folder with headers")


def _render_path_lines(paths: Sequence[str]) -> Iterator[Line]:
    for path in paths[:_MAX_SHOWN]:
        yield render_text_line(f"     {path}")
    if len(paths) > _MAX_SHOWN:
        yield render_text_line(f"     and {len(paths) - _MAX_SHOWN:,} more", "dim")


def _inexpressible_paths(tree: SourceTree) -> list[str]:
    return [path for path in tree.files if project_files.is_inexpressible(path)]
