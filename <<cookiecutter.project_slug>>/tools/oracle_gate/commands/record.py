"""`record`: pins what the corpus gives today, after a human's review (article A, step 1; design, section 4)."""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..core import corpus, pins
from ..core.approvals import SIGNERS, Signers, read_submitted
from ..core.errors import Exit, GateError
from ..core.oracle import Oracle, read_control, read_oracle
from ..core.paths import fold, printable
from ..core.statements import parse_statement
from ..core.submission import Change
from ..render.visible import visible
from .context import Context, warn, workers
from .pinning import measure, write_pins

#: What record reads from the work tree; a change elsewhere makes the tree dirty.
_OPEN = ("oracle", "corpus", "sealed", "tools/metamorphic.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reviewed-by", metavar='"NAME <MAIL>"', help="the human who reviewed the corpus")
    parser.add_argument(
        "--corpus-sha256", metavar="D", help="the reviewed corpus's digest; asked for without a terminal"
    )
    parser.add_argument("--print-digest", action="store_true", help="print the corpus's digest and stop")
    parser.add_argument(
        "--add", action="store_true", help="pin rows that have no pin; all others must reproduce"
    )
    parser.add_argument("--remove", nargs="+", metavar="ID", default=[], help="drop the pins of removed rows")
    parser.add_argument(
        "--approval", type=Path, metavar="FILE", help="re-pin exactly what this statement covers"
    )
    parser.add_argument("--workers", type=workers, help="worker processes (default: [replay] workers)")


@dataclass(frozen=True)
class _Plan:
    """Which rows get a pin, which pins stay and must reproduce."""

    new: tuple[corpus.Row, ...]
    kept: dict[str, str]


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Pins all the rows asked for, or none. Refuses a dirty tree, CI, and rows that are no evidence."""
    if os.environ.get("CI") and not arguments.print_digest:
        raise GateError("CI is set", todo="record on a machine of a human, after review")
    change = open_work_tree(context)
    oracle = read_oracle(context.store, change.after, settings_from=change.before)
    digest = oracle.digests_of["corpus"]
    if arguments.print_digest:
        print(digest)
        return Exit.OK
    if arguments.approval:
        return _repin(context, oracle, change, arguments)
    _check_reviewer(context, arguments.reviewed_by)
    plan = _plan(oracle, arguments)
    _keep_pins(context, plan)
    _review(plan, digest, arguments.corpus_sha256)
    found = measure(context, oracle, change.after, plan.new, plan.kept, arguments.workers)
    write_pins(context, oracle, arguments.reviewed_by, found)
    print(
        f"record: pinned {len(plan.new)} row(s), {len(plan.kept)} reproduced; now review and commit oracle/"
    )
    return Exit.OK


def _repin(context: Context, oracle: Oracle, change: Change, arguments: argparse.Namespace) -> Exit:
    """Changes the pins that a verified statement names, old to new, if every row gives them; no other."""
    submitted = read_submitted(arguments.approval)
    statement = parse_statement(submitted.data, submitted.where)
    signers = Signers(read_control(context.store, context.base_entries, SIGNERS), context.folder("signers"))
    signer = signers.verify(submitted.data, submitted.signature)
    if not signer:
        raise GateError("no allowed signer's signature", where=submitted.where, todo="sign it with `approve`")
    if not statement.ids:
        raise GateError(f"a {statement.kind} statement names no pin", where=submitted.where, todo="use --add")
    for name, pin in statement.ids.items():
        if oracle.pins.get(name) != pin.old:
            raise GateError(
                f"the pin of {name!r} is not the old one stated", where=submitted.where, todo="judge again"
            )
    wanted = {**oracle.pins, **{name: pin.new for name, pin in statement.ids.items()}}
    found = measure(context, oracle, change.after, (), wanted, arguments.workers)
    write_pins(context, oracle, signer, found)
    print(f"record: re-pinned {len(statement.ids)} row(s) as stated by {signer}; commit oracle/")
    return Exit.OK


def open_work_tree(context: Context) -> Change:
    """The work tree; raises GateError when it differs from HEAD in what is not the oracle's."""
    base = read_oracle(context.store, context.base_entries)
    change = context.work_tree(base.denied)
    outside = [item.path for item in change.changed if not _is_open(fold(item.path))]
    if outside:
        names = ", ".join(printable(path) for path in outside[:5])
        raise GateError(f"the work tree differs from HEAD in {names}", todo="commit or discard that first")
    if change.problems:
        problem = change.problems[0]
        raise GateError(problem.detail, where=problem.subject, todo="replace it by a plain file")
    return change


