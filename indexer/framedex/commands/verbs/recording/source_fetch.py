"""`framedex sources fetch`: download the sources of the recorded commits from public repositories."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.version import VERSION
from framedex.commands.inputs.project_index import (
    find_index_path,
    load_settings_here,
    open_index,
    use_rebuilt_index,
    writable_index_path,
    writer_patience,
)
from framedex.commands.output.atomic_files import open_atomic
from framedex.commands.output.bars import progress_on_terminal
from framedex.commands.output.console import note, print_error, print_lines
from framedex.commands.output.terminal import Line, Span, render_text_line

if TYPE_CHECKING:
    from framedex.settings import Settings
    from framedex.sources.fetching.cache import SourceCache
    from framedex.sources.fetching.fetch import ObjectSource
    from framedex.sources.fetching.wanted import WantedCommit
    from framedex.sources.releases.roots import RootState


@click.command(name="fetch")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--reference",
    "references",
    metavar="CLONE",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Copy objects from this git clone and fetch only the rest.",
)
@click.option("--map", "keeps_map", is_flag=True, help="Keep a source map in place of the tree.")
@click.option(
    "--maps", "maps_address", metavar="URL", help="Download newer release maps instead: URL of releases.json."
)
@click.option("--yes", is_flag=True, help="Fetch from the public repositories without asking.")
@click.option("--mirrors", is_flag=True, help="With --yes: also use mirrors from the project's settings.")
@click.option("--list", "is_list", is_flag=True, help="List the cache and its size.")
@click.option("--remove", "is_removal", is_flag=True, help="Delete fetched sources, of NAME or all, from the cache.")
@click.pass_context
def fetch(
    ctx: click.Context,
    names: tuple[str, ...],
    references: tuple[Path, ...],
    keeps_map: bool,
    maps_address: str | None,
    yes: bool,
    mirrors: bool,
    is_list: bool,
    is_removal: bool,
) -> None:
    """Download the recorded sources and index them.

    The sources are of the recorded commit, in a cache that all projects share.

    NAME is xla, jax, jaxlib or cpython, or names a commit: xla@COMMIT. Default: XLA and JAX, unless a source folder
    has them at the commit of the latest capture. You can interrupt it: the next run continues.

    With --map the index gets a source map, and the tree is removed. The download is kept.

    With --maps framedex gets the lines of newer releases of jaxlib, without their sources.
    """
    from framedex.sources.fetching.cache import SourceCache
    from framedex.sources.fetching.fetch import find_cached_map, find_fetched_checkout

    if maps_address is not None:
        _download_maps(maps_address)
        return
    cache = SourceCache.default()
    if is_list or is_removal:
        if is_removal:
            _remove_sources(cache, names)
        print_lines(_render_cache_lines(cache))
        return
    settings = load_settings_here()
    wanted, failures, states = _find_sources_to_fetch(ctx.obj, settings, names)
    folders = {each: folder for each in wanted if (folder := find_fetched_checkout(cache, each)) is not None}
    print_lines(render_text_line(f"{each.title} is here already: {folder}") for each, folder in folders.items())
    maps = {each: file for each in wanted if keeps_map and (file := find_cached_map(cache, each)) is not None}
    print_lines(render_text_line(f"{each.title} is here already: {file}") for each, file in maps.items())
    missing = [each for each in wanted if each not in folders and each not in maps]
    if missing:
        suppliers = {each: _find_suppliers(each, references, settings) for each in missing}
        print_lines(_render_plan_lines(missing, suppliers, cache, settings))
        _ask_for_consent(
            missing,
            settings,
            yes,
            mirrors,
            [
                *names,
                *(part for each in references for part in ("--reference", str(each))),
                *(["--map"] if keeps_map else []),
            ],
        )
        fetched = _fetch_sources(cache, suppliers, failures)
        folders |= fetched
        if keeps_map:
            maps |= _replace_by_maps(ctx.obj, cache, fetched)
    if keeps_map:
        maps |= _write_maps(ctx.obj, cache, {each: folder for each, folder in folders.items() if each not in maps})
        _import_maps(ctx.obj, settings, cache, maps)
    elif folders:
        _index_sources(ctx.obj, settings, cache, list(folders.values()))
        _note_duplicate_sources(cache, folders, states)
    for failure in failures:
        print_error(failure)
    if failures:
        ctx.exit(1)


def _download_maps(address: str) -> None:
    from framedex.sources.fetching.published_maps import download_release_maps

    releases = download_release_maps(address)
    if releases:
        print_lines([render_text_line(f"Release maps of jaxlib {', '.join(releases)} were added.")])
        note("Next: `framedex index` looks up the functions that had no line of their release.")
    else:
        print_lines([render_text_line("No release map is newer than those here.")])


def _find_sources_to_fetch(
    index_path: Path | None, settings: Settings, names: Sequence[str]
) -> tuple[list[WantedCommit], list[FramedexError], Sequence[RootState]]:
    """The sources to fetch, an error for each name without a known commit, and the states of the source folders."""
    from framedex.sources.fetching.fetch import with_cached_pins
    from framedex.sources.fetching.wanted import find_wanted_sources
    from framedex.sources.releases.roots import read_root_state

    if names and all("@" in name for name in names) and find_index_path(index_path, settings) is None:
        return *find_wanted_sources(names, (), ()), ()
    with open_index(index_path) as index:
        builds = with_cached_pins(index.sources.builds())
        states = [read_root_state(root, builds) for root in index.sources.roots()]
    wanted, unknown = find_wanted_sources(names, builds, states)
    if not wanted and not any(build.component in ("xla", "jax") for build in builds):
        raise FramedexError(
            "No XLA or JAX code was recorded.",
            "Record a program with `framedex run SCRIPT`, or name a commit: xla@COMMIT.",
        )
    if not wanted and not unknown:
        note("The source folders have XLA and JAX at the recorded commits: `framedex sources` lists them.")
    return wanted, unknown, states


def _find_suppliers(wanted: WantedCommit, references: Sequence[Path], settings: Settings) -> list[ObjectSource]:
    """The repositories that supply a source. Raises FramedexError if a reference is not a clone."""
    from framedex.sources.fetching.suppliers import Clone, open_supplier

    return [*map(Clone.open, references), open_supplier(settings.mirrors.get(wanted.component, wanted.repository))]


def _render_plan_lines(
    missing: Sequence[WantedCommit],
    suppliers: dict[WantedCommit, list[ObjectSource]],
    cache: SourceCache,
    settings: Settings,
) -> Iterator[Line]:
    for each in missing:
        *clones, last = suppliers[each]
        is_mirror = each.component in settings.mirrors
        mirror_note = f", a mirror from {settings.file}" if is_mirror else ""
        folder = cache.checkout(each.component, each.commit or "COMMIT")
        yield (Span(make_printable(each.reason), "head"),)
        for clone in clones:
            yield render_text_line(
                f"     from {make_printable(clone.address)}, as far as it has the objects; the rest", "dim"
            )
        yield render_text_line(
            f"     from {make_printable(last.address)}{make_printable(mirror_note)}", "error" if is_mirror else "dim"
        )
        yield render_text_line(f"     to   {make_printable(str(folder))}", "dim")
        is_first_fetch = not any(
            cached.checkouts for cached in cache.components() if cached.component == each.component
        )
        yield render_text_line(f"     {each.size(is_first=is_first_fetch)}", "dim")


def _ask_for_consent(
    missing: Sequence[WantedCommit], settings: Settings, yes: bool, mirrors: bool, given: Sequence[str]
) -> None:
    """Return if the user agrees to the plan. Raises FramedexError otherwise, or without a terminal for the question.

    The settings of a folder may be hostile, so their mirrors need separate consent: --mirrors.
    """
    asks_mirror = any(each.component in settings.mirrors for each in missing)
    if yes and (mirrors or not asks_mirror):
        return
    if not yes and all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        if click.confirm("Fetch it?", err=True):
            return
        raise FramedexError("Nothing was fetched.", "")
    options = ["--yes", *(["--mirrors"] if asks_mirror else [])]
    raise FramedexError(
        "Nothing was fetched: "
        + ("--yes alone does not allow mirrors from the settings." if yes else "the download needs your consent."),
        f"`framedex sources fetch {' '.join(map(quote_shell_word, [*given, *options]))}` fetches it.",
    )


def _fetch_sources(
    cache: SourceCache, suppliers: Mapping[WantedCommit, list[ObjectSource]], failures: list[FramedexError]
) -> dict[WantedCommit, Path]:
    """Fetch sources one after the other, and append errors to `failures`."""
    from framedex.sources.fetching.fetch import fetch_sources

    folders = {}
    try:
        with progress_on_terminal() as progress:
            for wanted, places in suppliers.items():
                waiting = f"Another process fetches {wanted.component}; waiting for it to finish."
                try:
                    folders[wanted] = fetch_sources(cache, wanted, places, progress, partial(note, waiting))
                    print_lines([render_text_line(f"{wanted.title}: {make_printable(str(folders[wanted]))}")])
                except FramedexError as error:
                    failures.append(error)
    except KeyboardInterrupt:
        note("Interrupted. The download is kept; run the same command again to continue.")
        raise
    return folders


def _index_sources(index_path: Path | None, settings: Settings, cache: SourceCache, folders: Sequence[Path]) -> None:
    """Add the checkouts as source folders, in place of other fetched ones of the same component, and index them."""
    from framedex.commands.output.render_answers import report_lines
    from framedex.index import Store
    from framedex.ingest import ingest_captures

    path = writable_index_path(index_path, settings)
    opened = use_rebuilt_index(path, index_path, settings, lambda: Store(path, writer_patience()))
    with opened as store, progress_on_terminal() as progress:
        roots = store.sources.roots()
        with store.transaction():
            for folder in map(os.path.realpath, folders):
                store.sources.add_root(folder)
                for other in cache.other_checkouts(Path(folder), roots):
                    store.sources.remove_root(other)
                    note(f"{folder} replaces {other} in this index.")
        try:
            report = ingest_captures(store, (), folders, progress, None, settings.path_map)
        except KeyboardInterrupt:
            note("Interrupted. Finished work is kept; run `framedex index` to continue.")
            raise
        store.seal()
    print_lines(report_lines(report))
    note("Next: `framedex calls` lists the calls, `framedex sources` the source folders.")


def _replace_by_maps(
    index_path: Path | None, cache: SourceCache, folders: Mapping[WantedCommit, Path]
) -> dict[WantedCommit, Path]:
    """Write the source maps of checkouts, and remove the checkouts."""
    maps = _write_maps(index_path, cache, folders)
    for folder in folders.values():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise FramedexError(
                f"{folder} could not be removed: {error.strerror or error}.", "Check its permissions."
            ) from error
    return maps


def _write_maps(
    index_path: Path | None, cache: SourceCache, folders: Mapping[WantedCommit, Path]
) -> dict[WantedCommit, Path]:
    """Write the source maps of checkouts into the cache."""
    from framedex.commands.inputs.source_stores import open_store_of_sources
    from framedex.ingest.source_maps import export_map
    from framedex.model import SourceMapInfo
    from framedex.sources.source_map import list_tracked_files

    maps = {}
    for wanted, folder in folders.items():
        info = SourceMapInfo(wanted.component, wanted.repository, folder.name, False, VERSION)
        file = cache.source_map(wanted.component, folder.name)
        with (
            open_store_of_sources(folder, index_path) as store,
            open_atomic(file) as stream,
            progress_on_terminal() as progress,
        ):
            tracked = list_tracked_files(folder)
            export_map(store, folder, os.path.realpath(folder), info, stream, progress, tracked=tracked)
        maps[wanted] = file
    return maps


def _import_maps(
    index_path: Path | None, settings: Settings, cache: SourceCache, maps: Mapping[WantedCommit, Path]
) -> None:
    """Import source maps into the index, in place of fetched source folders of the same components."""
    from framedex.commands.output.render_answers import render_imported_map_lines
    from framedex.index import Store
    from framedex.ingest.source_maps import import_map

    if not maps:
        return
    path = writable_index_path(index_path, settings)
    opened = use_rebuilt_index(path, index_path, settings, lambda: Store(path, writer_patience()))
    with opened as store, progress_on_terminal() as progress:
        with store.transaction():
            for file in maps.values():
                for other in cache.other_checkouts(file, store.sources.roots()):
                    store.sources.remove_root(other)
                    note(f"{file} replaces {other} in this index.")
        imported = [import_map(store, file, progress) for file in maps.values()]
        store.seal()
    print_lines(line for each in imported for line in render_imported_map_lines(each))


def _note_duplicate_sources(
    cache: SourceCache, folders: Mapping[WantedCommit, Path], states: Sequence[RootState]
) -> None:
    """Note the user's own source folders that have the same component at another commit."""
    fetched = {each.component for each in folders}
    for state in states:
        is_duplicate = state.component in fetched and not state.matches and not state.path.is_relative_to(cache.folder)
        if is_duplicate:
            note(
                f"{state.path} also has {state.component}, so definitions appear twice:"
                f" `framedex sources remove {quote_shell_word(str(state.path))}` keeps only the fetched sources."
            )


