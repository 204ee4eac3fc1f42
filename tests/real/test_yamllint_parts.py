"""What `nox -s real` is made of, without the package index."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from oracle_gate.core.corpus import Row, parse_rows
from oracle_gate.core.denyrules import parse_rules
from oracle_gate.core.settings import parse_settings

from real.harness import is_dropped
from real.releases import Release, ReleaseError, fetch, read_sources, split
from real.yamllint_releases import INTENDED, KNOWN, LOST_SPACE, PROJECT


def rows() -> dict[str, Row]:
    return {row.id: row for row in parse_rows((PROJECT / "corpus/inputs.jsonl").read_bytes())}


def archive(*members: tuple[str, bytes | None]) -> bytes:
    """A gzipped tar; a member without bytes is a symbolic link."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, data in members:
            information = tarfile.TarInfo(name)
            if data is None:
                information.type, information.linkname = tarfile.SYMTYPE, "/etc/passwd"
            information.size = len(data or b"")
            tar.addfile(information, io.BytesIO(data or b""))
    return file.getvalue()


def test_corpus_is_large_enough_and_holds_the_rows_that_must_drift() -> None:
    assert len(rows()) >= 25
    assert rows().keys() >= LOST_SPACE.keys() | INTENDED.keys()
    known = "rules: {indentation: {spaces: 2, indent-sequences: whatever, check-multi-line-strings: true}}"
    assert rows()[KNOWN].argv[3:7] == ("-f", "parsable", "-d", known)


def test_every_data_file_is_read_by_a_row_and_every_named_one_but_one_is_there() -> None:
    named = {word for row in rows().values() for word in (*row.argv, *row.env.values(), *row.corpus_paths)}
    named = {word for word in named if word.startswith("corpus/")}
    there = {
        str(file.relative_to(PROJECT)) for file in (PROJECT / "corpus/data").rglob("*") if file.is_file()
    }
    assert named - there == {"corpus/data/absent.yaml"}
    assert there <= named


def test_data_files_keep_their_line_ends() -> None:
    assert b"\r\n" in (PROJECT / "corpus/data/dos.yaml").read_bytes()
    assert not (PROJECT / "corpus/data/no-newline.yaml").read_bytes().endswith(b"\n")


def test_requirements_are_pinned_by_hashes_and_name_no_index() -> None:
    text = (PROJECT / "requirements/subject.txt").read_text(encoding="utf-8")
    pins = [line for line in text.splitlines() if line and line[0] not in " #"]
    assert [pin.partition("==")[0] for pin in pins] == ["pathspec", "pyyaml"]
    assert all(pin.endswith("\\") for pin in pins)
    assert "://" not in text and "--index" not in text and "--find-links" not in text


def test_a_kept_archive_with_another_digest_is_refused(tmp_path: Path) -> None:
    release = Release("thing", "1", hashlib.sha256(b"good").hexdigest())
    (tmp_path / "thing-1.tar.gz").write_bytes(b"good")
    assert fetch(release, tmp_path) == b"good"
    (tmp_path / "thing-1.tar.gz").write_bytes(b"evil")
    with pytest.raises(ReleaseError, match="sha256"):
        fetch(release, tmp_path)


def test_sources_are_read_without_their_top_folder() -> None:
    assert read_sources(archive(("t-1/a.py", b"1"), ("t-1/p/b.py", b""))) == {"a.py": b"1", "p/b.py": b""}


@pytest.mark.parametrize(
    "members",
    [
        [("t-1/link", None)],
        [("t-1/../../up", b"")],
        [("t-1//etc/passwd", b"")],
        [("top", b"")],
        [("t-1/a", b"1"), ("t-1/a", b"2")],
    ],
)
def test_an_odd_archive_is_refused(members: list[tuple[str, bytes | None]]) -> None:
    with pytest.raises(ReleaseError, match="no plain, single file"):
        read_sources(archive(*members))


def test_denied_and_generated_files_are_left_out_and_named() -> None:
    rules = parse_rules(b"tools/\n")
    paths = ["PKG-INFO", "x.egg-info/PKG-INFO", ".github/x.yml", "Makefile", "tools/x", "docs/.gitattributes"]
    kept = ["docs/Makefile", "docs/PKG-INFO", "CHANGELOG.rst", "yamllint/cli.py"]
    sources, dropped = split(dict.fromkeys(paths + kept, b""), lambda path: is_dropped(path, rules))
    assert (sorted(sources), dropped) == (sorted(kept), sorted(paths))


def test_a_package_at_the_top_of_the_repository_can_be_the_subject() -> None:
    assert parse_settings(b'[subject]\npath = ["."]\n').subject.path == (".",)
