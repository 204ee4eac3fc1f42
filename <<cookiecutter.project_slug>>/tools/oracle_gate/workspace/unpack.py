"""What bytes hold in another spelling: packed, encoded, escaped. Bounded; nothing is run.

The data may be made to harm its reader: decoders stop at limits, and what was not read is reported.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import html
import lzma
import re
import struct
import urllib.parse
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

#: Bytes: input fed to a decompressor at once, decoded output that is worth a look.
_PIECE, _LEAST = 1 << 16, 16
#: A .lzma header: a dictionary of 2^n or 3*2^n bytes, a size below 256 GiB or none (what xz takes for one).
_POWERS = rb"[\x01-\x04\x06\x08\x0c\x10\x18\x20\x30\x40\x60\x80\xc0]"
_LZMA = (
    rb"\x5d\0\0(?:" + _POWERS + rb"\0|\0" + _POWERS + rb"|\x80\x01)"
    rb"(?:\xff{8}|(?!\0{5})[\0-\xff]{4}[\0-\x3f]\0{3})\0"
)
_PACKED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|BZh[1-9]1AY&SY|\xfd7zXZ\0|PK\x03\x04|" + _LZMA)
#: What the standard library cannot open: 7z, RAR, zstd, lz4, PGP. Counts where a file, line or tar block begins.
_SEALED = re.compile(
    rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07[\0\1]|\x28\xb5\x2f\xfd(?!\0\0)|\x04\x22\x4d\x18[\x40-\x7f]"
    rb"|-----BEGIN PGP MESSAGE-----"
)
#: Between two lines of one encoded text: quotes, a comma, a mark of a diff or a comment.
_JOINT = rb"[\"',]?[ \t]*\\?\r?\n[ \t+>#|\"'-]*"
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}+(?:" + _JOINT + rb"[A-Za-z0-9+/_-]{4,}+)*+")
_BASE32 = re.compile(rb"[A-Z2-7]{48,}+(?:" + _JOINT + rb"[A-Z2-7]{8,}+)*+")
_DIGITS85 = rb"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]"
_BASE85 = re.compile(_DIGITS85 + rb"{40,}+")
_GIT_BINARY = re.compile(
    rb"(?m)^[+> ]*(?:literal|delta) \d+\r?\n((?:[+> ]*[A-Za-z]" + _DIGITS85 + rb"+\r?\n)+)"
)
#: Lines of xxd (offset with a colon) and hexdump -C (text between bars); the digits are a group.
_DUMP_LINE = re.compile(
    rb"(?m)^[ \t]*[0-9a-f]{6,16}(?::[ ]?((?:[0-9a-f]{2,8} ?)+?)(?:  .*)?|[ ]+([^|\n]*)(?:\|.*)?)$"
)
_HEX_MARKS = re.compile(rb"0x|\\x|[\s,:;\"'\\-]+")
_HEX = re.compile(rb"[0-9a-f]{48,}+")
_DECIMALS = re.compile(rb"\d{1,3}+(?:[\s,;:|\"'#>+]{1,80}+-?\d{1,3}+){15,}+")
_PRINTABLE = re.compile(rb"[\t\n\r -~]{48,}+")
#: A text that uses them, and each of them: `\\xNN`, `\\NNN` octal, runs of `\\uNNNN`, one character.
_USES_BACKSLASHES = re.compile(rb"\\(?:x[0-9A-Fa-f]{2}|[0-7]{3}|u[0-9A-Fa-f]{4})")
_BACKSLASHED = re.compile(
    rb"\\(?:x([0-9A-Fa-f]{2})|([0-7]{1,3})|(u[0-9A-Fa-f]{4}(?:\\u[0-9A-Fa-f]{4})*+)|([\\'\"nrtabfv]))"
)
_CHARACTERS = dict(zip(b"nrtabfv", b"\n\r\t\a\b\f\v", strict=True))


@dataclass
class Budget:
    """Bytes that may still be unpacked, in all and by one stream; `unread` says what was not."""

    total: int = 2 << 30
    item: int = 64 << 20
    unread: list[str] = field(default_factory=list)

    def left(self) -> int:
        """What the next stream may unpack to."""
        return max(0, min(self.total, self.item))


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def inside(data: bytes, budget: Budget) -> Iterator[tuple[str, bytes]]:
    """How it is spelled, and the bytes themselves, for everything that `data` seems to hold."""
    if not budget.left():
        budget.unread.append("more than an audit unpacks")
        return
    if any(not found.start() or data[found.start() - 1] in b"\0\n" for found in _SEALED.finditer(data)):
        budget.unread.append("an archive of a kind that cannot be opened")
    for found in _PACKED.finditer(data):
        yield "packed", _decompress(data, found.start(), budget)
    for name, decoder in _DECODERS.items():
        for decoded in decoder(data):
            if len(decoded) >= _LEAST:
                budget.total -= len(decoded)
                yield name, decoded


def _decompress(data: bytes, at: int, budget: Budget) -> bytes:
    """The stream that starts at `at`, fed piece by piece up to the limits; empty when it is none."""
    decompressor, at = _decompressor(data, at, budget)
    output, limit = bytearray(), budget.left()
    try:
        while decompressor and not decompressor.eof and at < len(data) and len(output) <= limit:
            output += decompressor.decompress(data[at : at + _PIECE], limit + 1 - len(output))
            at += _PIECE
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        if "Memory" in str(error):
            budget.unread.append("a packed stream that wants too much memory")
        # else a chance resemblance or a damaged stream: what came out is looked at
    budget.total -= len(output)
    if len(output) > limit or (len(output) > _PIECE and decompressor and not decompressor.eof):
        budget.unread.append(f"a packed stream that is cut off, or unpacks to more than {limit} bytes")
    return bytes(output)


def _decompressor(data: bytes, at: int, budget: Budget) -> tuple[_Decompressor | None, int]:
    """What reads the stream at `at`, and where its bytes begin."""
    magic = data[at : at + 2]
    if magic == b"BZ":
        return bz2.BZ2Decompressor(), at
    if magic == b"\xfd7":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=128 << 20), at
    if magic == b"\x5d\0":
        return lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=128 << 20), at
    if magic != b"PK":
        return zlib.decompressobj(47), at  # gzip or zlib, by its header
    header = data[at + 6 : at + 10] + data[at + 26 : at + 30]
    if len(header) < 8:
        return None, at
    flags, method, name, extra = struct.unpack("<4H", header)
    start = at + 30 + name + extra
    if flags & 1 or method not in (0, 8, 12):
        budget.unread.append("an encrypted or oddly packed member of a zip archive")
    if method == 12:
        return bz2.BZ2Decompressor(), start
    return (zlib.decompressobj(-15) if method == 8 else None), start


def _joined(pattern: re.Pattern[bytes], data: bytes) -> bytes:
    """All encoded texts of the data, each without its line ends, apart by zero bytes."""
    return b"\0".join(re.sub(_JOINT, b"", found) for found in pattern.findall(data))


def _base64(data: bytes) -> Iterator[bytes]:
    runs = _joined(_BASE64, data).translate(bytes.maketrans(b"-_", b"+/")).split(b"\0")
    for offset in range(4):  # an encoded text may be glued to what stands before it
        shifted = (run[offset:] for run in runs)
        yield b"\0".join(binascii.a2b_base64(run[: len(run) // 4 * 4]) for run in shifted)


def _base32(data: bytes) -> Iterator[bytes]:
    runs = _joined(_BASE32, data).split(b"\0")
    yield b"\0".join(base64.b32decode(run[: len(run) // 8 * 8]) for run in runs)


def _base85(data: bytes) -> Iterator[bytes]:
    yield b"\0".join(map(_base85_text, _BASE85.findall(data)))
    for block in _GIT_BINARY.findall(data):
        lines = (line.lstrip(b"+> ")[1:] for line in block.split())
        yield b"".join(map(_base85_text, lines))  # a zlib stream


def _base85_text(text: bytes) -> bytes:
    try:
        return base64.b85decode(text)
    except ValueError:
        return b""


def _hex(data: bytes) -> Iterator[bytes]:
    text = _DUMP_LINE.sub(lambda line: line[1] or line[2] or b"", data.lower())
    runs = _HEX.findall(_HEX_MARKS.sub(b"", text))
    for offset in range(2):
        shifted = (run[offset:] for run in runs)
        yield b"\0".join(binascii.unhexlify(run[: len(run) // 2 * 2]) for run in shifted)


def _decimal(data: bytes) -> Iterator[bytes]:
    for run in _DECIMALS.finditer(data):
        yield bytes(int(number[0]) & 255 for number in re.finditer(rb"-?\d+", run[0]))


def _escaped(data: bytes) -> Iterator[bytes]:
    if b"\0" in data:
        data = b"\0".join(_PRINTABLE.findall(data))
    if re.search(rb"%[0-9A-Fa-f]{2}", data):
        yield urllib.parse.unquote_to_bytes(data)
    if re.search(rb"&(?:#\w+|\w+);", data):
        yield html.unescape(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogatepass")
    if re.search(rb"=[0-9A-Fa-f]{2}", data):
        yield binascii.a2b_qp(data)
    if _USES_BACKSLASHES.search(data):
        yield _BACKSLASHED.sub(_unescaped, data)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    """The bytes an escape stands for; of `\\uNNNN` the byte NN up to 255, as a dump of bytes means it."""
    if escape[1]:
        return bytes.fromhex(escape[1].decode())
    if escape[2]:
        return bytes([int(escape[2], 8) & 255])
    if escape[3]:
        text = bytes.fromhex(escape[3].replace(b"\\", b"").replace(b"u", b"").decode()).decode(
            "utf-16-be", "replace"
        )
        return text.encode("latin-1" if max(text) < "\u0100" else "utf-8", "replace")
    return bytes([_CHARACTERS.get(escape[4][0], escape[4][0])])


_DECODERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "base64": _base64,
    "base32": _base32,
    "base85": _base85,
    "hex": _hex,
    "decimal": _decimal,
    "escaped": _escaped,
}
