"""What is done to a capture's texts before they are shared: nothing, unless somebody asks for it.

Every text of a shared file passes `text`, whatever it is of. What is known to be an argument, an option or a path is
dealt with before, by what it is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from framedex.ffi.joins import metadata_keys
from framedex.model import Metadata
from framedex.shared.contents import Definitions, SharedProgram, SharedSite
from framedex.sharing.names import HiddenNames
from framedex.sharing.paths import PlainPaths
from framedex.sharing.suspects import Suspects
from framedex.words import SHARED_MARK

GONE = "(redacted)"
"""What stands where a text was."""

_PATH = re.compile(
    r"(?:(?<=file://)|(?<![\w)\]>.}/]))/(?:[^\s\"'`:;,()<>|/\\]+/)*[^\s\"'`:;,()<>|/\\]+(?=$|[\s\"'`:;,()<>|])"
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# Values that say of what kind a call was, and nothing of what somebody gave it.
_PLAIN_FIELDS = frozenset(
    {
        *("plugin", "extensions", "untraced_extensions", "platform_name", "platform_version", "device_kind", "kind"),
        *("memory_kinds", "type", "dtype", "host_buffer_semantics", "program.format", "stage"),
    }
)
_PLAIN_VALUE = re.compile(
    r"0x[0-9a-f]+|[0-9a-f]{16}-[0-9a-f]{1,8}|(?:hlo:)?[0-9a-f]{8,64}|<[\d,.]+ \w+>|not kept: .*|[\d\[\](){}, x.-]*"
    r"|(?:(?:pred|token|[suf]\d{1,2}|bf16|c64|c128|f8\w*|[A-Z]+\d*)\[[\d,]*\](?:\{[\d,]*\})?(?:, )?)+"
)
# Numbers and addresses in JSON: what stands around them is no part of a path, a name or a token.
_NUMBER = re.compile(r'(?<=[ \[(])-?\d+(?=[,\]})])|(?<=")0x[0-9a-f]+(?=")')
_MOST_SHAPES = 1 << 14
# Numbers, flags, and members of enumerations: of several words without digits, as names and keys may be capitals, too.
_PLAIN_OPTION = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|[A-Z]+(?:_[A-Z]+)+|")


class Redaction:
    """Leaves all as it is."""

    def text(self, text: str) -> str:
        """Any text at all, as it goes into the file."""
        return text

    def arguments(self, text: str) -> str:
        """What a call was made with, as JSON."""
        return text

    def definitions(self, definitions: Definitions) -> Definitions:
        """What calls refer to."""
        return definitions

    def told(self) -> Mapping[str, int] | None:
        """What was replaced, by kind; None where nothing was to be."""
        return None


@dataclass(frozen=True, slots=True)
class Secrets:
    """What no text may say: whose machine it is (names of people and hosts), and values of the environment."""

    names: Collection[str]
    values: Collection[str]


class Redactor(Redaction):
    """Takes out what tells of a person, a machine, and what somebody's program was given.

    `projects` are the folders that the program is in; `packages` those outside of which names are hidden, None to keep
    all names.
    """

    def __init__(self, secrets: Secrets, projects: Sequence[str], packages: Collection[str] | None) -> None:
        self.suspects = Suspects()
        self._replaced: Counter[str] = Counter()
        self._paths = PlainPaths(projects)
        self._names = None if packages is None else HiddenNames(packages)
        self._secrets = _pattern(secrets)
        self._odd: dict[str, str] = {}  # paths that a text does not show the end of, with what they become
        self._known = lru_cache(1 << 16)(self._text)
        # Texts without their numbers of which nothing was to be replaced or listed: as arguments, and as any text.
        self._plain_arguments: set[str] = set()
        self._plain_texts: set[str] = set()

    def told(self) -> Mapping[str, int]:
        """What was replaced, by kind."""
        hidden = {"name": self._names.count} if self._names is not None and self._names.count else {}
        return {**self._replaced, **hidden}

    def text(self, text: str) -> str:
        """Any text at all, as it goes into the file."""
        if _shape(text) in self._plain_texts:
            return self._without_secrets(text)  # a number may be one
        return self._known(text)

    def arguments(self, text: str) -> str:
        """What a call was made with: numbers, shapes and addresses stay."""
        shape = _shape(text)
        if '"' not in text or shape in self._plain_arguments:
            return text
        plain = json.dumps({key: self._argument(key, value) for key, value in json.loads(text).items()})
        if plain == text:
            _keep(self._plain_arguments, shape)
        return plain

    def definitions(self, definitions: Definitions) -> Definitions:
        """What calls refer to, without values that somebody gave, and without names if those are to be hidden."""
        odd = [path for path in definitions.paths if path.startswith("/") and not _PATH.fullmatch(path)]
        self._odd = {path: self._paths.plain(path) for path in sorted(odd, key=len, reverse=True)}
        self._known.cache_clear()
        self._plain_texts.clear()
        plain = replace(
            definitions,
            metadata=self._metadata(definitions.metadata),
            descriptions=tuple((kind, self._in_json(text, self.text)) for kind, text in definitions.descriptions),
            options={name: self._options(text) for name, text in definitions.options.items()},
            notes={
                name: replace(
                    note,
                    defined=self.text(note.defined),
                    statics=tuple((self._gone("argument"), GONE) for _ in note.statics),
                )
                for name, note in definitions.notes.items()
            },
            paths=tuple(map(self._file, definitions.paths)),
        )
        plain = plain if self._names is None else _without_names(plain, self._names)
        return replace(plain, sites=_sites(definitions, plain))

    def _text(self, text: str) -> str:
        plain = text
        for path, instead in self._odd.items():
            plain = plain.replace(path, instead)
        plain = _PATH.sub(self._path, plain)
        plain = _MAIL.sub(lambda _: self._gone("mail address"), plain)
        plain = self._without_secrets(plain)
        if not self.suspects.look(plain) and plain == text:
            _keep(self._plain_texts, _shape(text))
        return plain

    def _without_secrets(self, text: str) -> str:
        if self._secrets is None:
            return text
        return self._secrets.sub(lambda _: self._gone("name of a user, a host or a secret"), text)

    def _path(self, match: re.Match[str]) -> str:
        plain = self._paths.plain(match[0])
        self._replaced["path"] += plain != match[0]
        return plain

    def _file(self, name: str) -> str:
        """A file, also one by a relative name or one of another system, as other recorders tell them."""
        plain = self._paths.file(name)
        self._replaced["path"] += plain != name
        return self.text(plain)

    def _gone(self, kind: str) -> str:
        self._replaced[kind] += 1
        return GONE

    def _argument(self, key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(key, each) for each in value]
        if isinstance(value, dict):
            return {name: self._argument(name, each) for name, each in value.items()}
        if not isinstance(value, str) or key in _PLAIN_FIELDS or _PLAIN_VALUE.fullmatch(value):
            return value
        return self._gone("argument")

    def _options(self, text: str) -> str:
        return self._in_json(text, lambda value: value if _PLAIN_OPTION.fullmatch(value) else self._gone("option"))

    def _metadata(self, text: str) -> str:
        told = json.loads(text)
        launch = Metadata.parse(text).launch
        told["argv"] = self._command(told["argv"])
        for key in ("host", "system", "python_problem"):
            if told.get(key):
                told[key] = self._gone("name of a user, a host or a secret")
        for _ in told.pop("job", None) or ():
            self._gone("variable of the environment")
        if launch is not None:
            told["launcher"] = json.dumps(
                {"run": launch.run, "packages": dict(launch.packages), "arguments": self._command(launch.arguments)}
            )
        return self._in_json(json.dumps(told), self.text)

    def _command(self, words: Sequence[str]) -> list[str]:
        """A command: its programs stay, those of relative paths by their names."""
        return [self._program(word) if self._is_program(word) else self._gone("argument") for word in words]

    def _program(self, word: str) -> str:
        """A program's word; what is above it in a relative path may be anybody's folder."""
        return word if word.startswith("/") else PurePosixPath(word).name

    def _is_program(self, word: str) -> bool:
        is_script = word.endswith(".py") and self._names is None
        return word in (SHARED_MARK, "imported") or is_script or "/bin/python" in word

    def _in_json(self, text: str, change: Callable[[str], str]) -> str:
        return json.dumps(_changed(json.loads(text), change))


def _shape(text: str) -> str:
    """A text without its numbers and addresses, which millions of calls differ in."""
    return _NUMBER.sub("", text)


def _keep(shapes: set[str], shape: str) -> None:
    if len(shapes) < _MOST_SHAPES:
        shapes.add(shape)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """A value of JSON with other texts, but for the names of members."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(each, change) for each in value]
    if isinstance(value, dict):
        return {name: _changed(each, change) for name, each in value.items()}
    return value


