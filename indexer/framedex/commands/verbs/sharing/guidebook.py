"""`framedex guidebook`: a site with one page per function of the runtime's API, from captures."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.commands.inputs.files import working_folder
from framedex.commands.inputs.new_captures import INDEX_FOLDER
from framedex.commands.inputs.project_index import find_index_path, load_settings_here, open_debuginfod
from framedex.commands.inputs.selection import CaptureChoice, CaptureSelection, open_whole_runs
from framedex.commands.output.atomic_files import write_atomic
from framedex.commands.output.bars import progress_on_terminal, query_progress
from framedex.commands.output.console import note, print_error
from framedex.commands.output.terminal import standard_output
from framedex.texts.captures import is_of_samples

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model.guidebook import Observations

_SITE_NAME = "guidebook"
_DEFAULT_OUT = Path(INDEX_FOLDER) / _SITE_NAME
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_WEB_ADDRESS = re.compile(r"https?://[^\s\"<>]+")


def _parse_web_address(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the address without a trailing slash. Raises BadParameter if it is not a web address."""
    if value is not None and not _WEB_ADDRESS.fullmatch(value):
        raise click.BadParameter("write an address that begins with https://", ctx, parameter)
    return value.rstrip("/") if value is not None else None


@click.command()
@click.argument("places", metavar="[DIR|FILE]...", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"The folder of the site. Default: {_DEFAULT_OUT}; with --observations alone no site is written.",
)
@click.option("--title", default="Guidebook of the runtime's API", show_default=True, help="The site's title.")
@click.option(
    "--compare",
    "comparands",
    metavar="LEFT RIGHT",
    nargs=2,
    type=str,
    help=("Compare two plug-ins or versions: part of a plug-in's name, 'jax 0.10.2', or 'jax 0.10.2 on libpjrt_cpu'."),
)
@click.option(
    "--observations",
    "observations_file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help=("Write the observations to this file (- is stdout). `framedex guidebook FILE` reads it instead of captures."),
)
@click.option(
    "--documentation", metavar="DIR", type=_FOLDER, help="A checkout whose README.md and docs/ become part of the site."
)
@click.option(
    "--repository",
    metavar="URL",
    callback=_parse_web_address,
    help="The public address of that checkout's files.",
)
@click.option(
    "--capture",
    "selection",
    type=CaptureChoice(),
    metavar="ID|latest|all",
    default="all",
    show_default=True,
    help="Captures: ids of `framedex captures` (3 or 3,5), latest, or all.",
)
@click.pass_context
def guidebook(
    ctx: click.Context,
    places: tuple[Path, ...],
    out: Path | None,
    title: str,
    comparands: tuple[str, str] | None,
    observations_file: Path | None,
    documentation: Path | None,
    repository: str | None,
    selection: CaptureSelection,
) -> None:
    """Write a site with one page per API function.

    A page shows the callers of a function of the PJRT C API, their lines and arguments, the calls before and after
    it, and its errors. Objects and step-by-step programs have pages too. DIR is a capture or a folder of captures;
    FILE is a file of --observations. Default: all captures in the index. The site needs no network and no server.

    Needs mkdocs-material: pip install 'framedex[guidebook]'.
    """
    if places and ctx.get_parameter_source("selection") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--capture selects captures in the index: do not name folders or files with it.")
    site = out or (None if observations_file is not None and comparands is None else _default_site(ctx.obj, places))
    if site is not None:
        from framedex.guidebook.site.writer import check_writable

        check_writable(site)
        if observations_file is not None and observations_file.resolve().is_relative_to(site.resolve()):
            raise click.UsageError(
                "--observations is inside the site's folder, which framedex replaces: choose another path."
            )
    observations, is_refused = _read_or_observe(ctx.obj, places, selection)
    for run in observations.runs:
        if run.left_out:
            note(f"{run.title}: {run.left_out}")
    if observations_file is not None:
        from framedex.guidebook.observation_files import format_observations

        text = format_observations(observations)
        if str(observations_file) == "-":
            click.echo(text, standard_output())
        else:
            write_atomic(observations_file, text, "--observations")
            note(f"Written: {observations_file} ({words.format_size(len(text))})")
    if site is not None:
        _write_site(observations, site, title, comparands, documentation, repository)
        note(f"Written: {site / 'index.html'} ({words.count(len(observations.runs), 'run')})")
    if is_refused:
        ctx.exit(1)


