"""Stored observations: any file is parsed so that it can be written again, or refused with a remedy."""

from __future__ import annotations

from framedex.base.errors import FramedexError
from framedex.guidebook.observation_files import format_observations, read_observation_file
from tests.fuzz.inputs import scratch

MAX_SIZE = 8192


def run(data: bytes) -> None:
    """A parsed file is unchanged when it is written again."""
    file = scratch() / "observations.json"
    file.write_bytes(data)
    try:
        found = read_observation_file(file)
    except FramedexError as error:
        assert error.remedy
        return
    file.write_text(format_observations(found))
    assert read_observation_file(file) == found
