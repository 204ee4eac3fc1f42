"""The hooks: what they refuse, how they say it, and that no answer becomes code."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cookiecutter.exceptions import FailedHookException, OutputDirExistsException
from support.baking import TEMPLATE, bake_from
from support.trees import contents

HOOKS = sorted((TEMPLATE / "hooks").glob("*.py"))


def refuse(template: Path, output: Path, capfd: pytest.CaptureFixture[str], **answers: str) -> list[str]:
    """Bake with answers that must be refused; returns the hook's lines."""
    with pytest.raises(FailedHookException):
        bake_from(template, output, extra_context=answers)
    lines = capfd.readouterr().err.splitlines()
    return [line.removeprefix("replay-oracle: ") for line in lines if line.startswith("replay-oracle: ")]


@pytest.mark.parametrize("slug", ["../up", "a/b", "-f", ".hidden", "a..b", "two words", "end.", "x" * 101])
def test_slugs_that_are_no_plain_folder(
    slug: str, template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = refuse(template, tmp_path / "out/deep", capfd, project_slug=slug, package_name="fine")
    assert lines[0].startswith(f"project_slug {slug!r}")
    assert len(lines) == 2
    assert not contents(tmp_path / "out")


def test_an_absolute_slug(template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    slug = str(tmp_path / "elsewhere")
    assert refuse(template, tmp_path / "out", capfd, project_slug=slug)[0].startswith("project_slug")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "package",
    ["class", "None", "json", "sys", "tools", "oracle", "Corpus", "sealed", "tests", "pytest", "a-b", "a.b",
     "1a", "", "\u00fcber", "a b", 'x"; import os'],
)  # fmt: skip
def test_names_that_are_no_package(
    package: str, template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = refuse(template, tmp_path / "out", capfd, package_name=package)
    assert lines[0].startswith(f"package_name {package!r}")
    assert len(lines) == 2


@pytest.mark.parametrize("text", [" ", "two\nlines", "tab\t", "bell\a", "\u202eright to left", "y" * 201])
@pytest.mark.parametrize("key", ["project_name", "description", "author"])
def test_texts_with_control_characters(
    key: str, text: str, template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = {"project_slug": "fine", "package_name": "fine", key: text}
    assert refuse(template, tmp_path / "out", capfd, **answers)[0].startswith(f"{key} is ")


def test_private_names_cannot_lead_out(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = refuse(template, tmp_path / "out", capfd, __fmt_py="../../escaped.py")
    assert lines[0].startswith("__fmt_py ")
    assert not list(tmp_path.rglob("escaped.py"))


def test_all_errors_at_once_and_a_command_that_works(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = {
        "project_slug": "Up & away",
        "package_name": "class",
        "author": "O'Neil\nof \"X\" '''",
        "description": "$HOME `id` << x",
    }
    # Answers given on the command line are rendered once, so the delimiters arrive by an expression.
    wrong["description"] = wrong["description"].replace("<<", "<< '<' ~ '<' >>")
    lines = refuse(template, tmp_path / "out", capfd, **wrong)
    assert {line.split(" ")[0] for line in lines[:-1]} == set(wrong)
    command = shlex.split(lines[-1].removeprefix("to go on: "))
    assert command[0] == "cookiecutter"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path / "home")}
    options = ["--no-input", "--config-file", str(tmp_path / "cookiecutter.yaml")]
    subprocess.run([command[0], *options, *command[1:]], env=environment, check=True, timeout=60)
    project = tmp_path / "out/up-away"
    assert (project / "src/app_class/fmt.py").is_file()
    assert "O'Neil of \"X\" '''" in (project / "LICENSE").read_text(encoding="utf-8")


def test_a_target_in_use_stays_as_it_is(
    template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    used = tmp_path / "out/replay-demo"
    used.mkdir(parents=True)
    (used / "mine.txt").write_text("mine")
    with pytest.raises(OutputDirExistsException):
        bake_from(template, tmp_path / "out")
    with pytest.raises(FailedHookException):
        bake_from(template, tmp_path / "out", overwrite_if_exists=True)
    assert "is not empty" in capfd.readouterr().err
    assert contents(used) == {"mine.txt": b"mine"}


def test_a_fresh_repository_is_an_empty_target(template: Path, tmp_path: Path) -> None:
    (tmp_path / "out/replay-demo/.git").mkdir(parents=True)
    assert (bake_from(template, tmp_path / "out", overwrite_if_exists=True) / "README.md").is_file()


def test_an_old_cookiecutter_is_named(tmp_path: Path) -> None:
    """One older than 2.6 picks the shim folder and renders hooks with its own delimiters only."""
    hook = TEMPLATE / "hooks/pre_gen_project.py"
    done = subprocess.run(
        [sys.executable, str(hook)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "replay-oracle: upgrade cookiecutter: this template needs 2.6 or newer"
    ]
    assert not re.search(r"\{\{|\{%|\{#", hook.read_text())


@pytest.mark.parametrize(
    "text",
    [
        "''' + open('PWNED', 'w').write('') + r'''",
        '""" + str(open("PWNED", "w")) + """',
        "\\''' ; open('PWNED', 'w') ; '''",
        "\\",
        '"); open("PWNED", "w"); ("',
        "'''\nopen('PWNED', 'w')\n'''",
    ],
)
def test_no_answer_becomes_code(text: str, template: Path, tmp_path: Path) -> None:
    answers = {
        "author": text,
        "description": text,
        "project_name": text,
        "project_slug": "a",
        "package_name": "a",
    }
    try:
        project = bake_from(template, tmp_path / "out", extra_context=answers)
    except FailedHookException:
        assert "\n" in text
    else:
        for source in project.rglob("*.py"):
            ast.parse(source.read_bytes())
            assert "PWNED" not in source.read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("PWNED"))


def test_hooks_are_small_and_alone() -> None:
    assert sum(len(hook.read_text().splitlines()) for hook in HOOKS) <= 120
    for hook in HOOKS:
        tree = ast.parse(hook.read_text())
        nodes = list(ast.walk(tree))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)}
        assert imported <= {"json", "keyword", "re", "shlex", "sys", "pathlib"}
        called = {
            node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not called & {"input", "exec", "eval", "open", "__import__"}
