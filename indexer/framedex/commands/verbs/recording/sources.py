"""`framedex sources`: the source folders, and whether they match the recorded versions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, quote_shell_word, restore, truncate
from framedex.commands.inputs.project_index import (
    check_index_is_inside,
    load_settings_here,
    open_index,
    read_settings_here,
    use_rebuilt_index,
    writable_index_path,
)
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.proposals import render_proposal_line
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line
from framedex.index.file.values import to_storable
from framedex.model import LineSource
from framedex.sources.releases.builds import pinning_jax_revision
from framedex.sources.releases.components import NAMES, Component
from framedex.sources.releases.roots import (
    COMPONENTS,
    RootState,
    build_text,
    clone_command,
    find_builds_without_root,
    is_commit,
    read_root_state,
    shorten_revision,
)

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import ComponentFrames, FramesBySource, SourceMapInfo
    from framedex.sources.releases import Build


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def sources(ctx: click.Context, as_json: bool) -> None:
    """Show the versions, commits and sources of components.

    The table lists the recorded components with their versions and commits. It counts their frames by the source of
    the line. That is a source folder, another local file, an imported source map, a release map of framedex, or debug
    information. Below the table are the source folders. A folder at a different commit from the recorded jax or
    jaxlib is marked, with the command that fetches the right one.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_index(ctx.obj) as index:
        builds = _read_builds(index)
        states = [read_root_state(root, builds) for root in index.sources.roots()]
        maps = index.sources.maps()
        frames = index.sources.frames({str(state.path): state.component or "" for state in states})
    missing = find_builds_without_root(states, builds)
    if as_json:
        document = _build_sources_document(states, missing) | {"maps": [asdict(each) for each in maps]}
        print_json({"components": [asdict(each) | {"frames": each.frames} for each in frames]} | document)
        return
    if frames:
        print_lines([*render_frame_source_lines(frames), *render_improvement_lines(frames), ()])
    print_lines([line for state in states for line in _render_source_folder_lines(state)])
    print_lines(line for each in maps for line in _map_lines(each, builds))
    print_lines(_render_missing_lines(missing, builds))
    if not states and not maps:
        note("No source folders. Next: `framedex sources add FOLDER`, or `framedex sources fetch`.")


@sources.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def add(ctx: click.Context, folders: tuple[Path, ...]) -> None:
    """Add source folders. The next `framedex index` reads their definitions."""
    from framedex.index import Store

    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises without permission
            raise FramedexError(f"There is no folder {folder}.", "Name a folder of sources.")
        if to_storable(os.path.realpath(folder)) != os.path.realpath(folder):
            raise FramedexError(f"The name of {folder} is not UTF-8.", "Rename it. Editors cannot open it either.")
    settings = load_settings_here()
    path = writable_index_path(ctx.obj, settings)
    with use_rebuilt_index(path, ctx.obj, settings, lambda: Store(path)) as store:
        with store.transaction():
            for folder in folders:
                store.sources.add_root(os.path.realpath(folder))
        store.seal()
    note("Next: `framedex index` reads new files.")


@sources.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def remove(ctx: click.Context, folders: tuple[Path, ...]) -> None:
    """Remove source folders and their definitions from the index.

    Source files are not deleted. Pass a component (`xla`) to remove its source map.
    """
    from framedex.index import Store

    with open_index(ctx.obj) as index:
        path, known = index.path, {root.path for root in index.sources.roots()}
        components = {each.component for each in index.sources.maps()}
    maps = [str(folder) for folder in folders if str(folder) in components and not folder.exists()]
    chosen = {folder: _find_known_root(folder, known) for folder in folders if str(folder) not in maps}
    settings, _ = read_settings_here()
    with Store(check_index_is_inside(path, ctx.obj, settings)) as store:
        with store.transaction():
            for component in maps:
                store.sources.remove_map(component)
            for root in chosen.values():
                store.sources.remove_root(root)
        store.seal()
    configured = [root for root in map(str, settings.sources) if os.path.realpath(root) in chosen.values()]
    for root in configured:
        note(f"{settings.file} names {root} too: remove it there, or the next `framedex index` adds it again.")
    if not configured:
        note("Next: `framedex index` searches other sources for the functions that were defined there.")


