"""Documents that are images: who can read them, and their form on the way to a provider.

Table `contents` holds their bytes. The call key needs nothing more: it holds the content key, a
hash of these bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.errors import InputError
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.providers.base import IMAGE_TYPES, Image
from fairscreen.settings.audit import AuditConfig


def image(media_type: str, data: bytes, content_key: str) -> Image:
    """A stored content as the part of a prompt. InputError where no provider would take it."""
    if media_type not in IMAGE_TYPES or not data:
        problem = f"is {media_type}" if data else "has no bytes"
        raise InputError(
            f"table contents, content_key {content_key}",
            f"{problem}, which is no image that models take",
            f"Store it as {', '.join(IMAGE_TYPES)}.",
        )
    return Image(media_type, base64.b64encode(data).decode())


def require_readers(
    documents: DataFrame, contents: DataFrame, cfg: AuditConfig, kinds: Mapping[str, Kind]
) -> None:
    """ConfigError where a document of this audit is an image and a model of it reads none.

    Costs one look at the statistics of `contents` where no audit ever stored an image.
    """
    readers = {n: s for n, s in cfg.scoring.models.items() if kinds[s.kind].sends == "documents"}
    images = contents.where(sf.col("media_type").startswith("image/"))
    images = images.select("content_key", "media_type")
    if not readers or not images.limit(1).collect():
        return
    found = documents.join(images, "content_key").orderBy("document_id").limit(1).collect()
    for name, screener in readers.items() if found else ():
        document = f"document {found[0]['document_id']} is {found[0]['media_type']}"
        kinds[screener.kind].check_images(screener.params, f"scoring.models.{name}", document)
