"""Builds the metadata of a shared file, without references to other files of the user."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from framedex.base.words import SHARED_MARK
from framedex.model import Metadata

_OMITTED_KEYS = frozenset({"folder", "foreign", "identity"})


def redact_metadata(metadata: Metadata, *, with_clock: bool) -> str:
    """The metadata of a shared file, as JSON; without the time of the recording if `with_clock` is False.

    The id of the run changes. Shared captures of one run still have one id, which differs from the recorded id.
    """
    document = {key: value for key, value in json.loads(metadata.text).items() if key not in _OMITTED_KEYS}
    argv = [word for word in metadata.argv if word != SHARED_MARK]
    document["argv"] = [SHARED_MARK, *argv]
    if not with_clock:
        document["started_unix_ns"] = document["started_clock_ns"] = 0
    document["is_of_samples"] = metadata.foreign is not None and metadata.foreign.is_of_samples
    if metadata.launch is not None:
        launch: dict[str, Any] = {"arguments": metadata.launch.arguments, "packages": dict(metadata.launch.packages)}
        if metadata.launch.run:
            launch["run"] = hashlib.sha256(f"{SHARED_MARK} {metadata.launch.run}".encode()).hexdigest()[:32]
        document["launcher"] = json.dumps(launch)
    return json.dumps(document)
