"""The baked workflows: what linters say of them, and what a required check rests on (design, section 10)."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.baking import SCAFFOLD, bake
from support.gitenv import git_env

GATE, GENERATOR = "replay-gate.yml", "generator-workspace.yml"
#: The style of yamllint, wide enough for pinned actions.
STYLE = "{extends: default, rules: {line-length: {max: 120}, document-start: disable, comments: {min-spaces-from-content: 1}}}"  # noqa: E501


def text(project: Path, name: str = GATE) -> str:
    return (project / ".github/workflows" / name).read_text(encoding="utf-8")


def document(project: Path, name: str = GATE) -> dict[str, Any]:
    loaded = yaml.safe_load(text(project, name))
    assert isinstance(loaded, dict)
    return loaded


def steps(workflow: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for job, definition in workflow["jobs"].items():
        for step in definition["steps"]:
            yield job, step


def uses(project: Path, action: str, name: str = GATE) -> list[tuple[str, dict[str, Any]]]:
    """Job and inputs of each use of an action."""
    found = [(job, step) for job, step in steps(document(project, name)) if action in step.get("uses", "")]
    assert found
    return [(job, step["with"]) for job, step in found]


@pytest.mark.parametrize(
    "command",
    [
        ["zizmor", "--offline", "--no-progress", "--pedantic", "--no-config"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
        ["yamllint", "--strict", "--config-data", STYLE],
    ],
    ids=["zizmor", "check-jsonschema", "yamllint"],
)
def test_linters_have_nothing_to_say(command: list[str], project: Path) -> None:
    program = Path(sys.executable).with_name(command[0])
    files = [str(project / ".github/workflows" / name) for name in (GATE, GENERATOR)]
    done = subprocess.run(
        [str(program), *command[1:], *files], env=git_env(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_rendering_changes_nothing(project: Path) -> None:
    folder = SCAFFOLD / ".github/workflows"
    for name in (GATE, GENERATOR):
        [source] = folder.glob(f"*{name.replace('-', '_').replace('.', '_')}*")
        assert source.read_text(encoding="utf-8") == text(project, name)


def test_no_workflow_without_the_prompt(tmp_path: Path) -> None:
    project = bake(tmp_path, ci="none")
    assert not (project / ".github").exists()
    assert (project / "tools/gate.py").is_file()


def test_the_text_is_the_default_branch_s(project: Path) -> None:
    assert set(document(project)["on"]) == {"pull_request_target"}
    assert set(document(project, GENERATOR)["on"]) == {"workflow_dispatch"}


@pytest.mark.parametrize("name", [GATE, GENERATOR])
def test_no_cache(name: str, project: Path) -> None:
    assert "cache" not in text(project, name).lower()


def test_the_head_is_never_checked_out(project: Path) -> None:
    for _, inputs in uses(project, "actions/checkout"):
        assert "head" not in inputs["ref"]
        assert inputs["ref"] in {
            "${{ github.event.repository.default_branch }}",
            "${{ needs.intake.outputs.base }}",
            "${{ needs.intake.outputs.base || github.event.repository.default_branch }}",
        }
        assert inputs["persist-credentials"] is False
        assert "submodules" not in inputs
    scripts = "\n".join(step.get("run", "") for _, step in steps(document(project)))
    assert not re.search(r"git (-C \S+ )?(checkout|switch|worktree|reset|merge|am|apply)\b", scripts)
    assert "--no-checkout" in scripts


def test_no_expression_inside_a_script(project: Path) -> None:
    """A branch name or a title that a stranger chose must not become shell text."""
    for name in (GATE, GENERATOR):
        for _, step in steps(document(project, name)):
            assert "${{" not in step.get("run", "")


def test_the_verdict_job_runs_whatever_happened(project: Path) -> None:
    jobs = document(project)["jobs"]
    assert jobs["verdict"]["if"] == "${{ !cancelled() }}"
    assert jobs["verdict"]["needs"] == ["intake", "replay"]
    assert "continue-on-error" not in str(jobs["verdict"])
    tolerated = [
        step.get("name", "") for _, step in steps(document(project)) if step.get("continue-on-error")
    ]
    assert len(tolerated) == 1
    assert "bubblewrap" in tolerated[0]


def test_nothing_that_counts_as_passed_is_published(project: Path) -> None:
    """Required checks take `neutral` and `skipped` for a success (actions/runner#2566)."""
    assert not re.search(r"neutral|skipped", text(project))
    engine = SCAFFOLD / "tools/oracle_gate/commands/ci_verdict.py"
    published = re.findall(r'"(success|failure|action_required|neutral|skipped)"', engine.read_text())
    assert set(published) == {"success", "failure", "action_required"}


def test_permissions(project: Path) -> None:
    workflow = document(project)
    assert workflow["permissions"] == {} == document(project, GENERATOR)["permissions"]
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "intake": {"contents": "read"},
        "replay": {"contents": "read"},
        "verdict": {"contents": "read", "checks": "write"},
    }
    assert document(project, GENERATOR)["jobs"]["workspace"]["permissions"] == {"contents": "read"}


def test_the_job_that_runs_patched_code_gets_no_token(project: Path) -> None:
    replay = document(project)["jobs"]["replay"]
    assert not re.search(r"token|secrets|GH_", str(replay), re.IGNORECASE)


@pytest.mark.parametrize("name", [GATE, GENERATOR])
def test_actions_are_pinned_by_commit(name: str, project: Path) -> None:
    for _, step in steps(document(project, name)):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
    assert all("# v" in line for line in text(project, name).splitlines() if "uses:" in line)


def test_only_the_change_and_the_public_packet_are_uploaded(project: Path) -> None:
    uploads = [(job, inputs["path"]) for job, inputs in uses(project, "upload-artifact")]
    assert uploads == [("intake", "change/change.pack"), ("replay", "packet/packet.public.json")]
    assert [(job, inputs["path"]) for job, inputs in uses(project, "upload-artifact", GENERATOR)] == [
        ("workspace", "workspace.tar.gz")
    ]
    assert "GITHUB_STEP_SUMMARY" not in text(project)


def test_facts_are_the_only_other_thing_handed_on(project: Path) -> None:
    jobs = document(project)["jobs"]
    assert set(jobs["intake"]["outputs"]) == {"facts", "stopped", "pack_sha256", "base"}
    assert set(jobs["replay"]["outputs"]) == {"facts"}
    assert all("timeout-minutes" in job for job in jobs.values())


def test_user_namespaces_are_allowed_before_the_judgement_and_nowhere_else(project: Path) -> None:
    """Ubuntu 24.04 denies them by AppArmor; without them bubblewrap does not work and Landlock is taken."""
    workflow = document(project)
    assert {job["runs-on"] for job in workflow["jobs"].values()} == {"ubuntu-24.04"}
    lifted = "kernel.apparmor_restrict_unprivileged_userns=0"
    assert [job for job, step in steps(workflow) if lifted in step.get("run", "")] == ["replay"]
    scripts = [step.get("run", "") for step in workflow["jobs"]["replay"]["steps"]]
    order = [
        next(number for number, script in enumerate(scripts) if words in script)
        for words in (lifted, "gate.py env", "gate.py ci replay")
    ]
    assert order == sorted(order)