def _pattern(secrets: Secrets) -> re.Pattern[str] | None:
    """What finds secrets: names as whole words, values anywhere."""
    names = [rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])" for name in secrets.names if len(name) > 1]
    values = [re.escape(value) for value in secrets.values if len(value) > 3]
    both = sorted({*names, *values}, key=len, reverse=True)
    return re.compile("|".join(both), re.IGNORECASE) if both else None


def _sites(before: Definitions, after: Definitions) -> tuple[SharedSite, ...]:
    """The sites by the keys that they have now: one that only a program's metadata tells is known by what that says."""
    keys = dict(zip(metadata_keys(before.descriptions), metadata_keys(after.descriptions), strict=True))
    sites = (replace(site, key=keys.get(site.key) or site.key) for site in after.sites)
    return tuple({site.key: site for site in sites}.values())


def _without_names(definitions: Definitions, names: HiddenNames) -> Definitions:
    """Definitions, whose paths are plain, without the names of what may not be told."""
    paths = definitions.paths
    names.learn(definitions)

    def program(each: SharedProgram) -> SharedProgram:
        lines = tuple(
            replace(
                line,
                name=f"{names.text(line.name.partition('/')[0])}/{line.kind}",  # between are scopes that people name
                frames=tuple((path, number, names.text(function)) for path, number, function in line.frames),
            )
            for line in each.lines
        )
        return replace(each, name=names.text(each.name), lines=lines, signature=None)

    def json_text(text: str) -> str:
        return json.dumps(_changed(json.loads(text), lambda value: names.text(names.file(value))))

    return replace(
        definitions,
        metadata=json_text(definitions.metadata),
        paths=tuple(map(names.file, paths)),
        functions=tuple(names.function(each, paths[each.module]) for each in definitions.functions),
        boundaries=tuple(
            replace(each, name=names.text(each.name)) if each.boundary == "ffi" else each
            for each in definitions.boundaries
        ),
        threads=tuple(replace(each, name=names.thread(each.name)) for each in definitions.threads),
        descriptions=tuple((kind, json_text(text)) for kind, text in definitions.descriptions),
        sites=tuple(replace(each, target=names.text(each.target)) for each in definitions.sites),
        programs={name: program(each) for name, each in definitions.programs.items()},
        notes={
            name: replace(
                each,
                name=names.text(each.name),
                function=names.text(each.function),
                defined="",
                arguments=tuple(replace(one, name=GONE) for one in each.arguments),
            )
            for name, each in definitions.notes.items()
        },
        problems=tuple(map(names.text, definitions.problems)),
    )
