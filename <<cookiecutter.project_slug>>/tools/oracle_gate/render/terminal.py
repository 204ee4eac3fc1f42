"""A packet for the terminal: lanes, reasons with their next steps, one verdict line."""

from __future__ import annotations

import os
import sys
from collections import Counter

from ..core.packet import Packet
from ..core.policy import verdict_line


def show(packet: Packet, *, verbose: bool = False) -> None:
    """Prints the packet. Under CI, where a generator may read along, rules and counts but no ids
    (design, section 4), unless `verbose`."""
    named = verbose or not os.environ.get("CI")
    for line in _lines(packet, named):
        print(line)
    sys.stdout.flush()


def _lines(packet: Packet, named: bool) -> list[str]:
    states = Counter(row.status for row in packet.replay)
    lines = [
        f"base    {packet.parent_sha[:12]} ({packet.base_from})",
        f"changes {len(packet.changes)} path(s)",
    ]
    if states:
        lines.append("replay  " + ", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    if packet.properties:
        ok = sum(item.ok for item in packet.properties)
        lines.append(
            f"sealed  {ok} of {len(packet.properties)} properties, {len(packet.fixtures)} fixture(s)"
        )
    steps = dict.fromkeys((reason.rule, reason.outcome, reason.next_step) for reason in packet.reasons)
    for rule, outcome, next_step in steps:
        found = [reason for reason in packet.reasons if reason.rule == rule]
        lines.append(f"{outcome:7} {rule} x{len(found)}: {next_step}")
        if named:
            lines += [f"          {r.subject}{': ' + r.detail if r.detail else ''}" for r in found[:20]]
            lines += [f"          … {len(found) - 20} more, see the packet"] if len(found) > 20 else []
    if named:
        for row in packet.replay:
            lines += [f"diff of {row.id}:", *(f"    {line}" for line in row.diff)] if row.diff else []
    lines.append(f"verdict {verdict_line(packet)}")
    return lines
