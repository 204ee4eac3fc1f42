"""The cases by group, and what the suite leaves to others or does not claim."""

from __future__ import annotations

from redteam.cases import denied
from redteam.model import Case

GROUPS: dict[str, tuple[Case, ...]] = {"D": denied.CASES}
CONTROLS: tuple[Case, ...] = ()
