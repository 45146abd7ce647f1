"""Completion for bash, zsh and fish: click's, with scripts that treat candidates as plain text.

The shell passes the words as arguments and reads lines of the form `VALUE<TAB>HELP`. A line without a value requests
the shell's own completion of files (`file`) or folders (`dir`). Names in an index may come from a stranger. So
candidates with invisible characters are omitted and all others are quoted: by zsh and fish themselves, for bash here. A
candidate never becomes more than one word.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    _resolve_context,
    _resolve_incomplete,
    add_completion_class,
    split_arg_string,
)

from framedex.commands.completing.values import files_beginning, values_of
from framedex.plaintext import printable, truncate, visible

VARIABLE = "_FRAMEDEX_COMPLETE"
"""The environment variable with click's completion request, such as `bash_complete` or `bash_source`."""

_LONGEST_HELP = 70
_NATIVE = ("file", "dir")

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


class _Asked(ShellComplete):
    """Completion that all shells share."""

    def source_vars(self) -> Any:
        return {"program": self.quoted(self.prog_name), "variable": VARIABLE}

    def quoted(self, text: str) -> str:
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
            return [CompletionItem("", type="file")]  # the program's own arguments
        asked, incomplete = _resolve_incomplete(context, [*args, *given], incomplete)
        own = values_of(context, asked, incomplete)
        return own if own is not None else asked.shell_complete(context, incomplete)

    def format_completion(self, item: CompletionItem[Any]) -> str:
        if item.type in _NATIVE:
            return f"\t{item.type}"
        return f"{item.value}\t{_brief(item.help)}"

    def complete(self) -> str:
        """Return the candidates as lines for the shell.

        Any error gives an empty text: TAB must never print a traceback.
        """
        try:
            args, incomplete = self.get_completion_args()
            items = [
                item for item in self.get_completions(args, incomplete) if printable(str(item.value)) == item.value
            ]
            return "\n".join(dict.fromkeys(map(self.format_completion, self.fitted(items, incomplete))))
        except Exception:  # any kind: an index may have any content
            return ""

    def fitted(self, items: list[CompletionItem[Any]], _incomplete: str) -> Iterable[CompletionItem[Any]]:
        """Return the items in the form that this shell inserts."""
        return items


class Bash(_Asked):
    """Completion for bash, which replaces the text after the last word break (`:` and `=` are breaks) and quotes
    nothing.
    """

    name = "bash"
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line, self._breaks, self._type = (*sys.argv[1:4], "", "", "")[:3]
        self._raw = _last_word(line)
        words = split_arg_string(line)
        return words[1 : len(words) - bool(self._raw)], words[-1] if self._raw else ""

    def fitted(self, items: list[CompletionItem[Any]], incomplete: str) -> Iterator[CompletionItem[Any]]:
        option, typed = _split_option(incomplete)
        # For an unquoted word, bash replaces only the text after its last break.
        breaks = "" if self._quote else "".join(set(self._breaks) & set(":="))
        kept = len(re.split(f"[{breaks}]", typed)[-1]) if breaks else len(typed)
        before = f"{option[0]}=" if option and "=" not in breaks else ""
        # The help text of an id is shown only in a listing, after a second TAB.
        is_list = self._type in ("33", "63") and len(items) > 1
        for item in items:
            is_path = item.type in _NATIVE
            for value in files_beginning(typed, only_folders=item.type == "dir") if is_path else [str(item.value)]:
                told = f"  -- {_brief(item.help)}" if is_list and value.isdecimal() and item.help else ""
                yield CompletionItem(self._put(before + value[len(typed) - kept :]) + told)

    def format_completion(self, item: CompletionItem[Any]) -> str:
        return str(item.value)

    @property
    def _quote(self) -> str:
        return self._raw[:1] if self._raw[:1] in ("'", '"') else ""

    def _put(self, text: str) -> str:
        if self._quote == "'":
            return text.replace("'", "'\\''")
        special = r'([$`"\\!])' if self._quote else r"([^\w@%+:,./~=-])"
        return re.sub(special, r"\\\1", text, flags=re.ASCII)


class Zsh(_Asked):
    """Completion for zsh, which quotes the text that it inserts."""

    name = "zsh"
    source_template = _ZSH


class Fish(_Asked):
    """Completion for fish, which quotes the text that it inserts and treats `--option=value` as one word."""

    name = "fish"
    source_template = _FISH

    def quoted(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def fitted(self, items: list[CompletionItem[Any]], incomplete: str) -> Iterator[CompletionItem[Any]]:
        given, typed = _split_option(incomplete)
        before = f"{given[0]}=" if given else ""
        for item in items:
            if item.type not in _NATIVE:
                yield CompletionItem(f"{before}{item.value}", help=item.help)
            elif typed.startswith("~") and not given:
                yield item  # fish expands it itself
            else:
                for path in files_beginning(typed, only_folders=item.type == "dir"):
                    yield CompletionItem(before + path)


SHELLS: dict[str, type[_Asked]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}

for _shell in SHELLS.values():
    add_completion_class(_shell)


def script(shell: str, program: str) -> str:
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


def _brief(help_text: str | None) -> str:
    return truncate(visible(" ".join((help_text or "").split())), _LONGEST_HELP)