def _find_known_root(folder: Path, known: set[str]) -> str:
    """The stored path of a source folder. Raises FramedexError if it is not one."""
    for name in (str(folder), restore(str(folder))):
        absolute = os.path.realpath(name) if "\0" not in name else name
        for candidate in (absolute, os.path.abspath(name), name):  # noqa: PTH100 - a link may lead to another folder today
            if candidate in known:
                return candidate
    raise FramedexError(f"{folder} is not a source folder of this index.", "`framedex sources` lists them.")


def _render_source_folder_lines(state: RootState) -> Iterator[Line]:
    checkout = state.checkout
    facts = [f"{words.count(state.files, 'file')} read"]
    if state.component is not None:
        facts.append(f"{COMPONENTS[state.component]}'s sources")
    if not state.is_there:
        facts.append(
            "missing; its definitions stay in the index until"
            f" `framedex sources remove {quote_shell_word(str(state.path))}`"
        )
    if checkout is not None and checkout.commit:
        changed = " with changes" if checkout.is_changed else ""
        facts.append(f"at {shorten_revision(checkout.commit)}{changed}")
    if state.matches and state.build is not None:
        facts.append(f"as recorded: {build_text(state.build)}")
    yield (Span(make_printable(str(state.path)), "head"), *render_proposal_line(f"  {'; '.join(facts)}"))
    if checkout is not None and checkout.problem:
        yield render_text_line(f"     ! {checkout.problem}", "error")
    if state.advice:
        yield render_text_line(f"     ! {state.advice}", "error")


def _map_lines(source_map: SourceMapInfo, builds: Sequence[Build]) -> Iterator[Line]:
    title = "a source map" + (", made from changed files" if source_map.is_dirty else "")
    address = f" of {source_map.repository}" if source_map.repository else ""
    yield (Span(source_map.prefix[:-1], "head"), Span(f"  {title}{make_printable(address)}"))
    build = next((each for each in builds if each.component == source_map.component and each.revision), None)
    if build is not None and is_commit(build.revision) and build.revision != source_map.commit:
        yield render_text_line(
            f"     ! {build_text(build)}; this map is from another commit, so lines may be off.", "error"
        )


def _render_missing_lines(missing: Sequence[Build], builds: Sequence[Build]) -> Iterator[Line]:
    for build in missing:
        yield (Span(build_text(build), "head"), Span(": not in a source folder"))
        jax = pinning_jax_revision(build, builds)
        fetch_command = "`framedex sources fetch`, or " if build.revision or jax else ""
        yield render_proposal_line(f"     to get it: {fetch_command}`{clone_command(build)}`", "dim")
        if build.component == "xla" and jax and not build.revision:
            yield render_text_line(f"     JAX {shorten_revision(jax)} pins the commit", "dim")


def _read_builds(index: Index) -> Sequence[Build]:
    """Return the recorded builds, with the commits that fetched sources of JAX name."""
    builds = index.sources.builds()
    if all(build.revision for build in builds if build.component == "xla"):
        return builds
    from framedex.sources.fetching.fetch import with_cached_pins

    return with_cached_pins(builds)


def _build_sources_document(states: Sequence[RootState], missing: Sequence[Build]) -> dict[str, Any]:
    roots = []
    for state in states:
        document = asdict(state) | {"path": str(state.path)}
        if state.checkout is not None:
            document["checkout"] = asdict(state.checkout) | {"top": str(state.checkout.top)}
        roots.append(document)
    return {"roots": roots, "missing": [asdict(build) | {"clone": clone_command(build)} for build in missing]}