def _remove_sources(cache: SourceCache, names: Sequence[str]) -> None:
    from framedex.sources.fetching.wanted import NAMES

    cached_components = {each.component for each in cache.components()}
    unknown = [name for name in names if NAMES.get(name) not in cached_components]
    if unknown:
        raise FramedexError(
            f"The cache has no sources of {unknown[0]}.", "`framedex sources fetch --list` lists the cache."
        )
    for component in sorted({NAMES[name] for name in names} or cached_components):
        waiting = f"Another process fetches {component}; waiting for it to finish."
        with cache.lock_component(component, partial(note, waiting)):
            try:
                cache.remove(component)
            except OSError as error:
                raise FramedexError(
                    f"{cache.folder / component} could not be removed: {error.strerror or error}.",
                    "Check its permissions.",
                ) from error
    note("Indexes keep its definitions until `framedex sources remove DIR`.")


def _render_cache_lines(cache: SourceCache) -> Iterator[Line]:
    cached = [each for each in cache.components() if each.checkouts or each.maps or each.size > 1 << 20]
    for each in cached:
        yield (Span(each.component, "head"), Span(f"  {words.format_size(each.size)}"))
        for kept in (*each.checkouts, *each.maps):
            yield render_text_line(f"     {make_printable(str(kept))}")
    if not cached:
        yield render_text_line(f"{make_printable(str(cache.folder))} is empty.")
