"""The three jobs of a required check, in folders that share nothing but what the jobs hand on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from oracle_gate.commands.ci_verdict import CONCLUSIONS, Handed, check_run, decide
from oracle_gate.core.policy import SEVERITY
from support.baking import TEMPLATE
from support.gate import Gate, run_gate
from support.gitenv import commit_all, git, git_env

BASE, HEAD, PACK = "b" * 40, "a" * 40, "c" * 64


@dataclass(frozen=True)
class Host:
    """A CI host: a remote repository, and a fresh folder for each job."""

    remote: Path
    folder: Path
    head: str

    def job(self, name: str, *words: str, check: int | None = None) -> tuple[Path, Mapping[str, str]]:
        """Runs one job in a clean folder; returns the folder and the job's outputs."""
        here = self.folder / name
        here.mkdir(parents=True)
        git(here, "clone", "--quiet", str(self.remote), "trusted")
        git(here, "clone", "--quiet", "--no-checkout", "trusted", "judged")
        if name == "intake":
            ref = "+refs/heads/change:refs/gate/head"
            git(here / "judged", "fetch", "--quiet", str(self.remote), ref)
        base = git(here / "trusted", "rev-parse", "HEAD").decode().strip()
        outputs = here / "outputs"
        files = ["--outputs", str(outputs)] if name != "verdict" else []
        common = ["--repo", str(here / "judged"), "--base", base]
        run_gate(
            here / "trusted/tools/gate.py", "ci", name, *common, *files, *words,
            check=check, env={"CI": "true"},
        )  # fmt: skip
        lines = outputs.read_text().splitlines() if outputs.exists() else []
        return here, dict(line.split("=", 1) for line in lines)

    def published(self, spoil: bool = False) -> tuple[dict[str, Any], str]:
        """All three jobs; the check that would be published, and the public packet's text."""
        cut, intake = self.job(
            "intake", "--head", "refs/gate/head", "--expect", self.head,
            "--out", str(self.folder / "intake/change"), check=0,
        )  # fmt: skip
        replay: Mapping[str, str] = {}
        public = ""
        if intake["stopped"] == "false":
            pack = self.folder / "change.pack"
            shutil.copy(cut / "change/change.pack", pack)
            if spoil:
                pack.write_bytes(pack.read_bytes()[:-30])
            there, replay = self.job(
                "replay", "--head", self.head, "--pack", str(pack), "--pack-sha256", intake["pack_sha256"],
                "--out", str(self.folder / "replay/packet"), check=2 if spoil else 0,
            )  # fmt: skip
            file = there / "packet/packet.public.json"
            public = file.read_text() if file.exists() else ""
        tip = git(self.remote, "rev-parse", "main").decode().strip()
        file = self.folder / "check.json"
        self.job(
            "verdict", "--head", self.head, "--intake", intake["facts"], "--replay", replay.get("facts", ""),
            "--tip", tip, "--check", str(file),
        )  # fmt: skip
        check: dict[str, Any] = json.loads(file.read_text())
        return check, public


def host(gate: Gate) -> Host:
    """A host that has got the work tree as the branch `change`."""
    git(gate.root, "switch", "--quiet", "--create", "change")
    head = commit_all(gate.root, "The change")
    git(gate.root, "switch", "--quiet", "main")
    remote = gate.root.parent / "remote.git"
    git(gate.root.parent, "clone", "--quiet", "--bare", str(gate.root), str(remote))
    return Host(remote, gate.root.parent / "jobs", head)


def test_an_eligible_change(quick: Gate) -> None:
    quick.edit("src/prog.sh", "esac", "esac # as before")
    check, public = host(quick).published()
    assert (check["name"], check["status"], check["conclusion"]) == ("replay-gate", "completed", "success")
    assert json.loads(public) == {
        "schema": "merge-packet-public-v1",
        "verdict": "eligible",
        "unverified": True,
    }


def test_a_blocked_change_whose_packet_stays_on_the_host(quick: Gate, tmp_path: Path) -> None:
    settings = (quick.root / "oracle/gate.toml").read_text()
    quick.write("oracle/gate.toml", f'{settings}[store]\ndir = "{tmp_path / "store"}"\n')
    commit_all(quick.root, "Keep packets")
    quick.edit("src/prog.sh", "wc -l", "wc -c")
    ci = host(quick)
    check, public = ci.published()
    assert check["conclusion"] == "failure"
    assert (check["head_sha"], check["output"]["title"]) == (
        ci.head, "block: replay.drift (workspace UNVERIFIED)",
    )  # fmt: skip
    assert json.loads(public)["verdict"] == "block"
    # Neither says which row, how many of them, or what it gave.
    told = json.dumps(check) + public
    assert "count" not in told
    (kept,) = (tmp_path / "store").iterdir()
    packet = json.loads((kept / "merge_packet.json").read_bytes())
    assert (packet["trust"], packet["mode"]) == ("protected", "head")
    assert packet["replay"][1]["diff"]


