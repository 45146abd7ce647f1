"""`framedex sources`: the source folders, and whether they match the recorded versions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex import words
from framedex.commands.inputs.known import (
    checked_index_place,
    index_path_here,
    load_settings_here,
    open_index,
    settings_here,
)
from framedex.commands.inputs.renewal import with_current_index
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.proposals import proposing
from framedex.commands.output.render_frame_sources import frame_source_lines, improvement_lines
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.errors import FramedexError
from framedex.index.file.values import storable
from framedex.plaintext import printable, restore, shell_word
from framedex.releases.roots import (
    COMPONENTS,
    RootState,
    build_text,
    clone_command,
    is_commit,
    pin_url,
    short,
    state_of_root,
    without_root,
)

if TYPE_CHECKING:
    from framedex.model import SourceMapInfo
    from framedex.releases import Build


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def sources(ctx: click.Context, as_json: bool) -> None:
    """Show the versions, commits and sources of components.

    The table lists the recorded components with their versions and commits. For each it counts the frames whose line
    comes from a source folder, another local file, an imported source map, a release map of framedex (of the same or
    the nearest release), or debug information. Below the table are the source folders. A folder at another commit
    than the recorded jax or jaxlib is marked, with the command that fetches the right one.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_index(ctx.obj) as index:
        builds = index.sources.builds()
        states = [state_of_root(root, builds) for root in index.sources.roots()]
        maps = index.sources.maps()
        frames = index.sources.frames({str(state.path): state.component or "" for state in states})
    missing = without_root(states, builds)
    if as_json:
        document = _document(states, missing) | {"maps": [asdict(each) for each in maps]}
        print_json({"components": [asdict(each) | {"frames": each.frames} for each in frames]} | document)
        return
    if frames:
        print_lines([*frame_source_lines(frames), *improvement_lines(frames), ()])
    print_lines([line for state in states for line in _root_lines(state)])
    print_lines(line for each in maps for line in _map_lines(each, builds))
    print_lines(_missing_lines(missing, builds))
    if not states and not maps:
        note("No source folders. Next: `framedex sources add FOLDER`, or `framedex sources fetch`.")


@sources.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def add(ctx: click.Context, folders: tuple[Path, ...]) -> None:
    """Find definitions in these folders from now on. The next `framedex index` reads them."""
    from framedex.index import Store

    for folder in folders:
        if not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises without permission
            raise FramedexError(f"There is no folder {folder}.", "Name a folder of sources.")
        if storable(os.path.realpath(folder)) != os.path.realpath(folder):
            raise FramedexError(f"The name of {folder} is not UTF-8.", "Rename it: no editor can open it.")
    settings = load_settings_here()
    path = index_path_here(ctx.obj, settings)
    with with_current_index(path, ctx.obj, settings, lambda: Store(path)) as store:
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

    Files are left alone. The component of a source map (`xla`) removes the map.
    """
    from framedex.index import Store

    with open_index(ctx.obj) as index:
        path, known = index.path, {root.path for root in index.sources.roots()}
        components = {each.component for each in index.sources.maps()}
    maps = [str(folder) for folder in folders if str(folder) in components and not folder.exists()]
    chosen = {folder: _known_root(folder, known) for folder in folders if str(folder) not in maps}
    settings, _ = settings_here()
    with Store(checked_index_place(path, ctx.obj, settings)) as store:
        with store.transaction():
            for component in maps:
                store.sources.remove_map(component)
            for root in chosen.values():
                store.sources.remove_root(root)
        store.seal()
    listed = [root for root in map(str, settings.sources) if os.path.realpath(root) in chosen.values()]
    for root in listed:
        note(f"{settings.file} names {root} too: remove it there, or the next `framedex index` adds it again.")
    if not listed:
        note("Next: `framedex index` looks up the functions that were defined there.")


def _known_root(folder: Path, known: set[str]) -> str:
    """The stored path of a source folder. Raises FramedexError if it is not one."""
    for name in (str(folder), restore(str(folder))):
        absolute = os.path.realpath(name) if "\0" not in name else name
        for candidate in (absolute, os.path.abspath(name), name):  # noqa: PTH100 - it may link to another folder by now
            if candidate in known:
                return candidate
    raise FramedexError(f"{folder} is not a source folder of this index.", "`framedex sources` lists them.")


def _root_lines(state: RootState) -> Iterator[Line]:
    checkout = state.checkout
    words_of_it = [f"{words.count(state.files, 'file')} read"]
    if state.component is not None:
        words_of_it.append(f"{COMPONENTS[state.component]}'s sources")
    if not state.is_there:
        words_of_it.append(
            f"missing; what was read from it is kept until `framedex sources remove {shell_word(str(state.path))}`"
        )
    if checkout is not None and checkout.commit:
        changed = " with changes" if checkout.is_changed else ""
        words_of_it.append(f"at {short(checkout.commit)}{changed}")
    if state.matches and state.build is not None:
        words_of_it.append(f"as recorded: {build_text(state.build)}")
    yield (Span(printable(str(state.path)), "head"), *proposing(f"  {'; '.join(words_of_it)}"))
    if checkout is not None and checkout.problem:
        yield text_line(f"     ! {checkout.problem}", "error")
    if state.advice:
        yield text_line(f"     ! {state.advice}", "error")


def _map_lines(source_map: SourceMapInfo, builds: Sequence[Build]) -> Iterator[Line]:
    told = "a source map" + (", made from changed files" if source_map.is_dirty else "")
    address = f" of {source_map.repository}" if source_map.repository else ""
    yield (Span(source_map.prefix[:-1], "head"), Span(f"  {told}{printable(address)}"))
    build = next((each for each in builds if each.component == source_map.component and each.revision), None)
    if build is not None and is_commit(build.revision) and build.revision != source_map.commit:
        yield text_line(f"     ! {build_text(build)}; this map is of another commit: lines may be off.", "error")


def _missing_lines(missing: Sequence[Build], builds: Sequence[Build]) -> Iterator[Line]:
    for build in missing:
        yield (Span(build_text(build), "head"), Span("; no source folder has that"))
        fetched = "`framedex sources fetch`, or " if build.revision else ""
        yield proposing(f"     to get it: {fetched}`{clone_command(build)}`", "dim")
        if url := pin_url(build, builds):
            yield text_line(f"     JAX names the commit in {url}", "dim")


def _document(states: Sequence[RootState], missing: Sequence[Build]) -> dict[str, Any]:
    roots = []
    for state in states:
        document = asdict(state) | {"path": str(state.path)}
        if state.checkout is not None:
            document["checkout"] = asdict(state.checkout) | {"top": str(state.checkout.top)}
        roots.append(document)
    return {"roots": roots, "missing": [asdict(build) | {"clone": clone_command(build)} for build in missing]}
