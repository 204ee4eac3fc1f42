"""The pins: oracle/digests.json and where they come from, oracle/provenance.json (design, section 5)."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from .decode import SHA256, decode, line_of, parse_json
from .errors import GateError
from .gitdb import Entries, ObjectStore
from .paths import printable

DIGESTS, PROVENANCE = "oracle/digests.json", "oracle/provenance.json"


@dataclass(frozen=True)
class Provenance:
    """How the pins were made. `noise_lines` holds the lines that noise rules dropped, for rows with any.

    `envelope_sensitive` are the rows that gave something else in another envelope.
    """

    canonical: str
    base: str
    corpus_sha256: str
    noise_sha256: str
    settings_sha256: str
    platform: str
    python: str
    reviewer: str
    noise_lines: Mapping[str, int] = field(default_factory=dict)
    envelope_sensitive: tuple[str, ...] = ()


def parse_digests(data: bytes, where: str = DIGESTS) -> dict[str, str]:
    """`{id: sha256 hex}` (article A); raises GateError with file and line."""
    document = parse_json(data, where)
    if not isinstance(document, dict):
        raise GateError("not an object", where=f"{where}:1", todo='an unarmed oracle is "{}"')
    for row, digest in document.items():
        valid = isinstance(digest, str) and SHA256.fullmatch(digest)
        if not (valid and row.isprintable()):
            line = line_of(data.decode(), row)
            what = f"{row!r} is no id of a row" if valid else f"the digest of {row!r} is not 64 hex digits"
            raise GateError(what, where=f"{where}:{line}", todo="restore it")
    return document


def parse_provenance(data: bytes, where: str = PROVENANCE) -> Provenance | None:
    """None for `{}`, which stands for an unarmed oracle."""
    document = parse_json(data, where)
    return None if document == {} else decode(Provenance, document, where, text=data.decode())


def sha256(data: bytes) -> str:
    """Hex digest of a control file."""
    return hashlib.sha256(data).hexdigest()


def folder_sha256(store: ObjectStore, entries: Entries, prefix: bytes) -> str:
    """One digest over a folder: sha256 of the sorted lines `mode path sha256-of-the-bytes`."""
    lines = []
    for path, entry in entries.items():
        if path.startswith(prefix):
            content = entry.oid if entry.mode == "160000" else sha256(store.read(entry.oid, "blob"))
            lines.append(f"{entry.mode} {printable(path)} {content}\n".encode())
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def this_platform() -> str:
    """Operating system and machine, for example `linux-x86_64`."""
    return f"{platform.system()}-{platform.machine()}".lower()


def this_python() -> str:
    """X.Y of the interpreter that runs the gate."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"
