"""What the verdict job publishes, computed from the lines of the other two. No effects here.

The lines come from a job that ran patched code: they are read strictly, and what does not fit fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.decode import decode_json, encode
from ..core.errors import GateError
from ..core.packet import Outcome
from ..core.policy import RULES, SEVERITY

NAME = "replay-gate"
#: A required check is met by `neutral` and `skipped` as well: neither is ever published.
CONCLUSIONS: Mapping[Outcome, Literal["success", "failure", "action_required"]] = {
    "eligible": "success", "block": "failure", "hold": "action_required", "inspect": "action_required",
}  # fmt: skip


@dataclass(frozen=True)
class Handed:
    """One job's facts: which change against which base, rules with counts, and no id, digest or output.

    `stopped`: intake found what ends the judgement, so nothing is replayed.
    """

    base: str
    head: str
    pack_sha256: str
    rules: Mapping[str, int]
    verdict: Outcome = "none"
    pins: int = 0
    replayed: bool = False
    trust: str = ""
    unverified: bool = True
    stopped: bool = False

    @property
    def line(self) -> str:
        """As one line of JSON."""
        return json.dumps(encode(self), sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class Decision:
    """The outcome, why in a few words, and the rules that led to it."""

    outcome: Outcome
    title: str
    rules: Mapping[str, int] = field(default_factory=dict)


def check_run(intake: str, replay: str, head: str, base: str, tip: str) -> dict[str, Any]:
    """The check to publish on `head`; `base` is what this job judges by, `tip` where the branch is now."""
    decision = decide(intake, replay, head, base, tip)
    lines = [decision.title + "."]
    lines += [f"- `{rule}`: {RULES[rule].meaning}. {RULES[rule].next_step}" for rule in decision.rules]
    lines += ["", f"Judged against `{base[:12]}`. The packet with all details stays on the replay host."]
    return {
        "name": NAME,
        "head_sha": head,
        "status": "completed",
        "conclusion": CONCLUSIONS[decision.outcome],
        "output": {"title": decision.title, "summary": "\n".join(lines)},
    }


def decide(intake: str, replay: str, head: str, base: str, tip: str) -> Decision:
    """The verdict again, by the table alone. Whatever is missing or contradicts itself blocks."""
    try:
        cut = decode_json(Handed, intake.encode(), "intake")
        facts = cut if cut.stopped else decode_json(Handed, replay.encode(), "replay")
    except GateError:
        return Decision("block", "no packet: a job failed before it could judge")
    if {cut.head, facts.head} != {head} or {cut.base, facts.base} != {base}:
        return Decision("block", "the jobs judged different commits")
    if cut.pack_sha256 != facts.pack_sha256 or any(rule not in RULES for rule in facts.rules):
        return Decision("block", "the jobs contradict each other")
    if tip != base:
        return Decision("hold", "the protected branch has moved: run the check again")
    outcomes: list[Outcome] = [RULES[rule].outcome for rule in facts.rules]
    worst = min(outcomes, key=SEVERITY.index, default="eligible")
    title = f"{worst}: {', '.join(facts.rules)}" if facts.rules else worst
    if cut.stopped:
        return Decision("block", f"{title} (not run)", facts.rules)
    proven = facts.pins > 0 and facts.replayed and facts.trust == "protected"
    if worst != facts.verdict or (worst in ("eligible", "inspect") and not proven):
        return Decision("block", "the replay job contradicts itself")
    return Decision(worst, f"{title}{' (workspace UNVERIFIED)' if facts.unverified else ''}", facts.rules)
