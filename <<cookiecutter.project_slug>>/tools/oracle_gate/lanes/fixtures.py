"""The fixtures lane: are the sealed inputs there, and are they the bytes that were sealed (article B)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ..core.manifest import Manifest
from ..core.packet import Fixture


def fixtures(manifest: Manifest, files: Mapping[str, bytes]) -> tuple[Fixture, ...]:
    """A row for every listed fixture; `files` are the plain files of the sealed folder."""
    rows = []
    for item in manifest.fixtures:
        data = files.get(item.path)
        digest = hashlib.sha256(data).hexdigest() if data is not None else ""
        rows.append(Fixture(item.id, data is not None, bool(digest) and digest == item.sha256, digest))
    return tuple(rows)
