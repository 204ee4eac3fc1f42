"""What a sandbox layer is: it says how to start a worker so that it sees what it needs and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol


@dataclass(frozen=True)
class Visible:
    """What a worker must see, as absolute paths outside the sandbox.

    `tree` (the programs' files, never to be written), `scratch` (an empty folder, the only one to be
    written; a layer may offer another one inside), `code` (holds the package `inside`) and further
    folders, read-only at the same path inside.
    """

    tree: Path
    scratch: Path
    code: Path
    read_only: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Inside:
    """The same paths as a worker and its programs see them."""

    tree: str
    scratch: str
    code: str


@dataclass(frozen=True)
class Confinement:
    """What a worker restricts itself to before it serves: files and folders to read, and to write.

    `separated`: the launcher's namespaces see to files already; dangerous system calls are denied alone.
    """

    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    separated: bool = False


@dataclass(frozen=True)
class Launch:
    """How to start a worker: `prefix` goes before the interpreter's argv, `env` is the launcher's.

    `emptied` are further writable folders inside, emptied after each row like the scratch. The launcher
    must hand on the descriptors it inherits, and killing its process group must end the worker.
    """

    inside: Inside
    prefix: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    emptied: tuple[str, ...] = ()
    confinement: Confinement | None = None


class Layer(Protocol):
    """A way to isolate workers."""

    @property
    def name(self) -> Literal["bubblewrap", "landlock", "plain"]:
        """The mode that the packet records."""

    @property
    def protects_tree(self) -> bool:
        """Whether programs cannot write the tree: workers share one, and nobody checks it afterwards."""

    def launch(self, visible: Visible) -> Launch:
        """How to start one worker. Raises GateError when the layer does not work here."""
