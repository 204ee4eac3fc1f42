"""Which statements count for a change, and what follows: hits that are approved, inputs read from the
patched tree (design, section 10)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.approvals import SIGNERS, Signers, Verified, read_submitted, submitted_with, verify_all
from ..core.errors import GateError
from ..core.gitdb import Entries
from ..core.noise import parse_noise
from ..core.oracle import Oracle, read_control, read_oracle
from ..core.packet import DenylistFacts, Finding, ReplayRow
from ..core.pins import DIGESTS, PROVENANCE, Provenance, parse_digests, parse_provenance, sha256
from ..core.statements import ALWAYS_BASE, covers_path, covers_pins
from ..core.submission import Change, change_id
from ..core.view import CORPUS
from ..lanes.denylist import denylist
from .case import Case

_PINS = (DIGESTS, PROVENANCE)
NOISE = "oracle/noise.txt"


@dataclass(frozen=True)
class Granted:
    """The denylist's facts after approval, and the oracle and corpus that the change is judged by."""

    verified: Verified
    denied: DenylistFacts
    oracle: Oracle
    corpus: Entries


def grant(case: Case) -> Granted:
    """Verifies the change's own statements and those given by file; without any, the base's oracle stays."""
    context, oracle, change = case.context, case.oracle, case.change
    signers = Signers(
        read_control(context.store, change.before, SIGNERS),
        context.folder("signers"),
        case.now,
    )
    submitted = [*submitted_with(change, context.store), *map(read_submitted, case.approvals)]
    verified = verify_all(
        submitted,
        signers,
        change_id(context.store, change.changed),
        change.base,
        oracle.settings.approvals.overridable,
    )
    facts = denylist(change, oracle)
    approved = {hit for hit in facts.hits if _covered(hit, verified, change.before)}
    if _pins_covered(case, verified):
        approved |= {hit for hit in facts.hits if hit.subject in _PINS}
    open_hits = tuple(hit for hit in facts.hits if hit not in approved)
    denied = DenylistFacts(facts.rules, open_hits, tuple(hit for hit in facts.hits if hit in approved))
    if not approved or open_hits:
        return Granted(verified, denied, oracle, change.before)
    corpus = _with_approved(change, {hit.subject for hit in approved})
    amended = read_oracle(context.store, corpus, settings_from=change.before)
    noise = read_control(context.store, corpus, NOISE)
    amended = replace(
        amended, rules=oracle.rules, settings=oracle.settings, noise=parse_noise(noise),
        digests_of={**amended.digests_of, "noise": sha256(noise)},
    )  # fmt: skip
    judged_by = replace(amended, provenance=_with_known_facts(oracle, amended))
    return Granted(verified, denied, judged_by, corpus)


def _covered(hit: Finding, verified: Verified, before: Entries) -> bool:
    """Whether a statement lets a denied path through; a statement itself may only be added."""
    if hit.subject.encode() in verified.valid_paths - before.keys():
        return True
    return covers_path(verified.statements, hit.subject)


def _pins_covered(case: Case, verified: Verified) -> bool:
    """Whether the change's new pins are what statements say; that they reproduce, the replay shows."""
    entry = case.change.after.get(DIGESTS.encode())
    if entry is None or not entry.mode.startswith("100") or not verified.statements:
        return False
    try:
        after = parse_digests(case.context.store.read(entry.oid, "blob"))
    except GateError:
        return False
    # No statement binds provenance.json: it changes with pins or with what they were made of, not by itself.
    moved = after != case.oracle.pins or any(_is_input(item.path) for item in case.change.changed)
    return moved and not _excuses_more(case) and covers_pins(verified.statements, case.oracle.pins, after)


def _excuses_more(case: Case) -> bool:
    """Whether the change's provenance excuses a row from another envelope that the base does not: merged, it
    would hide a program that recognises the gate from then on."""
    made = case.oracle.provenance
    entry = case.change.after.get(PROVENANCE.encode())
    if entry is None or not entry.mode.startswith("100"):
        return True
    try:
        after = parse_provenance(case.context.store.read(entry.oid, "blob"))
    except GateError:
        return True
    before = made.envelope_sensitive if made else ()
    return after is not None and not set(after.envelope_sensitive) <= set(before)


def _is_input(path: bytes) -> bool:
    return path.startswith(CORPUS) or path == NOISE.encode()


def _with_known_facts(oracle: Oracle, amended: Oracle) -> Provenance | None:
    """The change's provenance, which no statement binds: a pin that stays keeps its count of noise lines,
    and which rows are excused from another envelope, the base alone says."""
    before, after = oracle.provenance, amended.provenance
    if before is None or after is None:
        return after
    after = replace(after, envelope_sensitive=before.envelope_sensitive)
    if amended.digests_of["noise"] != oracle.digests_of["noise"]:
        return after
    kept = {row for row, pin in amended.pins.items() if oracle.pins.get(row) == pin}
    lines = {row: count for row, count in after.noise_lines.items() if row not in kept}
    lines |= {row: count for row, count in before.noise_lines.items() if row in kept}
    return replace(after, noise_lines=lines)


def _with_approved(change: Change, paths: set[str]) -> Entries:
    """The base, with the approved paths as the change has them; what decides about approvals stays."""
    entries = dict(change.before)
    for path in paths:
        if any(path == own or path.startswith(own + "/") for own in ALWAYS_BASE):
            continue
        entries.pop(path.encode(), None)
        if path.encode() in change.after:
            entries[path.encode()] = change.after[path.encode()]
    return entries


def mark_approved(rows: tuple[ReplayRow, ...], verified: Verified) -> tuple[ReplayRow, ...]:
    """Drifts that a statement names, old and new digest, become `approved`."""
    stated = {
        (row, pin.old, pin.new): statement.name
        for statement in verified.statements
        if statement.kind == "drift"
        for row, pin in statement.ids.items()
    }

    def mark(row: ReplayRow) -> ReplayRow:
        name = stated.get((row.id, row.expected, row.observed))
        approved = name is not None and row.status == "drift"
        return replace(row, status="approved", detail=f"approved by {name}") if approved else row

    return tuple(map(mark, rows))
