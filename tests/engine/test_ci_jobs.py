"""The three jobs of a required check, by the workflow's own text, in folders that share only what is handed on."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from oracle_gate.commands.ci_verdict import CONCLUSIONS, Handed, check_run, decide
from oracle_gate.core.policy import SEVERITY
from support.actions import Host
from support.approving import Keys, allow, make_keys
from support.archives import unpack
from support.baking import SCAFFOLD, TEMPLATE
from support.gate import Gate
from support.gitenv import commit_all, git, git_env

BASE, HEAD, PACK = "b" * 40, "a" * 40, "c" * 64


GATE, GENERATOR = (
    yaml.safe_load(
        (SCAFFOLD / f".github/workflows/<<cookiecutter.__{name}_yml>>").read_text(encoding="utf-8")
    )
    for name in ("replay_gate", "generator_workspace")
)


def host(gate: Gate) -> Host:
    """A host where the work tree is the head of pull request 7 against main."""
    git(gate.root, "switch", "--quiet", "--create", "change")
    head = commit_all(gate.root, "The change")
    git(gate.root, "switch", "--quiet", "main")
    return host_of(gate, head)


def host_of(gate: Gate, head: str) -> Host:
    pull = {"number": 7, "head": {"sha": head}}
    ci = Host(gate.root.parent / "host", {"pull_request": pull, "repository": {"default_branch": "main"}})
    ci.remote.parent.mkdir(parents=True)
    git(gate.root.parent, "clone", "--quiet", "--bare", str(gate.root), str(ci.remote))
    git(ci.remote, "update-ref", "refs/pull/7/head", head)
    git(ci.remote, "branch", "--quiet", "--delete", "--force", "change")
    return ci


def published(ci: Host) -> tuple[dict[str, Any], str]:
    """All three jobs of the workflow; the check that would be published, and the public packet's text.

    What everybody can read, logs, artifacts and the check, names no row and shows none of its output.
    """
    ci.run(GATE)
    check: dict[str, Any] = json.loads(ci.published.read_bytes())
    artifacts = ci.artifacts
    pack = artifacts.pop("change/change.pack", b"")
    assert pack.startswith(b"PACK")
    public = artifacts.pop("packet.public/packet.public.json", b"").decode()
    assert artifacts == {}
    read = ci.log + json.dumps(check) + public
    # Ids that are no English words; a digest is 64 digits.
    assert not re.search("upper-more|diff of|a-token|[0-9a-f]{64}", read)
    assert (check["name"], check["status"]) == ("replay-gate", "completed")
    assert (ci.results["verdict"] == "success") == (check["conclusion"] == "success")
    return check, public


def test_an_eligible_change(quick: Gate) -> None:
    quick.edit("src/prog.sh", "esac", "esac # as before")
    ci = host(quick)
    check, public = published(ci)
    assert check["conclusion"] == "success"
    assert ci.results == {"intake": "success", "replay": "success", "verdict": "success"}
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
    check, public = published(ci)
    assert check["conclusion"] == "failure"
    assert (check["head_sha"], check["output"]["title"]) == (
        git(ci.remote, "rev-parse", "refs/pull/7/head").decode().strip(),
        "block: replay.drift (workspace UNVERIFIED)",
    )
    assert json.loads(public)["verdict"] == "block"
    (kept,) = (tmp_path / "store").iterdir()
    packet = json.loads((kept / "merge_packet.json").read_bytes())
    assert (packet["trust"], packet["mode"]) == ("protected", "head")
    assert packet["replay"][1]["diff"]


def test_a_held_change(quick: Gate) -> None:
    pins = json.loads((quick.root / "oracle/digests.json").read_bytes())
    quick.write("oracle/digests.json", json.dumps({**pins, "upper": "f" * 64}))
    commit_all(quick.root, "As if pinned on another machine")
    quick.write("README.md", "other\n")
    check, public = published(host(quick))
    assert (check["conclusion"], json.loads(public)["verdict"]) == ("action_required", "hold")


def test_a_replay_that_crashes(quick: Gate) -> None:
    quick.write("README.md", "other\n")
    ci = host(quick)

    def spoil(job: str) -> None:
        if job == "replay":
            pack = ci.folder / "artifacts/change/change.pack"
            pack.write_bytes(pack.read_bytes()[:-30])

    ci.between = spoil
    check, public = published(ci)
    assert (check["conclusion"], public) == ("failure", "")
    assert ci.results["replay"] == "failure"
    assert check["output"]["title"].startswith("no packet")


def test_a_denied_path_is_not_replayed(quick: Gate) -> None:
    quick.write("oracle/noise.txt", ".*never.*\n")
    ci = host(quick)
    check, public = published(ci)
    assert (check["conclusion"], public) == ("failure", "")
    assert check["output"]["title"] == "block: denylist.hit (not run)"
    assert ci.results["replay"] == "skipped"


def test_a_conflict_with_the_tip(quick: Gate) -> None:
    start = git(quick.root, "rev-parse", "HEAD").decode().strip()
    quick.edit("src/prog.sh", "esac", "esac # as before")
    ci = host(quick)
    quick.edit("src/prog.sh", "esac", "esac # otherwise")
    git(ci.remote, "fetch", "--quiet", str(quick.root), f"+{commit_all(quick.root, 'First')}:refs/heads/main")
    assert git(ci.remote, "merge-base", "main", "refs/pull/7/head").decode().strip() == start
    check, public = published(ci)
    assert (check["conclusion"], public) == ("failure", "")
    assert check["output"]["title"] == "block: intake.rejected (not run)"
    assert "Rebase the patch" in check["output"]["summary"]


def test_a_head_that_moved_while_the_check_was_waiting(quick: Gate) -> None:
    quick.write("README.md", "other\n")
    ci = host(quick)
    git(ci.remote, "update-ref", "refs/pull/7/head", "main")
    ci.run(GATE)
    assert ci.results == {"intake": "failure", "replay": "skipped", "verdict": "failure"}
    assert json.loads(ci.published.read_bytes())["conclusion"] == "failure"
    assert ci.artifacts == {}


def test_a_branch_that_moves_during_the_replay(quick: Gate) -> None:
    quick.write("README.md", "other\n")
    ci = host(quick)
    other = commit_all(quick.root, "Somebody else was first")

    def move(job: str) -> None:
        if job == "verdict":
            git(ci.remote, "fetch", "--quiet", str(quick.root), f"+{other}:refs/heads/main")

    ci.between = move
    check, _ = published(ci)
    assert (check["conclusion"], check["output"]["title"]) == (
        "action_required", "the protected branch has moved: run the check again",
    )  # fmt: skip


def approved(gate: Gate, keys: Keys, *words: str) -> str:
    """Signs what a judgement of the work tree says; the statement's path."""
    gate.judge(check=1)
    packet = str(gate.root / ".gate/merge_packet.json")
    signing = ("approve", "--packet", packet, "--note", "wanted", "--key", str(keys.path()), *words)
    return gate.run(*signing, check=0).stdout.split()[1]


