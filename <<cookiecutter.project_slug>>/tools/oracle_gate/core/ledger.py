"""The ledger of tests that are known to flake: oracle/quarantine.json (article A; design, section 5).

It records identities, not a policy for flakes: which test may not disappear, why it is there, until when.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from .decode import decode, line_of, parse_json
from .errors import GateError

QUARANTINE = "oracle/quarantine.json"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Entry:
    """An entry as it is written. What is absent or empty is for the policy to judge, no error."""

    reason: str | None = None
    expires: str | None = None


@dataclass(frozen=True)
class Quarantined:
    """A test by its exact node id. `reason` may be empty and `expires` absent: rules of the policy.

    The entry holds through the whole UTC day `expires`.
    """

    id: str
    reason: str
    expires: datetime.date | None


def parse_quarantine(data: bytes, where: str = QUARANTINE) -> tuple[Quarantined, ...]:
    """Reads `{node id: {reason, expires}}`, sorted by id; raises GateError with file and line."""
    document = parse_json(data, where)
    if not isinstance(document, dict):
        raise GateError("not an object", where=f"{where}:1", todo='an empty ledger is "{}"')
    text = data.decode()
    return tuple(_entry(id, document[id], where, line_of(text, id)) for id in sorted(document))


def _entry(id: str, value: object, where: str, line: int) -> Quarantined:
    if id != id.strip() or not id.isprintable() or not id:
        raise GateError(f"{id!r} is no node id", where=f"{where}:{line}", todo="name one test exactly")
    entry = decode(Entry, value, where, line=line)
    reason, written = (entry.reason or "").strip(), (entry.expires or "").strip()
    try:
        if written and not _DATE.fullmatch(written):
            raise ValueError
        expires = datetime.date.fromisoformat(written) if written else None
    except ValueError:
        what = f"the expiry {written!r} of {id!r} is no date"
        raise GateError(what, where=f"{where}:{line}", todo="write YYYY-MM-DD") from None
    return Quarantined(id, reason, expires)
