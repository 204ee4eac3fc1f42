"""The files of the template: what is rendered, what is copied, what git and cruft see."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
from pathlib import Path

import pytest
from support.baking import CACHES, SCAFFOLD, TEMPLATE, bake_from
from support.gitenv import git_env
from support.trees import contents

PATTERNS: list[str] = json.loads((TEMPLATE / "cookiecutter.json").read_bytes())["_copy_without_render"]
JUDGE = ("tools/gate.py", "tools/replay_gate.py", "tools/replay_harness.py", "tools/oracle_guard.py")
#: The only Jinja forms that rendered files use.
EXPRESSION = re.compile(
    r"<<-? (?:toml\()?(?:cookiecutter\.[a-z_]+|text\.split\(\)[^<>]*)\)? -?>>|<<cookiecutter\.[a-z_]+>>"
)
STATEMENT = re.compile(
    r"<%-? (?:(?:el)?if cookiecutter\.[a-z_]+ == '[^']*'|else|endif|macro toml\(text\)|endmacro) -?%>"
)
COMMENT = re.compile(r"<#-? [^#<>]* -?#>")
DELIMITER = re.compile(r"<[<%#]|[>%#]>")
CANARY = 'x = 1 << 3 >> 1  # <% if %> {{ y }} {# z #} <# gone #>\nprint(f"{x}")\n'


def is_copied(path: str) -> bool:
    """cookiecutter's own rule."""
    return any(fnmatch.fnmatch(path, pattern) for pattern in PATTERNS)


def template_files() -> dict[str, bytes]:
    """The scaffold's files, without a developer's caches."""
    files = contents(SCAFFOLD)
    return {
        name: data
        for name, data in files.items()
        if not any(fnmatch.filter(name.split("/"), c) for c in CACHES)
    }


def accidents(text: str) -> list[str]:
    """Delimiters that belong to no Jinja form of ours."""
    for form in (EXPRESSION, STATEMENT, COMMENT):
        text = form.sub("", text)
    return [line for line in text.splitlines() if DELIMITER.search(line)]


def test_rendered_files_hold_no_accidental_delimiter(project: Path) -> None:
    for name, data in template_files().items():
        if not is_copied(name):
            assert accidents(data.decode()) == [], name
            assert accidents(name) == [], name
    for name, data in contents(project).items():
        if not is_copied(name):
            assert not DELIMITER.search(data.decode()), name


def test_the_scan_sees_accidents() -> None:
    assert accidents("x = 1 << 3 >> 1")
    assert accidents("cat <<EOF")
    assert accidents("a <% b")
    assert not accidents("<< cookiecutter.author >>")


def test_the_judge_is_copied_byte_by_byte(project: Path) -> None:
    files = template_files()
    for name, data in files.items():
        if name.startswith("tools/oracle_gate/") or name in JUDGE:
            assert is_copied(name), name
        if is_copied(name):
            assert (project / name).read_bytes() == data, name
    assert [name for name in files if name.startswith("tools/oracle_gate/core/")]


def test_text_that_rendering_would_destroy_survives_in_copied_files(template: Path, tmp_path: Path) -> None:
    copied = [
        "tools/oracle_gate/canary.py",
        "tools/oracle_gate/core/deep/canary.py",
        "tools/oracle_gate/schemas/canary.json",
        *JUDGE,
        "tools/workspace/canary.sh",
        ".github/workflows/canary.yml",
        "corpus/data/canary.txt",
        "sealed/fixtures/canary.bin",
    ]
    for name in (*copied, "canary.txt"):
        path = template / SCAFFOLD.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY)
    # The rendered one only has to be valid Jinja.
    (template / SCAFFOLD.name / "canary.txt").write_text("1 << 3 >> 1")
    project = bake_from(template, tmp_path / "out")
    for name in copied:
        assert (project / name).read_text() == CANARY, name
    assert (project / "canary.txt").read_text() == "1 3 1"


def test_no_pattern_matches_a_folder() -> None:
    """cookiecutter deletes a matched folder in the target before it copies (cookiecutter#1029)."""
    folders = [path.relative_to(SCAFFOLD).as_posix() for path in SCAFFOLD.rglob("*") if path.is_dir()]
    folders = [name for name in folders if not any(fnmatch.filter(name.split("/"), c) for c in CACHES)]
    assert "tools/oracle_gate/core" in folders
    assert [name for name in folders if is_copied(name)] == []


def test_sample_data_arrive_unchanged(project: Path) -> None:
    """They are rendered, because their names are."""
    for folder in ("corpus/data", "sealed/fixtures"):
        paths = list((SCAFFOLD / folder).glob("<<*>>"))
        assert len(paths) == 4
        for path in paths:
            stem, _, suffix = path.name.strip("<>").removeprefix("cookiecutter.__").rpartition("_")
            assert (project / folder / f"{stem}.{suffix}").read_bytes() == path.read_bytes()


def test_git_tracks_all_that_a_bake_reads() -> None:
    """The scaffold's own .gitignore acts on this repository."""
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    done = subprocess.run(
        [*command, "--", SCAFFOLD.name], cwd=TEMPLATE, env=git_env(), capture_output=True, check=True
    )
    known = {name.removeprefix(SCAFFOLD.name + "/") for name in done.stdout.decode().split("\0") if name}
    assert known == set(template_files())


def test_no_symbolic_links() -> None:
    assert [path for path in SCAFFOLD.rglob("*") if path.is_symlink()] == []


def test_cruft_finds_a_folder() -> None:
    """Its rule (cruft 2.16): a folder named *cookiecutter.* with both default delimiters in its name."""
    found = [path for path in TEMPLATE.glob("*cookiecutter.*") if "{{" in path.name and "}}" in path.name]
    assert [path.name for path in found if path.is_dir()] == ["{{cookiecutter.cruft_shim}}"]


def test_at_most_eight_prompts_each_in_words() -> None:
    context = json.loads((TEMPLATE / "cookiecutter.json").read_bytes())
    asked = [key for key in context if not key.startswith("_")]
    assert len(asked) <= 8
    assert set(context["__prompts__"]) == set(asked)


@pytest.mark.parametrize("name", [".gitattributes", "<<cookiecutter.project_slug>>/.gitattributes"])
def test_line_endings_do_not_depend_on_the_machine(name: str) -> None:
    assert "* text=auto eol=lf" in (TEMPLATE / name).read_text().splitlines()
