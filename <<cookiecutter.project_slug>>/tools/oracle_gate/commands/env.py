"""`env`: builds the subject's virtual environment from the base's hash-pinned requirements."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from ..core.errors import Exit, GateError
from ..core.oracle import read_control, read_settings
from ..runner.subject import COMPLETE, environment_folder
from .context import Context
from .output import refuse_links

REQUIREMENTS = "requirements/subject.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wheelhouse", type=Path, help="install from this folder of wheels, without an index"
    )


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Builds the environment, unless it is there; the folder's name is the digest of the requirements."""
    if read_settings(context.store, context.base_entries).subject.python:
        print("env: [subject] python names an interpreter; nothing to build")
        return Exit.OK
    requirements = read_control(context.store, context.base_entries, REQUIREMENTS)
    folder = environment_folder(context.environments, requirements)
    refuse_links(folder)  # a change could have planted one: what is built, or deleted, would lie elsewhere
    if arguments.wheelhouse and not arguments.wheelhouse.is_dir():
        raise GateError("no such folder", where=str(arguments.wheelhouse), todo="name a folder of wheels")
    if (folder / COMPLETE).is_file():
        print(f"env: ready in {folder}")
        return Exit.OK
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _build(folder, requirements, arguments.wheelhouse, context.folder("env"))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / COMPLETE).touch()
    print(f"env: built in {folder}")
    return Exit.OK


def _build(folder: Path, requirements: bytes, wheelhouse: Path | None, workplace: Path) -> None:
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        raise GateError(
            "python3 has no ensurepip", todo="install it (Debian, Ubuntu: python3-venv)"
        ) from None
    print(f"env: building {folder} …", file=sys.stderr)
    venv.create(folder, with_pip=True, symlinks=True)
    listed = workplace / "subject.txt"
    listed.write_bytes(requirements)
    command = [str(folder / "bin/python"), "-I", "-m", "pip", "install", "--require-hashes", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "-r", str(listed)]
    if wheelhouse:
        command += ["--no-index", "--find-links", str(wheelhouse.resolve())]
    answer = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    if answer.returncode:
        raise GateError("pip could not install", where=REQUIREMENTS, todo="see its message above")
