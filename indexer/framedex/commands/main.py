"""The command line `framedex`: one verb, one module, loaded when it is asked for."""

from __future__ import annotations

import importlib
import signal
from pathlib import Path
from typing import Any

import click

from framedex.errors import FramedexError

# Where each verb is, in the order of a first visit: record, index, look. The server is above this package and imports
# it; its verb is a name in this table, looked up only by the process that becomes the server.
_VERBS = {
    "run": "framedex.commands.verbs.run:run",
    "index": "framedex.commands.verbs.index:index_captures",
    "sources": "framedex.commands.verbs.sources:sources",
    "sources export": "framedex.commands.verbs.source_maps:export_sources",
    "sources import": "framedex.commands.verbs.source_maps:import_sources",
    "captures": "framedex.commands.verbs.captures:captures",
    "calls": "framedex.commands.verbs.calls:calls",
    "summary": "framedex.commands.verbs.summary:summary",
    "ffi": "framedex.commands.verbs.ffi:ffi",
    "check": "framedex.commands.verbs.check:check",
    "trace": "framedex.commands.verbs.trace:trace",
    "where": "framedex.commands.verbs.where:where",
    "explain": "framedex.commands.verbs.explain:explain",
    "resolve": "framedex.commands.verbs.resolve:resolve",
    "find": "framedex.commands.verbs.find:find",
    "callers": "framedex.commands.verbs.relations:callers",
    "callees": "framedex.commands.verbs.relations:callees",
    "open": "framedex.commands.verbs.open:open_source",
    "cmake": "framedex.commands.verbs.cmake:cmake",
    "doctor": "framedex.commands.verbs.doctor:doctor",
    "serve": "framedex_server.command:serve",
}


class Verbs(click.Group):
    """The verbs, each imported on first use, and the one place where errors meant for users are printed."""

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """Run the whole process as click does, and say so where its output cannot be written."""
        from framedex.commands.output.pipes import told_if_unwritable

        with told_if_unwritable():
            return super().__call__(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, in the order of a first visit."""
        return [name for name in _VERBS if " " not in name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of this name, imported now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = _imported(cmd_name)
        below = [name for name in _VERBS if name.startswith(f"{cmd_name} ")]
        if below:
            assert isinstance(command, click.Group)
            for name in below:
                command.add_command(_imported(name))
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; an error meant for the user is printed with its remedy and ends with status 1.

        Ctrl-C ends with the status that shells have for it, without a word: whoever pressed it knows.
        """
        try:
            return self._invoke_with_plain_errors(ctx)
        except FramedexError as error:
            from framedex.commands.output.console import print_error

            print_error(error)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(128 + signal.SIGINT)

    def _invoke_with_plain_errors(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except FileNotFoundError:
            from framedex.commands.reading.files import working_folder

            working_folder()  # raises FramedexError where a relative path had none to begin at
            raise
        except (FramedexError, OSError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            _blame_damage(ctx, error)
            raise


def _imported(verb: str) -> click.Command:
    module, attribute = _VERBS[verb].split(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def _blame_damage(ctx: click.Context, error: Exception) -> None:
    """Raise FramedexError where the index that was asked is damaged: then that is why."""
    from framedex.commands.reading.known import INDEX
    from framedex.index.file.soundness import blaming_damage

    if (path := ctx.meta.get(INDEX)) is not None:
        with blaming_damage(path):
            raise error


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="framedex")
@click.option(
    "--index",
    "index_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The index to use. Default: the nearest .framedex/index.db upwards from here.",
)
@click.pass_context
def cli(ctx: click.Context, index_path: Path | None) -> None:
    """See what really happens under a line of JAX: every mixed Python and C++ stack, with its source."""
    ctx.obj = index_path
