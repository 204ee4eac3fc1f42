"""The cases by group, and what the suite leaves to others or does not claim."""

from __future__ import annotations

from redteam.cases import denied, honest, running, tampering, weakened
from redteam.model import Case

GROUPS: dict[str, tuple[Case, ...]] = {
    "T": weakened.CASES,
    "D": denied.CASES,
    "G": tampering.CASES,
    "R": running.CASES,
}
CONTROLS: tuple[Case, ...] = honest.CASES
