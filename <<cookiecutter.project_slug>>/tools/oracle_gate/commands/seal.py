"""`seal`: fills the digests of sealed/MANIFEST.json, once every property was shown to be able to fail
(article B; design, section 8)."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..core.decode import to_json
from ..core.errors import Exit, GateError
from ..core.manifest import FOLDER, LEDGER, MANIFEST, Manifest, SealedFixture, SealedProperty
from ..core.oracle import read_oracle
from ..core.packet import Property
from ..core.pins import sha256
from ..lanes.properties import Judged, properties
from ..runner.asking import parameters
from .case import Case
from .context import Context, warn, workers
from .judging_sealed import asking
from .output import refuse_links, write_whole
from .progress import counted, progress
from .record import open_work_tree
from .replayers import bench, sufficient
from .seal_warnings import warnings
from .sealed_folder import SealedFolder, open_sealed, outside


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sealed", type=Path, metavar="DIR", help="the sealed folder (default: [sealed] dir, else sealed/)"
    )
    parser.add_argument("--workers", type=workers, help="worker processes (default: [replay] workers)")


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Seals everything or nothing. Exit 4 for a property that accepts every null control."""
    change = open_work_tree(context)
    oracle = read_oracle(context.store, change.after, settings_from=change.before)
    folder = open_sealed(context, oracle.settings, change.after, arguments.sealed)
    place = outside(context, oracle.settings, arguments.sealed) or context.root / FOLDER
    if folder is None:
        raise GateError(
            "is missing",
            where=str(place / MANIFEST),
            todo="write one; its fields: schemas/sealed-oracle-v1.schema.json",
        )
    manifest = _filled(folder, context.launch.base)
    if manifest.properties:
        today = datetime.datetime.now(datetime.UTC).date()
        case = Case(context, oracle, change.after, change, "seal", today, arguments.workers)
        also = _null_controls(case, manifest, folder.files)
        print(f"seal: {also} of {len(manifest.properties)} also hold for a fixture with a flipped bit")
    for line in warnings(context, oracle.settings, manifest, folder):
        warn(line)
    if folder.changed_since():
        raise GateError("changed during the run", where=str(place), todo="seal again")
    refuse_links(place / MANIFEST)
    write_whole(place / MANIFEST, to_json(manifest))
    print(
        f"seal: {len(manifest.properties)} properties, {len(manifest.fixtures)} fixtures sealed; commit them"
    )
    return Exit.OK


def _filled(folder: SealedFolder, base: str) -> Manifest:
    """The manifest with every digest; its parent stays where nothing else changes."""
    old, files = folder.manifest, folder.files

    def digest(item: SealedProperty | SealedFixture) -> str:
        if item.path not in files:
            raise GateError("is missing", where=FOLDER + item.path, todo=f"add it, or drop {item.id!r}")
        return sha256(files[item.path])

    def filled(item: SealedProperty) -> SealedProperty:
        found, count = digest(item), parameters(files[item.path])
        if count not in (1, 2):
            raise GateError("has no holds(fixture_bytes, run)", where=FOLDER + item.path, todo="define it")
        if not old.fixtures_of(item):
            raise GateError(f"{item.id!r} has no fixture", where=FOLDER + MANIFEST, todo="add one")
        return replace(item, sha256=found, in_process=count == 1)

    new = replace(
        old,
        properties=tuple(map(filled, old.properties)),
        fixtures=tuple(replace(item, sha256=digest(item)) for item in old.fixtures),
        freeze_sha256=sha256(files[LEDGER]) if LEDGER in files else "",
    )
    return new if new == old else replace(new, parent_sha_at_lock=base)


def _null_controls(case: Case, manifest: Manifest, files: Mapping[str, bytes]) -> int:
    """How many properties also hold for a fixture with a flipped bit: no fault, but worth knowing.

    Raises GateError (hold), with every property named on stderr, when one accepts what is no program.
    """
    place = bench(case.context, case.oracle, case.corpus, case.workers, sufficient(case.context, case.oracle))
    built = place.prepare(case.change.after)
    if built.failure:
        raise GateError(built.failure, where="[subject] setup", todo="repair the build")
    with asking(case, place, manifest) as how, place.replayer(built.entries, workers=1) as replayer:
        found = properties(manifest, files, partial(how.programs, replayer.pool))
        judged = list(counted(found, "null controls", len(manifest.properties)))
        progress("")
        _refuse_vacuous(found.row for found in judged)
        return sum(
            _also_holds(found, [files[fixture.path] for fixture in manifest.fixtures_of(item)])
            for item, found in zip(manifest.properties, judged, strict=True)
        )


def _refuse_vacuous(rows: Iterable[Property]) -> None:
    vacuous = [row for row in rows if row.accepts]
    for row in vacuous:
        print(f"gate: {row.id} accepts {', '.join(row.accepts)}: vacuous", file=sys.stderr)
    if vacuous:
        raise GateError(
            f"{len(vacuous)} vacuous: {', '.join(row.id for row in vacuous[:5])}",
            where=FOLDER + MANIFEST,
            todo="let `holds` look at what the program does; nothing was sealed",
            exit_code=Exit.HOLD,
        )


def _also_holds(found: Judged, inputs: Sequence[bytes]) -> bool:
    """Whether a property holds for a fixture with a flipped bit; warns of one that does not hold as it is."""
    row = found.row
    if not row.ok or found.programs is None:
        warn(f"{row.id} does not hold here: {', '.join(filter(None, (row.note, *row.failed_fixtures)))}")
        return False
    with found.programs.judged() as ask:
        return callable(ask) and any(answer.kind == "true" for answer in ask(map(_flipped, inputs)))


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :] if data else b"\0"
