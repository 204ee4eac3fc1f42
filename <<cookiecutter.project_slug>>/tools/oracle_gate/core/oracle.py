"""The control files of a commit, read verified: everything a judgement obeys (design, principle 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import corpus, denyrules, noise, pins, settings
from .decode import LARGEST_FILE, utf8
from .denyrules import Rule, always_denied, match
from .errors import GateError
from .gitdb import Entries, ObjectStore
from .noise import NoiseRules
from .pins import Provenance
from .settings import Settings


@dataclass(frozen=True)
class Oracle:
    """The oracle and corpus of one tree. `digests_of` has a digest for each kind of input, for the packet."""

    settings: Settings
    rules: tuple[Rule, ...]
    noise: NoiseRules
    rows: tuple[corpus.Row, ...]
    pins: Mapping[str, str]
    provenance: Provenance | None
    requirements: bytes
    corpus_files: Mapping[str, str]
    digests_of: Mapping[str, str]

    def denied(self, path: bytes) -> str | None:
        """Which rule denies a path: a line of the denylist, or of the built-in list."""
        rule = match(path, self.rules)
        return rule.text if rule else always_denied(path, self.settings.subject.path)


def read_control(store: ObjectStore, entries: Entries, path: str) -> bytes:
    """One control file's bytes; GateError when it is absent, not a plain file or far too large."""
    entry = entries.get(path.encode())
    folder = path.encode() + b"/"
    if entry is None and not any(name.startswith(folder) for name in entries):
        raise GateError("is missing", where=path, todo="restore it, or bake the scaffold again")
    if entry is None or not entry.mode.startswith("100"):
        raise GateError("is not a plain file", where=path, todo="replace it by one")
    data = store.read(entry.oid, "blob")
    if len(data) > LARGEST_FILE:
        raise GateError(f"larger than {LARGEST_FILE} bytes", where=path, todo="make it smaller")
    return data


def read_settings(store: ObjectStore, entries: Entries) -> Settings:
    """oracle/gate.toml of a tree."""
    return settings.parse_settings(read_control(store, entries, settings.PATH))


def read_oracle(store: ObjectStore, entries: Entries, *, settings_from: Entries | None = None) -> Oracle:
    """Reads every control file of a tree; raises GateError with file and line.

    `settings_from` names the tree that settings, denylist and requirements come from, when it is another
    (record reads rows and pins from the work tree, everything else from HEAD).
    """
    trusted = entries if settings_from is None else settings_from
    raw = {
        name: read_control(store, source, path)
        for name, source, path in (
            ("rows", entries, corpus.PATH),
            ("pins", entries, pins.DIGESTS),
            ("provenance", entries, pins.PROVENANCE),
            ("denylist", trusted, denyrules.PATH),
            ("noise", trusted, "oracle/noise.txt"),
            ("settings", trusted, settings.PATH),
            ("requirements", trusted, "requirements/subject.txt"),
        )
    }
    utf8(raw["requirements"], "requirements/subject.txt")
    rows = tuple(corpus.parse_rows(raw["rows"]))
    files = {
        path.decode("utf-8", "surrogateescape"): entry.oid
        for path, entry in entries.items()
        if path.startswith(b"corpus/") and entry.mode.startswith("100")
    }
    digests = {name: pins.sha256(raw[name]) for name in ("denylist", "noise", "settings", "requirements")}
    digests["corpus"] = pins.folder_sha256(store, entries, b"corpus/")
    digests["oracle"] = pins.folder_sha256(store, entries, b"oracle/")
    digests["engine"] = pins.folder_sha256(store, trusted, b"tools/")
    parsed = settings.parse_settings(raw["settings"])
    _check_rows(rows, files, parsed)
    return Oracle(
        settings=parsed,
        rules=denyrules.parse_rules(raw["denylist"]),
        noise=noise.parse_noise(raw["noise"]),
        rows=rows,
        pins=pins.parse_digests(raw["pins"]),
        provenance=pins.parse_provenance(raw["provenance"]),
        requirements=raw["requirements"],
        corpus_files=files,
        digests_of=digests,
    )


def _check_rows(rows: tuple[corpus.Row, ...], files: Mapping[str, str], parsed: Settings) -> None:
    """What a row needs of other files."""
    for row in rows:
        where = f"{corpus.PATH}:{row.line}"
        for path in row.corpus_paths:
            if path not in files:
                raise GateError(
                    f"row {row.id!r} names {path}, which is no file", where=where, todo="add the file"
                )
        if row.request is not None and not parsed.service.argv:
            todo = f"set it in {settings.PATH}"
            raise GateError(f"row {row.id!r} needs [service] argv", where=where, todo=todo)
        if row.file is not None and not parsed.replay.file_argv:
            todo = f"set it in {settings.PATH}"
            raise GateError(f"row {row.id!r} needs [replay] file_argv", where=where, todo=todo)
