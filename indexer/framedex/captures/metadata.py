"""The metadata of a capture folder, which make it a capture of a supported version."""

from __future__ import annotations

from pathlib import Path

from framedex.errors import FramedexError
from framedex.model import Metadata
from framedex.nativepart import _native
from framedex.regularfile import read_regular_text


def read_metadata(path: Path) -> Metadata:
    """The metadata of the capture in folder `path`.

    Raises FramedexError if the folder is not a capture or its version is unsupported.
    """
    file = path / _native.METADATA_FILE
    try:
        metadata = Metadata.parse(read_regular_text(file))
    except FileNotFoundError:
        raise FramedexError(
            f"{path} is not a capture: it has no {_native.METADATA_FILE}.",
            "Name a folder that framedex recorded into, for example one below .framedex/captures.",
        ) from None
    except OSError as error:
        raise FramedexError(
            f"{file} cannot be read: {error.strerror or error}.",
            "Check the permissions of the folder and of the files in it, then run `framedex index` again.",
        ) from None
    except ValueError as error:
        raise FramedexError(f"{file} cannot be read: {error}.", "Record the program again.") from None
    if metadata.format != _native.FORMAT:
        raise FramedexError(f"{path} is not a framedex capture.", "Name a folder that framedex recorded into.")
    if metadata.version not in _native.FORMAT_VERSIONS:
        readable = f"{_native.FORMAT_VERSIONS[0]} to {_native.FORMAT_VERSIONS[-1]}"
        written = "no capture format" if metadata.version is None else f"capture format {metadata.version}"
        raise FramedexError(
            f"{path} has {written}; this framedex reads {readable}.",
            "Read it with the framedex that recorded it, or record the program again.",
        )
    return metadata
