"""Identity of a content: what was shown decides the key, and nothing else does."""

from __future__ import annotations

import hashlib

MEDIA_TYPE_TEXT = "text/plain; charset=utf-8"


def content_key(content: str | bytes) -> str:
    """First 128 bits of SHA-256 over the bytes shown (text as UTF-8), as 32 hex digits."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:32]
