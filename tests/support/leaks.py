"""Ways in which hidden bytes, names or digests get into a workspace. Each is one function of Plant."""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import hashlib
import html
import io
import json
import lzma
import os
import py_compile
import quopri
import shutil
import tarfile
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.gitenv import git
from support.hosts import Host

FIXTURE, NOISE, ROWS = "sealed/fixtures/put_ok.bin", "sealed/fixtures/f_noise.bin", "corpus/inputs.jsonl"
PROPERTY = "sealed/properties/p_one.py"


@dataclass(frozen=True)
class Plant:
    """A workspace to plant in, and the host that the secret comes from."""

    folder: Path
    host: Host

    def git(self, *words: str, data: bytes | None = None) -> str:
        """git in the workspace."""
        return git(self.folder, *words, data=data).decode(errors="replace").strip()

    def write(self, path: str, data: bytes) -> Path:
        """A file of the workspace, not committed."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def commit(self, path: str, data: bytes) -> None:
        """The same, committed."""
        self.write(path, data)
        self.git("add", "--force", path)
        self.git("commit", "--quiet", "--message", "Work")

    def oid(self, path: str) -> str:
        """The blob id of a hidden file."""
        return git(self.host.root, "rev-parse", f"main:{path}").decode().strip()


LEAKS: dict[str, Callable[[Plant], object]] = {}
#: What no check of contents can know.
ENCRYPTED = {"xored", "reversed"}
#: What no tree holds: verify compares trees, and does not see it.
BESIDE_THE_TREE = {"attribute_of_a_file", "attribute_of_a_folder"}


def leak(function: Callable[[Plant], object]) -> Callable[[Plant], object]:
    LEAKS[function.__name__] = function
    return function


def written(
    name: str, spell: Callable[[bytes], bytes], source: str = FIXTURE, path: str = "src/notes.txt"
) -> None:
    """A leak that spells a hidden file in another way."""
    LEAKS[name] = lambda plant: plant.write(path, spell(plant.host.read(source)))


# Git objects


@leak
def loose_object(plant: Plant) -> None:
    plant.git("hash-object", "-w", str(plant.host.root / FIXTURE))


@leak
def packed_unreachable(plant: Plant) -> None:
    pack = git(plant.host.root, "pack-objects", "-q", "--stdout", data=plant.oid(NOISE).encode() + b"\n")
    plant.git("index-pack", "--stdin", data=pack)


@leak
def packed_without_its_index(plant: Plant) -> None:
    packed_unreachable(plant)
    for pack in (plant.folder / ".git/objects/pack").glob("*.idx"):
        pack.unlink()


@leak
def appended_to_a_pack(plant: Plant) -> None:
    pack = next((plant.folder / ".git/objects/pack").glob("*.pack"))
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes() + plant.host.read(FIXTURE))


@leak
def in_the_pack_with_the_rest(plant: Plant) -> None:
    oid = plant.git("hash-object", "-w", str(plant.host.root / FIXTURE))
    folder = plant.folder / ".git/objects"
    plant.git("pack-objects", "-q", "--all", str(folder / "pack/pack"), data=oid.encode() + b"\n")
    shutil.rmtree(folder / oid[:2])
    old = min((folder / "pack").glob("*.pack"), key=lambda pack: pack.stat().st_mtime_ns)
    for file in (old, old.with_suffix(".idx")):
        file.unlink()


@leak
def behind_a_loose_object(plant: Plant) -> None:
    oid = plant.git("hash-object", "-w", "--stdin", data=b"harmless")
    file = plant.folder / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes() + plant.host.read(FIXTURE))


@leak
def loose_object_of_a_false_name(plant: Plant) -> None:
    data = plant.host.read(FIXTURE)
    plant.write(".git/objects/12/" + "3" * 38, zlib.compress(b"blob %d\0" % len(data) + data))


@leak
def tree_that_names_a_blob(plant: Plant) -> None:
    plant.git("mktree", "--missing", data=f"100644 blob {plant.oid(FIXTURE)}\tx\n".encode())


@leak
def index_entry(plant: Plant) -> None:
    plant.git("update-index", "--add", "--cacheinfo", f"100644,{plant.oid(FIXTURE)},{FIXTURE}")


@leak
def index_entry_of_another_name(plant: Plant) -> None:
    plant.git("update-index", "--add", "--cacheinfo", f"100644,{plant.oid(FIXTURE)},src/z.bin")


@leak
def split_index(plant: Plant) -> None:
    plant.git("update-index", "--add", "--cacheinfo", f"100644,{plant.oid(FIXTURE)},src/z.bin")
    plant.git("update-index", "--split-index")


@leak
def removed_index_entry(plant: Plant) -> None:
    index_entry_of_another_name(plant)
    shutil.copyfile(plant.folder / ".git/index", plant.folder / ".git/index.old")
    plant.git("update-index", "--force-remove", "src/z.bin")


@leak
def reflog(plant: Plant) -> None:
    plant.git("fetch", "--quiet", str(plant.host.root), "main")
    plant.git("update-ref", "--create-reflog", "-m", "x", "HEAD", "FETCH_HEAD")
    plant.git("update-ref", "HEAD", "base")
    (plant.folder / ".git/FETCH_HEAD").unlink()


@leak
def stash(plant: Plant) -> None:
    plant.write("src/z", plant.host.read(FIXTURE))
    plant.git("add", "src/z")
    plant.git("stash", "--quiet")


@leak
def another_ref(plant: Plant) -> None:
    plant.git("fetch", "--quiet", str(plant.host.root), "main:refs/hidden/x")
    (plant.folder / ".git/FETCH_HEAD").unlink(missing_ok=True)


@leak
def a_later_branch(plant: Plant) -> None:
    plant.git("fetch", "--quiet", str(plant.host.root), "later")
    (plant.folder / ".git/FETCH_HEAD").unlink()


@leak
def notes(plant: Plant) -> None:
    plant.git("notes", "add", "-m", "digest " + hashlib.sha256(plant.host.read(FIXTURE)).hexdigest(), "HEAD")


@leak
def annotated_tag(plant: Plant) -> None:
    plant.git("tag", "--annotate", "--message", plant.host.read(FIXTURE).decode(), "v1")


@leak
def commit_message(plant: Plant) -> None:
    plant.git("commit", "--quiet", "--allow-empty", "--message", f"pin {FIXTURE} {plant.oid(FIXTURE)}")


@leak
def replace_ref(plant: Plant) -> None:
    other = plant.git("hash-object", "-w", "--stdin", data=b"other words\n")
    plant.git("replace", "--force", plant.git("rev-parse", "HEAD:README.md"), other)


@leak
def alternates(plant: Plant) -> None:
    plant.write(".git/objects/info/alternates", os.fsencode(plant.host.root / ".git/objects") + b"\n")


@leak
def worktree(plant: Plant) -> None:
    plant.git("worktree", "add", "--quiet", str(plant.folder.parent / "other"), "HEAD")
    shutil.rmtree(plant.folder.parent / "other")


@leak
def submodule_folder(plant: Plant) -> None:
    git(plant.host.root, "clone", "--quiet", "--bare", ".", str(plant.folder / ".git/modules/x"))


@leak
def repository_in_the_work_tree(plant: Plant) -> None:
    git(plant.host.root, "clone", "--quiet", "--bare", ".", str(plant.folder / "build/cache"))


@leak
def lfs_cache(plant: Plant) -> None:
    data = plant.host.read(NOISE)
    plant.write(f".git/lfs/objects/aa/bb/{hashlib.sha256(data).hexdigest()}", data)


@leak
def bundle(plant: Plant) -> None:
    git(plant.host.root, "bundle", "create", "--quiet", str(plant.folder / "x.bundle"), "main")


@leak
def bundle_in_base64(plant: Plant) -> None:
    bundle(plant)
    file = plant.folder / "x.bundle"
    plant.commit("tests/public/data.txt", base64.encodebytes(file.read_bytes()))
    file.unlink()


@leak
def promisor(plant: Plant) -> None:
    plant.git("config", "extensions.partialClone", "origin")
    plant.write(".git/objects/pack/pack-x.promisor", b"")


@leak
def shallow(plant: Plant) -> None:
    plant.write(".git/shallow", plant.git("rev-parse", "HEAD").encode() + b"\n")


# What stands beside the objects


@leak
def hook(plant: Plant) -> None:
    plant.write(".git/hooks/post-checkout", f"#!/bin/sh\ncat {plant.host.root}/sealed/freeze.json\n".encode())


@leak
def changed_hook(plant: Plant) -> None:
    file = plant.folder / ".git/hooks/pre-commit"
    file.write_bytes(file.read_bytes() + f"cp -r {plant.host.root}/sealed /tmp\n".encode())


@leak
def guard_list(plant: Plant) -> None:
    file = plant.folder / ".git/oracle-guard/denylist"
    file.write_bytes(file.read_bytes() + plant.host.read(FIXTURE))


@leak
def comment_in_the_settings(plant: Plant) -> None:
    file = plant.folder / ".git/config"
    file.write_bytes(file.read_bytes() + b"# " + plant.host.read(FIXTURE).replace(b"\n", b" ") + b"\n")


@leak
def part_of_the_index_that_git_ignores(plant: Plant) -> None:
    file, secret = plant.folder / ".git/index", plant.host.read(FIXTURE)
    data = file.read_bytes()[:-20] + b"XTRA" + len(secret).to_bytes(4, "big") + secret
    file.write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())


@leak
def behind_the_index_of_a_pack(plant: Plant) -> None:
    file = next((plant.folder / ".git/objects/pack").glob("*.idx"))
    file.chmod(0o644)
    file.write_bytes(file.read_bytes() + plant.host.read(FIXTURE))


@leak
def comment_beside_the_refs(plant: Plant) -> None:
    plant.write(
        ".git/packed-refs", b"# pack-refs with: " + plant.host.read(FIXTURE).replace(b"\n", b" ") + b"\n"
    )


@leak
def remote_url(plant: Plant) -> None:
    plant.git("remote", "add", "origin", "https://token@example.org/x.git")


@leak
def included_settings(plant: Plant) -> None:
    plant.git("config", "include.path", str(plant.host.root / ".git/config"))


@leak
def credential_file(plant: Plant) -> None:
    plant.write(".git-credentials", b"https://me:token@example.org\n")


@leak
def git_file_of_a_linked_worktree(plant: Plant) -> None:
    shutil.rmtree(plant.folder / ".git")
    plant.write(".git", f"gitdir: {plant.host.root}/.git/worktrees/x\n".encode())


@leak
def link(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to(plant.host.root / "sealed")


@leak
def relative_link(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to("../../../host")


@leak
def hard_link(plant: Plant) -> None:
    (plant.folder / "src/hl").hardlink_to(plant.host.root / FIXTURE)


@leak
def link_out_of_the_system(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to("/opt/copy-of-it")


@leak
def link_that_goes_back(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to("/usr/../srv/copy-of-it")


@leak
def link_to_something_called_python(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to("/srv/copy-of-it/bin/python3")


@leak
def link_whose_text_is_content(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to(plant.host.read(PROPERTY).decode())


@leak
def link_whose_text_is_encoded(plant: Plant) -> None:
    (plant.folder / "src/s").symlink_to(base64.urlsafe_b64encode(plant.host.read(NOISE)).decode())


@leak
def file_names_in_base64(plant: Plant) -> None:
    text = base64.urlsafe_b64encode(plant.host.read(NOISE)).decode()
    for at in range(0, len(text), 200):
        plant.write(f"src/{at:04}_{text[at : at + 200]}", b"")


if hasattr(os, "setxattr"):

    @leak
    def attribute_of_a_file(plant: Plant) -> None:
        os.setxattr(plant.folder / "README.md", "user.note", base64.b64encode(plant.host.read(NOISE)))

    @leak
    def attribute_of_a_folder(plant: Plant) -> None:
        os.setxattr(plant.folder / "src", "user.note", plant.host.read(FIXTURE))


def configured(setting: str, value: str = "/srv/elsewhere/tool") -> None:
    """A leak by a setting that names a program or a place."""
    LEAKS[f"setting_{setting}"] = lambda plant: plant.git("config", setting, value)


for name in (
    "alias.peek", "core.alternateRefsCommand", "core.editor", "core.pager", "diff.external", "diff.x.textconv",
    "init.templateDir", "merge.x.driver", "pager.log", "uploadpack.packObjectsHook", "branch.main.remote",
):  # fmt: skip
    configured(name)


# Files of any name


@leak
def ignored_copy(plant: Plant) -> None:
    plant.write("build/a", plant.host.read(FIXTURE))


@leak
def hidden_folder(plant: Plant) -> None:
    shutil.copytree(plant.host.root / "sealed", plant.folder / "sealed")


@leak
def hidden_folder_in_another_case(plant: Plant) -> None:
    shutil.copytree(plant.host.root / "sealed", plant.folder / "Sealed")


@leak
def hidden_name_without_content(plant: Plant) -> None:
    plant.write(FIXTURE, b"")


@leak
def nested_copy(plant: Plant) -> None:
    plant.write("tests/public/sealed/q", plant.host.read(FIXTURE))


@leak
def committed_copy(plant: Plant) -> None:
    plant.commit("tests/public/fx.bin", plant.host.read(FIXTURE))


@leak
def earlier_version(plant: Plant) -> None:
    plant.write("src/old", git(plant.host.root, "show", f"main~:{FIXTURE}"))


@leak
def byte_code(plant: Plant) -> None:
    target = plant.folder / "__pycache__/p_one.cpython-311.pyc"
    py_compile.compile(str(plant.host.root / PROPERTY), str(target))


@leak
def test_cache(plant: Plant) -> None:
    plant.write(".pytest_cache/v/cache/nodeids", b'["sealed/properties/p_one.py::holds"]')


@leak
def environment_folder(plant: Plant) -> None:
    plant.write(".nox/t/tmp/freeze.json", plant.host.read("sealed/freeze.json"))


@leak
def packet(plant: Plant) -> None:
    digest = hashlib.sha256(plant.host.read(FIXTURE)).hexdigest()
    plant.write("merge_packet.json", json.dumps({"fixtures": [{"id": "put_ok", "sha256": digest}]}).encode())


@leak
def one_row(plant: Plant) -> None:
    row = plant.host.read(ROWS).splitlines()[5].decode()
    plant.write("tests/public/test_row.py", f"ROW = {row!r}\n".encode())


@leak
def one_pin(plant: Plant) -> None:
    pin = json.loads(plant.host.read("oracle/digests.json"))["fmt-nested"]
    plant.write("NOTES", f"expected: {pin}\n".encode())


@leak
def name_in_a_document(plant: Plant) -> None:
    plant.write("NOTES", f"see {FIXTURE}\n".encode())


@leak
def property_id_in_a_document(plant: Plant) -> None:
    plant.write("NOTES", b"the run of p_one.py failed\n")


@leak
def blob_id_in_a_document(plant: Plant) -> None:
    plant.write("NOTES", f"see {plant.oid(FIXTURE)}\n".encode())


@leak
def zip_with_a_damaged_directory(plant: Plant) -> None:
    plant.write("src/x.zip", zipped(plant.host.read(NOISE))[:-40])


@leak
def encrypted_zip_member(plant: Plant) -> None:
    data = bytearray(zipped(plant.host.read(NOISE)))
    data[6] |= 1
    plant.write("src/x.zip", bytes(data))


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("harmless.txt", "x" * 100)
        archive.writestr("member", data)
    return file.getvalue()


def tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("member")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def dumped(data: bytes) -> bytes:
    """As hexdump -C prints it."""
    lines = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        halves = "  ".join(row[half : half + 8].hex(" ") for half in (0, 8))
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{at:08x}  {halves:<48}  |{text}|\n")
    return "".join(lines).encode()


def xxd(data: bytes) -> bytes:
    rows = ((at, data[at : at + 16]) for at in range(0, len(data), 16))
    lines = (f"{at:08x}: {row.hex(' ', -2):<39}  {'.' * len(row)}\n" for at, row in rows)
    return "".join(lines).encode()


def known_size(data: bytes) -> bytes:
    """As old xz writes .lzma: the size stands in the header."""
    packed = lzma.compress(data, lzma.FORMAT_ALONE)
    return packed[:5] + len(data).to_bytes(8, "little") + packed[13:]


def git_patch(data: bytes) -> bytes:
    packed, lines = zlib.compress(data), []
    for at in range(0, len(packed), 52):
        row = packed[at : at + 52]
        size = chr(ord("A") + len(row) - 1) if len(row) <= 26 else chr(ord("a") + len(row) - 27)
        lines.append(size.encode() + base64.b85encode(row, pad=True))
    return b"GIT binary patch\nliteral %d\n%s\n\n" % (len(data), b"\n".join(lines))


written("with_other_line_ends", lambda data: data.replace(b"\n", b"\r\n"), ROWS)
written(
    "reindented", lambda data: json.dumps(json.loads(data), indent=7).encode(), "sealed/fixtures/f_rows.json"
)
written("indented_text", lambda data: b"".join(b"\t\t" + line for line in data.splitlines(True)), PROPERTY)
written(
    "quoted_as_comments", lambda data: b"".join(b"# > " + line for line in data.splitlines(True)), PROPERTY
)
written("as_a_diff", lambda data: b"".join(b"+" + line for line in data.splitlines(True)))
written("in_a_triple_quoted_string", lambda data: b'X = """' + data + b'"""\n', ROWS)
written("in_a_json_string", lambda data: json.dumps({"text": data.decode()}).encode(), ROWS)
written("in_capitals", lambda data: data.upper(), PROPERTY)
written("in_utf_16", lambda data: data.decode().encode("utf-16"), PROPERTY)
written("in_the_middle_of_noise", lambda data: os.urandom(5000) + data + os.urandom(5000), NOISE)
written("a_third_of_it", lambda data: b"start " + data[200:450] + b" end", NOISE)
written("in_base64", base64.b64encode, NOISE)
written("in_wrapped_base64", lambda data: b"DATA = '''\n" + base64.encodebytes(data) + b"'''\n", NOISE)
written("in_url_safe_base64", lambda data: b"see:" + base64.urlsafe_b64encode(b"xy" + data), NOISE)
written("in_quoted_base64_lines", lambda data: b"".join(
    b'    "' + line + b'"\n' for line in base64.encodebytes(data).splitlines()), NOISE)  # fmt: skip
written("in_base32", base64.b32encode, NOISE)
written("in_base85", base64.b85encode, NOISE)
written("in_hex", binascii.hexlify, NOISE)
written("as_od_prints_it", lambda data: b"".join(
    b" " + data[at : at + 16].hex(" ").encode() + b"\n" for at in range(0, len(data), 16)), NOISE)  # fmt: skip
written("as_hexdump_prints_it", dumped, NOISE)
written("as_xxd_prints_it", xxd, NOISE)
written("as_a_c_array", lambda data: ", ".join(f"0x{byte:02X}" for byte in data).encode(), NOISE)
written("as_escapes", lambda data: "".join(f"\\x{byte:02x}" for byte in data).encode(), NOISE)
written("as_octal_escapes", lambda data: "".join(f"\\{byte:03o}" for byte in data).encode(), NOISE)
written("as_json_escapes", lambda data: "".join(f"\\u{byte:04x}" for byte in data).encode(), NOISE)
written("as_a_python_literal", lambda data: f"X = {data!r}\n".encode(), NOISE)
written("as_a_python_literal_beside_a_zero", lambda data: f"X = {data!r}\n\0".encode(), NOISE)
written("as_a_list_of_numbers", lambda data: f"X = {list(data)}\n".encode(), NOISE)
written("as_signed_numbers", lambda data: "\n".join(
    str(byte - 256 * (byte > 127)) for byte in data).encode(), NOISE)  # fmt: skip
written("quoted_printable", quopri.encodestring, NOISE)
written("percent_encoded", lambda data: urllib.parse.quote(data).encode(), ROWS)
written("as_html", lambda data: html.escape(data.decode()).encode(), ROWS)
written("in_gzip", gzip.compress)
written("in_zlib", zlib.compress)
written("in_bzip2", bz2.compress)
written("in_xz", lzma.compress)
written("in_lzma", lambda data: lzma.compress(data, lzma.FORMAT_ALONE), NOISE)
written("in_lzma_of_known_size", known_size, NOISE)
written("in_xz_of_a_large_dictionary", lambda data: lzma.compress(data, filters=[
    {"id": lzma.FILTER_LZMA2, "dict_size": 200 << 20, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}]))  # fmt: skip
written("in_zip", zipped, NOISE)
written("in_tar", tarred)
written("zstd_in_tar", lambda data: tarred(b"\x28\xb5\x2f\xfd\x24" + bytes(byte ^ 90 for byte in data)))
written("in_tar_gz", lambda data: gzip.compress(tarred(data)), NOISE)
written("in_gzip_in_zip_in_base64", lambda data: base64.b64encode(zipped(gzip.compress(data))), NOISE)
written("behind_other_bytes_in_gzip", lambda data: b"#!/bin/sh\nexit\n" + gzip.compress(data), NOISE)
written("as_a_git_binary_patch", git_patch, NOISE)
written(
    "digest_in_a_document",
    lambda data: b"sha256 " + hashlib.sha256(data).hexdigest().encode(),
    "oracle/gate.toml",
)
written(
    "md5_in_a_document",
    lambda data: b"md5 " + hashlib.md5(data, usedforsecurity=False).hexdigest().upper().encode(),
)
written("short_digest", lambda data: b"sha " + hashlib.sha256(data).hexdigest()[:16].encode())
written("xored", lambda data: bytes(byte ^ 90 for byte in data))
written("reversed", lambda data: data[::-1])
