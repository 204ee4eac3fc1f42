"""Source releases from the package index: fetched by pip, pinned by digest, read without unpacking."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from oracle_gate.core.corpus import is_inside

#: A release's files: path from its top folder, bytes.
Sources = dict[str, bytes]


class ReleaseError(Exception):
    """An archive that cannot be had, is not the pinned one, or holds what no source release should."""


@dataclass(frozen=True)
class Release:
    """One source release; `sha256` is that of its archive, in hex."""

    project: str
    version: str
    sha256: str

    @property
    def archive(self) -> str:
        """The archive's file name."""
        return f"{self.project}-{self.version}.tar.gz"


def fetch(release: Release, cache: Path) -> bytes:
    """The archive's bytes, from the folder `cache` or else the package index; raises ReleaseError.

    pip compares the digest before it runs the release's build backend for its metadata, which is the only
    code of the release that runs outside the gate (in pip's isolated build environment).
    """
    kept = cache / release.archive
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        _download(release, cache)
    data = kept.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != release.sha256:
        raise ReleaseError(f"{kept}: sha256 is {found}, not {release.sha256}; remove the file and look why")
    return data


def _download(release: Release, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch, "release.txt")
        wanted.write_text(f"{release.project}=={release.version} --hash=sha256:{release.sha256}\n")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
        ]
        options = [
            "--no-deps",
            "--no-binary",
            release.project,
            "--require-hashes",
            "--requirement",
            str(wanted),
        ]
        done = subprocess.run(
            [*pip, *options, "--dest", str(folder)], check=False, capture_output=True, text=True
        )
    if done.returncode or not (folder / release.archive).is_file():
        raise ReleaseError(f"pip cannot download {release.archive}:\n{done.stderr.strip()}")


def read_sources(archive: bytes) -> Sources:
    """The files of a release without its top folder; raises ReleaseError for links and odd paths.

    Permission bits are left behind: nothing of a release is executed as a file.
    """
    sources: Sources = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        for member in tar:
            if member.isdir():
                continue
            content = tar.extractfile(member) if member.isreg() else None
            path = member.name.partition("/")[2]
            if content is None or not is_inside(path) or path in sources:
                raise ReleaseError(f"the archive holds {member.name!r}, which is no plain, single file")
            sources[path] = content.read()
    return sources


def split(sources: Mapping[str, bytes], dropped: Callable[[str], bool]) -> tuple[Sources, list[str]]:
    """The files that stay, and the sorted paths of the others."""
    kept = {path: data for path, data in sources.items() if not dropped(path)}
    return kept, sorted(sources.keys() - kept.keys())
