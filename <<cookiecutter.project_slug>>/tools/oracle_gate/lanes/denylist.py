"""The denylist lane: which denied paths a change touches (article A, step 2; design, section 5)."""

from __future__ import annotations

from ..core.oracle import Oracle
from ..core.packet import DenylistFacts, Finding
from ..core.paths import fold, printable
from ..core.submission import Change

_FREEZE_LEDGER = "sealed/freeze.json"


def denylist(change: Change, oracle: Oracle) -> DenylistFacts:
    """Every touched path that is denied, whether the touch is net or not."""
    hits = []
    for path in change.touched:
        rule = oracle.denied(path)
        if rule:
            kind = "freeze_ledger.changed" if fold(path) == _FREEZE_LEDGER else "denylist.hit"
            hits.append(Finding(kind, printable(path), f"denied by {rule}"))
    return DenylistFacts(rules=len(oracle.rules), hits=tuple(hits))
