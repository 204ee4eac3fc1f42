"""Packets to be rendered: plain ones, and one with something of everything."""

from __future__ import annotations

from oracle_gate.core.packet import (
    Approval,
    ChangedPath,
    DenylistFacts,
    Finding,
    LaneState,
    Packet,
    Property,
    Relation,
    ReplayRow,
)
from oracle_gate.core.policy import judge

HOSTILE = "<script>alert(1)</script>\"'&]]>-->\x1b[31m\u202e\x00\ud800\u2028"


def packet(**fields: object) -> Packet:
    """A judged packet of an armed base, with these facts."""
    values: dict[str, object] = {
        "mode": "patch", "trust": "local", "parent_sha": "b" * 40, "base_from": "--base main",
        "patch_sha256": "", "change_id": "c" * 64, "tree_before": "d" * 40, "tree_after": "e" * 40,
        "inputs": {"evaluated_on": "2026-01-01"}, "counts": {"pins": 3},
        "lanes": {"replay": LaneState(True, "ran"), "sealed": LaneState(False, "empty")}, **fields,
    }  # fmt: skip
    return judge(Packet(**values))  # type: ignore[arg-type]


def row(name: str, status: str, *diff: str) -> ReplayRow:
    return ReplayRow(name, status, "1" * 64, "2" * 64, diff=diff)  # type: ignore[arg-type]


def blocked(text: str = "row-1") -> Packet:
    """Something of everything, named `text`."""
    return packet(
        replay=(
            row(text, "drift", "--- base", "+++ patch", f"-old {text}", f"+new {text}"),
            row("row-2", "match"), row("row-3", "base_mismatch"), row("row-4", "not_run"),
        ),
        relations=(Relation(text, "broken", f"sums add up {text}"),),
        properties=(Property(text, True, (text,), False, note=text, counterexample=f"artifacts/{text}"),),
        approvals=(Approval("0123", "drift", text, f"note {text}", True), Approval(text, "", "", "", False, text)),
        changes=(ChangedPath(text, "M", "100644", "100644", "", "", ("dependencies.changed",)),),
        denylist=DenylistFacts(1, (Finding("denylist.hit", text, text),)),
    )  # fmt: skip
