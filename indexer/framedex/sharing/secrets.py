"""What tells of this machine and of who uses it, to be looked for in what is shared."""

from __future__ import annotations

import getpass
import os
import platform
import re
from contextlib import suppress
from pathlib import Path

from framedex.model import Metadata
from framedex.sharing.redaction import Secrets

_HOMES = re.compile(r"/(?:home|Users)/([^/]+)")
_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|API_?KEY|ACCESS_?KEY|CREDENTIAL|AUTH|(?<![A-Z])(?:KEYS?|PASS)(?![A-Z])",
    re.IGNORECASE,
)
_COMMON = frozenset({"root", "localhost", "python", "jax"})  # which tell nothing, and stand in many names


def secrets_here(metadata: Metadata) -> Secrets:
    """The names of the user and the host, here and where a capture was recorded, and what the environment has."""
    host, node = metadata.host or "", platform.node()
    names = {host, host.partition(".")[0], node, node.partition(".")[0], *_users(metadata)}
    values = {value for name, value in os.environ.items() if _SECRET.search(name)}
    values |= {str(Path.home()), metadata.cwd or ""}
    return Secrets(names - _COMMON, {value for value in values if value.strip("/.")}, salt=metadata.text)


def _users(metadata: Metadata) -> set[str]:
    found = set(_HOMES.findall(metadata.text))
    with suppress(OSError, KeyError):  # a user that the system has no name for
        found.add(getpass.getuser())
    return found | {Path.home().name}
