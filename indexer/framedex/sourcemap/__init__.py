"""Source maps: the definitions of one commit of a repository in a small file, for those who have no checkout of it."""

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
