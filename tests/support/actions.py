"""Runs a GitHub workflow's own text: each job in a clean folder, with nothing of another but what is handed on.

Only what this project's workflows use: three actions, `run`, `needs`, `if`, outputs. What else there is, fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.gitenv import git, git_env

#: `gh api`: where a branch is, and a check that is published. `sudo`: nothing, as on a machine without it.
_GH = """\
#!/bin/sh
case "$*" in
"api repos/owner/project/git/ref/heads/"*) git -C "$REMOTE" rev-parse --verify "refs/heads/main" ;;
"api --method POST repos/owner/project/check-runs --input check.json --silent") cp check.json "$PUBLISHED" ;;
*) exit 1 ;;
esac
"""
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Host:
    """A fresh host around a bare repository at `folder`/owner/project: artifacts, results, logs, the check.

    `between` is called with the name of a job before it starts.
    """

    folder: Path
    event: Mapping[str, Any]
    between: Callable[[str], None] = lambda _job: None
    results: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""

    @property
    def remote(self) -> Path:
        """The repository that jobs clone."""
        return self.folder / "owner/project"

    @property
    def published(self) -> Path:
        """The check that would be published; absent when none would."""
        return self.folder / "published.json"

    @property
    def artifacts(self) -> dict[str, bytes]:
        """What was uploaded: by artifact and file name."""
        files = (path for path in (self.folder / "artifacts").rglob("*") if path.is_file())
        return {path.relative_to(self.folder / "artifacts").as_posix(): path.read_bytes() for path in files}

    def run(self, workflow: Mapping[str, Any]) -> None:
        """Runs all jobs in order."""
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "python3").symlink_to(sys.executable)
        for name, text in (("gh", _GH), ("sudo", "#!/bin/sh\nexit 1\n")):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        for name, job in workflow["jobs"].items():
            self.between(name)
            self.results[name] = self._job(name, job) if self._wanted(job) else "skipped"

    def _wanted(self, job: Mapping[str, Any]) -> bool:
        condition = _EXPRESSION.sub(r"\1", job.get("if", "success()"))
        if condition == "!cancelled()":
            return True
        needed = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        if any(self.results[name] != "success" for name in needed):
            return False
        left, _, right = condition.partition(" == ")
        return condition == "success()" or self._value(left, {}) == right.strip("'")

    def _job(self, name: str, job: Mapping[str, Any]) -> str:
        here = self.folder / "jobs" / name
        here.mkdir(parents=True)
        steps: dict[str, dict[str, str]] = {}
        result = "success"
        for step in job["steps"]:
            if not self._step(here, step, steps) and not step.get("continue-on-error"):
                result = "failure"
                break
        self.outputs[name] = {key: self._filled(text, steps) for key, text in job.get("outputs", {}).items()}
        return result

    def _step(self, here: Path, step: Mapping[str, Any], steps: dict[str, dict[str, str]]) -> bool:
        if "uses" in step:
            given = {key: self._filled(str(text), steps) for key, text in step["with"].items()}
            return self._action(here, step["uses"].split("@")[0], given)
        outputs = self.folder / "outputs"
        outputs.write_text("")
        environment = git_env() | {
            "PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}", "CI": "true", "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(outputs), "GITHUB_SERVER_URL": self.folder.as_uri(),
            "GITHUB_REPOSITORY": "owner/project", "REMOTE": str(self.remote), "PUBLISHED": str(self.published),
            **{key: self._filled(text, steps) for key, text in step.get("env", {}).items()},
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=here, env=environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=300,
        )  # fmt: skip
        self.log += done.stdout
        assert "Traceback" not in done.stdout, done.stdout
        lines = outputs.read_text().splitlines()
        steps[step.get("id", "")] = dict(line.split("=", 1) for line in lines)
        return done.returncode == 0

    def _action(self, here: Path, action: str, given: Mapping[str, str]) -> bool:
        place, store = here / given["path"], self.folder / "artifacts" / given.get("name", "")
        if action == "actions/checkout":
            git(here, "clone", "--quiet", "--no-checkout", str(self.remote), given["path"])
            start = given["ref"] if re.fullmatch("[0-9a-f]{40}", given["ref"]) else f"origin/{given['ref']}"
            git(place, "checkout", "--quiet", "--detach", start)
            return True
        if action == "actions/upload-artifact":
            if not place.is_file():
                return given["if-no-files-found"] != "error"
            store.mkdir(parents=True)
            shutil.copy(place, store)
            return True
        assert action == "actions/download-artifact", action
        if not store.is_dir():
            return False
        shutil.copytree(store, place)
        return True

    def _filled(self, text: str, steps: Mapping[str, Mapping[str, str]]) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1], steps), text)

    def _value(self, expression: str, steps: Mapping[str, Mapping[str, str]]) -> str:
        """The value of alternatives of dotted names; what is not there is empty, as it is on GitHub."""
        needs = {name: {"outputs": outputs} for name, outputs in self.outputs.items()}
        known = {
            "github": {"event": self.event, "token": "a-token"}, "needs": needs,
            "steps": {name: {"outputs": outputs} for name, outputs in steps.items()},
        }  # fmt: skip
        for alternative in expression.split(" || "):
            assert re.fullmatch(r"[a-z][a-z0-9_.]+", alternative), alternative
            found: Any = known
            for name in alternative.split("."):
                found = found.get(name, "") if isinstance(found, Mapping) else ""
            if found:
                return str(found)
        return ""
