"""A packet as JUnit XML: a case for every row and for every reason beside the rows.

`block` is a failure; `hold` and `inspect` are errors, since a skipped case counts as passed. It names ids: it
stays on the replay host (design, section 11).
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..core.packet import Packet, Reason
from .visible import visible

_ROW_PREFIXES = ("replay.", "noise.")


def render(packet: Packet) -> str:
    """The document; suites `replay` and `gate`, with counts."""
    rows = {row.id for row in packet.replay}
    of_rows: dict[str, list[Reason]] = {}
    others: dict[tuple[str, str], list[Reason]] = {}
    for reason in packet.reasons:
        if reason.rule.startswith(_ROW_PREFIXES) and reason.subject in rows:
            of_rows.setdefault(reason.subject, []).append(reason)
        else:
            # One case for all that has the same two names: servers keep one of them and drop the rest.
            others.setdefault((visible(reason.rule), visible(reason.subject)), []).append(reason)
    root = Element("testsuites", name="replay-gate")
    replay = SubElement(root, "testsuite", name="replay")
    for row in packet.replay:
        case = _case(replay, "replay", row.id)
        _tell(case, of_rows.get(row.id, ()), "\n".join(map(visible, row.diff)))
        if row.status == "not_run":
            SubElement(case, "error", type="replay.not_run", message="not run: earlier rows misbehaved")
    gate = SubElement(root, "testsuite", name="gate")
    for (rule, subject), reasons in others.items():
        _tell(_case(gate, rule, subject), reasons, "")
    verdict = _case(gate, "gate", "verdict")
    if packet.verdict in ("block", "hold", "inspect"):
        _problem(verdict, packet.verdict, packet.verdict, f"verdict {packet.verdict}", "")
    for element in (replay, gate, root):
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        for name, tag in (("failures", "failure"), ("errors", "error")):
            element.set(name, str(sum(case.find(tag) is not None for case in cases)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, group: str, name: str) -> Element:
    return SubElement(suite, "testcase", classname=visible(group), name=visible(name) or "?", time="0")


def _tell(case: Element, reasons: Iterable[Reason], body: str) -> None:
    for reason in reasons:
        message = f"{reason.detail}; {reason.next_step}" if reason.detail else reason.next_step
        _problem(case, reason.outcome, reason.rule, message, body)


def _problem(case: Element, outcome: str, kind: str, message: str, body: str) -> None:
    tag = "failure" if outcome == "block" else "error"
    SubElement(case, tag, type=visible(kind), message=visible(message)).text = body or visible(message)
