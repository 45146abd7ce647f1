"""The frame of completion: click's, with scripts for bash, zsh and fish that take what is offered for text alone.

A shell asks with the words as arguments and gets lines, `VALUE<TAB>HELP`. A line without a value says that the shell's
own files (`file`) or folders (`dir`) fit. Names in an index may be a stranger's work: what has a character that is not
visible is left out, and every other value is quoted, by zsh and fish themselves and for bash here, so that nothing of
it is ever more than a word.
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
from framedex.plaintext import printable, visible

VARIABLE = "_FRAMEDEX_COMPLETE"
"""The environment variable by which a shell asks, as click has it: `bash_complete`, `bash_source`."""

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
    """What the shells have in common."""

    def source_vars(self) -> Any:
        return {"program": self.quoted(self.prog_name), "variable": VARIABLE}

    def quoted(self, text: str) -> str:
        """A path as a word of a script of this shell."""
        return "'" + text.replace("'", "'\\''") + "'"

    def get_completion_args(self) -> tuple[list[str], str]:
        *words, incomplete = sys.argv[1:] or [""]
        return words, incomplete

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """What is offered: values of an index where the word stands for such, else what click knows to fit."""
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
        """The lines for the shell; nothing where anything fails: no TAB may end in a traceback."""
        try:
            args, incomplete = self.get_completion_args()
            items = [
                item for item in self.get_completions(args, incomplete) if printable(str(item.value)) == item.value
            ]
            return "\n".join(dict.fromkeys(map(self.format_completion, self.fitted(items, incomplete))))
        except Exception:  # of whatever kind: an index may be anything
            return ""

    def fitted(self, items: list[CompletionItem[Any]], _incomplete: str) -> Iterable[CompletionItem[Any]]:
        """The items as this shell puts them in the place of the word."""
        return items


class Bash(_Asked):
    """bash replaces what follows the last of its word breaks (`:` and `=` are some), and quotes nothing itself."""

    name = "bash"
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line, self._breaks, self._type = (*sys.argv[1:4], "", "", "")[:3]
        self._raw = _last_word(line)
        words = split_arg_string(line)
        return words[1 : len(words) - bool(self._raw)], words[-1] if self._raw else ""

    def fitted(self, items: list[CompletionItem[Any]], incomplete: str) -> Iterator[CompletionItem[Any]]:
        option, typed = _split_option(incomplete)
        # Of a word that is not quoted bash replaces only what follows its last break.
        breaks = "" if self._quote else "".join(set(self._breaks) & set(":="))
        kept = len(re.split(f"[{breaks}]", typed)[-1]) if breaks else len(typed)
        before = f"{option[0]}=" if option and "=" not in breaks else ""
        # What shows beside an id is only ever listed: TAB has come twice.
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
    """zsh quotes what it inserts."""

    name = "zsh"
    source_template = _ZSH


class Fish(_Asked):
    """fish quotes what it inserts, and takes `--option=value` for one word."""

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
                yield item  # which fish expands itself
            else:
                for path in files_beginning(typed, only_folders=item.type == "dir"):
                    yield CompletionItem(before + path)


SHELLS: dict[str, type[_Asked]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}

for _shell in SHELLS.values():
    add_completion_class(_shell)


def script(shell: str, program: str) -> str:
    """The script with which a shell asks the framedex at this path."""
    return SHELLS[shell](_NO_COMMAND, {}, program, VARIABLE).source()


_NO_COMMAND: Any = None  # which a script does not ask


def _split_option(incomplete: str) -> tuple[list[str], str]:
    """The option and the value of `--option=value`."""
    name, equals, value = incomplete.partition("=")
    return ([name], value) if equals and name.startswith("--") else ([], incomplete)


def _last_word(line: str) -> str:
    """The last word as it is typed, with its quotes."""
    match = re.search(r"""(?:[^\s'"\\]|\\.|'[^']*'?|"(?:[^"\\]|\\.)*"?)+$""", line, re.DOTALL)
    return match[0] if match else ""


def _brief(help_text: str | None) -> str:
    text = visible(" ".join((help_text or "").split()))
    return text if len(text) <= _LONGEST_HELP else f"{text[: _LONGEST_HELP - 1]}…"
