"""Bake the template as a user would, but from a clean copy and without a user configuration."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from cookiecutter.main import cookiecutter

TEMPLATE = Path(__file__).resolve().parents[2]
SCAFFOLD = TEMPLATE / "<<cookiecutter.project_slug>>"

# Caches of a developer's own runs: cookiecutter would copy them into the project.
CACHES = ("__pycache__", "*.pyc", ".*_cache", ".hypothesis", ".nox")


def copy_template(destination: Path) -> Path:
    """Copy what a bake reads into `destination` (created). Returns `destination`."""
    for name in ("hooks", SCAFFOLD.name, "{{cookiecutter.cruft_shim}}"):
        shutil.copytree(TEMPLATE / name, destination / name, ignore=shutil.ignore_patterns(*CACHES))
    shutil.copy2(TEMPLATE / "cookiecutter.json", destination)
    return destination


def user_config(folder: Path) -> Path:
    """A cookiecutter configuration file that keeps replay files and clones inside `folder`."""
    path = folder / "cookiecutter.yaml"
    path.write_text(f'cookiecutters_dir: "{folder / "clones"}"\nreplay_dir: "{folder / "replay"}"\n')
    return path


def bake(destination: Path, *, accept_hooks: bool = True, **answers: object) -> Path:
    """Bake into `destination` with the defaults and these answers. Returns the project's folder.

    Raises cookiecutter's own exceptions, such as FailedHookException for a refusal.
    """
    with tempfile.TemporaryDirectory() as scratch:
        template = copy_template(Path(scratch, "template"))
        return bake_from(template, destination, accept_hooks=accept_hooks, extra_context=answers)


def bake_from(template: Path, destination: Path, **options: Any) -> Path:
    """Bake a template folder with options of cookiecutter's own function. Returns the project's folder.

    The replay file is left in `replay/` beside the template.
    """
    config = user_config(template.parent)
    options = {"no_input": "replay" not in options, **options}
    return Path(cookiecutter(str(template), output_dir=str(destination), config_file=str(config), **options))


if __name__ == "__main__":
    print(bake(Path(sys.argv[1])))
