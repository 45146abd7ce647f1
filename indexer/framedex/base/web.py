"""HTTP and HTTPS requests that follow only safe redirects."""

from __future__ import annotations

import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urlsplit

from framedex.base.errors import FramedexError

_TIMEOUT_S = 60.0  # seconds without a byte


def download(address: str, max_bytes: int) -> bytes:
    """Return the content at an address. Raises FramedexError if it fails or the content is larger than `max_bytes`."""
    try:
        request = urllib.request.Request(address, headers={"User-Agent": "framedex"})
        with build_web_opener().open(request, timeout=_TIMEOUT_S) as response:
            content: bytes = response.read(max_bytes + 1)
    except (OSError, HTTPException, ValueError) as error:
        why = f"it answered {error.code}" if isinstance(error, HTTPError) else str(error)
        raise FramedexError(
            f"{address} could not be downloaded: {why}.", "Check the address and the network."
        ) from error
    if len(content) > max_bytes:
        raise FramedexError(f"{address} is larger than {max_bytes:,} bytes.", "Check the address.")
    return content


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects to http and https, never from https to http. Raises ValueError for any other redirect."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        scheme = urlsplit(newurl).scheme
        if scheme != "https" and (scheme != "http" or urlsplit(req.full_url).scheme == "https"):
            raise ValueError(f"it redirects to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def build_web_opener() -> urllib.request.OpenerDirector:
    """An opener for http and https only, through the proxies in the environment."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _WebRedirects(),
    ):
        opener.add_handler(handler)
    return opener
