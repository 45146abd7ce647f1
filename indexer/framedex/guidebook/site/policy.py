"""The content security policy of a page: it may load only files of the site."""

from __future__ import annotations

import base64
import hashlib
import re

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_CHARSET = '<meta charset="utf-8">'


def with_policy(html: str) -> str:
    """Return the page with its policy, which allows the page's inline scripts by digest."""
    scripts = sorted({f"'sha256-{_digest(found[1])}'" for found in _SCRIPT.finditer(html)})
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' {' '.join(scripts)}",
            "style-src 'self' 'unsafe-inline'",  # the theme's search sets styles
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self'",
            "frame-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return html.replace(_CHARSET, f'{_CHARSET}\n<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
