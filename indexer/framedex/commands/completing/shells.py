"""Completion for bash, zsh and fish: click's completion, with scripts that treat candidates as plain text.

The shell passes the words as arguments and reads lines of the form `VALUE<TAB>HELP`. A line without a value requests
the shell's own completion of files (`file`) or folders (`dir`). Names in an index may come from a stranger. So
candidates with invisible characters are omitted and all others are quoted: by zsh and fish themselves, for bash here. A
candidate never becomes more than one word.

Candidates are captures, functions and files from the index, then local files. Each query of the index is a limited
range query, so completion stays fast for large recordings.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    _resolve_context,
    _resolve_incomplete,
    add_completion_class,
    split_arg_string,
)

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, make_visible, truncate

if TYPE_CHECKING:
    from framedex.index import Index


_MAX_CANDIDATES = 100
_LOCK_TIMEOUT_S = 0.1  # completion does not wait for another process that writes the index
_MAX_FOLDER_ENTRIES = 20_000
_FILES = [CompletionItem("", type="file")]
Items = list[CompletionItem[Any]]


def index_candidates(
    context: click.Context, parameter: click.Command | click.Parameter, incomplete: str
) -> Items | None:
    """The candidates for a parameter; None if click's own candidates apply."""
    is_fleet_verb = (
        context.parent is not None and context.parent.info_name == "fleet"
    )  # fleet verbs complete from a store, not from an index
    if not isinstance(parameter, click.Parameter) or is_fleet_verb:
        return None
    if isinstance(parameter, click.Option):
        query = next((_OPTION_CANDIDATES[each] for each in parameter.opts if each in _OPTION_CANDIDATES), None)
        return None if query is None else _query_index(context, incomplete, query)
    if (context.info_name, parameter.name) in _FILE_ARGUMENTS:
        return list(_FILES)
    query = _ARGUMENT_CANDIDATES.get(context.info_name or "")
    if query is None:
        return None
    return _query_index(context, incomplete, query) + (_FILES if query is _recorded_files else [])


def find_matching_files(text: str, *, only_folders: bool) -> Iterator[str]:
    """The local files and folders whose paths start with a text, as typed; folders end in a slash."""
    name = text.rpartition("/")[2]
    before = text[: len(text) - len(name)]
    with suppress(OSError), os.scandir(os.path.expanduser(before) or ".") as entries:  # noqa: PTH111
        found = [entry for entry in islice(entries, _MAX_FOLDER_ENTRIES) if entry.name.startswith(name)]
        for entry in sorted(found, key=lambda entry: entry.name):
            is_folder = entry.is_dir()
            if (name or not entry.name.startswith(".")) and (is_folder or not only_folders):
                yield f"{before}{entry.name}{'/' if is_folder else ''}"


def _query_index(context: click.Context, incomplete: str, query: Callable[[Index, str], Items]) -> Items:
    """The candidates from the index; empty if the index is missing or unreadable."""
    from framedex.index import Index, find_index
    from framedex.settings import Settings

    given = context.find_root().params.get("index_path")
    with suppress(FramedexError, OSError):
        path = given or Settings.load(Path.cwd())[0].index or find_index(Path.cwd())
        if path is not None:
            with Index.open(path, _LOCK_TIMEOUT_S, may_write=False) as index:
                return query(index, incomplete)
    return []


def _capture_ids(index: Index, incomplete: str) -> Items:
    rows = [row for row in index.captures() if str(row.id).startswith(incomplete)]
    now = time.time()
    return [
        CompletionItem(str(row.id), help=f"{words.shorten_command(row.command)}, {words.format_age(now - row.started)}")
        for row in reversed(rows[-_MAX_CANDIDATES:])
    ]


def _capture_selections(index: Index, incomplete: str) -> Items:
    """Candidates for --capture."""
    rules = ("latest", "all")
    return _capture_ids(index, incomplete) + [CompletionItem(each) for each in rules if each.startswith(incomplete)]


def _function_names(index: Index, incomplete: str) -> Items:
    return [CompletionItem(name) for name in index.prefix_search.functions(incomplete, _MAX_CANDIDATES)]


def _called_functions(index: Index, incomplete: str) -> Items:
    return [CompletionItem(name) for name in index.prefix_search.boundaries(incomplete, _MAX_CANDIDATES)]


def _trace_targets(index: Index, incomplete: str) -> Items:
    """Candidates for `trace`: runtime functions with calls, then functions on stacks."""
    return _called_functions(index, incomplete) + _function_names(index, incomplete)


def _ffi_targets(index: Index, incomplete: str) -> Items:
    return [CompletionItem(name) for name in index.prefix_search.ffi_targets(incomplete, _MAX_CANDIDATES)]


