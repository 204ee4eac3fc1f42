"""Wires the lanes about tests: quarantine, identities, public (article A; design, section 12)."""

from __future__ import annotations

from ..core.ledger import QUARANTINE, Quarantined, parse_quarantine
from ..core.oracle import read_control
from ..lanes.identities import identities
from ..lanes.public import public
from ..lanes.quarantine import quarantine
from ..runner.public_tests import NO_PYTEST
from .case import Arena, Case, LaneResult
from .judging_sealed import frozen


def quarantine_lane(case: Case, arena: Arena | None) -> LaneResult:
    """Every quarantined test stands, no weaker than on the base, and its entry is in order."""
    ledger = _ledger(case)
    counts = {"quarantined": len(ledger)}
    if arena is None:
        return LaneResult({}, "not_run", counts)
    rows = tuple(quarantine(ledger, case.today, arena.tests.sides)) if ledger else ()
    return LaneResult({"quarantine": rows}, "ran" if ledger else "empty", counts)


def identities_lane(case: Case, arena: Arena | None) -> LaneResult:
    """Every other test of the base stands, and asserts no less."""
    if arena is None:
        return LaneResult({}, "not_run", {})
    sides = arena.tests.sides
    found = identities(sides, [entry.id for entry in _ledger(case)], arena.tests.problem)
    number = len(sides.base_ids)
    return LaneResult({"tests": found}, "ran" if number or found.problem else "empty", {"tests": number})


def public_lane(case: Case, arena: Arena | None) -> LaneResult:
    """The public tests still pass; whatever they say, it can only lower the verdict."""
    if arena is None:
        return LaneResult({}, "not_run", {})
    base, own = arena.tests.base_run, arena.tests.own_tests
    if base.problem == NO_PYTEST or not (base.ids or own.ids or base.problem):
        return LaneResult({}, "empty", {})
    # A freeze is about a test of the base: a patch can neither add to it nor make it ambiguous.
    apart = frozen(case, base.ids or ()) | {entry.id for entry in _ledger(case)}
    found = public(base, arena.tests.base_tests, own, apart)
    return LaneResult({"public": found}, "ran", {"green_on_base": found.green_on_base})


def _ledger(case: Case) -> tuple[Quarantined, ...]:
    """The base's, or what an approved change makes of it."""
    return parse_quarantine(read_control(case.context.store, case.corpus, QUARANTINE))
