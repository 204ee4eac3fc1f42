"""`record`: the first pins, after a human has reviewed the corpus (article A, step 1; design, section 4)."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable

from ..core import canonical, corpus, pins
from ..core.decode import to_json
from ..core.errors import Exit, GateError
from ..core.oracle import Oracle, read_control, read_oracle
from ..core.paths import fold, printable
from ..core.pins import Provenance, this_platform, this_python
from ..core.submission import Change
from ..runner.trial import Trial
from .context import Context, warn
from .replayers import bench

#: What record reads from the work tree; a change elsewhere makes the tree dirty.
_OPEN = ("oracle", "corpus", "sealed", "tools/metamorphic.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reviewed-by", metavar='"NAME <MAIL>"', help="the human who reviewed the corpus")
    parser.add_argument(
        "--corpus-sha256", metavar="D", help="the reviewed corpus's digest; asked for without a terminal"
    )
    parser.add_argument("--print-digest", action="store_true", help="print the corpus's digest and stop")
    parser.add_argument("--workers", type=int, help="worker processes (default: [replay] workers)")


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Pins every row, or none. Refuses an armed oracle, a dirty tree, CI, an unsteady row."""
    if os.environ.get("CI") and not arguments.print_digest:
        raise GateError("CI is set", todo="record on a machine of a human, after review")
    change = _work_tree(context)
    oracle = read_oracle(context.store, change.after, settings_from=change.before)
    digest = oracle.digests_of["corpus"]
    if arguments.print_digest:
        print(digest)
        return Exit.OK
    _check(context, oracle, arguments.reviewed_by)
    _review(oracle, digest, arguments.corpus_sha256)
    found = _run_twice(context, oracle, change, arguments.workers)
    _write(context, oracle, digest, arguments.reviewed_by, found)
    print(f"record: pinned {len(found)} row(s); now review and commit oracle/")
    return Exit.OK


def _work_tree(context: Context) -> Change:
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


def _check(context: Context, oracle: Oracle, reviewer: str | None) -> None:
    if not re.fullmatch(r"[^<>\n]*[^<>\s][^<>\n]* <[^<>\s@]+@[^<>\s@]+>", reviewer or ""):
        raise GateError("no reviewer", todo='pass --reviewed-by "Name <mail@host>"')
    if oracle.pins:
        raise GateError(
            "already has pins", where=pins.DIGESTS, todo="amend them with record --add or --approval"
        )
    if not oracle.rows:
        raise GateError("has no row", where=corpus.PATH, todo="write at least one row")
    signers = read_control(context.store, context.base_entries, "oracle/allowed_signers")
    if not any(line.strip() and not line.startswith(b"#") for line in signers.split(b"\n")):
        warn("oracle/allowed_signers is empty: later changes of the oracle will need an administrator")


def _review(oracle: Oracle, digest: str, stated: str | None) -> None:
    """A human has seen these very bytes: by looking now, or by stating their digest."""
    if stated:
        if stated != digest:
            raise GateError(f"the corpus's digest is {digest}, not {stated}", todo="review it again")
        return
    for row in oracle.rows:
        print(f"{row.id}\t{' '.join(row.argv)}\t{row.format}")
    print(f"corpus digest {digest}")
    if not sys.stdin.isatty():
        raise GateError("no terminal to ask on", todo=f"after review, pass --corpus-sha256 {digest}")
    if input("Pin what these rows give today? [y/N] ").strip().lower() != "y":
        raise GateError("not confirmed; nothing was pinned", todo="run record again after review")


def _run_twice(context: Context, oracle: Oracle, change: Change, workers: int | None) -> dict[str, Trial]:
    """Two runs of every row: another worker, another scratch, the other order."""
    rows = list(oracle.rows)
    with bench(context, oracle, change.after, workers).replayer(change.after) as replayer:
        first = {trial.row.id: trial for trial in replayer.run(rows)}
        second = {trial.row.id: trial for trial in replayer.run(rows[::-1])}
        unsteady = [row for row in rows if first[row.id].result != second[row.id].result]
        _refuse("unstable", unsteady, lambda _: "two runs differ")
        misbehaving = [row for row in rows if first[row.id].status != "exited"]
        _refuse("misbehaving", misbehaving, lambda row: first[row.id].status)
    return first


def _refuse(kind: str, rows: list[corpus.Row], say: Callable[[corpus.Row], str]) -> None:
    for row in rows:
        print(f"gate: {corpus.PATH}:{row.line}: {kind}:{row.id}: {say(row)}", file=sys.stderr)
    if rows:
        todo = "make the rows steady or remove them; nothing was pinned"
        raise GateError(f"{len(rows)} {kind} row(s)", where=corpus.PATH, todo=todo, exit_code=Exit.HOLD)


def _write(context: Context, oracle: Oracle, digest: str, reviewer: str, found: dict[str, Trial]) -> None:
    """Both files are written aside first; a kill in between leaves the old ones whole."""
    provenance = Provenance(
        canonical=canonical.VERSION,
        base=context.launch.base,
        corpus_sha256=digest,
        noise_sha256=oracle.digests_of["noise"],
        settings_sha256=oracle.digests_of["settings"],
        platform=this_platform(),
        python=this_python(),
        reviewer=reviewer,
        noise_lines={trial.row.id: trial.noise_lines for trial in found.values() if trial.noise_lines},
    )
    contents = {
        pins.PROVENANCE: to_json(provenance),
        pins.DIGESTS: to_json({row: trial.digest for row, trial in found.items()}),
    }
    asides = {}
    try:
        for name, data in contents.items():
            asides[name] = context.root / f"{name}.{os.getpid()}"
            asides[name].write_bytes(data)
        for name, aside in asides.items():
            aside.replace(context.root / name)
    finally:
        for aside in asides.values():
            aside.unlink(missing_ok=True)