def _recorded_files(index: Index, incomplete: str) -> Items:
    """The recorded files below the working folder as relative paths; absolute paths if the text starts with a slash."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    before = "" if incomplete.startswith("/") else here
    found = index.prefix_search.recorded_files(before + incomplete, _MAX_CANDIDATES)
    return [CompletionItem(path.removeprefix(before)) for path in found]


def _stack_texts(index: Index, incomplete: str) -> Items:
    """Candidates for --through."""
    return _function_names(index, incomplete) + _recorded_files(index, incomplete)


_OPTION_CANDIDATES: dict[str, Callable[[Index, str], Items]] = {
    "--capture": _capture_selections,
    "--function": _called_functions,
    "--through": _stack_texts,
}
_ARGUMENT_CANDIDATES: dict[str, Callable[[Index, str], Items]] = {
    "diff": _capture_selections,
    "share": _capture_selections,
    "keep": _capture_ids,
    "rm": _capture_ids,
    "callers": _function_names,
    "callees": _function_names,
    "find": _function_names,
    "trace": _trace_targets,
    "ffi": _ffi_targets,
    "where": _recorded_files,
    "open": _recorded_files,
}
_FILE_ARGUMENTS = {("run", "program"), ("explain", "file"), ("resolve", "file")}


VARIABLE = "_FRAMEDEX_COMPLETE"
"""The environment variable with click's completion request, such as `bash_complete` or `bash_source`."""

_MAX_HELP_CHARS = 70
_NATIVE_TYPES = ("file", "dir")

_BASH = """\
# Completion of framedex for bash: written by `framedex completion install bash`.
_framedex() {
    local line program=%(program)s
    [[ -x $program ]] || program=$(type -P framedex)
    [[ $program == /* ]] || return
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(%(variable)s=bash_complete "$program" "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" "$COMP_TYPE" \\
        2>/dev/null </dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace
    fi
}
complete -o nosort -F _framedex framedex
"""

_ZSH = """\
#compdef framedex
# Completion of framedex for zsh: written by `framedex completion install zsh`.
_framedex() {
    local line value program=%(program)s
    local -a offered shown folders native
    [[ -x $program ]] || program=${commands[framedex]}
    [[ $program == /* ]] || return 1
    while IFS= read -r line; do
        value=${line%%%%$'\\t'*}
        line=${line#*$'\\t'}
        if [[ -z $value ]]; then
            native+=("$line")
        elif [[ $value == */ ]]; then
            folders+=("$value")
        else
            offered+=("$value")
            shown+=("$value${line:+  -- $line}")
        fi
    done < <(%(variable)s=zsh_complete "$program" "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)
    [[ $PREFIX == --*=* ]] && compset -P '*='
    (( $#offered )) && compadd -l -V framedex -d shown -a offered
    (( $#folders )) && compadd -V folders -S '' -a folders
    [[ ${native[(r)file]} == file ]] && _files
    [[ ${native[(r)dir]} == dir ]] && _files -/
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _framedex "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef _framedex framedex
fi
"""

_FISH = """\
# Completion of framedex for fish: written by `framedex completion install fish`.
function __framedex_complete
    set -l program %(program)s
    test -x $program; or set program (command -s framedex)
    string match -q '/*' -- $program; or return
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l plain (string unescape -- "$current"); or set plain (string sub --start 2 -- "$current")
    set -a words "$plain"
    for line in (env %(variable)s=fish_complete $program $words[2..-1] 2>/dev/null </dev/null)
        switch $line
            case \\tfile
                __fish_complete_path "$current"
            case \\tdir
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete --command framedex --no-files --keep-order --arguments '(__framedex_complete)'
"""


class _ShellCompletion(ShellComplete):
    """The completion code that all shells share."""

    def source_vars(self) -> Any:
        return {"program": self.quote_path(self.prog_name), "variable": VARIABLE}

    def quote_path(self, text: str) -> str:
        """A path quoted for a script of this shell."""
        return "'" + text.replace("'", "'\\''") + "'"

    def get_completion_args(self) -> tuple[list[str], str]:
        *words, incomplete = sys.argv[1:] or [""]
        return words, incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return values from an index if the parameter takes such values, otherwise click's candidates."""
        context = _resolve_context(self.cli, self.ctx_args, "framedex", args)
        given, incomplete = _split_option(incomplete)
        if context.info_name == "run" and context.params.get("program"):
            return [CompletionItem("", type="file")]  # arguments of the recorded program
        parameter, incomplete = _resolve_incomplete(context, [*args, *given], incomplete)
        own = index_candidates(context, parameter, incomplete)
        return own if own is not None else parameter.shell_complete(context, incomplete)

    def format_completion(self, item: CompletionItem[Any]) -> str:
        if item.type in _NATIVE_TYPES:
            return f"\t{item.type}"
        return f"{item.value}\t{_format_help(item.help)}"

    def complete(self) -> str:
        """Return the candidates as lines for the shell.

        Any error gives an empty text: TAB must never print a traceback.
        """
        try:
            args, incomplete = self.get_completion_args()
            items = [
                item for item in self.get_completions(args, incomplete) if make_printable(str(item.value)) == item.value
            ]
            return "\n".join(dict.fromkeys(map(self.format_completion, self.adapt_items(items, incomplete))))
        except Exception:  # a damaged index may raise any error
            return ""

    def adapt_items(self, items: list[CompletionItem[Any]], _incomplete: str) -> Iterable[CompletionItem[Any]]:
        """Return the items in the form that this shell inserts."""
        return items


