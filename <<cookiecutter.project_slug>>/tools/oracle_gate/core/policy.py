"""Facts to verdict: one table, no effects (design, section 11; articles A and B, decision tables)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import Exit, GateError
from .packet import Outcome, Packet, Reason


@dataclass(frozen=True)
class Rule:
    """What a rule means and leads to, and what the human does next."""

    outcome: Outcome
    meaning: str
    next_step: str


_DROP = "Drop the patch; its author may not write there."
_CORPUS = "If the change is wanted, name it in the pull request and amend the corpus; do not rewrite a test."
_ORACLE = "Repair the oracle on the base in a change of its own, then judge again."
_REVIEW = "Read this part of the diff yourself before you merge."

RULES: dict[str, Rule] = {
    "oracle.unarmed": Rule("hold", "the base pins nothing", "Review the corpus, run `record`, commit the pins."),
    "oracle.vacuous": Rule("hold", "the required denylist has no rule", "Restore oracle/denylist.txt on the base."),
    "intake.rejected": Rule("block", "the patch does not apply cleanly", "Rebase the patch and export it again."),
    "intake.forbidden_entry": Rule("block", "a link, submodule, mode or name no change may bring", _DROP),
    "intake.too_large": Rule("block", "the patch is larger than the limits", "Split the patch."),
    "intake.empty": Rule("hold", "the patch changes nothing", "Check that you exported the right commits."),
    "denylist.hit": Rule("block", "a denied path is touched", _DROP),
    "freeze_ledger.changed": Rule("block", "the patch writes the freeze ledger", _DROP),
    "setup.failed": Rule("block", "the patched tree does not build", "Return the build error to the author."),
    "setup.base_failed": Rule("hold", "the base does not build here", "Repair the machine or [subject] setup."),
    "replay.drift": Rule("block", "a pinned input gives another result", _CORPUS),
    "replay.unstable": Rule("block", "the patch makes a steady row waver", "Find what the patch made random."),
    "replay.misbehaved": Rule("block", "a row hangs, floods, leaves processes or writes to its tree",
                              "Return it to the author; see the row's detail."),
    "replay.missing": Rule("block", "a digest has no row any more", "Restore the row, or `record --remove` its pin."),
    "replay.unpinned": Rule("hold", "a row has no digest", "Pin it with `record --add` after review."),
    "replay.base_mismatch": Rule("hold", "the base misses its own pin here",
                                 "The machine moved, or the row is not deterministic: fix it or re-pin it."),
    "replay.empty": Rule("hold", "replay is required and there is no row", "Add rows to the corpus and pin them."),
    "replay.unisolated": Rule("hold", "a row cannot be isolated here", "Judge on a host with bubblewrap."),
    "replay.stale_pins": Rule("hold", "the pins belong to another corpus or canonical form",
                              "Re-pin on the base with `record` and have it reviewed."),
    "relations.broken": Rule("block", "a metamorphic relation no longer holds",
                             "Real finding: if all digests match, the corpus was too thin."),
    "relations.not_run": Rule("block", "a relation could not be run", "Repair the relation or the program."),
    "relations.vacuous": Rule("hold", "a relation holds for a random or crashing program", _ORACLE),
    "quarantine.missing": Rule("block", "a quarantined test is gone", "Restore the test; no skip by deletion."),
    "quarantine.neutered": Rule("block", "a quarantined test can no longer fail", "Restore the test's body."),
    "quarantine.no_expiry": Rule("block", "a quarantine entry has no expiry", _ORACLE),
    "quarantine.no_reason": Rule("block", "a quarantine entry has no reason", _ORACLE),
    "quarantine.expired": Rule("hold", "a quarantine entry has expired", "Re-triage the flake; a human extends it."),
    "fixtures.missing": Rule("block", "a sealed fixture is not there", "The inventory drifted: restore it."),
    "fixtures.digest_mismatch": Rule("block", "a fixture has other bytes", "The inventory drifted: restore it."),
    "properties.failed": Rule("block", "a sealed property rejects the patch", "See the counterexample on this host."),
    "properties.not_run": Rule("block", "a sealed property did not run", "Silent skip is not a pass: repair it."),
    "properties.vacuous": Rule("hold", "a property accepts a stub program", _ORACLE),
    "sealed.empty": Rule("hold", "the sealed lane is required and empty", "Add properties and fixtures, run `seal`."),
    "sealed.absent": Rule("hold", "the sealed folder is not here", "Name it with --sealed or [sealed] dir."),
    "lanes.empty": Rule(
        "hold", "a required lane has nothing to judge", "Write what it judges, or change [lanes] required on the base."
    ),
    "freezes.expired": Rule("block", "a freeze has expired", "Unfreeze the test or renew it as its owner."),
    "freezes.no_owner": Rule("block", "a freeze has no owner", "Name an owner in sealed/freeze.json."),
    "freezes.no_parent": Rule("block", "a freeze names no parent commit", "Name the commit that justified it."),
    "freezes.parent_unknown": Rule("hold", "a shallow clone cannot tell whether a freeze's parent is known",
                                   "Judge from a full clone."),
    "tests.vanished": Rule("block", "no test is collected any more", "Restore the tests."),
    "sandbox.insufficient": Rule("hold", "the sandbox is weaker than [sandbox] require",
                                 "Install bubblewrap or use a kernel with Landlock; see `doctor`."),
    "approval.invalid": Rule("hold", "a statement does not verify", "Sign again with a key of allowed_signers."),
    "workspace.leak": Rule("hold", "the generator's workspace held hidden bytes", "Treat the run as unverified."),
    "workspace.unverified": Rule("hold", "no audit of the workspace is bound to this packet",
                                 "Run `audit` on the workspace and pass its report."),
    "public.failed": Rule("inspect", "public tests fail while the evidence is green",
                          "Do not merge automatically: tautology or regression?"),
    "tests.lost": Rule("inspect", "a test of the base is gone", _REVIEW),
    "tests.newly_skipped": Rule("inspect", "a test of the base is skipped now", _REVIEW),
    "tests.weakened": Rule("inspect", "a test of the base asserts less", _REVIEW),
    "dependencies.changed": Rule("inspect", "dependencies change; judged in the base's environment", _REVIEW),
    "build.changed": Rule("inspect", "build code changes", _REVIEW),
    "test_config.changed": Rule("inspect", "test configuration changes", _REVIEW),
    "agent_config.changed": Rule("inspect", "instructions to agents change", _REVIEW),
    "noise.changed": Rule("inspect", "a row drops another number of noise lines", _REVIEW),
}  # fmt: skip

#: block > hold > inspect > eligible.
SEVERITY: tuple[Outcome, ...] = ("block", "hold", "inspect", "eligible", "none")
_FROM_STATUS = {
    "drift": "replay.drift", "unstable": "replay.unstable", "misbehaved": "replay.misbehaved",
    "base_mismatch": "replay.base_mismatch", "missing": "replay.missing", "unpinned": "replay.unpinned",
    "unisolated": "replay.unisolated",
}  # fmt: skip
#: Lanes whose emptiness another rule names, or that may be empty.
_EMPTY_ELSEWHERE = ("denylist", "replay", "sealed", "quarantine")
_UNARMED = ("oracle.unarmed", "oracle/digests.json", "no digest is pinned")
_Found = Iterator[tuple[str, str, str]]


def _oracle(packet: Packet) -> _Found:
    denylist = packet.lanes.get("denylist")
    if denylist and denylist.required and not packet.denylist.rules:
        yield "oracle.vacuous", "oracle/denylist.txt", "has no rule"
    for what in packet.stale_pins:
        yield "replay.stale_pins", "oracle/provenance.json", what


def _paths(packet: Packet) -> _Found:
    for problem in packet.intake:
        yield problem.rule, problem.subject, problem.detail
    for hit in (*packet.denylist.hits, *packet.setup):
        yield hit.rule, hit.subject, hit.detail
    for approval in packet.approvals:
        if not approval.valid:
            yield "approval.invalid", approval.id or "statement", approval.complaint
    for change in packet.changes:
        for kind in change.kinds:
            yield kind, change.path, ""


def _replay(packet: Packet) -> _Found:
    for row in packet.replay:
        if row.status in _FROM_STATUS:
            yield _FROM_STATUS[row.status], row.id, row.detail
        if row.noise:
            yield "noise.changed", row.id, f"dropped lines {row.noise}"
    lane = packet.lanes.get("replay")
    if lane and lane.required and lane.state == "empty":
        yield "replay.empty", "corpus/inputs.jsonl", "no row was judged"


def _tests(packet: Packet) -> _Found:
    for row in packet.quarantine:
        if row.status != "kept":
            yield f"quarantine.{row.status}", row.id, row.detail
    tests = packet.tests
    for rule, ids in (
        ("lost", tests.lost),
        ("newly_skipped", tests.newly_skipped),
        ("weakened", tests.weakened),
    ):
        for id in ids:
            yield f"tests.{rule}", id, tests.details.get(id, "")
    if tests.vanished:
        yield "tests.vanished", "tests", tests.problem or "there were some on the base"
    elif tests.problem:
        yield "tests.lost", "tests", tests.problem


def _public(packet: Packet) -> _Found:
    public = packet.public
    if public.problem:
        yield "public.failed", "the base's tests on the base", public.problem
    for whose, run in (("the base's tests", public.base_tests), ("the patch's tests", public.own_tests)):
        if run.problem:
            yield "public.failed", whose, run.problem
        for id in run.failed:
            yield "public.failed", id, f"of {whose}: {run.details.get(id, 'failed')}"


def _relations(packet: Packet) -> _Found:
    thin = bool(packet.replay) and all(row.status == "match" for row in packet.replay)
    for relation in packet.relations:
        if relation.status != "holds":
            hint = (
                " (all digests match: the corpus is too thin)" if thin and relation.status == "broken" else ""
            )
            yield f"relations.{relation.status}", relation.id, relation.note + hint


def _sealed(packet: Packet) -> _Found:
    for finding in packet.sealed:
        yield finding.rule, finding.subject, finding.detail
    for fixture in packet.fixtures:
        if not fixture.digest_match:
            yield f"fixtures.{'digest_mismatch' if fixture.hit else 'missing'}", fixture.id, ""
    for item in packet.properties:
        if not (item.ran and item.ok):
            detail = ", ".join(filter(None, (item.note, *item.failed_fixtures[:5], item.counterexample)))
            yield f"properties.{'failed' if item.ran else 'not_run'}", item.id, detail
        if item.accepts:
            yield "properties.vacuous", item.id, f"accepts {', '.join(item.accepts)}"
    lane = packet.lanes.get("sealed")
    if lane and lane.required and lane.state in ("empty", "absent"):
        yield f"sealed.{lane.state}", "sealed/MANIFEST.json", ""


def _freezes(packet: Packet) -> _Found:
    for freeze in packet.freezes:
        for rule, broken in (
            ("expired", freeze.expired),
            ("no_owner", not freeze.has_owner),
            ("no_parent", not freeze.parent_sha_present and not freeze.parent_unknown),
            ("parent_unknown", freeze.parent_unknown),
        ):
            if broken:
                yield f"freezes.{rule}", freeze.test_id, ""


def _sandbox(packet: Packet) -> _Found:
    sandbox = packet.sandbox
    if sandbox.mode == "none":
        yield "sandbox.insufficient", "none", "--sandbox none is for debugging"
    if sandbox.problem:
        yield "sandbox.insufficient", sandbox.mode, sandbox.problem
    if sandbox.mode in ("none", "not_run"):
        return
    opened = sorted(name for name, state in sandbox.probes.items() if state != "blocked")
    if sandbox.required == "isolated" and (sandbox.mode == "plain" or opened):
        yield "sandbox.insufficient", sandbox.mode, ", ".join(opened) or "no isolation"


def _workspace(packet: Packet) -> _Found:
    workspace = packet.workspace
    for kind, count in workspace.leaks.items():
        yield "workspace.leak", kind, f"{count} finding(s); the audit's report says where"
    if workspace.required and not (workspace.verified or workspace.leaks or packet.mode == "self-check"):
        yield "workspace.unverified", "workspace", workspace.problem or "no report of an audit was given"


def _lanes(packet: Packet) -> _Found:
    """Required lanes with nothing to judge; an empty quarantine is no finding, others have their own rules."""
    for name, lane in packet.lanes.items():
        if lane.required and lane.state in ("empty", "absent") and name not in _EMPTY_ELSEWHERE:
            yield "lanes.empty", name, ""


def _unjudged(packet: Packet) -> _Found:
    """Required lanes that did not run although nothing forbade it: no packet of the gate is like that."""
    for name, lane in packet.lanes.items():
        if lane.required and lane.state == "not_run":
            yield "lanes.empty", name, "did not run"


def judge(packet: Packet) -> Packet:
    """The packet with reasons, verdict and merge_ok; what it held of these before is not looked at.

    Raises GateError for a fact that names no rule, which only a packet of another version or a forged one has.
    """
    order = list(RULES)
    parts = (
        _oracle, _paths, _replay, _relations, _sealed, _freezes, _tests, _public, _sandbox, _workspace, _lanes,
    )  # fmt: skip
    # A base that pins nothing cannot judge: that is said first, and alone.
    armed = packet.counts.get("pins", 0) > 0 or packet.mode == "harness"
    found = {item for part in parts for item in part(packet)} if armed else {_UNARMED}
    found = found or set(_unjudged(packet))
    accepted = {rule for approval in packet.approvals if approval.valid for rule in approval.accepts}
    found = {item for item in found if item[0] not in accepted}
    unknown = sorted(rule for rule, _, _ in found if rule not in RULES)
    if unknown:
        raise GateError(f"unknown rule {unknown[0]!r}", where="packet", todo="judge the change again")
    reasons = tuple(
        Reason(rule, RULES[rule].outcome, subject, detail, RULES[rule].next_step)
        for rule, subject, detail in sorted(
            found, key=lambda item: (SEVERITY.index(RULES[item[0]].outcome), order.index(item[0]), item)
        )
    )
    best: Outcome = "none" if packet.mode in ("self-check", "harness") else "eligible"
    verdict = min((reason.outcome for reason in reasons), key=SEVERITY.index, default=best)
    merge_ok = verdict not in ("block", "hold") and packet.mode != "self-check"
    return dataclasses.replace(packet, reasons=reasons, verdict=verdict, merge_ok=merge_ok)


def verdict_line(packet: Packet) -> str:
    """One line: the verdict, its rules with counts, what was not judged, how far to trust it."""
    rules = [reason.rule for reason in packet.reasons]
    parts = [
        f"{rule} x{rules.count(rule)}" if rules.count(rule) > 1 else rule for rule in dict.fromkeys(rules)
    ]
    notes = [
        f"{name} {lane.state}"
        for name, lane in sorted(packet.lanes.items())
        if lane.state in ("empty", "absent")
    ]
    notes += [] if packet.workspace.verified or packet.mode == "self-check" else ["workspace UNVERIFIED"]
    notes += [f"trust: {packet.trust}"]
    return f"{packet.verdict}{': ' if parts else ''}{', '.join(parts)} ({'; '.join(notes)})"


def exit_code(packet: Packet) -> Exit:
    """The exit code that a verdict stands for."""
    codes = {"block": Exit.BLOCK, "hold": Exit.HOLD, "inspect": Exit.INSPECT}
    return codes.get(packet.verdict, Exit.OK)
