"""Source maps: the definitions of one commit in a small file, for users without a checkout.

Start at `format.py`. A map is imported completely or rejected, in one transaction. docs/reference/source-maps.md
specifies it.
"""

from framedex.sourcemap.checkout import public_address, repository_of, tracked_files
from framedex.sourcemap.format import ENDING, SourceMapError, read_map, write_map
from framedex.sourcemap.records import MalformedError, decode_header, encode_header, is_inside

__all__ = [
    "ENDING",
    "MalformedError",
    "SourceMapError",
    "decode_header",
    "encode_header",
    "is_inside",
    "public_address",
    "read_map",
    "repository_of",
    "tracked_files",
    "write_map",
]
