"""oracle/gate.toml: the gate's settings, always read from the base (design, sections 2 and 5)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields
from typing import Literal

from .decode import decode, utf8
from .errors import GateError
from .paths import fold

PATH = "oracle/gate.toml"
#: Bytes or files of any limit; more would be none.
_LARGEST = 1 << 40
#: Lanes that `[lanes] required` may name.
Lane = Literal[
    "denylist", "replay", "relations", "quarantine", "identities", "sealed", "public",
]  # fmt: skip


@dataclass(frozen=True)
class Base:
    """Where changes branch off; an empty `ref` is found automatically."""

    ref: str = ""


@dataclass(frozen=True)
class View:
    """What a generator, a patch and a replayed program never see: paths, and everything below them."""

    hidden: tuple[str, ...] = ("oracle", "corpus", "sealed", "tools/metamorphic.py")


@dataclass(frozen=True)
class Subject:
    """The judged program: `path` becomes PYTHONPATH, `python` replaces the environment's interpreter.

    `setup` are commands that build a tree, `setup_timeout_s` seconds each; `tools` (on PATH) and `data`
    are absolute folders of this machine that programs may read.
    """

    path: tuple[str, ...] = ("src",)
    python: str = ""
    setup: tuple[tuple[str, ...], ...] = ()
    setup_timeout_s: float = 600.0
    tools: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replay:
    """Limits of one row: seconds, bytes a stream; `workers` 0 means the CPUs, up to 8.

    `file_argv` is the program that rows with "file" run, the file's path put behind it.
    """

    timeout_s: float = 10.0
    output_bytes: int = 8 << 20
    workers: int = 0
    file_argv: tuple[str, ...] = ()


@dataclass(frozen=True)
class Service:
    """How rows with a request start the program: it listens on 127.0.0.1, port PORT.

    It is ready when `ready_path` answers; `headers` are those that count as output, besides status and body.
    """

    argv: tuple[str, ...] = ()
    ready_path: str = "/"
    ready_timeout_s: float = 10.0
    headers: tuple[str, ...] = ("content-type",)


@dataclass(frozen=True)
class Sandbox:
    """The least isolation a verdict may rest on."""

    require: Literal["isolated", "plain"] = "isolated"


@dataclass(frozen=True)
class Lanes:
    """Lanes that must have something to judge; an empty one holds."""

    required: tuple[Lane, ...] = ("denylist", "replay")


@dataclass(frozen=True)
class Public:
    """The public tests: folders to look in, seconds for one whole run, pytest plugins to load by name.

    Plugins are not loaded by themselves: an installed one could be the judged tree's own.
    """

    paths: tuple[str, ...] = ("tests",)
    timeout_s: float = 300.0
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Identities:
    """`command` prints one test id a line, for tests that pytest does not collect; empty: pytest lists them."""

    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sealed:
    """`dir` names a sealed folder outside the repository (absolute, or relative to it).

    Seconds: `timeout_s` for one call of a property, the judged program's own time apart; `shrink_s` for the
    shrinking of all counterexamples.
    """

    dir: str = ""
    timeout_s: float = 60.0
    shrink_s: float = 20.0


@dataclass(frozen=True)
class Workspace:
    """Whether a change holds without a clean audit of the workspace that it comes from."""

    require: bool = False


@dataclass(frozen=True)
class Approvals:
    """Block rules that an `accept` statement may override."""

    overridable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """`dir`: where a CI job keeps whole packets; absolute, or relative to the judged repository; empty: nowhere."""

    dir: str = ""


@dataclass(frozen=True)
class Limits:
    """What a patch may measure at most: bytes, files, bytes of one binary literal."""

    patch_bytes: int = 32 << 20
    files: int = 2000
    literal_bytes: int = 8 << 20


@dataclass(frozen=True)
class Settings:
    """oracle/gate.toml as a whole."""

    base: Base = field(default_factory=Base)
    view: View = field(default_factory=View)
    subject: Subject = field(default_factory=Subject)
    replay: Replay = field(default_factory=Replay)
    service: Service = field(default_factory=Service)
    sandbox: Sandbox = field(default_factory=Sandbox)
    lanes: Lanes = field(default_factory=Lanes)
    public: Public = field(default_factory=Public)
    identities: Identities = field(default_factory=Identities)
    sealed: Sealed = field(default_factory=Sealed)
    workspace: Workspace = field(default_factory=Workspace)
    approvals: Approvals = field(default_factory=Approvals)
    store: Store = field(default_factory=Store)
    limits: Limits = field(default_factory=Limits)


def parse_settings(data: bytes, where: str = PATH) -> Settings:
    """Reads gate.toml; raises GateError with file and line."""
    text = utf8(data, where)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for a whole number too long to read
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        line = found.group(1) if found else str(text.count("\n") + 1)
        what = re.sub(r" \(at .*\)$", "", str(error))
        raise GateError(f"not TOML: {what}", where=f"{where}:{line}", todo="repair the file") from None
    try:
        settings = decode(Settings, document, where)
    except GateError as error:
        raise GateError(error.what, where=f"{where}:{_line(text, error.what)}", todo=error.todo) from None
    _check(settings, text, where)
    return settings


def _line(text: str, complaint: str) -> int:
    """The line of the key that a complaint names (tomllib keeps no positions)."""
    for name in re.findall(r"[\w.]+", complaint):
        key = name.rpartition(".")[2]
        found = re.search(rf"^\s*(?:\[\s*)?{re.escape(key)}\s*[\]=]", text, re.M)
        if found:
            return text.count("\n", 0, found.end()) + 1
    return 1


def _check(settings: Settings, text: str, where: str) -> None:
    """Ranges and paths that the types do not say."""
    sizes = {"replay.output_bytes": settings.replay.output_bytes}
    sizes |= {f"limits.{field.name}": getattr(settings.limits, field.name) for field in fields(Limits)}
    complaints = [
        (not 0 < size <= _LARGEST, f"{name} is not between 1 and {_LARGEST}") for name, size in sizes.items()
    ]
    seconds = {
        "subject.setup_timeout_s": settings.subject.setup_timeout_s,
        "replay.timeout_s": settings.replay.timeout_s,
        "service.ready_timeout_s": settings.service.ready_timeout_s,
        "public.timeout_s": settings.public.timeout_s,
        "sealed.timeout_s": settings.sealed.timeout_s,
    }
    complaints += [
        (not 0 < value <= 3600, f"{name} is not between 0 and 3600 seconds")
        for name, value in seconds.items()
    ]
    complaints += [
        (not 0 <= settings.sealed.shrink_s <= 3600, "sealed.shrink_s is not between 0 and 3600 seconds"),
        (not 0 <= settings.replay.workers <= 64, "replay.workers is not between 0 and 64"),
        (not settings.view.hidden, "view.hidden is empty"),
        (not all(map(fold, settings.view.hidden)), "view.hidden names the whole repository"),
    ]
    for name, paths in (
        ("view.hidden", settings.view.hidden),
        ("subject.path", settings.subject.path),
        ("public.paths", settings.public.paths),
    ):
        for path in paths:
            parts = path.removesuffix("/").split("/")
            bad = "\0" in path or ".." in parts or "" in parts
            complaints.append((bad, f"{name} holds {path!r}, not a path inside the repository"))
    for wrong, what in complaints:
        if wrong:
            raise GateError(what, where=f"{where}:{_line(text, what)}", todo="correct the value")
