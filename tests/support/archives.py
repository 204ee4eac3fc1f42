"""Tar archives of our own making, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> Path:
    """Unpacks into a folder and returns it. Python below 3.11.4 knows no filter; later ones ask for one."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "tar_filter"):
            opened.extractall(folder, filter="tar")
        else:
            opened.extractall(folder)  # noqa: S202
    return folder
