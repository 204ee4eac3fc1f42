"""What the runs on real projects share: making an armed repository, cutting patches, judging, comparing."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle_gate.core.denyrules import Rule, always_denied, match, parse_rules
from support.baking import SCAFFOLD, bake
from support.gate import REVIEWER, Gate
from support.gitenv import commit_all, git, make_repository

from real.releases import Release, Sources, fetch, read_sources, split


@dataclass(frozen=True)
class Case:
    """A change to judge, the verdict that it must get, and the rows that must drift, each with the reason."""

    name: str
    patch: bytes
    verdict: str
    exit_code: int
    drifting: Mapping[str, str]


@dataclass(frozen=True)
class Judgement:
    """What the gate answered."""

    exit_code: int
    packet: dict[str, Any]
    seconds: float

    @property
    def drift(self) -> dict[str, dict[str, Any]]:
        """The drifting rows by id, in corpus order."""
        return {row["id"]: row for row in self.packet["replay"] if row["status"] == "drift"}


class Checks:
    """Prints expectations as they are looked at, and counts those that fail."""

    def __init__(self) -> None:
        self.failed = 0

    def expect(self, what: str, met: bool) -> None:
        """One expectation, said as a fact."""
        self.failed += not met
        print(f"  {'ok   ' if met else 'WRONG'} {what}", flush=True)


def make_project(
    folder: Path,
    name: str,
    files: Sources,
    settings: Mapping[tuple[str, str], str],
    programs: Iterable[str] = (),
) -> Gate:
    """A committed repository: the scaffold without its sample, `files` in it, `programs` of them executable.

    `settings` is (table, key) -> value, as it stands in gate.toml.
    """
    gate = Gate(make_repository(bake(folder / "bakes", project_name=name, sample_program="no")))
    for unused in ("src", "tests"):
        shutil.rmtree(gate.root / unused)
    lay(gate.root, files)
    for program in programs:
        (gate.root / program).chmod(0o755)
    for (table, key), value in settings.items():
        set_setting(gate, table, key, value)
    commit_all(gate.root, f"Lay {name} into the scaffold")
    return gate


def read_folder(folder: Path) -> Sources:
    """The files below a folder of this repository, by their path in it; not its .gitattributes."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != ".gitattributes")
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def lay(root: Path, sources: Sources) -> None:
    """Writes a release's files."""
    for path, data in sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def set_setting(gate: Gate, table: str, key: str, value: str) -> None:
    """Replaces the value, on one line, of a key in gate.toml; a key that is not there is put into its table."""
    text = (gate.root / "oracle/gate.toml").read_text(encoding="utf-8")
    setting = rf"(^\[{table}\]\n(?:(?!\[).*\n)*?{key} = ).*$"
    changed, count = re.subn(setting, lambda found: found[1] + value, text, flags=re.MULTILINE)
    if not count and f"[{table}]\n" in text:
        changed = text.replace(f"[{table}]\n", f"[{table}]\n{key} = {value}\n")
    elif not count:
        changed = f"{text}\n[{table}]\n{key} = {value}\n"
    gate.write("oracle/gate.toml", changed)


