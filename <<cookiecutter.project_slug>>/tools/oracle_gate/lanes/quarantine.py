"""The quarantine lane: a test that is known to flake stays, no weaker than it was (article A, "Quarantine is
an identity check"; design, sections 5 and 12)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from ..core.inventory import function_id, stands
from ..core.inventory_weaker import Sides
from ..core.ledger import Quarantined
from ..core.packet import QuarantineRow


def quarantine(ledger: Iterable[Quarantined], today: datetime.date, sides: Sides) -> Iterator[QuarantineRow]:
    """A row for each finding, or one that says `kept`; ids are compared exactly."""
    for entry in ledger:
        found = [*_entry(entry, today), *_test(entry.id, sides)]
        yield from found or [QuarantineRow(entry.id, "kept")]


def _entry(entry: Quarantined, today: datetime.date) -> Iterator[QuarantineRow]:
    if not entry.reason:
        yield QuarantineRow(entry.id, "no_reason")
    if entry.expires is None:
        yield QuarantineRow(entry.id, "no_expiry")
    elif entry.expires < today:
        yield QuarantineRow(entry.id, "expired", f"on {entry.expires}")


def _test(id: str, sides: Sides) -> Iterator[QuarantineRow]:
    """A ledger's id without a case means every case of the test."""
    meant = {other for other in sides.base_ids if id in (other, function_id(other))}
    meant |= {id} if stands(id, sides.base) else set()
    gone = sorted(other for other in meant if sides.is_gone(other))
    if not meant:
        yield QuarantineRow(id, "missing", "stands in no inventory of the base either: correct the ledger")
    elif gone:
        yield QuarantineRow(id, "missing", "" if gone == [id] else ", ".join(gone[:5]))
    else:
        weaker = [weakness.text for weakness in sides.weaker(function_id(id))]
        weaker += ["is skipped when the patch's own tests run"] if meant & sides.skipped else []
        if weaker:
            yield QuarantineRow(id, "neutered", "; ".join(weaker[:5]))
