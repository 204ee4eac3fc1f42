"""Gathers the facts of one judgement: each lane is wired here, run in order, and fills its packet fields.

A denied path or a refused patch ends it before a file of the patch touches a disk (design, principle 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ..core import canonical
from ..core.gitdb import Entries
from ..core.oracle import Oracle, read_control
from ..core.packet import Finding, LaneState, Packet, SandboxFacts
from ..core.pins import DIGESTS, parse_digests, this_platform, this_python
from ..core.submission import Change, change_id
from ..lanes.changed_paths import changed_paths
from ..lanes.replay import Pinned, Replayers, replay, replay_elsewhere
from ..runner.claims import run_in
from ..runner.replayer import Bench
from .case import Arena, Case, Lane, LaneResult
from .context import warn
from .evidence import TestEvidence
from .judging_approvals import grant, mark_approved
from .judging_claims import relations_lane
from .judging_sealed import sealed_lane
from .judging_tests import identities_lane, public_lane, quarantine_lane
from .progress import counted
from .replayers import bench, isolation
from .sealed_folder import open_sealed


def facts(submitted: Case, lanes: Mapping[str, Lane] | None = None) -> Packet:
    """Runs all lanes, or the given ones alone, which then are required; the result has no verdict yet."""
    granted = grant(submitted)
    case = replace(submitted, oracle=granted.oracle, corpus=granted.corpus, verified=granted.verified)
    sealed = open_sealed(case.context, case.oracle.settings, case.corpus, case.sealed_dir)
    case = replace(case, sealed=sealed)
    context, oracle, change, denied = case.context, case.oracle, case.change, granted.denied
    results, failed, sandbox = _run(
        case, lanes or LANES, bool(denied.hits) or (lanes is None and not oracle.pins)
    )
    states = {"denylist": "ran" if oracle.rules else "empty"} | {name: r.state for name, r in results.items()}
    required = {*oracle.settings.lanes.required, *(lanes or ())}
    launch, store = context.launch, context.store
    return Packet(
        mode=case.mode,
        trust=launch.trust,
        parent_sha=launch.base,
        base_from=launch.base_from,
        patch_sha256=change.submitted_sha256,
        change_id=change_id(store, change.changed),
        tree_before=store.write_tree(change.before),
        tree_after=store.write_tree(change.after),
        inputs={**oracle.digests_of, "evaluated_on": case.today.isoformat()},
        intake=tuple(Finding(p.rule, p.subject, p.detail) for p in change.problems),
        changes=changed_paths(change, store),
        denylist=denied,
        stale_pins=tuple(_stale(oracle)),
        setup=failed,
        approvals=case.verified.facts,
        sandbox=sandbox,
        workspace=case.workspace,
        lanes={name: LaneState(name in required, state) for name, state in states.items()},  # type: ignore[arg-type]
        counts={name: number for result in results.values() for name, number in result.counts.items()},
        **{name: value for result in results.values() for name, value in result.fields.items()},
    )


def _run(
    case: Case, lanes: Mapping[str, Lane], stopped: bool
) -> tuple[dict[str, LaneResult], tuple[Finding, ...], SandboxFacts]:
    """The lanes' results, what failed in setup, and what held the patched code, if it ran at all."""
    oracle, change = case.oracle, case.change
    failed: tuple[Finding, ...] = ()
    with ExitStack() as stack:
        arena, sandbox = None, SandboxFacts(required=oracle.settings.sandbox.require)
        if not (stopped or change.problems):
            _warn_of_machine(oracle)
            case.progress("judging: sandbox")
            found = isolation(case.context, oracle, case.sandbox)
            sandbox = found.facts
            if found.layer is not None:
                place = bench(case.context, oracle, case.corpus, case.workers, found.layer)
                patch, base, failed = _built(place, change)
                arena = stack.enter_context(_arena(place, case, patch, base)) if not failed else None
        results = {}
        for name, lane in lanes.items():
            case.progress(f"judging: {name}")
            results[name] = lane(case, arena)
    case.progress("")
    return results, failed, sandbox