def test_a_new_engine_is_judged_by_the_old_one(quick: Gate, tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys")
    allow(quick, keys)
    git(quick.root, "switch", "--quiet", "--create", "change")
    quick.edit("tools/oracle_gate/render/terminal.py", 'f"verdict {', 'f"VERDICT {')
    approved(quick, keys, "--kind", "protected-change")
    head = commit_all(quick.root, "Speak up, approved")
    git(quick.root, "switch", "--quiet", "main")
    ci = host_of(quick, head)
    check, _ = published(ci)
    assert check["conclusion"] == "success"
    assert "verdict eligible" in ci.log
    assert "VERDICT" not in ci.log


def test_an_approved_change_with_its_new_pins(quick: Gate, tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys")
    allow(quick, keys)
    git(quick.root, "switch", "--quiet", "--create", "change")
    quick.edit("src/prog.sh", "wc -l", "wc -c")
    statement = approved(quick, keys)
    commit_all(quick.root, "Count bytes, approved")
    quick.run("record", "--approval", str(quick.root / statement), check=0)
    head = commit_all(quick.root, "Pin it")
    git(quick.root, "switch", "--quiet", "main")
    check, _ = published(host_of(quick, head))
    assert check["conclusion"] == "success"


def test_a_generator_gets_a_workspace_and_nothing_else(quick: Gate) -> None:
    ci = host(quick)
    ci.run(GENERATOR)
    assert ci.results == {"workspace": "success"}
    assert list(ci.artifacts) == ["workspace/workspace.tar.gz"]
    workspace = quick.root.parent / "workspace"
    unpack(ci.folder / "artifacts/workspace/workspace.tar.gz", workspace)
    [program] = workspace.rglob("prog.sh")
    root = program.parents[1]
    assert not {"oracle", "corpus", "sealed", ".git"} & {path.name for path in root.iterdir()}
    quick.run("audit", str(root), check=0)


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
    here = tmp_path / "plain"
    here.mkdir()
    places = {"REMOTE": str(ci.remote), "BRANCH": "main", "CHANGE": "refs/pull/7/head"}
    done = subprocess.run(
        ["sh", "-ec", script], cwd=here, env=git_env() | places, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    assert json.loads((here / "check.json").read_text())["conclusion"] == conclusion
