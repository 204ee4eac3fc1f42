"""The table that turns facts into a verdict: complete, as designed, and each rule reached by its facts."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_gate.core.errors import Exit, GateError
from oracle_gate.core.packet import (
    ChangedPath,
    DenylistFacts,
    Finding,
    Fixture,
    Freeze,
    LaneState,
    Packet,
    Property,
    Public,
    PublicRun,
    QuarantineRow,
    ReplayRow,
    SandboxFacts,
    Workspace,
)
from oracle_gate.core.packet import Tests as Identities
from oracle_gate.core.policy import RULES, SEVERITY, exit_code, judge, verdict_line

#: The rules as the design fixes them, section 11.
DESIGN = """
| intake.rejected, intake.forbidden_entry, intake.too_large | block |
| intake.empty | hold |
| denylist.hit, freeze_ledger.changed | block |
| replay.drift, replay.unstable, replay.misbehaved, setup.failed | block |
| replay.missing | block |
| replay.unpinned, replay.base_mismatch, replay.empty, replay.unisolated, replay.stale_pins | hold |
| setup.base_failed | hold |
| relations.broken, relations.not_run | block |
| relations.vacuous | hold |
| quarantine.missing, quarantine.neutered, quarantine.no_expiry, quarantine.no_reason | block |
| quarantine.expired | hold |
| fixtures.missing, fixtures.digest_mismatch | block |
| properties.failed, properties.not_run | block |
| properties.vacuous, sealed.empty, sealed.absent | hold |
| freezes.expired, freezes.no_owner, freezes.no_parent | block |
| freezes.parent_unknown, lanes.empty | hold |
| public.failed | inspect |
| tests.lost, tests.newly_skipped, tests.weakened | inspect |
| tests.vanished | block |
| dependencies.changed, build.changed, test_config.changed, agent_config.changed, noise.changed | inspect |
| sandbox.insufficient, oracle.vacuous, oracle.unarmed, approval.invalid, workspace.leak | hold |
| workspace.unverified | hold |
"""
TABLE = {
    rule: outcome
    for rules, outcome in re.findall(r"\| (.+?) \| (\w+) \|", DESIGN)
    for rule in rules.split(", ")
}
#: Facts on which everything is well.
GREEN = Packet(
    mode="patch", trust="local", parent_sha="1" * 40, base_from="--base main", patch_sha256="2" * 64,
    change_id="3" * 64, tree_before="4" * 40, tree_after="5" * 40, inputs={"evaluated_on": "2026-01-01"},
    denylist=DenylistFacts(rules=4), replay=(ReplayRow("a", "match"), ReplayRow("b", "match")),
    sandbox=SandboxFacts("bubblewrap", "isolated", ("bubblewrap",), probes={"write": "blocked"}),
    lanes={"denylist": LaneState(True, "ran"), "replay": LaneState(True, "ran")},
    workspace=Workspace(True), counts={"pins": 2, "rows": 2, "match": 2},
)  # fmt: skip


def facts(**changes: Any) -> Packet:
    return dataclasses.replace(GREEN, **changes)


def row(status: Any, **more: Any) -> dict[str, Any]:
    return {"replay": (ReplayRow("a", "match"), ReplayRow("b", status, **more))}


def kind(rule: str) -> dict[str, Any]:
    return {"changes": (ChangedPath("x", "M", "100644", "100644", "1", "2", (rule,)),)}


_BY_PATH = ("dependencies.", "build.", "test_config.", "agent_config.")
#: Facts -> the one rule that they speak for. Rules whose lanes do not exist yet are not here.
REACHED: list[tuple[str, dict[str, Any]]] = [
    *((f"intake.{name}", {"intake": (Finding(f"intake.{name}", "patch", "why"),)})
      for name in ("rejected", "forbidden_entry", "too_large", "empty")),
    ("denylist.hit", {"denylist": DenylistFacts(4, (Finding("denylist.hit", "oracle/x"),))}),
    ("freeze_ledger.changed", {"denylist": DenylistFacts(4, (Finding("freeze_ledger.changed", "sealed"),))}),
    *((f"setup.{name}", {"setup": (Finding(f"setup.{name}", "setup"),)}) for name in ("failed", "base_failed")),
    *((f"replay.{status}", row(status))
      for status in ("drift", "unstable", "misbehaved", "base_mismatch", "missing", "unpinned")),
    ("noise.changed", row("match", noise="1 -> 2")),
    ("replay.empty", {"replay": (), "lanes": {"replay": LaneState(True, "empty")}}),
    ("replay.stale_pins", {"stale_pins": ("another corpus digest",)}),
    ("oracle.vacuous", {"denylist": DenylistFacts(0)}),
    ("oracle.unarmed", {"counts": {"pins": 0}}),
    ("oracle.unarmed", {"counts": {}}),
    ("sandbox.insufficient", {"sandbox": SandboxFacts("plain", "isolated")}),
    ("sandbox.insufficient", {"sandbox": SandboxFacts("none", "plain")}),
    ("sandbox.insufficient", {"sandbox": SandboxFacts("landlock", probes={"a": "blocked", "b": "open"})}),
    ("fixtures.missing", {"fixtures": (Fixture("f", False, False, ""),)}),
    ("fixtures.digest_mismatch", {"fixtures": (Fixture("f", True, False, "6" * 64),)}),
    ("properties.failed", {"properties": (Property("p", True, ("f",), False),)}),
    ("properties.not_run", {"properties": (Property("p", False, (), False, "is missing"),)}),
    ("properties.not_run", {"properties": (Property("p", False, (), True),)}),
    ("properties.vacuous", {"properties": (Property("p", True, (), True, accepts=("crash",)),)}),
    ("freezes.expired", {"freezes": (Freeze("t", True, True, True),)}),
    ("freezes.no_owner", {"freezes": (Freeze("t", False, False, True),)}),
    ("freezes.no_parent", {"freezes": (Freeze("t", True, False, False),)}),
    ("lanes.empty", {"lanes": {**GREEN.lanes, "relations": LaneState(True, "empty")}}),
    ("lanes.empty", {"lanes": {**GREEN.lanes, "sealed": LaneState(True, "not_run")}}),
    ("freezes.parent_unknown", {"freezes": (Freeze("t", True, False, False, parent_unknown=True),)}),
    ("sealed.empty", {"lanes": {"sealed": LaneState(True, "empty")}}),
    ("sealed.absent", {"lanes": {"sealed": LaneState(True, "absent")}}),
    *((rule, kind(rule)) for rule in TABLE if rule.endswith(".changed") and rule.startswith(_BY_PATH)),
    *((f"quarantine.{status}", {"quarantine": (QuarantineRow("a", "kept"), QuarantineRow("b", status))})
      for status in ("missing", "neutered", "no_expiry", "no_reason", "expired")),
    ("tests.lost", {"tests": Identities(lost=("a",))}),
    ("tests.newly_skipped", {"tests": Identities(newly_skipped=("a",))}),
    ("tests.weakened", {"tests": Identities(weakened=("a",))}),
    ("tests.lost", {"tests": Identities(problem="the base's tests cannot be collected")}),
    ("tests.vanished", {"tests": Identities(vanished=True, problem="exit 2")}),
    ("public.failed", {"public": Public(base_tests=PublicRun(failed=("a",), details={"a": "failed"}))}),
    ("public.failed", {"public": Public(own_tests=PublicRun(failed=("a",)))}),
    ("public.failed", {"public": Public(base_tests=PublicRun(problem="timeout"))}),
    ("public.failed", {"public": Public(problem="exit 4")}),
    ("workspace.leak", {"workspace": Workspace(False, leaks={"hidden copy": 2})}),
    ("workspace.leak", {"workspace": Workspace(False, required=True, leaks={"hidden copy": 2}, problem="why")}),
    ("workspace.unverified", {"workspace": Workspace(False, required=True)}),
    ("workspace.unverified", {"workspace": Workspace(False, required=True, problem="why")}),
]  # fmt: skip
CODES = {"block": Exit.BLOCK, "hold": Exit.HOLD, "inspect": Exit.INSPECT}


def test_the_rules_are_those_of_the_design() -> None:
    assert len(TABLE) == 53
    assert {name: rule.outcome for name, rule in RULES.items()} == TABLE


def test_each_rule_says_what_it_means_and_what_comes_next() -> None:
    for name, rule in RULES.items():
        assert rule.meaning.strip(), name
        assert rule.next_step.endswith((".", "?")), name


def test_green_facts_are_eligible() -> None:
    packet = judge(GREEN)
    assert (packet.verdict, packet.reasons, packet.merge_ok) == ("eligible", (), True)
    assert exit_code(packet) is Exit.OK


@pytest.mark.parametrize(("rule", "changes"), REACHED)
def test_a_fact_gives_its_reason(rule: str, changes: dict[str, Any]) -> None:
    packet = judge(facts(**changes))
    assert [reason.rule for reason in packet.reasons] == [rule]
    assert packet.verdict == packet.reasons[0].outcome == TABLE[rule]
    assert packet.reasons[0].next_step == RULES[rule].next_step
    assert packet.reasons[0].subject
    assert packet.merge_ok is (TABLE[rule] == "inspect")
    assert exit_code(packet) is CODES[TABLE[rule]]


def test_all_rules_of_the_lanes_that_exist_are_reached() -> None:
    waiting = (
        "relations.",
        "approval.",
        "workspace.",
        "replay.unisolated",
    )
    reached = {rule for rule, _ in REACHED}
    assert {rule for rule in TABLE if not rule.startswith(waiting)} <= reached


@pytest.mark.parametrize(
    "changes",
    [
        {"sandbox": SandboxFacts("plain", "plain")},
        {"sandbox": SandboxFacts("not_run", "isolated")},
        {"lanes": {"replay": LaneState(False, "empty")}},
        {"lanes": {"sealed": LaneState(False, "absent")}},
        {"lanes": {"denylist": LaneState(False, "empty")}, "denylist": DenylistFacts(0)},
        {"workspace": Workspace(False)},
    ],
)
def test_what_is_not_required_does_not_lower_a_verdict(changes: dict[str, Any]) -> None:
    assert judge(facts(**changes)).verdict == "eligible"


def test_the_worst_outcome_decides_and_comes_first() -> None:
    packet = judge(
        facts(
            replay=(
                ReplayRow("z", "drift"), ReplayRow("a", "drift", detail="d"), ReplayRow("b", "unpinned"),
                ReplayRow("c", "match", noise="0 -> 1"), ReplayRow("e", "misbehaved"), ReplayRow("d", "not_run"),
            ),
            changes=kind("build.changed")["changes"],
        )
    )  # fmt: skip
    assert [(reason.rule, reason.subject) for reason in packet.reasons] == [
        ("replay.drift", "a"), ("replay.drift", "z"), ("replay.misbehaved", "e"), ("replay.unpinned", "b"),
        ("build.changed", "x"), ("noise.changed", "c"),
    ]  # fmt: skip
    assert (packet.verdict, packet.merge_ok) == ("block", False)
    assert SEVERITY[:4] == ("block", "hold", "inspect", "eligible")


def test_hold_is_worse_than_inspect() -> None:
    packet = judge(facts(**kind("build.changed"), stale_pins=("canonical form canonical-v0",)))
    assert (packet.verdict, packet.merge_ok) == ("hold", False)


def test_an_unarmed_base_is_said_alone() -> None:
    packet = judge(facts(**row("drift"), counts={"pins": 0}, intake=(Finding("intake.rejected", "p"),)))
    assert [reason.rule for reason in packet.reasons] == ["oracle.unarmed"]


def test_a_self_check_is_no_verdict_and_no_merge() -> None:
    packet = judge(facts(mode="self-check"))
    assert (packet.verdict, packet.merge_ok, exit_code(packet)) == ("none", False, Exit.OK)
    held = judge(facts(mode="self-check", **row("base_mismatch")))
    assert (held.verdict, held.merge_ok, exit_code(held)) == ("hold", False, Exit.HOLD)


def test_a_harness_run_is_never_eligible_and_needs_no_pins() -> None:
    packet = judge(facts(mode="harness", replay=(), counts={}))
    assert (packet.verdict, packet.merge_ok, exit_code(packet)) == ("none", True, Exit.OK)
    for rule, changes in REACHED:
        if rule.startswith(("fixtures.", "properties.", "freezes.", "sealed.")):
            assert judge(facts(mode="harness", counts={}, **changes)).merge_ok is False, rule


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(REACHED), max_size=4),
    st.sampled_from(("block", "eligible", "none")),
    st.booleans(),
)
def test_judging_again_looks_at_the_facts_alone(
    chosen: list[tuple[str, dict[str, Any]]], verdict: Any, merge_ok: bool
) -> None:
    packet = GREEN
    for _, changes in chosen:
        packet = dataclasses.replace(packet, **changes)
    once = judge(packet)
    assert judge(once) == once
    assert judge(dataclasses.replace(once, verdict=verdict, merge_ok=merge_ok, reasons=())) == once


@pytest.mark.parametrize(
    "changes",
    [
        {"intake": (Finding("intake.nonsense", "x"),)},
        {"denylist": DenylistFacts(1, (Finding("", "x"),))},
        kind("eligible"),
    ],
)
def test_a_fact_of_no_rule_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(GateError, match="unknown rule"):
        judge(facts(**changes))


def test_the_verdict_line_counts_and_says_what_was_not_judged() -> None:
    assert verdict_line(judge(GREEN)) == "eligible (trust: local)"
    packet = facts(
        replay=(ReplayRow("a", "drift"), ReplayRow("b", "drift"), ReplayRow("c", "unpinned")),
        lanes={"replay": LaneState(True, "ran"), "denylist": LaneState(False, "empty")},
        workspace=Workspace(False),
        trust="protected",
    )
    assert verdict_line(judge(packet)) == (
        "block: replay.drift x2, replay.unpinned (denylist empty; workspace UNVERIFIED; trust: protected)"
    )
    assert verdict_line(judge(facts(mode="self-check", workspace=Workspace(False)))) == "none (trust: local)"
