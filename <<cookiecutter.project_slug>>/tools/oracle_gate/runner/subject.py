"""The subject's interpreter: the environment that `env` built, or the one `[subject] python` names."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..core.errors import GateError
from ..core.settings import Settings

#: Written last by `env`: an environment without it was interrupted.
COMPLETE = ".complete"


def environment_folder(own: Path, requirements: bytes) -> Path:
    """Where the environment for these requirements lies, below the gate's own folder."""
    return own / "env" / hashlib.sha256(requirements).hexdigest()


def interpreter(own: Path, settings: Settings, requirements: bytes) -> Path:
    """The program that `python` stands for in rows; GateError when it is not there."""
    if settings.subject.python:
        path = Path(settings.subject.python)
        if not (path.is_absolute() and path.is_file()):
            raise GateError("[subject] python is not an absolute path to a program", where="oracle/gate.toml")
        return path
    folder = environment_folder(own, requirements)
    if not (folder / COMPLETE).is_file():
        raise GateError(
            "the subject's environment is not built",
            where=str(folder),
            todo="run `python3 tools/gate.py env`",
        )
    return folder / "bin" / "python"
