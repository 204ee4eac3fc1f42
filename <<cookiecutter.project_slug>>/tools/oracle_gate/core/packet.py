"""merge-packet-v1: the facts of one judgement, and the verdict they led to (design, section 11).

No clock but a UTC date, no float, no machine path: the same inputs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["eligible", "block", "hold", "inspect", "none"]
ReplayStatus = Literal[
    "match", "drift", "unstable", "misbehaved", "base_mismatch", "missing", "unpinned", "not_run",
    "approved", "unisolated",
]  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """Why the verdict is not better: a rule of the policy, applied to a subject."""

    rule: str
    outcome: Outcome
    subject: str
    detail: str
    next_step: str


@dataclass(frozen=True)
class Finding:
    """A rule and what it was found on, where the finding itself is the fact."""

    rule: str
    subject: str
    detail: str = ""


@dataclass(frozen=True)
class ChangedPath:
    """A net change; `kinds` names the rules that its path or content alone speaks for."""

    path: str
    status: str
    before_mode: str
    after_mode: str
    before: str
    after: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class DenylistFacts:
    """How many rules the base has, which paths they or the built-in list matched, which of these a
    verified statement covers."""

    rules: int = 0
    hits: tuple[Finding, ...] = ()
    approved: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class ReplayRow:
    """One row. `detail` says how it misbehaved; `diff` is base against patch, bounded, for the human.

    `noise` is set when noise rules drop another number of lines than when it was pinned: `1 -> 3`.
    """

    id: str
    status: ReplayStatus
    expected: str = ""
    observed: str = ""
    detail: str = ""
    diff: tuple[str, ...] = ()
    noise: str = ""


@dataclass(frozen=True)
class Relation:
    """A metamorphic relation and how it answered; `note` is its identity or its complaint."""

    id: str
    status: Literal["holds", "broken", "not_run", "vacuous"]
    note: str


@dataclass(frozen=True)
class Fixture:
    """Article B's row: was the fixture there, and are its bytes the manifest's."""

    id: str
    hit: bool
    digest_match: bool
    sha256: str


@dataclass(frozen=True)
class Property:
    """Article B's row, with what a human needs to see.

    `note` says why it did not run: no text of a fixture. `accepts` names the null controls if it accepts
    every one of them. `in_process`: patched code ran in the property's own process and can forge the answer.
    `counterexample` is a file below .gate/artifacts/counterexamples/.
    """

    id: str
    ran: bool
    failed_fixtures: tuple[str, ...]
    ok: bool
    note: str = ""
    accepts: tuple[str, ...] = ()
    in_process: bool = False
    counterexample: str = ""


@dataclass(frozen=True)
class Freeze:
    """Article B's row. The parent must be an ancestor of the base; a shallow clone may not know."""

    test_id: str
    has_owner: bool
    expired: bool
    parent_sha_present: bool
    parent_unknown: bool = False


@dataclass(frozen=True)
class LaneState:
    """Whether a lane is required, and whether it had anything to judge (`ran`, `empty`, `not_run`).

    `absent`: what it judges by is not on this host.
    """

    required: bool
    state: Literal["ran", "empty", "absent", "not_run"]


@dataclass(frozen=True)
class SandboxFacts:
    """What held the patched code, and what the probes saw (`blocked` or `open`).

    `not_run`: no patched code ran; `none`: it ran without a sandbox, for debugging. `problem` says why
    no layer could be used, though one was required.
    """

    mode: str = "not_run"
    required: str = "isolated"
    layers: tuple[str, ...] = ()
    problem: str = ""
    probes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Workspace:
    """Whether an audit of the generator's workspace is bound to this packet, and has to be (`required`).

    `report_sha256` is of the report that was given, `leaks` counts its findings by kind, `problem` says why
    it does not speak for this change.
    """

    verified: bool = False
    required: bool = False
    report_sha256: str = ""
    leaks: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class Approval:
    """A statement that came with the change: who signed it, whether it counts, which rules it accepts."""

    id: str
    kind: str
    signer: str
    note: str
    valid: bool
    complaint: str = ""
    accepts: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuarantineRow:
    """A quarantined test: `kept`, or one finding about it or its entry; a test may have several."""

    id: str
    status: Literal["kept", "missing", "neutered", "no_expiry", "no_reason", "expired"]
    detail: str = ""


@dataclass(frozen=True)
class Tests:
    """Test identities against the base, without the quarantined ones.

    `details` says by id what was found. `vanished`: there were tests, and there are none any more.
    `problem` says why the tests of the base or of the patch could not be collected.
    """

    lost: tuple[str, ...] = ()
    newly_skipped: tuple[str, ...] = ()
    weakened: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    vanished: bool = False
    problem: str = ""


@dataclass(frozen=True)
class PublicRun:
    """One run of public tests on patched sources: how many passed, which ones count against the patch.

    `details` says by id how they ended; `apart` are quarantined or frozen tests that did not pass.
    `problem` says why the run as a whole cannot be believed.
    """

    passed: int = 0
    failed: tuple[str, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Public:
    """What public tests say; patched code runs in their process, so it can only lower a verdict.

    `base_tests` are the base's tests over the patched sources, `own_tests` the patch's.
    `problem` says why the base's tests do not even run on the base.
    """

    label: Literal["claim_of_patched_code"] = "claim_of_patched_code"
    green_on_base: int = 0
    base_tests: PublicRun = field(default_factory=PublicRun)
    own_tests: PublicRun = field(default_factory=PublicRun)
    problem: str = ""


@dataclass(frozen=True)
class Packet:
    """Everything that a verdict rests on."""

    mode: str
    trust: str
    parent_sha: str
    base_from: str
    patch_sha256: str
    change_id: str
    tree_before: str
    tree_after: str
    inputs: Mapping[str, str]
    schema: Literal["merge-packet-v1"] = "merge-packet-v1"
    verdict: Outcome = "none"
    reasons: tuple[Reason, ...] = ()
    merge_ok: bool = False
    intake: tuple[Finding, ...] = ()
    changes: tuple[ChangedPath, ...] = ()
    denylist: DenylistFacts = field(default_factory=DenylistFacts)
    stale_pins: tuple[str, ...] = ()
    setup: tuple[Finding, ...] = ()
    replay: tuple[ReplayRow, ...] = ()
    relations: tuple[Relation, ...] = ()
    quarantine: tuple[QuarantineRow, ...] = ()
    tests: Tests = field(default_factory=Tests)
    public: Public = field(default_factory=Public)
    manifest_sha256: str = ""
    sealed: tuple[Finding, ...] = ()
    fixtures: tuple[Fixture, ...] = ()
    properties: tuple[Property, ...] = ()
    freezes: tuple[Freeze, ...] = ()
    sandbox: SandboxFacts = field(default_factory=SandboxFacts)
    workspace: Workspace = field(default_factory=Workspace)
    lanes: Mapping[str, LaneState] = field(default_factory=dict)
    approvals: tuple[Approval, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
