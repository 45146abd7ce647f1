"""Redacts the strings of a capture before they are shared, if the user asks for it.

Redaction keeps values that are known to be harmless (`harmless.py`), and replaces all others. It removes each field
without a rule. Last, `redact_text` searches every remaining text for paths, mail addresses and secrets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from framedex.shared.contents import Definitions
from framedex.sharing import harmless
from framedex.sharing.definitions import DefinitionRules
from framedex.sharing.names import NameReplacer
from framedex.sharing.paths import PathRedactor
from framedex.sharing.replacement import REDACTED, TextReplacer
from framedex.sharing.suspects import SuspectCollector

_PATH = re.compile(
    r"(?:(?<=file://)|(?<![\w)\]>.}/]))/(?:[^\s\"'`:;,()<>|/\\]+/)*[^\s\"'`:;,()<>|/\\]+(?=$|[\s\"'`:;,()<>|])"
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# Numbers and addresses in JSON that are not part of a path, a name or a token.
_NUMBER = re.compile(r'(?<=[ \[(])-?\d+(?=[,\]})])|(?<=")0x[0-9a-f]{1,16}(?=")')
_MAX_SHAPES = 1 << 14
_NOT_KEPT = "not kept: "
_DIGESTS = frozenset({"executable_fingerprint"})


class Redaction:
    """The default redaction, which changes nothing."""

    def redact_text(self, text: str) -> str:
        """Redact any text of the file."""
        return text

    def redact_arguments(self, text: str) -> str:
        """Redact the arguments of a call, as JSON."""
        return text

    def redact_object_type(self, name: str) -> str:
        """Redact the type of a runtime object."""
        return name

    def redact_definitions(self, definitions: Definitions) -> Definitions:
        """Redact the definitions that calls refer to."""
        return definitions

    def counts(self) -> Mapping[str, int] | None:
        """The number of replacements by kind; None without redaction."""
        return None


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secrets that no text may contain: names of users and hosts, and values of environment variables.

    `salt` is a text of the recording that is not in the shared file. It keys the digests.
    """

    names: Collection[str]
    values: Collection[str]
    salt: str = ""


class Redactor(Redaction):
    """Removes everything that identifies a person or a machine, and all data of the program.

    `projects` are the folders of the program. Names of functions and files outside of `packages` are replaced. If
    `packages` is None, these names stay.
    """

    def __init__(self, secrets: Secrets, projects: Sequence[str], packages: Collection[str] | None) -> None:
        self._suspects = SuspectCollector()
        self._replacement = TextReplacer(secrets.salt)
        self._paths = PathRedactor(projects)
        self._names = NameReplacer(packages)
        self._secrets = _build_secrets_pattern(secrets)
        self._ambiguous_paths: dict[str, str] = {}  # paths whose end is ambiguous in a text, with their redacted forms
        self._redact_cached = lru_cache(1 << 16)(self._replace_private_parts)
        # Texts without their numbers that needed no replacement: arguments, and other texts.
        self._plain_arguments: set[str] = set()
        self._plain_texts: set[str] = set()

    def counts(self) -> Mapping[str, int]:
        """The number of replacements by kind."""
        hidden = {"name": self._names.count} if self._names.count else {}
        return {**{kind: count for kind, count in self._replacement.counts.items() if count}, **hidden}

    def remaining_texts(self) -> Iterator[tuple[str, str]]:
        """Yield (kind, text) for each text that stayed and may be private."""
        yield from self._names.kept_names()
        yield from ((f"looks like {kind}", text) for kind, text in self._suspects.collected())

    def redact_text(self, text: str) -> str:
        """Redact any text of the file."""
        if _remove_numbers(text) in self._plain_texts:
            return self._redact_secrets(text)  # a number may be a secret
        return self._redact_cached(text)

    def redact_arguments(self, text: str) -> str:
        """Redact the arguments of a call. Numbers, shapes and addresses stay, under the field names of the API."""
        shape = _remove_numbers(text)
        if shape in self._plain_arguments:
            return text
        parsed = json.loads(text)
        plain = json.dumps(self._redact_argument("", parsed) if isinstance(parsed, dict) else {})
        if plain == text:
            _add_shape(self._plain_arguments, shape)
        return plain

    def redact_object_type(self, name: str) -> str:
        """Redact the type of a runtime object."""
        return name if harmless.is_object_type(name) else self._names.redact_name("object", name)

    def redact_definitions(self, definitions: Definitions) -> Definitions:
        """Redact the definitions that calls refer to, by the rules of each field."""
        odd = [path for path in definitions.paths if path.startswith("/") and not _PATH.fullmatch(path)]
        self._ambiguous_paths = {path: self._paths.redact_file(path) for path in sorted(odd, key=len, reverse=True)}
        self._redact_cached.cache_clear()
        self._plain_texts.clear()
        return DefinitionRules(self._replacement, self._names, self._paths).redact(definitions)

    def _replace_private_parts(self, text: str) -> str:
        plain = text
        for path, instead in self._ambiguous_paths.items():
            plain = plain.replace(path, instead)
        plain = _PATH.sub(self._redact_path, plain)
        plain = _MAIL.sub(lambda _: self._replacement.remove("mail address"), plain)
        plain = self._redact_secrets(plain)
        if not self._suspects.collect(plain) and plain == text:
            _add_shape(self._plain_texts, _remove_numbers(text))
        return plain

    def _redact_secrets(self, text: str) -> str:
        if self._secrets is None:
            return text
        return self._secrets.sub(lambda _: self._replacement.remove("name of a user, a host or a secret"), text)

    def _redact_path(self, match: re.Match[str]) -> str:
        plain = self._paths.redact_absolute_path(match[0])
        self._replacement.counts["path"] += plain != match[0]
        return plain

    def _redact_argument(self, field: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._redact_argument(field, each) for each in value]
        if isinstance(value, dict):
            return dict(self._redact_member(name, each) for name, each in value.items())
        return self._redact_value(field, value) if isinstance(value, str) else value

    def _redact_member(self, name: str, value: Any) -> tuple[str, Any]:
        if not harmless.is_field(name):
            return REDACTED, self._replacement.remove("argument")
        return name, self._redact_argument(name, value)

    def _redact_value(self, field: str, value: str) -> str:
        if not value or harmless.is_plain_value(field, value):
            return self._replacement.redact_site_key(value) if value and field == "site" else value
        if field.endswith(".kept"):
            return self._redact_kept_file(value)
        if field in _DIGESTS and harmless.is_digest(value):
            return self._replacement.digest(value)
        return self._replacement.remove("argument")

    def _redact_kept_file(self, value: str) -> str:
        """Redact the name of a kept file, or the reason why it was not kept."""
        if harmless.is_digest(value):
            return self._replacement.redact_kept_name(value)
        return value if harmless.is_reason(value) else _NOT_KEPT + self._replacement.remove("argument")


def _remove_numbers(text: str) -> str:
    """Remove numbers and addresses from a text, since millions of calls differ only in these."""
    return _NUMBER.sub("", text)


def _add_shape(shapes: set[str], shape: str) -> None:
    if len(shapes) < _MAX_SHAPES:
        shapes.add(shape)


def _build_secrets_pattern(secrets: Secrets) -> re.Pattern[str] | None:
    """Compile the pattern of the secrets: names as whole words, values anywhere."""
    names = [rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])" for name in secrets.names if len(name) > 1]
    values = [re.escape(value) for value in secrets.values if len(value) > 3]
    both = sorted({*names, *values}, key=len, reverse=True)
    return re.compile("|".join(both), re.IGNORECASE) if both else None
