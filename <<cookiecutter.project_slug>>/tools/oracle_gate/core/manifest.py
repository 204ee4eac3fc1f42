"""sealed/MANIFEST.json: the inventory of properties, fixtures and freeze ledger (article B; design, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .corpus import is_inside
from .decode import SHA256, decode_json, line_of
from .errors import GateError

FOLDER, MANIFEST, LEDGER = "sealed/", "MANIFEST.json", "freeze.json"


@dataclass(frozen=True)
class SealedFixture:
    """An input: its file below sealed/, and the digest of its bytes, empty until `seal` fills it."""

    id: str
    path: str
    sha256: str


@dataclass(frozen=True)
class SealedProperty:
    """A claim: a file that defines `holds`. `fixtures` None means all of them.

    `in_process`: `holds` takes the fixture alone and imports the program. These fields and the digest are
    ours, filled by `seal`; article B's manifest has none of them.
    """

    id: str
    path: str
    sha256: str = ""
    fixtures: tuple[str, ...] | None = None
    in_process: bool = False


@dataclass(frozen=True)
class Manifest:
    """The whole inventory. Paths are relative to the sealed folder."""

    schema: Literal["sealed-oracle-v1"]
    properties: tuple[SealedProperty, ...]
    fixtures: tuple[SealedFixture, ...]
    parent_sha_at_lock: str = ""
    freeze_sha256: str = ""

    def fixtures_of(self, item: SealedProperty) -> tuple[SealedFixture, ...]:
        """The fixtures that a property applies to, in the manifest's order."""
        return tuple(f for f in self.fixtures if item.fixtures is None or f.id in item.fixtures)


def parse_manifest(data: bytes, where: str = FOLDER + MANIFEST) -> Manifest:
    """Reads the manifest; raises GateError with file and line.

    Ids are unique and printable, paths stay inside the sealed folder, digests are empty or 64 hex digits.
    """
    manifest = decode_json(Manifest, data, where)
    for name, complaint in (*_complaints(manifest.properties), *_complaints(manifest.fixtures),
                            *_unknown_fixtures(manifest)):  # fmt: skip
        line = line_of(data.decode(), name)
        raise GateError(f"{name!r} {complaint}", where=f"{where}:{line}", todo="correct the manifest")
    if manifest.freeze_sha256 and not SHA256.fullmatch(manifest.freeze_sha256):
        raise GateError("freeze_sha256 is not 64 hex digits", where=where, todo="run `seal`")
    return manifest


def _complaints(items: Iterable[SealedProperty | SealedFixture]) -> Iterator[tuple[str, str]]:
    seen = set()
    for item in items:
        if not item.id or not item.id.isprintable():
            yield item.id, "is empty or has unprintable characters"
        if item.id in seen:
            yield item.id, "is a duplicate id"
        if not is_inside(item.path) or item.path in (MANIFEST, LEDGER):
            yield item.id, f"names {item.path!r}, not a file of its own inside the sealed folder"
        if item.sha256 and not SHA256.fullmatch(item.sha256):
            yield item.id, "has a sha256 that is not 64 hex digits"
        seen.add(item.id)


def _unknown_fixtures(manifest: Manifest) -> Iterator[tuple[str, str]]:
    known = {fixture.id for fixture in manifest.fixtures}
    for item in manifest.properties:
        for name in item.fixtures or ():
            if name not in known:
                yield item.id, f"names the fixture {name!r}, which the manifest does not list"
