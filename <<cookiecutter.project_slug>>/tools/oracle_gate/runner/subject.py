"""The subject's interpreter: the environment that `env` built, or the one `[subject] python` names."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ..core.errors import GateError
from ..core.settings import Settings

#: Written last by `env`: an environment without it was interrupted.
COMPLETE = ".complete"


def environment_folder(own: Path, requirements: bytes) -> Path:
    """Where the environment for these requirements lies, below the gate's own folder."""
    return own / "env" / hashlib.sha256(requirements).hexdigest()


def interpreter_paths(python: Path) -> tuple[Path, ...]:
    """What a sandbox has to show for this interpreter to start: each link on the way to the program, the
    environment it belongs to, and the installation that the environment was made from."""
    found, link = [], python
    while link.is_symlink():
        found.append(link)
        link = Path(os.path.normpath(link.parent / link.readlink()))
    homes = [python.parent.parent, link.parent.parent]
    configuration = python.parent.parent / "pyvenv.cfg"
    if configuration.is_file():
        values = dict(re.findall(r"(?m)^(\w+)\s*=\s*(.+?)\s*$", configuration.read_text(encoding="utf-8")))
        homes.append(Path(values.get("home", python.parent)).parent)
    found += filter(_is_installation, homes)
    return tuple(path for path in dict.fromkeys(found) if path != Path("/"))


def _is_installation(folder: Path) -> bool:
    """A link to a program may lie anywhere; what lies around it, such as a user's home, is not to be shown."""
    return (folder / "pyvenv.cfg").is_file() or any(folder.glob("lib*/p*3*"))


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