def test_a_held_change(quick: Gate) -> None:
    pins = json.loads((quick.root / "oracle/digests.json").read_bytes())
    quick.write("oracle/digests.json", json.dumps({**pins, "upper": "f" * 64}))
    commit_all(quick.root, "As if pinned on another machine")
    quick.write("README.md", "other\n")
    check, public = host(quick).published()
    assert (check["conclusion"], json.loads(public)["verdict"]) == ("action_required", "hold")


def test_a_replay_that_crashes(quick: Gate) -> None:
    quick.write("README.md", "other\n")
    check, public = host(quick).published(spoil=True)
    assert (check["conclusion"], public) == ("failure", "")
    assert check["output"]["title"].startswith("no packet")


def test_a_denied_path_is_not_replayed(quick: Gate) -> None:
    quick.write("oracle/noise.txt", ".*never.*\n")
    ci = host(quick)
    check, public = ci.published()
    assert (check["conclusion"], public) == ("failure", "")
    assert check["output"]["title"] == "block: denylist.hit (not run)"
    assert not (ci.folder / "replay").exists()


def handed(**fields: object) -> Handed:
    values = {
        "base": BASE, "head": HEAD, "pack_sha256": PACK, "rules": {}, "verdict": "eligible", "pins": 4,
        "replayed": True, "trust": "protected", "unverified": False, **fields,
    }  # fmt: skip
    return Handed(**values)  # type: ignore[arg-type]


CUT = handed(verdict="none", pins=0, replayed=False, trust="").line


def conclusion(replay: Handed | str, *, intake: str = CUT, tip: str = BASE) -> str:
    line = replay if isinstance(replay, str) else replay.line
    return str(check_run(intake, line, HEAD, BASE, tip)["conclusion"])


def test_conclusions() -> None:
    assert conclusion(handed()) == "success"
    assert conclusion(handed(rules={"tests.lost": 2}, verdict="inspect")) == "action_required"
    assert conclusion(handed(rules={"replay.empty": 1}, verdict="hold")) == "action_required"
    assert conclusion(handed(rules={"tests.lost": 2, "replay.drift": 1}, verdict="block")) == "failure"
    assert set(CONCLUSIONS.values()) == {"success", "failure", "action_required"}
    assert set(CONCLUSIONS) == set(SEVERITY) - {"none"}


@pytest.mark.parametrize(
    "replay",
    [
        "", "{}", "not JSON", '{"verdict":"eligible"}',
        handed(rules={"replay.drift": 1}), handed(verdict="block"), handed(pins=0), handed(replayed=False),
        handed(trust="local"), handed(rules={"no.such": 1}), handed(head="d" * 40), handed(base="d" * 40),
        handed(pack_sha256="d" * 64), handed(verdict="none"), handed(stopped=True, rules={"denylist.hit": 1}),
        handed().line.replace('"pins":4', '"pins":4,"more":1'), handed().line.replace('"pins":4', '"pins":"4"'),
    ],
)  # fmt: skip
def test_what_does_not_fit_fails(replay: Handed | str) -> None:
    assert conclusion(replay) == "failure"


@pytest.mark.parametrize("intake", ["", "null", handed(head="d" * 40).line])
def test_without_intake(intake: str) -> None:
    assert conclusion(handed(), intake=intake) == "failure"


def test_the_branch_moved_meanwhile() -> None:
    assert conclusion(handed(), tip="d" * 40) == "action_required"
    assert decide(CUT, handed().line, HEAD, BASE, "").outcome == "hold"


def test_no_step_names_what_nobody_may_see() -> None:
    check = check_run(CUT, handed(rules={"replay.drift": 3}, verdict="block").line, HEAD, BASE, BASE)
    assert "replay.drift" in check["output"]["summary"]
    assert "3" not in check["output"]["summary"].replace(BASE, "")


@pytest.mark.parametrize(("new", "code", "conclusion"), [("-l", 0, "success"), ("-c", 1, "failure")])
def test_the_plain_host_of_the_documentation(
    new: str, code: int, conclusion: str, quick: Gate, tmp_path: Path
) -> None:
    [script] = re.findall(r"(?ms)^```sh\n(.*?)^```$", (TEMPLATE / "docs/ci.md").read_text(encoding="utf-8"))
    quick.edit("src/prog.sh", "wc -l", f"wc {new} ")
    ci = host(quick)
    here = tmp_path / "host"
    here.mkdir()
    places = {"REMOTE": str(ci.remote), "BRANCH": "main", "CHANGE": "refs/heads/change"}
    done = subprocess.run(
        ["sh", "-ec", script], cwd=here, env=git_env() | places, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert json.loads((here / "check.json").read_text())["conclusion"] == conclusion
