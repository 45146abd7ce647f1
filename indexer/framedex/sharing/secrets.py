"""Collects the secrets of this machine and its user, for redaction."""

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
_COMMON = frozenset({"root", "localhost", "python", "jax"})  # too common to be secret


def collect_secrets(metadata: Metadata) -> Secrets:
    """Collect the user and host names of this machine and of the recording, and secret environment variables."""
    host, node = metadata.host or "", platform.node()
    names = {host, host.partition(".")[0], node, node.partition(".")[0], *_find_users(metadata)}
    values = {value for name, value in os.environ.items() if _SECRET.search(name)}
    values |= {str(Path.home()), metadata.cwd or ""}
    return Secrets(names - _COMMON, {value for value in values if value.strip("/.")}, salt=metadata.text)


def _find_users(metadata: Metadata) -> set[str]:
    found = set(_HOMES.findall(metadata.text))
    with suppress(OSError, KeyError):  # the user has no name
        found.add(getpass.getuser())
    return found | {Path.home().name}