_HEADS = ("component", "version", "commit")
_FRAMES = "frames"
_MAX_WIDTHS = (16, 14, 12)  # columns; a short commit has this width


def render_frame_source_lines(components: Sequence[ComponentFrames]) -> Iterator[Line]:
    """The table of components, one row per component and source of lines, with the totals below."""
    rows = [_format_component_cells(each) for each in components]
    widths = measure_columns(_HEADS, *rows)
    total = sum(each.frames for each in components)
    room = max(len(_FRAMES), len(f"{total:,}"))
    yield render_text_line(f"{format_row(_HEADS, widths, 0)}  {_FRAMES:>{room}}  lines from", "head")
    for component, cells in zip(components, rows, strict=True):
        shown = cells
        for source in component.sources:
            before = f"{format_row(shown, widths, 0)}  {source.frames:>{room},}  {_format_source_kind(source)}"
            yield (
                (Span(f"{before} "), Span(make_printable(source.folder), can_shorten=True))
                if source.folder
                else (Span(before),)
            )
            shown = ("",) * len(cells)
    here = sum(each.count(LineSource.SOURCE_FOLDER, LineSource.FILE_HERE) for each in components)
    public = sum(source.public for each in components for source in each.sources)
    yield render_text_line(
        f"{words.count(total, 'frame')}: {here:,} have a local file, {public:,} a public page,"
        f" {total - here - public:,} neither.",
        "head",
    )


def render_improvement_lines(components: Sequence[ComponentFrames]) -> Iterator[Line]:
    """The number of frames that more sources would improve, by component, each with the command."""
    for each in components:
        component = Component(each.component)
        if component in (Component.XLA, Component.JAXLIB, Component.JAX) and each.revision:
            yield from _render_fetchable_lines(each, NAMES[component])
        elif component is Component.OWN:
            yield from _render_own_code_lines(each)


def _render_fetchable_lines(component: ComponentFrames, name: str) -> Iterator[Line]:
    nearest, unplaced = component.count(LineSource.NEAREST_RELEASE), component.count(LineSource.NAME_ONLY)
    if nearest:
        yield _render_missing_sources_line(
            nearest, name, "lines of the nearest release, which may be off", "`framedex sources fetch`"
        )
    elif unplaced:
        yield _render_missing_sources_line(unplaced, name, "a name only", "`framedex sources fetch`")


def _render_own_code_lines(component: ComponentFrames) -> Iterator[Line]:
    name = "your own code"
    if unplaced := component.count(LineSource.NAME_ONLY):
        yield _render_missing_sources_line(
            unplaced, name, "a name only", "`framedex sources add DIR`", " with its sources"
        )
    if elsewhere := component.count(LineSource.DEBUG_INFORMATION, LineSource.CODE_OBJECT):
        yield _render_missing_sources_line(
            elsewhere, name, "lines in files that are not here", "`framedex sources add DIR`", " with them"
        )


def _render_missing_sources_line(count: int, name: str, has: str, command: str, more: str = "") -> Line:
    verb = "has" if count == 1 else "have"
    return render_proposal_line(
        f"     ! {words.count(count, 'frame')} of {name} {verb} {has}: {command}{more}.", "error"
    )


def _format_source_kind(source: FramesBySource) -> str:
    """Format the source of lines, and whether the lines are public if the kind of source does not imply it."""
    if source.lines_from not in (LineSource.DEBUG_INFORMATION, LineSource.CODE_OBJECT) or not source.public:
        return source.lines_from.value
    share = "public" if source.public == source.frames else "some public"
    return f"{source.lines_from.value}, {share}"


def _format_component_cells(component: ComponentFrames) -> tuple[str, ...]:
    name = make_printable(component.name) or NAMES[Component(component.component)]
    cells = (name, make_printable(component.version), make_printable(shorten_revision(component.revision)))
    return tuple(truncate(cell, widest) or "-" for cell, widest in zip(cells, _MAX_WIDTHS, strict=True))
