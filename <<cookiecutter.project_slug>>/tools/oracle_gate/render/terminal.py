"""A packet for the terminal: lanes, reasons with their next steps, one verdict line."""

from __future__ import annotations

import os
import sys
from collections import Counter

from ..core.packet import Packet
from ..core.policy import verdict_line
from .visible import visible

#: SGR codes of the words that a line may begin with.
_COLOURS = {"block": "31", "hold": "33", "inspect": "36", "eligible": "32"}


def show(packet: Packet, *, verbose: bool = False, quiet: bool = False) -> None:
    """Prints the packet, or its last line alone (`quiet`). Under CI, where a generator may read along, rules
    and counts but no ids (design, section 4), unless `verbose`. Colours on a terminal only."""
    named = verbose or not os.environ.get("CI")
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = _lines(packet, named)
    for line in lines[-1:] if quiet else lines:
        shown = visible(line)
        print(_coloured(shown) if coloured else shown)
    sys.stdout.flush()


def _coloured(line: str) -> str:
    words = line.split(maxsplit=2)
    at = 1 if words[:1] == ["verdict"] else 0
    word = words[at].rstrip(":") if len(words) > at else ""
    if word in _COLOURS and not line.startswith(" "):
        return line.replace(word, f"\x1b[1;{_COLOURS[word]}m{word}\x1b[0m", 1)
    signs = {"+": "32", "-": "31"}
    if line.startswith("    ") and line[4:5] in signs:
        return f"\x1b[{signs[line[4]]}m{line}\x1b[0m"
    return line


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
