"""The command line `framedex`: one verb, one module, loaded when it is asked for."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from framedex.commands.output.proposals import as_typed, called_as
from framedex.errors import FramedexError
from framedex.plaintext import shell_word
from framedex.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMPLETING = "_FRAMEDEX_COMPLETE"  # set by shells whose TAB asks what fits; see completing/shells.py


class Verb(NamedTuple):
    """A verb: where it is (`module:attribute`), and the first sentence of its help, for the list of all verbs."""

    place: str
    summary: str


# In the order of a first visit: record, index, look. A test holds the sentences against the verbs' own. The server is
# above this package and imports it; its verb is a name in this table, looked up only by the process that becomes the
# server.
VERBS = {
    "demo": Verb(
        "framedex.commands.verbs.demo:demo",
        "Record a small program of JAX, and show what happened.",
    ),
    "run": Verb(
        "framedex.commands.verbs.run:run",
        "Run a program, and record every call into its runtime.",
    ),
    "index": Verb(
        "framedex.commands.verbs.index:index_captures",
        "Bring the index up to date: name frames, and find sources.",
    ),
    "import": Verb(
        "framedex.commands.verbs.import_files:import_files",
        "Take stacks that other recorders wrote into the index.",
    ),
    "share": Verb(
        "framedex.commands.verbs.share:share",
        "Write a capture into one file, to be looked at elsewhere.",
    ),
    "sources": Verb(
        "framedex.commands.verbs.sources:sources",
        "Show where the lines of recorded frames come from.",
    ),
    "sources export": Verb(
        "framedex.commands.verbs.source_maps:export_sources",
        "Write what ROOT defines to a source map that `import` reads.",
    ),
    "sources import": Verb(
        "framedex.commands.verbs.source_maps:import_sources",
        "Take the definitions of a source map into the index.",
    ),
    "sources fetch": Verb(
        "framedex.commands.verbs.source_fetch:fetch",
        "Fetch the sources of what was recorded, and index them.",
    ),
    "captures": Verb("framedex.commands.verbs.captures:captures", "List the captures in the index."),
    "captures rm": Verb(
        "framedex.commands.verbs.captures_rm:remove_captures",
        "Remove captures: their folders, and what the index has of them.",
    ),
    "captures keep": Verb(
        "framedex.commands.verbs.captures_keep:keep_captures",
        "Mark captures so that `framedex captures rm` leaves them.",
    ),
    "fleet": Verb("framedex.commands.verbs.fleet:fleet", "Gather captures of many processes, and ask all of them."),
    "fleet add": Verb(
        "framedex.commands.verbs.fleet_add:add_to_fleet",
        "Put captures into a store, each once however often it is added.",
    ),
    "fleet query": Verb(
        "framedex.commands.verbs.fleet_query:query_fleet",
        "Ask all captures of a store, by a question or by SQL.",
    ),
    "fleet ranks": Verb(
        "framedex.commands.verbs.fleet_ranks:ranks_of_fleet",
        "Show what the ranks of a job do otherwise than the others.",
    ),
    "fleet pull": Verb(
        "framedex.commands.verbs.fleet_pull:pull_from_fleet",
        "Make an index of chosen captures, for editors and verbs.",
    ),
    "fleet compact": Verb(
        "framedex.commands.verbs.fleet_compact:compact_fleet",
        "Put the small files of each day and job together.",
    ),
    "fleet drop": Verb(
        "framedex.commands.verbs.fleet_drop:drop_of_fleet",
        "Drop the captures from before a day, or those of a job.",
    ),
    "calls": Verb("framedex.commands.verbs.calls:calls", "List recorded calls by time, with arguments and results."),
    "summary": Verb("framedex.commands.verbs.summary:summary", "Sum up calls by function: count, errors, and times."),
    "compiles": Verb(
        "framedex.commands.verbs.compiles:compiles", "Show which lines compile, how long, and what changed."
    ),
    "transfers": Verb("framedex.commands.verbs.transfers:transfers", "Show which lines move data to and from devices."),
    "memory": Verb("framedex.commands.verbs.memory:memory", "Show which lines hold device memory: peak, end, growth."),
    "waits": Verb("framedex.commands.verbs.waits:waits", "Show which lines wait for the device, and loops' steps."),
    "diff": Verb("framedex.commands.verbs.diff:diff", "Show what two recordings differ in."),
    "report": Verb("framedex.commands.verbs.report:report", "Write one HTML file of what captures hold."),
    "export": Verb("framedex.commands.verbs.export:export", "Write recorded calls for another viewer."),
    "guidebook": Verb(
        "framedex.commands.verbs.guidebook:guidebook",
        "Write a site of the API's functions: what captures tell.",
    ),
    "ffi": Verb(
        "framedex.commands.verbs.ffi:ffi",
        "Show FFI targets: handlers, Python lines, and times.",
    ),
    "check": Verb("framedex.commands.verbs.check:check", "Show what captures tell to be wrong."),
    "trace": Verb("framedex.commands.verbs.trace:trace", "Show the merged Python and C++ stack of a call."),
    "where": Verb("framedex.commands.verbs.where:where", "Show which calls pass a file, or one line of it."),
    "explain": Verb(
        "framedex.commands.verbs.explain:explain",
        "Show the stacks in a crash text or a log, with their sources.",
    ),
    "resolve": Verb(
        "framedex.commands.verbs.resolve:resolve",
        "Pass a log on, and add to its frames where their source is.",
    ),
    "find": Verb(
        "framedex.commands.verbs.find:find",
        "Find functions, classes and FFI targets by a part of a name.",
    ),
    "callers": Verb(
        "framedex.commands.verbs.relations:callers", "Show which functions called NAME in recorded stacks."
    ),
    "callees": Verb(
        "framedex.commands.verbs.relations:callees", "Show which functions NAME called in recorded stacks."
    ),
    "open": Verb("framedex.commands.verbs.open:open_source", "Open a place in your editor, else in the browser."),
    "cmake": Verb("framedex.commands.verbs.cmake:cmake", "Write a project for CLion and clangd."),
    "doctor": Verb(
        "framedex.commands.verbs.doctor:doctor",
        "Tell what works here, and how to mend the rest.",
    ),
    "completion": Verb(
        "framedex.commands.verbs.completion:completion",
        "Have a TAB in your shell complete verbs, options and names.",
    ),
    "mcp": Verb(
        "framedex.commands.verbs.mcp:mcp",
        "Answer agents that speak MCP, over stdin and stdout.",
    ),
    "serve": Verb("framedex_server.command:serve", "Run the language server over stdin and stdout."),
}


class Verbs(click.Group):
    """The verbs, each imported on first use, and the one place where errors meant for users are printed."""

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """Run the whole process as click does, and say so where its output cannot be written."""
        from framedex.commands.output.pipes import told_if_unwritable

        with told_if_unwritable():
            return super().__call__(*args, **extra)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *more: Any, **extra: Any) -> Any:
        """As click does, and called in usages and proposals as it was called in the shell."""
        if _COMPLETING in os.environ:
            import framedex.commands.completing.shells  # noqa: F401 - click finds the shells that it defines
        extra.setdefault("complete_var", _COMPLETING)
        return super().main(args, prog_name or called_as(), *more, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """The verbs that begin so, and options, without importing any verb."""
        from click.shell_completion import CompletionItem

        verbs = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [CompletionItem(name, help=VERBS[name].summary) for name in verbs] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, in the order of a first visit."""
        return [name for name in VERBS if " " not in name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of this name, imported now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = _imported(cmd_name)
        below = [name for name in VERBS if name.startswith(f"{cmd_name} ")]
        if below:
            assert isinstance(command, click.Group)
            for name in below:
                command.add_command(_imported(name))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is asked for. Raises UsageError, with the likeliest one, where there is none of that name."""
        if args[0].startswith("-") or self.get_command(ctx, args[0]) is not None:
            return super().resolve_command(ctx, args)
        from framedex.nearest import nearest

        near = nearest(args[0], self.list_commands(ctx))
        advice = f"Did you mean '{near}'?" if near else "`framedex --help` lists the verbs."
        if args[0].endswith(".py"):
            advice = f"`framedex run {shell_word(args[0])}` records a program."
        raise click.UsageError(f"There is no verb '{args[0]}'. {advice}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the verbs, as click does, without importing any of them."""
        names = self.list_commands(ctx)
        room = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=VERBS[name].summary).get_short_help_str(room)) for name in names]
            )

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; an error meant for the user is printed with its remedy and ends with status 1.

        Ctrl-C ends with the status that shells have for it, without a word: whoever pressed it knows.
        """
        try:
            return self._invoke_with_plain_errors(ctx)
        except FramedexError as error:
            _print_error(error)
            ctx.exit(1)
        except click.UsageError as error:
            if type(error) is click.UsageError:  # the other kinds have no words of ours
                raise click.UsageError(as_typed(error.message), error.ctx) from error
            raise
        except KeyboardInterrupt:
            ctx.exit(128 + signal.SIGINT)
        except (OSError, MemoryError, ImportError) as error:
            failure = _system_failure(error)
            if failure is None or getattr(sys.stdout, "failure", None) is not None:  # `told_if_unwritable` reports it
                raise
            _print_error(failure)
            ctx.exit(1)

    def _invoke_with_plain_errors(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except FileNotFoundError:
            from framedex.commands.reading.files import working_folder

            working_folder()  # raises FramedexError where a relative path had none to begin at
            raise
        except (FramedexError, OSError, MemoryError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            _blame_damage(ctx, error)
            raise


def _imported(verb: str) -> click.Command:
    module, attribute = VERBS[verb].place.split(":")
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)
    return command


def _system_failure(error: Exception) -> FramedexError | None:
    from framedex.systemlimits import system_failure

    return system_failure(error)


def _print_error(error: FramedexError) -> None:
    try:
        from framedex.commands.output.console import print_error

        print_error(error)
    except (OSError, MemoryError, ImportError):  # a process that reached a limit can import nothing more
        with suppress(OSError):
            click.echo(f"framedex: {error.message}\n  {error.remedy}", err=True)


def _blame_damage(ctx: click.Context, error: Exception) -> None:
    """Raise FramedexError where the index that was asked is damaged: then that is why."""
    from framedex.commands.reading.known import INDEX
    from framedex.index.file.soundness import blaming_damage

    if (path := ctx.meta.get(INDEX)) is not None:
        with blaming_damage(path):
            raise error


@click.command(name="framedex", cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="framedex")
@click.option(
    "--index",
    "index_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The index to use. Default: the nearest .framedex/index.db upwards from here.",
)
@click.option("--read-only", is_flag=True, hidden=True, help="For verbs that are run for others: write nothing.")
@click.pass_context
def cli(ctx: click.Context, index_path: Path | None, read_only: bool) -> None:
    """See what really happens under a line of JAX: every mixed Python and C++ stack, with its source.

    The status is 0 for an answer, 1 where nothing of what was asked for is found, or something failed (stderr says
    what, and what helps), and 2 for a command line that is not understood. `run` ends as its program does.
    """
    ctx.obj = index_path
    if read_only:
        from framedex.commands.reading.known import READ_ONLY

        ctx.meta[READ_ONLY] = True
