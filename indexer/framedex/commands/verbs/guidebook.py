"""`framedex guidebook`: a site with one page per function of the runtime's API, from captures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.inputs.files import working_folder
from framedex.commands.inputs.known import INDEX_FOLDER, known_index, load_settings_here
from framedex.commands.inputs.scope import CaptureChoice, Chosen, index_of_whole_runs
from framedex.commands.output.console import note
from framedex.commands.output.terminal import standard_output
from framedex.commands.output.whole_files import write_whole

if TYPE_CHECKING:
    from framedex.model.guidebook.observed import Observations

_SITE = "guidebook"
_OUT = Path(INDEX_FOLDER) / _SITE
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_WEB = re.compile(r"https?://[^\s\"<>]+")


def _of_the_web(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The public address without a trailing slash. Raises BadParameter if it is not a web address."""
    if value is not None and not _WEB.fullmatch(value):
        raise click.BadParameter("write an address that begins with https://", ctx, parameter)
    return value.rstrip("/") if value is not None else None


@click.command()
@click.argument("places", metavar="[DIR|FILE]...", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"The folder of the site. Default: {_OUT}; with --observations alone no site is written.",
)
@click.option("--title", default="Guidebook of the runtime's API", show_default=True, help="The site's title.")
@click.option(
    "--compare",
    "compared",
    metavar="LEFT RIGHT",
    nargs=2,
    type=str,
    help=("Compare two plug-ins or versions: part of a plug-in's name, 'jax 0.10.2', or 'jax 0.10.2 on libpjrt_cpu'."),
)
@click.option(
    "--observations",
    "kept_in",
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
    callback=_of_the_web,
    help="The public address of that checkout's files.",
)
@click.option(
    "--capture",
    "chosen",
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
    compared: tuple[str, str] | None,
    kept_in: Path | None,
    documentation: Path | None,
    repository: str | None,
    chosen: Chosen,
) -> None:
    """Write a site with one page per API function.

    A page shows the callers of a function of the PJRT C API, their lines and arguments, the calls before and after
    it, and its errors. Objects and step-by-step programs have pages too. DIR is a capture or a folder of captures;
    FILE is a file of --observations. Default: all captures in the index. The site needs no network and no server.

    Needs mkdocs-material: pip install 'framedex[guidebook]'.
    """
    if places and ctx.get_parameter_source("chosen") is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--capture selects captures in the index: do not name folders or files with it.")
    site = out or (None if kept_in is not None and compared is None else _usual_site(ctx.obj, places))
    if site is not None:
        from framedex.guidebook.site.writing import check_that_it_can_be_written

        check_that_it_can_be_written(site)
        if kept_in is not None and kept_in.resolve().is_relative_to(site.resolve()):
            raise click.UsageError("--observations is inside the site's folder, which is replaced.")
    observations, is_refused = _observed(ctx.obj, places, chosen)
    for run in observations.runs:
        if run.left_out:
            note(f"{run.title}: {run.left_out}")
    if kept_in is not None:
        from framedex.guidebook.keeping import kept

        text = kept(observations)
        if str(kept_in) == "-":
            click.echo(text, standard_output())
        else:
            write_whole(kept_in, text, "--observations")
            note(f"Written: {kept_in} ({words.size(len(text))})")
    if site is not None:
        _write_site(observations, site, title, compared, documentation, repository)
        note(f"Written: {site / 'index.html'} tells of {words.count(len(observations.runs), 'run')}.")
    if is_refused:
        ctx.exit(1)


def _usual_site(index: Path | None, places: tuple[Path, ...]) -> Path:
    """The default folder of the site, where hovers search for it.

    It is the project's `.framedex` folder if the index is there, otherwise the one below the working folder.
    """
    found = known_index(index, load_settings_here()) if not places else None
    if found is None or found.parent.name != INDEX_FOLDER or found.parent.parent == working_folder():
        return _OUT
    return found.with_name(_SITE)


def _observed(index: Path | None, places: tuple[Path, ...], chosen: Chosen) -> tuple[Observations, bool]:
    from framedex.commands.inputs.observed import observed_in, observed_in_index, with_runs

    if places:
        return observed_in(places)
    with index_of_whole_runs(index, chosen) as (known, _):
        return with_runs(observed_in_index(known)), False


def _write_site(
    observations: Observations,
    site: Path,
    title: str,
    compared: tuple[str, str] | None,
    documentation: Path | None,
    repository: str | None,
) -> None:
    from framedex.guidebook.comparing import compare
    from framedex.guidebook.described import described, releases
    from framedex.guidebook.site.writing import write_site

    comparison = compare(observations, *compared) if compared else None
    write_site(
        observations,
        described(),
        site,
        title=title,
        releases=releases(),
        comparison=comparison,
        documentation=documentation,
        repository=repository,
    )