def _built(place: Bench, change: Change) -> tuple[Entries, Entries, tuple[Finding, ...]]:
    """The trees of patch and base after setup, or why there are none."""
    patch = place.prepare(change.after)
    base = patch if change.before == change.after else place.prepare(change.before)
    if base.failure:
        return {}, {}, (Finding("setup.base_failed", "[subject] setup", base.failure),)
    if patch.failure:
        return {}, {}, (Finding("setup.failed", "[subject] setup", patch.failure),)
    return patch.entries, base.entries, ()


@contextmanager
def _arena(place: Bench, case: Case, patch: Entries, base: Entries) -> Iterator[Arena]:
    with ExitStack() as stack:
        moved = place.elsewhere(hash_seed=1 + case.envelope_seed % 0xFFFF_FFFE)  # 0 is the usual one
        seen, again_seen, base_seen = (
            stack.enter_context(moved.replayer(tree, workers=1)) for tree in (patch, patch, base)
        )
        again = stack.enter_context(place.replayer(patch, workers=1))
        on_base = stack.enter_context(place.replayer(base, workers=1))
        # Landlock has no network of its own to listen in, and its filter allows no socket.
        serve = place.layer.name != "landlock"
        replayers = Replayers(stack.enter_context(place.replayer(patch)), again, on_base, serve)
        elsewhere = Replayers(seen, again_seen, base_seen, serve)
        tests = TestEvidence(place, case.change, patch, base)
        runs = run_in(seen.pool, seen.envelope), run_in(base_seen.pool, base_seen.envelope)
        yield Arena(place, replayers, elsewhere, again.pool, on_base.pool, runs, tests)


def _replay(case: Case, arena: Arena | None) -> LaneResult:
    oracle, made = case.oracle, case.oracle.provenance
    counts = {"pins": len(oracle.pins), "rows": len(oracle.rows)}
    if arena is None:
        return LaneResult({}, "not_run", counts)
    pinned = Pinned(oracle.pins, made.noise_lines if made else {})
    rows = replay(oracle.rows, pinned, arena.replayers)
    total = len({row.id for row in oracle.rows} | oracle.pins.keys())
    found = tuple(counted(rows, "judging: replay", total, case.progress))
    found = mark_approved(found, case.verified)
    excused = made.envelope_sensitive if made else ()
    known = parse_digests(read_control(case.context.store, case.change.before, DIGESTS))
    changed = {row for row, pin in oracle.pins.items() if known.get(row) != pin}
    found = replay_elsewhere(
        oracle.rows, found, excused, changed, case.envelope_seed, arena.replayers, arena.elsewhere
    )
    counts |= Counter(row.status for row in found)
    return LaneResult({"replay": found}, "ran" if oracle.rows else "empty", counts)


LANES: Mapping[str, Lane] = {
    "replay": _replay,
    "relations": relations_lane,
    "sealed": sealed_lane,
    "quarantine": quarantine_lane,
    "identities": identities_lane,
    "public": public_lane,
}


def _stale(oracle: Oracle) -> list[str]:
    """What the pins were made for and no longer meet (rule replay.stale_pins)."""
    made = oracle.provenance
    if not oracle.pins:
        return []
    if made is None:
        return ["provenance.json is empty"]
    stale = [] if made.canonical == canonical.VERSION else [f"canonical form {made.canonical}"]
    return stale if made.corpus_sha256 == oracle.digests_of["corpus"] else [*stale, "another corpus digest"]


def _warn_of_machine(oracle: Oracle) -> None:
    made, platform, python = oracle.provenance, this_platform(), this_python()
    if made and (made.platform, made.python) != (platform, python):
        where = f"{made.platform}, Python {made.python}"
        warn(f"pins were recorded on {where}; this is {platform}, Python {python}")