class Bash(_ShellCompletion):
    """Completion for bash.

    bash replaces the text after the last word break (`:` and `=` are breaks), and does not quote it.
    """

    name = "bash"
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the incomplete word, from bash's line."""
        line, self._breaks, self._type = (*sys.argv[1:4], "", "", "")[:3]
        self._raw = _last_word(line)
        words = split_arg_string(line)
        return words[1 : len(words) - bool(self._raw)], words[-1] if self._raw else ""

    def adapt_items(self, items: list[CompletionItem[Any]], incomplete: str) -> Iterator[CompletionItem[Any]]:
        """Return the items as quoted text after the last word break, including files."""
        option, typed = _split_option(incomplete)
        # For an unquoted word, bash replaces only the text after its last break.
        breaks = "" if self._quote_character else "".join(set(self._breaks) & set(":="))
        kept = len(re.split(f"[{breaks}]", typed)[-1]) if breaks else len(typed)
        before = f"{option[0]}=" if option and "=" not in breaks else ""
        # The help text of an id is shown only in a listing, after a second TAB.
        is_list = self._type in ("33", "63") and len(items) > 1
        for item in items:
            is_path = item.type in _NATIVE_TYPES
            for value in find_matching_files(typed, only_folders=item.type == "dir") if is_path else [str(item.value)]:
                help_text = f"  -- {_format_help(item.help)}" if is_list and value.isdecimal() and item.help else ""
                yield CompletionItem(self._quote_text(before + value[len(typed) - kept :]) + help_text)

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """The line for an item: its value alone."""
        return str(item.value)

    @property
    def _quote_character(self) -> str:
        return self._raw[:1] if self._raw[:1] in ("'", '"') else ""

    def _quote_text(self, text: str) -> str:
        if self._quote_character == "'":
            return text.replace("'", "'\\''")
        special = r'([$`"\\!])' if self._quote_character else r"([^\w@%+:,./~=-])"
        return re.sub(special, r"\\\1", text, flags=re.ASCII)


class Zsh(_ShellCompletion):
    """Completion for zsh, which quotes the text that it inserts."""

    name = "zsh"
    source_template = _ZSH


class Fish(_ShellCompletion):
    """Completion for fish, which quotes the text that it inserts and treats `--option=value` as one word."""

    name = "fish"
    source_template = _FISH

    def quote_path(self, text: str) -> str:
        """A path quoted for a fish script."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def adapt_items(self, items: list[CompletionItem[Any]], incomplete: str) -> Iterator[CompletionItem[Any]]:
        """The items with the option that they belong to; paths under `~` are listed here."""
        given, typed = _split_option(incomplete)
        before = f"{given[0]}=" if given else ""
        for item in items:
            if item.type not in _NATIVE_TYPES:
                yield CompletionItem(f"{before}{item.value}", help=item.help)
            elif typed.startswith("~") and not given:
                yield item  # fish expands it itself
            else:
                for path in find_matching_files(typed, only_folders=item.type == "dir"):
                    yield CompletionItem(before + path)


SHELLS: dict[str, type[_ShellCompletion]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}

for _shell in SHELLS.values():
    add_completion_class(_shell)


def build_completion_script(shell: str, program: str) -> str:
    """The completion script of a shell for the framedex at a path."""
    return SHELLS[shell](_NO_COMMAND, {}, program, VARIABLE).source()


_NO_COMMAND: Any = None  # the script does not need a command


def _split_option(incomplete: str) -> tuple[list[str], str]:
    """Split `--option=value` into the option and the value."""
    name, equals, value = incomplete.partition("=")
    return ([name], value) if equals and name.startswith("--") else ([], incomplete)


def _last_word(line: str) -> str:
    """The last word of a command line as typed, with its quotes."""
    match = re.search(r"""(?:[^\s'"\\]|\\.|'[^']*'?|"(?:[^"\\]|\\.)*"?)+$""", line, re.DOTALL)
    return match[0] if match else ""


def _format_help(help_text: str | None) -> str:
    return truncate(make_visible(" ".join((help_text or "").split())), _MAX_HELP_CHARS)
