"""A packet as Markdown that may be posted where a generator reads: rules, counts, next steps, and no id,
digest or output (design, section 11; article B: what crosses back is a leak)."""

from __future__ import annotations

from collections import Counter

from ..core.packet import Packet


def render(packet: Packet) -> str:
    """The report as text."""
    lines = [f"# Replay gate: {packet.verdict}", "", _trust(packet), ""]
    if packet.reasons:
        lines += ["| rule | verdict | count | next step |", "|---|---|---|---|"]
        counts = Counter((reason.rule, reason.outcome, reason.next_step) for reason in packet.reasons)
        lines += [
            f"| {rule} | {outcome} | {count} | {step} |" for (rule, outcome, step), count in counts.items()
        ]
    else:
        lines += ["No rule was broken. This says that the change may be reviewed, not that it is wanted."]
    lanes = ", ".join(f"{name} {lane.state}" for name, lane in sorted(packet.lanes.items()))
    lines += ["", f"Lanes: {lanes}. Base `{packet.parent_sha[:12]}`, {len(packet.changes)} changed path(s)."]
    return "\n".join(lines) + "\n"


def _trust(packet: Packet) -> str:
    where = {
        "protected": "from the protected base",
        "local": "locally; a required run judges from the protected base",
    }
    audited = "audited" if packet.workspace.verified else "UNVERIFIED"
    return f"Judged {where.get(packet.trust, packet.trust)}. The generator's workspace is {audited}."
