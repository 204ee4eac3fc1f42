"""Shuts the calling process in for good: Landlock and seccomp, without root and without a program to
install (design, section 13; research: measurements, "Sandbox").

Landlock: nothing but the named folders can be opened, no TCP, no signal and no abstract socket to a
process outside, no ptrace. seccomp: no sockets at all, no namespaces, no kernel interfaces that Landlock
does not know. What is inherited by every program cannot be taken off again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
from collections.abc import Iterable, Sequence

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ = 0x1 | 0x4 | 0x8  # execute, read a file, list a folder
_FOR_FILES = 0x1 | 0x2 | 0x4 | 1 << 14 | 1 << 15  # the rights that a rule on a file may name
#: Rights over files by Landlock version: each version knows some more.
_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NETWORK, _SCOPE = 0x3, 0x3  # bind and connect TCP; abstract sockets and signals

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_Numbers = tuple[int | None, int | None]  # of a system call on x86_64 and on aarch64; None: it has none
#: Kernel interfaces that no row needs and that have let programs out of sandboxes.
_DENIED: dict[str, _Numbers] = {
    "ptrace": (101, 117), "syslog": (103, 116), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "init_module": (175, 105), "delete_module": (176, 106), "quotactl": (179, 60),
    "kexec_load": (246, 104), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "unshare": (272, 97), "perf_event_open": (298, 241), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "setns": (308, 268), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "kcmp": (312, 272), "finit_module": (313, 273), "bpf": (321, 280),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),  # outlive a row
    "pidfd_getfd": (438, 438), "mount_setattr": (442, 442), "ioperm": (173, None), "iopl": (172, None),
}  # fmt: skip
#: Where no namespace separates the processes. Landlock does not know modes, owners, times and attributes
#: of files, and a descriptor open for reading is enough to change them.
_DENIED_UNSEPARATED: dict[str, _Numbers] = {
    "socket": (41, 198), "chmod": (90, None), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None),
    "utimes": (235, None), "futimesat": (261, None), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "fsetxattr": (190, 7), "fremovexattr": (199, 16), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "process_madvise": (440, 440), "process_mrelease": (448, 448),
}  # fmt: skip
#: Likewise, but programs set the mode of their own new files so: they hear of success, and nothing is done.
_IGNORED_UNSEPARATED: dict[str, _Numbers] = {"fchmod": (91, 52), "fchown": (93, 55)}
#: Calls about a process: allowed for the caller itself, which an argument (by index) of 0 stands for;
#: utimensat with the path 0 is about an open descriptor.
_DENIED_FOR_OTHERS: dict[str, tuple[_Numbers, int]] = {
    "prlimit64": ((302, 261), 0), "sched_setparam": ((142, 118), 0),
    "sched_setscheduler": ((144, 119), 0), "sched_setaffinity": ((203, 122), 0), "sched_setattr": ((314, 274), 0),
    "utimensat": ((280, 88), 1),
}  # fmt: skip
_CLONE3, _CLONE = (435, 435), (56, 220)
_NEW_NAMESPACES = 0x7E020000
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _HAS_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

_library = ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """The kernel's Landlock version; 0 when it has none."""
    version: int = _library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return max(version, 0)


def confine(readable: Iterable[str], writable: Iterable[str], separated: bool) -> None:
    """Applies both to this process; raises OSError when the kernel or the machine has no such thing.

    `separated`: namespaces do the separating already, and seccomp alone is added to them.
    """
    if platform.machine() not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no seccomp filter for {platform.machine()}")
    _no_new_privileges()
    if not separated:
        version = landlock_version()
        if version < 1:
            raise OSError(errno.ENOSYS, "Landlock")
        _restrict_files(version, readable, writable)
    _filter_calls(platform.machine(), separated)


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return result


def _no_new_privileges() -> None:
    _check(_library.prctl(38, ctypes.c_ulong(1), 0, 0, 0), "no_new_privs")


def _restrict_files(version: int, readable: Iterable[str], writable: Iterable[str]) -> None:
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    attributes = struct.pack("QQQ", rights, _NETWORK if version >= 4 else 0, _SCOPE if version >= 6 else 0)
    attributes = attributes[: 8 if version < 4 else 16 if version < 6 else 24]
    size = ctypes.c_size_t(len(attributes))
    ruleset = _check(_library.syscall(_CREATE_RULESET, attributes, size, ctypes.c_uint(0)), "Landlock")
    try:
        for paths, wanted in ((readable, _READ), (writable, rights)):
            for path in paths:
                _allow(ruleset, path, wanted & rights)
        _check(_library.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0)), "Landlock")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= _FOR_FILES
        rule = struct.pack("=Qi", rights, folder)
        _check(
            _library.syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0)), path
        )
    finally:
        os.close(folder)


def _filter_calls(machine: str, separated: bool) -> None:
    program = b"".join(_instructions(machine, separated))
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    number = {"x86_64": 317, "aarch64": 277}[machine]
    _check(_library.syscall(number, ctypes.c_uint(1), ctypes.c_uint(0), header), "seccomp")


def _instructions(machine: str, separated: bool) -> Sequence[bytes]:
    """The filter: another architecture's calls kill, denied ones give EPERM, all others pass."""
    column = 0 if machine == "x86_64" else 1
    code: list[bytes] = []

    def add(operation: int, if_true: int, if_false: int, value: int) -> None:
        code.append(struct.pack("HBBI", operation, if_true, if_false, value))

    add(_LOAD, 0, 0, 4)  # the architecture
    add(_EQUAL, 1, 0, _ARCHITECTURES[machine])
    add(_RETURN, 0, 0, _KILL)
    add(_LOAD, 0, 0, 0)  # the number of the call
    if machine == "x86_64":
        add(_AT_LEAST, 0, 1, 0x40000000)  # the x32 calls have numbers of their own
        add(_RETURN, 0, 0, _KILL)
    denied = _DENIED if separated else _DENIED | _DENIED_UNSEPARATED
    for numbers in denied.values():
        if numbers[column] is not None:
            add(_EQUAL, 0, 1, numbers[column] or 0)
            add(_RETURN, 0, 0, _ERRNO | errno.EPERM)
    for numbers in () if separated else _IGNORED_UNSEPARATED.values():
        add(_EQUAL, 0, 1, numbers[column] or 0)
        add(_RETURN, 0, 0, _ERRNO)
    for numbers, argument in () if separated else _DENIED_FOR_OTHERS.values():
        add(_EQUAL, 0, 5, numbers[column] or 0)
        for half in (0, 4):  # of an argument's eight bytes
            add(_LOAD, 0, 0, 16 + 8 * argument + half)
            add(_EQUAL, 1 if half else 0, 0 if half else 2, 0)
        add(_RETURN, 0, 0, _ERRNO | errno.EPERM)
        add(_LOAD, 0, 0, 0)
    add(_EQUAL, 0, 1, _CLONE3[column])
    add(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)  # its flags lie in memory; libc falls back to clone
    add(_EQUAL, 0, 3, _CLONE[column])
    add(_LOAD, 0, 0, 16)  # clone's flags
    add(_HAS_BIT, 0, 1, _NEW_NAMESPACES)
    add(_RETURN, 0, 0, _ERRNO | errno.EPERM)
    add(_RETURN, 0, 0, _ALLOW)
    return code
