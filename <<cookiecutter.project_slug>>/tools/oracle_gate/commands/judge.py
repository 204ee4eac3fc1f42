"""`judge`: what changed, may it, does the program still do what is pinned; then the packet and the verdict."""

from __future__ import annotations

import argparse
import datetime
import json
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from ..core import canonical
from ..core.commits import submit_head
from ..core.errors import Exit, GateError
from ..core.oracle import Oracle, read_oracle
from ..core.packet import Finding, LaneState, Packet, ReplayRow, SandboxFacts
from ..core.patching import submit_patch
from ..core.pins import this_platform, this_python
from ..core.policy import exit_code, judge
from ..core.submission import Change, change_id
from ..lanes.changed_paths import changed_paths
from ..lanes.denylist import denylist
from ..lanes.replay import Pinned, Replayers, replay
from ..render.terminal import show
from .context import Context, warn
from .output import PACKET, remove_old, write_packet
from .replayers import bench


def add_arguments(parser: argparse.ArgumentParser) -> None:
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--patch", type=Path, metavar="FILE", help="judge this patch (default: the work tree)"
    )
    change.add_argument(
        "--head", metavar="REF", help="judge the commits from the merge base to REF, on top of the base"
    )
    change.add_argument("--tree", type=Path, metavar="DIR", help="judge the folder DIR as the work tree")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"where the packet goes (default: .gate/{PACKET})"
    )
    parser.add_argument("--workers", type=int, help="worker processes (default: [replay] workers)")
    parser.add_argument(
        "--sandbox", choices=["auto", "none"], default="auto", help="none: for debugging, never eligible"
    )
    parser.add_argument("--now", type=_date, metavar="DATE", help="judge as of this UTC date (YYYY-MM-DD)")
    parser.add_argument("--json", action="store_true", help="print the verdict and the packet's path as JSON")
    parser.add_argument("--verbose", action="store_true", help="name ids under CI as well")


def _date(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Judges one change; the exit code is the verdict's."""
    started = time.monotonic()
    out = Path(arguments.out or context.own / PACKET).absolute()
    remove_old(out)
    oracle = read_oracle(context.store, context.base_entries)
    change, mode = _submitted(context, oracle, arguments)
    today = arguments.now or datetime.datetime.now(datetime.UTC).date()
    packet = judge(_facts(context, oracle, change, mode, arguments, today))
    write_packet(out, packet, {"seconds": round(time.monotonic() - started, 3)})
    if arguments.json:
        print(json.dumps({"verdict": packet.verdict, "packet": str(out)}))
    else:
        show(packet, verbose=arguments.verbose)
    return exit_code(packet)


def _submitted(context: Context, oracle: Oracle, arguments: argparse.Namespace) -> tuple[Change, str]:
    if arguments.patch:
        limit = oracle.settings.limits.patch_bytes
        with arguments.patch.open("rb") as file:
            patch = file.read(limit + 1)  # one more than allowed is enough to refuse it
        workplace = context.folder("patch")
        return submit_patch(context.store, workplace, context.launch.base, patch, oracle.settings), "patch"
    if arguments.head:
        head = context.repository.resolve(arguments.head)
        if head is None:
            raise GateError(f"--head {arguments.head} is no commit here", todo="fetch it")
        workplace = context.folder("head")
        return submit_head(context.store, workplace, context.launch.base, head, oracle.settings), "head"
    if arguments.tree and not arguments.tree.is_dir():
        raise GateError("no such folder", where=str(arguments.tree), todo="name the patched work tree")
    change = context.work_tree(oracle.denied, arguments.tree)
    return change, "work-tree" if change.changed or change.problems else "self-check"


def _facts(
    context: Context,
    oracle: Oracle,
    change: Change,
    mode: str,
    arguments: argparse.Namespace,
    today: datetime.date,
) -> Packet:
    """Runs the lanes. A denied path or a refused patch ends it before a file of the patch touches a disk."""
    denied = denylist(change, oracle)
    changes = changed_paths(change, context.store)
    rows: tuple[ReplayRow, ...] = ()
    sandbox = SandboxFacts(required=oracle.settings.sandbox.require)
    stopped = bool(change.problems or denied.hits or not oracle.pins)
    if not stopped:
        rows, sandbox = _replayed(context, oracle, change, arguments)
    states: Counter[str] = Counter(row.status for row in rows)
    launch, store = context.launch, context.store
    return Packet(
        mode=mode,
        trust=launch.trust,
        parent_sha=launch.base,
        base_from=launch.base_from,
        patch_sha256=change.submitted_sha256,
        change_id=change_id(store, change.changed),
        tree_before=store.write_tree(change.before),
        tree_after=store.write_tree(change.after),
        inputs={**oracle.digests_of, "evaluated_on": today.isoformat()},
        intake=tuple(Finding(p.rule, p.subject, p.detail) for p in change.problems),
        changes=changes,
        denylist=denied,
        stale_pins=tuple(_stale(oracle)),
        replay=rows,
        sandbox=sandbox,
        lanes={
            "denylist": _lane(oracle, "denylist", "ran" if oracle.rules else "empty"),
            "replay": _lane(oracle, "replay", "not_run" if stopped else "ran" if oracle.rows else "empty"),
        },
        counts={"pins": len(oracle.pins), "rows": len(oracle.rows), **states},
    )


def _lane(oracle: Oracle, name: str, state: str) -> LaneState:
    return LaneState(name in oracle.settings.lanes.required, state)  # type: ignore[arg-type]


def _stale(oracle: Oracle) -> list[str]:
    """What the pins were made for and no longer meet (rule replay.stale_pins)."""
    made = oracle.provenance
    if not oracle.pins:
        return []
    if made is None:
        return ["provenance.json is empty"]
    stale = [] if made.canonical == canonical.VERSION else [f"canonical form {made.canonical}"]
    return stale if made.corpus_sha256 == oracle.digests_of["corpus"] else [*stale, "another corpus digest"]


def _replayed(
    context: Context, oracle: Oracle, change: Change, arguments: argparse.Namespace
) -> tuple[tuple[ReplayRow, ...], SandboxFacts]:
    made, here = oracle.provenance, (this_platform(), this_python())
    if made and (made.platform, made.python) != here:
        warn(
            f"pins were recorded on {made.platform}, Python {made.python}; this is {here[0]}, Python {here[1]}"
        )
    place = bench(context, oracle, change.before, arguments.workers)
    with ExitStack() as stack:
        replayers = Replayers(
            patch=stack.enter_context(place.replayer(change.after)),
            again=stack.enter_context(place.replayer(change.after, workers=1)),
            base=stack.enter_context(place.replayer(change.before, workers=1)),
        )
        pinned = Pinned(oracle.pins, made.noise_lines if made else {})
        rows = tuple(replay(oracle.rows, pinned, replayers))
    mode = "none" if arguments.sandbox == "none" else place.layer.name
    return rows, SandboxFacts(mode=mode, required=oracle.settings.sandbox.require)
