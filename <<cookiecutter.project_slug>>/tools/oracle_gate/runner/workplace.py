"""A worker with the folders it works in: made together, thrown away together."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from ..sandbox.layer import Inside, Layer, Visible
from .environment import Envelope, Subject, additions, find, variables
from .folders import make_read_only, remove_folder
from .identity import running_tasks
from .job import Job, Limits, TreeSource, encode_files
from .process import WorkerProcess


class Workplace:
    """A tree, a scratch and the worker that runs programs there; `close` must be called."""

    def __init__(
        self, folder: Path, code: Path, shared_tree: Path | None, source: TreeSource, layer: Layer,
        subject: Subject, limits: Limits, user: int | None,
    ) -> None:  # fmt: skip
        self._folder = folder
        self._source = source
        self._subject = subject
        self._limits = limits
        self._programs: dict[str, Path | None] = {}
        scratch = folder / "scratch"
        scratch.mkdir(parents=True)
        if user is not None:
            folder.chmod(0o755)
            os.chown(scratch, user, user)
        self._tree = shared_tree or write_tree(source, folder / "tree")
        launch = layer.launch(Visible(self._tree, scratch, code, _read_only(subject)))
        self.inside: Inside = launch.inside
        setup = {
            "tree": launch.inside.tree,
            "scratch": launch.inside.scratch,
            "emptied": launch.emptied,
            "env": variables(subject, launch.inside),
            "output_bytes": limits.output_bytes,
            "limits": limits.resources(running_tasks(os.getuid() if user is None else user)),
            "confinement": asdict(launch.confinement) if launch.confinement else None,
        }
        self.worker = WorkerProcess(launch, sys.executable, setup, user)

    def start(self, job: Job, envelope: Envelope) -> bool:
        """Hands a job to the idle worker; False when the worker is dead."""
        program, argv = self._resolve(job)
        request: Mapping[str, object] = {
            "program": program,
            "argv": argv,
            "env": additions(envelope, job.env),
            "stdin": job.stdin is not None,
            "request": job.request,
            "files": encode_files(job),
            "timeout_s": self._limits.seconds(job),
        }
        return self.worker.start(request, job.stdin)

    def _resolve(self, job: Job) -> tuple[str, tuple[str, ...]]:
        """The file to execute and argv, as seen inside; a name is looked up once."""
        name, *arguments = job.argv or ("",)
        if name == "python":
            name = program = str(self._subject.python)
        elif "/" in name:
            name = program = str(Path(self.inside.tree) / name)  # an absolute path stays as it is
        else:
            if name not in self._programs:
                self._programs[name] = find(name, self._subject)
            program = str(self._programs[name] or f"{self.inside.scratch}/not-found")
        return program, (name, *arguments)

    def is_intact(self) -> bool:
        """Whether the tree is what was written; one that cannot be read is not."""
        try:
            return not self._source.verify(self._tree)
        except OSError:
            return False

    def close(self) -> None:
        """Ends the worker with everything below it and removes the folders."""
        try:
            self.worker.close()
        finally:
            remove_folder(self._folder)


def write_tree(source: TreeSource, folder: Path) -> Path:
    """A new read-only tree in `folder`."""
    folder.mkdir()
    source.materialise(folder)
    make_read_only(folder)
    return folder


def _read_only(subject: Subject) -> tuple[Path, ...]:
    """What a sandbox has to show: the subject's folders and those of the worker's own interpreter."""
    own = (Path(sys.executable).parent, Path(sys.prefix), Path(sys.base_prefix))
    return tuple(dict.fromkeys((*subject.read_only, *subject.tools, *own)))