def answer(gate: Gate, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs a command of the gate; another exit code ends the run with what was printed."""
    done = gate.run(*words)
    if done.returncode not in codes:
        raise SystemExit(f"real: {words[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def arm(gate: Gate) -> None:
    """Builds the environment, seals, pins the corpus, commits; prints what record says."""
    answer(gate, "env")
    answer(gate, "seal")  # nothing but the empty freeze ledger
    digest = answer(gate, "record", "--print-digest").stdout.strip()
    done = answer(gate, "record", "--reviewed-by", REVIEWER, "--corpus-sha256", digest)
    print(textwrap.indent(done.stderr + done.stdout, "  "), end="", flush=True)
    commit_all(gate.root, "Arm the oracle")


def cut_release(gate: Gate, old: Sources, new: Sources) -> bytes:
    """The difference of two releases as a patch; the first is what HEAD holds."""
    for path in old.keys() - new.keys():
        (gate.root / path).unlink()
    lay(gate.root, new)
    return gate.cut_patch()


def judge(gate: Gate, patch: bytes) -> Judgement:
    """Judges a patch."""
    file = gate.root.parent / "change.patch"
    file.write_bytes(patch)
    started = time.monotonic()
    done = answer(gate, "judge", "--patch", str(file), codes=(0, 1, 4, 5))
    return Judgement(done.returncode, gate.packet(), time.monotonic() - started)


def show(case: Case, judgement: Judgement, checks: Checks) -> None:
    """Prints a judgement and compares it with what the case expects."""
    packet = judgement.packet
    states = Counter(row["status"] for row in packet["replay"])
    print(f"\n{case.name}: {len(packet['changes'])} path(s) changed, judged in {judgement.seconds:.0f} s")
    print(f"  verdict {packet['verdict']}, exit {judgement.exit_code}; rows: {dict(states)}")
    rules = Counter((reason["outcome"], reason["rule"]) for reason in packet["reasons"])
    for (outcome, rule), count in rules.items():
        print(f"  {outcome:8}{rule} x{count}")
    for row in judgement.drift:
        print(f"  drift   {row}: {case.drifting.get(row, 'NOT EXPECTED')}")
    given = (packet["verdict"], judgement.exit_code)
    checks.expect(f"{case.verdict}, exit {case.exit_code}", given == (case.verdict, case.exit_code))
    checks.expect(f"{len(case.drifting)} row(s) drift, all others match",
                  judgement.drift.keys() == case.drifting.keys() and states.keys() <= {"match", "drift"}
                  and states.total() == packet["counts"]["pins"])  # fmt: skip
    blocking = {reason["subject"] for reason in packet["reasons"] if reason["rule"] == "replay.drift"}
    checks.expect("replay.drift names the same rows", blocking == set(case.drifting))


def same_under_every_layer(gate: Gate, checks: Checks) -> None:
    """Every row gives its pin under each layer by itself; leaves a commit that requires no isolation."""
    for layer in ("bubblewrap", "landlock", "plain"):
        if layer == "plain":
            set_setting(gate, "sandbox", "require", '"plain"')
            commit_all(gate.root, "Require no isolation")
        answer(gate, "judge", "--sandbox", layer, codes=(0, 1, 4))
        packet = gate.packet()
        matching, rows = packet["counts"].get("match", 0), packet["counts"]["rows"]
        met = packet["sandbox"]["mode"] == layer and matching == rows > 0
        checks.expect(f"under {layer} {matching} of {rows} rows give their pins", met)


def is_clean(gate: Gate, checks: Checks) -> None:
    """Judging left the repository alone."""
    checks.expect("the judged repository is as it was", not git(gate.root, "status", "--porcelain"))


def is_dropped(path: str, rules: tuple[Rule, ...]) -> bool:
    """What a release has only because it is one, and what no change may touch."""
    return path == "PKG-INFO" or bool(match(path, rules) or always_denied(path, ["."]))


def read_releases(releases: tuple[Release, Release], cache: Path) -> tuple[Sources, Sources]:
    """Both releases, without what is dropped; prints what that is."""
    rules = parse_rules((SCAFFOLD / "oracle/denylist.txt").read_bytes())
    found = []
    for release in releases:
        sources, dropped = split(read_sources(fetch(release, cache)), lambda path: is_dropped(path, rules))
        print(f"{release.archive}: sha256 {release.sha256}, {len(sources)} files")
        names = ", ".join(dropped) or "none"
        left_out = f"  left out, made by the release or denied: {names}"
        print(textwrap.fill(left_out, 100, subsequent_indent="    ", break_on_hyphens=False))
        found.append(sources)
    return found[0], found[1]
