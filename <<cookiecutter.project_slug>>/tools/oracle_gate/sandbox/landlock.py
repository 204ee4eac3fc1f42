"""Landlock and seccomp: a worker shuts itself in before it serves; no root, nothing to install
(design, section 13). Whether the kernel has them shows when a worker starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .layer import Confinement, Inside, Launch, Visible

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
    "/etc/localtime", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
)  # fmt: skip


@dataclass(frozen=True)
class Landlock:
    """The layer; paths are the same inside and outside."""

    name: Literal["landlock"] = "landlock"
    protects_tree: bool = True

    def launch(self, visible: Visible) -> Launch:
        inside = Inside(str(visible.tree), str(visible.scratch), str(visible.code))
        readable = (*_SYSTEM, *map(str, visible.read_only), inside.tree, inside.code)
        return Launch(inside, confinement=Confinement(readable, (inside.scratch, "/dev/null")))
