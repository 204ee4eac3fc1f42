"""Wires the sealed lanes: fixtures, properties, freezes (article B)."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..core.gitdb import ObjectStore
from ..core.manifest import MANIFEST, Manifest, SealedProperty
from ..core.packet import Freeze, Property
from ..core.pins import sha256
from ..lanes.fixtures import fixtures
from ..lanes.freezes import freezes, frozen_ids
from ..lanes.properties import Programs, failed_elsewhere, properties
from ..runner.asking import Opener, asked_inside, asked_outside
from ..runner.claims import Run, run_in
from ..runner.pool import Pool
from ..runner.replayer import Bench
from ..runner.stubs import stubs
from .case import Arena, Case, LaneResult
from .counterexamples import clear, write_counterexample
from .judging_claims import claim_view
from .null_controls import without_sources
from .sealed_folder import SealedFolder

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
EMPTIED = "a tree without sources"


@dataclass(frozen=True)
class Asking:
    """How the properties of one case are asked: in which folder, and on which tree without sources."""

    case: Case
    view: Path
    emptied: Pool | None

    def programs(self, pool: Pool, item: SealedProperty, source: bytes) -> Programs:
        """The program of a pool, and the property's null controls."""
        claim = self.case.context.folder("claim") / "claim.py"
        claim.write_bytes(source)
        timeout_s = self.case.oracle.settings.sealed.timeout_s
        if item.in_process and self.emptied:
            inside = partial(asked_inside, claim, timeout_s=timeout_s)
            return Programs(partial(inside, pool), {EMPTIED: partial(inside, self.emptied)})
        outside = partial(asked_outside, claim, self.view, timeout_s=timeout_s)
        controls = {name: partial(outside, stub) for name, stub in stubs().items()}
        return Programs(partial(outside, run_in(pool)), controls)

    def asked_of(self, run: Run, source: bytes) -> Opener:
        """A property that is asked about the programs that `run` starts."""
        claim = self.case.context.folder("claim") / "claim.py"
        claim.write_bytes(source)
        return partial(asked_outside, claim, self.view, run, self.case.oracle.settings.sealed.timeout_s)


@contextmanager
def asking(case: Case, bench: Bench, manifest: Manifest) -> Iterator[Asking]:
    """Opens what asking needs besides a pool on the judged program."""
    with ExitStack() as stack:
        emptied = None
        if any(item.in_process for item in manifest.properties):
            tree = without_sources(case.context.store, bench.prepare(case.change.before), bench.settings)
            emptied = stack.enter_context(bench.replayer(tree, workers=1)).pool
        yield Asking(case, claim_view(case), emptied)


def sealed_lane(case: Case, arena: Arena | None) -> LaneResult:
    """The sealed folder's three kinds of evidence; one state for all."""
    folder, artifacts = case.sealed, case.context.own / "artifacts" / "counterexamples"
    clear(artifacts)
    if folder is None:
        return LaneResult({}, "absent", {})
    digest = {"manifest_sha256": sha256(folder.files[MANIFEST])}
    if arena is None:
        return LaneResult(digest, "not_run", {})
    rows = _properties(case, arena, folder, artifacts)
    fields = {
        "fixtures": fixtures(folder.manifest, folder.files),
        "properties": rows,
        "freezes": freeze_rows(case),
        "sealed": (*folder.ledger_findings(), *folder.changed_since()),
    }
    counts = {name: len(found) for name, found in fields.items() if name != "sealed"}
    return LaneResult({**digest, **fields}, "ran" if rows else "empty", counts)


def _properties(case: Case, arena: Arena, folder: SealedFolder, artifacts: Path) -> tuple[Property, ...]:
    manifest, files = folder.manifest, folder.files
    with asking(case, arena.bench, manifest) as how:
        judged = list(properties(manifest, files, partial(how.programs, arena.pool)))
        deadline = time.monotonic() + case.oracle.settings.sealed.shrink_s
        inputs = {item.id: files[item.path] for item in manifest.fixtures if item.path in files}
        rows = []
        for item, found in zip(manifest.properties, judged, strict=True):
            row = found.row
            if row.ok and not row.in_process:
                wanted = {fixture.id: inputs[fixture.id] for fixture in manifest.fixtures_of(item)}
                there = [how.asked_of(run, files[item.path]) for run in arena.runs_elsewhere]
                row = failed_elsewhere(row, there[0], there[1], wanted)
            elif row.failed_fixtures:
                base = how.programs(arena.base_pool, item, files[item.path]).judged
                row = write_counterexample(artifacts, found, inputs, base, deadline)
            rows.append(row)
    return tuple(rows)


def freeze_rows(case: Case) -> tuple[Freeze, ...]:
    """The freezes as of `--now` (the first moment of that day) or of now."""
    store, base = case.context.store, case.change.base
    moment = datetime.datetime.now(datetime.UTC)
    if case.now:
        moment = datetime.datetime.combine(case.now, datetime.time(), datetime.UTC)
    known = partial(is_ancestor, store, base)
    return freezes(case.sealed.ledger if case.sealed else (), moment, known)


def is_ancestor(store: ObjectStore, base: str, commit: str) -> bool | None:
    """Whether `commit`, a whole id, is an ancestor of `base`; None when a shallow clone cannot tell."""
    if not _COMMIT.fullmatch(commit):
        return False
    if store.run("merge-base", "--is-ancestor", commit, base).returncode == 0:
        return True
    return None if (store.directory / "shallow").exists() else False


def frozen(case: Case, node_ids: Collection[str]) -> frozenset[str]:
    """The node ids of valid freezes, whose failures do not count as public failures (for the public lane)."""
    if case.sealed is None or case.sealed.ledger_findings():
        return frozenset()
    return frozen_ids(freeze_rows(case), node_ids)