def _is_open(folded: str) -> bool:
    return any(folded == name or folded.startswith(name + "/") for name in _OPEN)


def _check_reviewer(context: Context, reviewer: str | None) -> None:
    if not re.fullmatch(r"[^<>\n]*[^<>\s][^<>\n]* <[^<>\s@]+@[^<>\s@]+>", reviewer or ""):
        raise GateError("no reviewer", todo='pass --reviewed-by "Name <mail@host>"')
    signers = read_control(context.store, context.base_entries, SIGNERS)
    if not any(line.strip() and not line.startswith(b"#") for line in signers.split(b"\n")):
        warn("oracle/allowed_signers is empty: later changes of the oracle will need an administrator")


def _plan(oracle: Oracle, arguments: argparse.Namespace) -> _Plan:
    """Decides what is pinned; raises GateError where the request and the oracle do not fit."""
    amending = arguments.add or arguments.remove
    if not oracle.rows:
        raise GateError("has no row", where=corpus.PATH, todo="write at least one row")
    if oracle.pins and not amending:
        raise GateError(
            "already has pins", where=pins.DIGESTS, todo="amend them with record --add or --remove"
        )
    if amending and not oracle.pins:
        raise GateError("has no pins yet", where=pins.DIGESTS, todo="run record without --add or --remove")
    rows = {row.id: row for row in oracle.rows}
    for name in arguments.remove:
        if name in rows or name not in oracle.pins:
            what = "still has a row" if name in rows else "has no pin"
            raise GateError(f"{name!r} {what}", where=corpus.PATH, todo="--remove takes pins without a row")
    kept = {name: digest for name, digest in oracle.pins.items() if name not in arguments.remove}
    orphans = sorted(kept.keys() - rows.keys())
    if orphans:
        raise GateError(
            f"pins without a row: {', '.join(orphans[:5])}", where=pins.DIGESTS, todo="pass --remove"
        )
    new = tuple(row for row in oracle.rows if row.id not in kept)
    if new and amending and not arguments.add:
        raise GateError(f"rows without a pin: {new[0].id} …", where=corpus.PATH, todo="pass --add as well")
    if arguments.add and not new:
        raise GateError("every row has a pin", where=corpus.PATH, todo="add a row first")
    return _Plan(new, kept)


def _keep_pins(context: Context, plan: _Plan) -> None:
    """A pin that HEAD has is not measured anew because somebody deleted it: it changes by approval alone."""
    pinned = pins.parse_digests(read_control(context.store, context.base_entries, pins.DIGESTS))
    lost = sorted(row.id for row in plan.new if row.id in pinned)
    if lost:
        names = ", ".join(lost[:5])
        raise GateError(
            f"pins of HEAD are gone: {names}", where=pins.DIGESTS, todo="restore them; --approval re-pins"
        )


def _review(plan: _Plan, digest: str, stated: str | None) -> None:
    """A human has seen these very bytes: by looking now, or by stating their digest."""
    if stated:
        if stated != digest:
            raise GateError(f"the corpus's digest is {digest}, not {stated}", todo="review it again")
        return
    for row in plan.new:
        print(f"{row.id}\t{visible(' '.join(row.argv) or row.file or '')}\t{row.format}")
    print(f"corpus digest {digest}")
    if not sys.stdin.isatty():
        raise GateError("no terminal to ask on", todo=f"after review, pass --corpus-sha256 {digest}")
    print("Pin what these rows give today? [y/N] ", end="", flush=True)
    if sys.stdin.readline().strip().lower() != "y":  # not input(): the end of the terminal's input is a no
        raise GateError("not confirmed; nothing was pinned", todo="run record again after review")