def _default_site(index: Path | None, places: tuple[Path, ...]) -> Path:
    """The default folder of the site, where hovers search for it.

    It is the project's `.framedex` folder if the index is there, otherwise the one below the working folder.
    """
    found = find_index_path(index, load_settings_here()) if not places else None
    if found is None or found.parent.name != INDEX_FOLDER or found.parent.parent == working_folder():
        return _DEFAULT_OUT
    return found.with_name(_SITE_NAME)


def _read_or_observe(
    index: Path | None, places: tuple[Path, ...], selection: CaptureSelection
) -> tuple[Observations, bool]:
    """The observations of the named places or of the index, and whether captures were unreadable."""
    if places:
        return read_observations(places)
    with open_whole_runs(index, selection) as (known, _):
        return check_has_runs(observe_index(known)), False


def _write_site(
    observations: Observations,
    site: Path,
    title: str,
    comparands: tuple[str, str] | None,
    documentation: Path | None,
    repository: str | None,
) -> None:
    from framedex.guidebook.api_functions import read_api_functions, read_api_releases
    from framedex.guidebook.comparison import compare
    from framedex.guidebook.site.writer import write_site

    comparison = compare(observations, *comparands) if comparands else None
    write_site(
        observations,
        read_api_functions(),
        site,
        title=title,
        releases=read_api_releases(),
        comparison=comparison,
        documentation=documentation,
        repository=repository,
    )


def read_observations(places: Sequence[Path]) -> tuple[Observations, bool]:
    """Join the observations of files and captures in the given order, and return whether captures were unreadable.

    The captures are indexed in a temporary index; the user's own index is unchanged. Errors of captures are printed.
    Raises FramedexError if a file has no observations, or if nothing can be read.
    """
    from framedex.captures import find_captures_within
    from framedex.guidebook.observation_files import read_observation_file
    from framedex.guidebook.observations import join_observations

    from_files = [read_observation_file(place) for place in places if not place.is_dir()]
    captures = [capture for place in places if place.is_dir() for capture in find_captures_within(place)]
    found, refused = _index_and_observe(captures) if captures else (None, False)
    return check_has_runs(join_observations([*from_files, *([found] if found is not None else [])])), refused


def check_has_runs(observations: Observations) -> Observations:
    """Return the observations. Raises FramedexError if they have no runs."""
    if not observations.runs:
        raise FramedexError("The captures contain no calls.", "Record a program with `framedex run SCRIPT`.")
    return observations


def _index_and_observe(captures: Sequence[Path]) -> tuple[Observations, bool]:
    from framedex.index import Index, Store
    from framedex.ingest import ingest_captures

    settings = load_settings_here()
    with tempfile.TemporaryDirectory(prefix="framedex-guidebook-") as folder:
        path = Path(folder) / "index.db"
        with progress_on_terminal() as progress, open_debuginfod(progress) as debuginfod, Store(path) as store:
            report = ingest_captures(
                store, list(dict.fromkeys(captures)), [], progress, rules=settings.path_map, debuginfod=debuginfod
            )
        for capture, error in report.refused:
            print_error(FramedexError(f"{capture} was not read: {error.message}", error.remedy))
        with Index.open(path, links=settings.links) as index:
            return observe_index(index), bool(report.refused)


def observe_index(index: Index) -> Observations:
    """The observations of all captures in an index, with a note for each capture that is left out."""
    from framedex.guidebook.observations import observe

    for capture in index.captures():
        if is_of_samples(capture.metadata_text):
            note(f"Capture {capture.id} is left out: it is an imported profile, and samples are not calls.")
    index.set_progress_listener(query_progress())
    return observe(index)
