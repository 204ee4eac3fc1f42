"""`ci`: the three jobs of a required check, for any CI host (docs/ci.md of the template).

They share nothing but what they hand on: the change as a pack file, one line of facts, the public packet.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

from ..core.commits import submit_head
from ..core.errors import Exit, GateError
from ..core.oracle import read_oracle, read_settings
from ..core.packet import Packet
from ..core.policy import RULES
from ..render.terminal import show
from .case import Case
from .ci_verdict import Handed, check_run
from .context import Context
from .judge import add_case_arguments, judged
from .judging_approvals import grant
from .output import PACKET

CHANGE = "change.pack"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", choices=["intake", "replay", "verdict"])
    parser.add_argument(
        "--head", default="", help="the commit to judge: a ref for intake, an id for the others"
    )
    parser.add_argument("--expect", default="", metavar="ID", help="intake: the id that the host announced")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="intake, replay: a new folder for what is made"
    )
    parser.add_argument("--pack", type=Path, metavar="FILE", help="replay: the change that intake cut")
    parser.add_argument(
        "--pack-sha256", default="", help="replay, verdict: its digest, as intake handed it on"
    )
    parser.add_argument(
        "--workspace-audit", type=Path, metavar="FILE", help="replay: the report of `audit`, from this host"
    )
    parser.add_argument("--intake", default="", metavar="JSON", help="verdict: the line of intake")
    parser.add_argument("--replay", default="", metavar="JSON", help="verdict: the line of replay")
    parser.add_argument("--tip", default="", metavar="ID", help="verdict: where the protected branch is now")
    parser.add_argument(
        "--outputs", type=Path, metavar="FILE", help="append the line as facts=… to this file"
    )
    parser.add_argument("--check", type=Path, metavar="FILE", help="verdict: where the check to publish goes")


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Exit 0 when the job did its work, whatever the verdict is."""
    jobs = {"intake": _intake, "replay": _replay, "verdict": _verdict}
    return jobs[arguments.job](context, arguments)


def _intake(context: Context, arguments: argparse.Namespace) -> Exit:
    """Cuts the change as data, and says whether it may go on: nothing of it has run, or lies in a tree."""
    head = context.repository.resolve(arguments.head) if arguments.head else None
    if head is None:
        raise GateError(f"--head {arguments.head} is no commit here", todo="fetch it")
    if arguments.expect and head != arguments.expect:
        raise GateError("the head is not the announced one", todo="run again on the new head")
    oracle = read_oracle(context.store, context.base_entries)
    change = submit_head(context.store, context.folder("head"), context.launch.base, head, oracle.settings)
    today = datetime.datetime.now(datetime.UTC).date()
    granted = grant(Case(context, oracle, change.before, change, "head", today, None))
    rules = Counter(problem.rule for problem in change.problems)
    rules.update(hit.rule for hit in granted.denied.hits)
    rules["approval.invalid"] += sum(not fact.valid for fact in granted.verified.facts)
    data = f"{head}\n^{context.launch.base}\n".encode()
    packed = context.store.run("pack-objects", "--quiet", "--revs", "--thin", "--stdout", data=data)
    if packed.returncode:
        raise GateError("the change cannot be packed", todo="fetch the whole history")
    _new_folder(arguments).joinpath(CHANGE).write_bytes(packed.stdout)
    stopped = any(RULES[rule].outcome == "block" for rule in +rules)
    _hand_on(arguments, Handed(
        base=context.launch.base, head=head, pack_sha256=hashlib.sha256(packed.stdout).hexdigest(),
        rules=dict(+rules), stopped=stopped,
    ))  # fmt: skip
    return Exit.OK


def _replay(context: Context, arguments: argparse.Namespace) -> Exit:
    """Judges the pack; the whole packet stays on this host, below `[store] dir`."""
    if not (arguments.pack and arguments.pack.is_file()):
        raise GateError("no change to judge", where=str(arguments.pack or "--pack"), todo="run intake first")
    if hashlib.sha256(arguments.pack.read_bytes()).hexdigest() != arguments.pack_sha256:
        raise GateError(
            "not the change that intake cut", where=str(arguments.pack), todo="run all jobs again"
        )
    folder = _new_folder(arguments)
    parser = argparse.ArgumentParser()
    add_case_arguments(parser)
    words = ["--head", arguments.head, "--pack", str(arguments.pack)]
    words += ["--workspace-audit", str(arguments.workspace_audit)] if arguments.workspace_audit else []
    packet = judged(context, parser.parse_args(words), folder / PACKET)
    _keep(context, folder, arguments.head)
    show(packet)
    _hand_on(arguments, _handed(packet, arguments))
    return Exit.OK


def _handed(packet: Packet, arguments: argparse.Namespace) -> Handed:
    rules = Counter(reason.rule for reason in packet.reasons)
    replay = packet.lanes.get("replay")
    return Handed(
        base=packet.parent_sha, head=arguments.head, pack_sha256=arguments.pack_sha256, rules=dict(rules),
        verdict=packet.verdict, pins=packet.counts.get("pins", 0), replayed=bool(replay and replay.state == "ran"),
        trust=packet.trust, unverified=not packet.workspace.verified,
    )  # fmt: skip


def _verdict(context: Context, arguments: argparse.Namespace) -> Exit:
    """Recomputes the verdict from what was handed on, and writes the check to publish; 1 if it is no success."""
    if not arguments.check:
        raise GateError("--check is missing", todo="name a file for the check")
    check = check_run(arguments.intake, arguments.replay, arguments.head, context.launch.base, arguments.tip)
    arguments.check.write_text(json.dumps(check, indent=2) + "\n", encoding="utf-8")
    print(f"{check['name']}: {check['conclusion']}: {check['output']['title']}")
    return Exit.OK if check["conclusion"] == "success" else Exit.BLOCK


def _new_folder(arguments: argparse.Namespace) -> Path:
    if not arguments.out:
        raise GateError("--out is missing", todo="name a new folder")
    folder: Path = arguments.out.absolute()
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise GateError("is there already", where=str(folder), todo="name a new folder") from None
    return folder


def _hand_on(arguments: argparse.Namespace, handed: Handed) -> None:
    line = handed.line
    if arguments.outputs:
        with arguments.outputs.open("a", encoding="utf-8") as file:
            file.write(
                f"facts={line}\nstopped={json.dumps(handed.stopped)}\npack_sha256={handed.pack_sha256}\n"
            )
    else:
        print(line)


def _keep(context: Context, folder: Path, head: str) -> None:
    """Copies packet, reports and counterexamples to the host's store, out of the generator's sight."""
    store = read_settings(context.store, context.base_entries).store.dir
    if not store:
        return
    kept = context.root / store / f"{head[:16]}-{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S}"
    shutil.copytree(folder, kept)
    artifacts = context.own / "artifacts"
    if artifacts.is_dir():
        shutil.copytree(artifacts, kept / "artifacts", symlinks=True)
