"""The baked project by itself: its tests, style, corpus, settings, packaging and hook configuration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml
from oracle_gate.core.corpus import Row, parse_rows
from oracle_gate.core.freeze_ledger import parse_freezes
from oracle_gate.core.manifest import parse_manifest
from oracle_gate.core.settings import parse_settings
from oracle_gate.runner.asking import parameters
from support.baking import TEMPLATE, bake

NEUTRAL = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run this environment's Python in a folder."""
    command = [sys.executable, *arguments]
    environment = {**NEUTRAL, "HOME": "/nonexistent", **variables}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def output(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def variant(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other names, no sample program."""
    folder = tmp_path_factory.mktemp("variant")
    return bake(folder, project_name="Zebra", package_name="Zebra_2", sample_program="no")


@pytest.mark.parametrize("which", ["project", "variant"])
def test_public_tests_pass(which: str, request: pytest.FixtureRequest) -> None:
    done = run("-m", "pytest", "-p", "no:cacheprovider", cwd=request.getfixturevalue(which))
    assert done.returncode == 0, output(done)
    assert re.search(r"\d+ passed", done.stdout)


@pytest.mark.parametrize("which", ["project", "variant"])
def test_style_and_types(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    folder = request.getfixturevalue(which)
    for command in (
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--no-cache", "--check", "."),
        ("mypy", "--cache-dir", str(tmp_path), "noxfile.py", "src", "tests", "tools/metamorphic.py"),
    ):
        done = run("-m", *command, cwd=folder)
        assert done.returncode == 0, output(done)


def rows(folder: Path) -> list[Row]:
    return list(parse_rows((folder / "corpus/inputs.jsonl").read_bytes()))


def test_corpus_is_worth_pinning(project: Path) -> None:
    corpus = rows(project)
    assert len(corpus) >= 12
    assert all(row.format == "text" for row in corpus if row.id.startswith("fmt-"))
    for kind in ("stdin", "stdin_file", "files"):
        assert any(getattr(row, kind) is not None for row in corpus), kind
    for row in corpus:
        assert all((project / path).is_file() for path in row.corpus_paths), row.id


def test_rows_end_as_tagged(project: Path, tmp_path: Path) -> None:
    seen = set()
    for row in rows(project):
        folder = tmp_path / row.id
        for destination, source in (row.files or {}).items():
            (folder / destination).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project / source, folder / destination)
        given = (project / row.stdin_file).read_text() if row.stdin_file else row.stdin
        done = subprocess.run(
            [sys.executable, *row.argv[1:]],
            cwd=folder if row.files else project,
            env={**NEUTRAL, "PYTHONPATH": str(project / "src")},
            input=given or "",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (2 if "error" in row.tags else 0), (row.id, done.stderr)
        assert "Traceback" not in done.stderr
        changed = [(folder / name).read_bytes() for name in sorted(row.files or {})]
        seen.add((done.stdout, done.stderr, tuple(changed)))
    # All but the two rows that show that the order of keys does not matter differ from each other.
    assert len(seen) == len(rows(project)) - 1


def test_settings_are_what_the_engine_reads(project: Path) -> None:
    settings = parse_settings((project / "oracle/gate.toml").read_bytes())
    assert settings.view.hidden == ("oracle", "corpus", "sealed", "tools/metamorphic.py")
    assert settings.subject.path == ("src",)
    assert (settings.replay.timeout_s, settings.replay.output_bytes, settings.replay.workers) == (
        10,
        8 << 20,
        0,
    )
    assert settings.lanes.required == ("denylist", "replay", "relations", "sealed")
    assert (settings.base.ref, settings.sandbox.require, settings.approvals.overridable) == (
        "",
        "isolated",
        (),
    )


def test_a_fresh_oracle_is_empty(project: Path) -> None:
    for name in ("digests", "quarantine", "provenance"):
        assert json.loads((project / f"oracle/{name}.json").read_bytes()) == {}
    for name in ("noise.txt", "allowed_signers"):
        assert all(line.startswith("#") for line in (project / "oracle" / name).read_text().splitlines())
    rules = [
        line
        for line in (project / "oracle/denylist.txt").read_text().splitlines()
        if line[:1] not in ("", "#")
    ]
    assert rules == ["oracle/", "corpus/", "sealed/", "tools/"]


def test_agents_are_told_no_hidden_id(project: Path) -> None:
    visible = [
        path.read_text(encoding="utf-8")
        for path in project.rglob("*")
        if path.is_file()
        and path.relative_to(project).parts[0] not in ("corpus", "oracle", "sealed", "tools")
    ]
    manifest = parse_manifest((project / "sealed/MANIFEST.json").read_bytes())
    hidden = [row.id for row in rows(project)]
    hidden += [item.id for items in (manifest.properties, manifest.fixtures) for item in items]
    for id in hidden:
        assert not any(id in text for text in visible), id


@pytest.mark.parametrize(("which", "counts"), [("project", (3, 4)), ("variant", (0, 0))])
def test_the_sealed_folder_holds_what_its_manifest_lists(
    which: str, counts: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(which) / "sealed"
    manifest = parse_manifest((folder / "MANIFEST.json").read_bytes())
    assert (len(manifest.properties), len(manifest.fixtures)) == counts
    listed = {item.path for items in (manifest.properties, manifest.fixtures) for item in items}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {"MANIFEST.json", "freeze.json", *listed}
    assert parse_freezes((folder / "freeze.json").read_bytes()) == ()
    assert {parameters((folder / item.path).read_bytes()) for item in manifest.properties} <= {2}


@pytest.mark.parametrize(
    "name", ["<<cookiecutter.project_slug>>/requirements/subject.txt", "requirements/dev.txt"]
)
def test_requirements_are_pinned_and_name_no_machine(name: str) -> None:
    text = (TEMPLATE / name).read_text()
    pins = re.sub(r"^ *(?:#.*)?\n", "", text, flags=re.M).replace(" \\\n", "").splitlines()
    assert len(pins) >= 5
    for pin in pins:
        assert re.fullmatch(r"[a-z0-9-]+==[a-z0-9.]+(?: +--hash=sha256:[0-9a-f]{64})+", pin), pin
    assert not re.search("index|find-links|://|/(?:home|root|tmp|opt)", text)


def test_packages_carry_no_evidence(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    shutil.copytree(project, copy)
    done = run("-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), ".", cwd=copy)
    assert done.returncode == 0, output(done)
    [wheel], [source] = (tmp_path / "dist").glob("*.whl"), (tmp_path / "dist").glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    with tarfile.open(source) as archive:
        names += [name.partition("/")[2] for name in archive.getnames()]
    assert any(name.endswith("fmt.py") for name in names)
    assert [name for name in names if name.split("/")[0] in ("oracle", "corpus", "sealed", "tools")] == []


def test_pre_commit_configuration(project: Path) -> None:
    path = project / ".pre-commit-config.yaml"
    done = run("-m", "pre_commit", "validate-config", str(path), cwd=project, HOME=str(project.parent))
    assert done.returncode == 0, output(done)
    config = yaml.safe_load(path.read_bytes())
    stages = ["pre-commit", "pre-merge-commit", "pre-push"]
    assert config["default_install_hook_types"] == stages
    assert config["minimum_pre_commit_version"] == "3.2.0"
    [repository] = config["repos"]
    [hook] = repository["hooks"]
    assert repository["repo"] == "local"
    assert {key: value for key, value in hook.items() if key != "name"} == {
        "id": "oracle-guard",
        "entry": "python3 -I tools/oracle_guard.py",
        "language": "system",
        "always_run": True,
        "pass_filenames": False,
        "require_serial": True,
        "stages": stages,
    }
