"""`judge --workspace-audit`: whose workspace a report speaks for, and what it does to the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import jsonschema
import pytest
from oracle_gate.commands.context import Context, Launch, opened
from oracle_gate.commands.judging_workspace import Report, workspace_facts
from oracle_gate.core.commits import submit_head
from oracle_gate.core.decode import encode, to_json
from oracle_gate.core.packet import Workspace
from oracle_gate.core.settings import Settings
from oracle_gate.workspace.report import Audit, parse_report
from support.engine import Outcome, run_engine
from support.gate import Gate
from support.gitenv import commit_all, git
from support.schema_files import FOLDER


@dataclass(frozen=True)
class Worked:
    """A repository, a workspace of it with one commit, and the patch that was exported."""

    gate: Gate
    folder: Path

    @property
    def patch(self) -> Path:
        return self.folder.with_name("workspace.mbox")

    @property
    def report(self) -> Path:
        return self.folder.with_name("audit.json")

    def audit(self) -> Audit:
        run_engine(self.gate.root, "audit", str(self.folder), "--out", str(self.report))
        return parse_report(self.report.read_bytes(), "report")

    def judge(self, *words: str) -> Outcome:
        return run_engine(self.gate.root, "judge", "--patch", str(self.patch), *words)


@pytest.fixture
def worked(quick: Gate) -> Worked:
    folder = quick.root.parent / "workspace"
    assert run_engine(quick.root, "workspace", "create", str(folder), "--json").code == 0
    (folder / "README.md").write_text("quick, and read again\n")
    commit_all(folder, "Work")
    assert run_engine(quick.root, "workspace", "export", str(folder), "--json").code == 0
    return Worked(quick, folder)


def test_a_clean_audit_verifies_and_a_leak_holds(worked: Worked) -> None:
    report = worked.audit()
    assert (report.findings, report.tree) == (
        (),
        git(worked.folder, "rev-parse", "HEAD^{tree}").decode().strip(),
    )
    bare = worked.judge()
    assert (bare.code, "workspace UNVERIFIED" in bare.stdout) == (0, True)
    assert json.loads((worked.gate.root / ".gate/packet.public.json").read_bytes())["unverified"] is True
    done = worked.judge("--workspace-audit", str(worked.report))
    assert (done.code, done.stderr, "UNVERIFIED" in done.stdout) == (0, "", False)
    facts = worked.gate.packet()["workspace"]
    assert (facts["verified"], facts["leaks"], facts["problem"]) == (True, {}, "")
    assert len(facts["report_sha256"]) == 64
    assert json.loads((worked.gate.root / ".gate/packet.public.json").read_bytes())["unverified"] is False

    rows = (worked.gate.root / "corpus/inputs.jsonl").read_bytes()
    (worked.folder / ".git/notes").write_bytes(rows)
    assert worked.audit().findings
    done = worked.judge("--workspace-audit", str(worked.report))
    assert (done.code, "workspace UNVERIFIED" in done.stdout) == (4, True)
    packet = worked.gate.packet()
    assert packet["workspace"]["leaks"] == {"hidden copy": 1}
    assert [(reason["rule"], reason["outcome"]) for reason in packet["reasons"]] == [
        ("workspace.leak", "hold")
    ]
    assert b"inputs.jsonl" not in (worked.gate.root / ".gate/report.md").read_bytes()


def test_the_replay_job_takes_a_report(worked: Worked, tmp_path: Path) -> None:
    root = worked.gate.root
    git(root, "apply", str(worked.patch))
    git(root, "switch", "--quiet", "--create", "change")
    head = commit_all(root, "The change")
    git(root, "switch", "--quiet", "main")
    worked.audit()
    cut, common = tmp_path / "cut", ["--head", head]
    facts = json.loads(run_engine(root, "ci", "intake", *common, "--out", str(cut), base="main").stdout)
    common += ["--pack", str(cut / "change.pack"), "--pack-sha256", facts["pack_sha256"]]
    for words, unverified in (((), True), (("--workspace-audit", str(worked.report)), False)):
        out = str(tmp_path / f"unverified-{unverified}")
        done = run_engine(root, "ci", "replay", *common, *words, "--out", out, base="main")
        handed = json.loads(done.stdout.splitlines()[-1])
        assert (handed["verdict"], handed["unverified"]) == ("eligible", unverified)


def test_a_required_audit_holds_without_one(worked: Worked) -> None:
    settings = worked.gate.root / "oracle/gate.toml"
    settings.write_text(settings.read_text() + "[workspace]\nrequire = true\n")
    commit_all(worked.gate.root, "Require an audit")
    done = worked.judge()
    assert done.code == 4
    assert [reason["rule"] for reason in worked.gate.packet()["reasons"]] == ["workspace.unverified"]
    worked.audit()
    assert worked.judge("--workspace-audit", str(worked.report)).code == 0
    assert run_engine(worked.gate.root, "judge").code == 0, "a self-check has no workspace"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "workspace-audit-v1"}', "\udcff", None])
def test_a_malformed_report_is_an_error(quick: Gate, text: str | None) -> None:
    file = quick.root.parent / "audit.json"
    if text is not None:
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = run_engine(quick.root, "judge", "--workspace-audit", str(file))
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gate: {file}")
    assert done.stderr.count("\n") == 1
    assert not (quick.root / ".gate/merge_packet.json").exists()


@contextmanager
def opened_at(gate: Gate) -> Iterator[Context]:
    base = git(gate.root, "rev-parse", "main").decode().strip()
    with opened(Launch(str(gate.root), base, "test", "local", "")) as context:
        yield context


def facts(gate: Gate, audit: Audit, head: str = "work") -> Workspace:
    """What the report says of the branch `head`."""
    with opened_at(gate) as context:
        commit = git(gate.root, "rev-parse", head).decode().strip()
        change = submit_head(context.store, context.folder("head"), context.launch.base, commit, Settings())
        return workspace_facts(context, Settings(), change, Report(audit, "0" * 64))


def test_only_a_report_of_this_base_and_workspace_counts(
    worked: Worked, capsys: pytest.CaptureFixture[str]
) -> None:
    root = worked.gate.root
    for name, path in (("work", "README.md"), ("other", "src/other")):
        git(root, "switch", "--quiet", "--create", name, "main")
        (root / path).write_text("quick, and read again\n")
        commit_all(root, "Work")
    git(root, "switch", "--quiet", "main")
    clean = worked.audit()
    (worked.folder / ".git/notes").write_bytes((root / "corpus/inputs.jsonl").read_bytes())
    leaky = worked.audit()

    assert facts(worked.gate, clean) == Workspace(True, False, "0" * 64)
    assert not capsys.readouterr().err
    foreign: dict[str, Callable[[Audit], Audit]] = {
        "was made for base": lambda audit: replace(audit, base="1" * 40),
        "made for base": lambda audit: replace(audit, snapshot="1" * 40),
        "other hidden files": lambda audit: replace(audit, hidden_sha256="1" * 64),
    }
    for words, another in foreign.items():
        for audit in (clean, leaky):
            found = facts(worked.gate, another(audit))
            assert (found.verified, found.leaks, words in found.problem) == (False, {}, True), words
            assert capsys.readouterr().err.count("\n") == 1
    for found in (facts(worked.gate, clean, "other"), facts(worked.gate, replace(clean, tree=""))):
        assert (found.verified, "last commit is not this change" in found.problem) == (False, True)
    # A session that leaked and then tidied up its last commit has leaked all the same.
    assert facts(worked.gate, leaky, "other").leaks == {"hidden copy": 1}

    (root / "corpus/data/more").write_text("hidden bytes that the audit did not know of\n")
    git(root, "switch", "--quiet", "--create", "later")
    commit_all(root, "Hide more")
    git(root, "switch", "--quiet", "main")
    assert "other hidden files" in facts(worked.gate, clean).problem
    git(root, "merge", "--quiet", "later")
    assert "made for base" in facts(worked.gate, clean).problem


def test_the_report_is_read_as_it_was_written(worked: Worked) -> None:
    report = worked.audit()
    assert worked.report.read_bytes() == to_json(encode(report))
    schema = json.loads((FOLDER / "workspace-audit-v1.schema.json").read_bytes())
    jsonschema.Draft202012Validator(schema).validate(json.loads(worked.report.read_bytes()))
