"""Wires the lanes whose claims run in a process of their own: relations, and later sealed properties."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..core.oracle import read_control
from ..core.trees import materialise
from ..core.view import replayed
from ..lanes.relations import broken_elsewhere, relations
from ..runner.claims import run_in
from .case import Arena, Case, LaneResult

MODULE = "tools/metamorphic.py"
#: Seconds that a claim may take, the program's own time apart.
CLAIM_TIMEOUT_S = 60.0


def claim_module(case: Case, path: str) -> Path:
    """A claim of the base, written to a private folder."""
    module = case.context.folder("claim") / Path(path).name
    module.write_bytes(read_control(case.context.store, case.corpus, path))
    return module


def claim_view(case: Case) -> Path:
    """The folder that claims work in: the base's view with its corpus, no digest."""
    view = case.context.folder("view")
    hidden = case.oracle.settings.view.hidden
    materialise(case.context.store, replayed(case.change.before, case.corpus, hidden), view)
    return view


def relations_lane(case: Case, arena: Arena | None) -> LaneResult:
    """tools/metamorphic.py of the base, over the patched program."""
    if arena is None:
        return LaneResult({}, "not_run", {})
    if MODULE.encode() not in case.corpus:
        return LaneResult({}, "empty", {})
    module, view = claim_module(case, MODULE), claim_view(case)
    found = relations(module, view, run_in(arena.pool), CLAIM_TIMEOUT_S)
    found = broken_elsewhere(found, module, view, arena.runs_elsewhere, CLAIM_TIMEOUT_S)
    counts = Counter(f"relations_{relation.status}" for relation in found)
    return LaneResult({"relations": found}, "ran" if found else "empty", counts)
