"""Programs that try to get out of the sandbox, each bounded: at most 150 processes, 64 MiB, loopback only.

A program prints BREACH when it got what it wanted; what it did to the world outside is looked at as well.
It finds the victim in its arguments: a folder (with `secret`, `socket`), a TCP port, a process id, a token.
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """
import ctypes, os, signal, socket, struct, sys, time
folder, port, victim, token = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
secret, parent = folder + "/secret", os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
def breach(what=""):
    os.write(1, b"BREACH " + str(what).encode()[:60] + b"\\n")
def must(result):
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
    return result
"""


@dataclass(frozen=True)
class Attack:
    """A program and the statuses that a run of it may end in."""

    name: str
    source: str
    statuses: tuple[str, ...] = ("exited",)
    timeout_s: float = 20.0


def _simple(name: str, *lines: str) -> Attack:
    return Attack(name, "\n".join(lines))


ATTACKS: tuple[Attack, ...] = (
    _simple("read a secret", "if 'treasure' in open(secret).read(): breach()"),
    _simple("list its folder", "breach(os.listdir(folder))"),
    _simple("write beside it", "open(folder + '/written', 'w').write('x'); breach()"),
    _simple("append to it", "open(secret, 'a').write('x'); breach()"),
    _simple("truncate it", "os.truncate(secret, 0); breach()"),
    _simple("delete it", "os.unlink(secret); breach()"),
    _simple("rename it", "os.rename(secret, folder + '/written'); breach()"),
    _simple("change its mode", "os.chmod(secret, 0o777); breach()"),
    _simple("change its times", "os.utime(secret, (0, 0)); breach()"),
    _simple("write through a link", "os.symlink(secret, os.environ['TMPDIR'] + '/l')",
            "open(os.environ['TMPDIR'] + '/l', 'a').write('x'); breach()"),
    _simple("hard link it", "os.link(secret, os.environ['TMPDIR'] + '/h')",
            "breach(open(os.environ['TMPDIR'] + '/h').read())"),
    _simple("make a folder outside", "os.mkdir(folder + '/written'); breach()"),
    _simple("environment of the parent", "if b'GATE_SECRET' in open(f'/proc/{parent}/environ', 'rb').read(): breach()"),
    _simple("environment of the victim", "if b'GATE_SECRET' in open(f'/proc/{victim}/environ', 'rb').read(): breach()"),
    _simple("environment of its own", "if 'GATE_SECRET' in os.environ: breach()"),
    _simple("memory of the parent", "open(f'/proc/{parent}/mem', 'r+b'); breach()"),
    _simple("memory of the victim", "open(f'/proc/{victim}/mem', 'rb'); breach()"),
    _simple("descriptors of the parent", "for name in os.listdir(f'/proc/{parent}/fd'):",
            "    os.open(f'/proc/{parent}/fd/{name}', os.O_RDONLY); breach(name)"),
    _simple("folder of the victim", "breach(os.listdir(f'/proc/{victim}/cwd'))"),
    _simple("root of the victim", "breach(open(f'/proc/{victim}/root' + secret).read())"),
    _simple("inherited descriptors", "for number in range(3, 256):",
            "    try: os.fstat(number)", "    except OSError: continue", "    breach(number)"),
    _simple("attach to the parent", "must(libc.ptrace(0x4206, parent, 0, 0)); breach()"),
    _simple("attach to the victim", "must(libc.ptrace(0x4206, victim, 0, 0)); breach()"),
    _simple("read the victim's memory", "b = ctypes.create_string_buffer(8)",
            "v = (ctypes.c_ulong * 2)(ctypes.addressof(b), 8); r = (ctypes.c_ulong * 2)(0x400000, 8)",
            "must(libc.process_vm_readv(victim, v, 1, r, 1, 0)); breach()"),
    Attack("kill the parent", "os.kill(parent, 9); time.sleep(1)", ("exited", "killed_worker", "left_process")),
    Attack("stop the parent", "os.kill(parent, signal.SIGSTOP); time.sleep(1)",
           ("exited", "killed_worker", "left_process", "timeout")),
    _simple("kill the victim", "os.kill(victim, 9); breach()"),
    Attack("kill everything", "os.kill(-1, 9)", ("exited", "killed_worker", "left_process")),
    _simple("connect over TCP", "socket.create_connection(('127.0.0.1', port), 2); breach()"),
    _simple("send a datagram", "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
            "s.sendto(token.encode(), ('127.0.0.1', port))"),
    _simple("connect to a socket file", "s = socket.socket(socket.AF_UNIX); s.connect(folder + '/socket'); breach()"),
    _simple("connect to an abstract socket", "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + token); breach()"),
    Attack("daemon", "if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
           "for _ in range(100):\n    time.sleep(0.1)\n"
           "    try: open(folder + '/written', 'w')\n    except OSError: pass", ("left_process",)),
    Attack("daemon that holds stdout", "if os.fork() == 0:\n    os.setsid(); time.sleep(30)", ("left_process",)),
    Attack("bounded fork bomb", "for _ in range(150):\n    try:\n        if os.fork() == 0:\n"
           "            signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(30); os._exit(0)\n"
           "    except OSError: break", ("left_process",)),
    Attack("hang that ignores SIGTERM", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
           ("timeout",), 1.5),
    Attack("flood of 64 MiB", "for _ in range(64): os.write(1, b'x' * (1 << 20))", ("output_limit",)),
    Attack("file of 64 MiB",
           "f = open(os.environ['TMPDIR'] + '/f', 'wb')\nfor _ in range(64): f.write(b'x' * (1 << 20))",
           ("output_limit", "exited")),
    _simple("many files", "for n in range(3000): open(f\"{os.environ['TMPDIR']}/{n}\", 'w').close()"),
    _simple("end at import", "os._exit(0)"),
    _simple("namespace of its own", "must(libc.unshare(0x10000000)); breach()"),
    _simple("mount", "must(libc.mount(b'none', os.environ['TMPDIR'].encode(), b'tmpfs', 0, None)); breach()"),
    _simple("chroot", "os.chroot(os.environ['TMPDIR']); breach()"),
    _simple("device file", "os.mknod(os.environ['TMPDIR'] + '/d', 0o600 | 0o020000, os.makedev(1, 1))",
            "open(os.environ['TMPDIR'] + '/d', 'rb').read(1); breach()"),
    _simple("keyring", "must(libc.syscall(248, b'user', b'k', b'v', 1, -2)) and breach()"),
    _simple("limit the victim", "import resource",
            "resource.prlimit(victim, resource.RLIMIT_NOFILE, (1, 1)); breach()"),
    _simple("lower the victim's priority", "os.setpriority(os.PRIO_PROCESS, victim, 19); breach()"),
    _simple("pin the victim to one processor", "os.sched_setaffinity(victim, {0}); breach()"),
    _simple("set an attribute of it", "os.setxattr(secret, 'user.x', b'y'); breach()"),
    _simple("shared memory that stays", "key = 0x6f7261",
            "if libc.shmget(key, 4096, 0) >= 0: breach('an earlier row left it')",
            "libc.shmget(key, 4096, 0o1600)"),
    _simple("shared memory of an earlier row", "if libc.shmget(0x6f7261, 4096, 0) >= 0: breach()"),
    _simple("io_uring", "must(libc.syscall(425, 1, ctypes.create_string_buffer(120))); breach()"),
    _simple("change the mode of its tree", "file = os.open('file', os.O_RDONLY); before = os.fstat(file).st_mode",
            "os.fchmod(file, 0o777)", "if os.fstat(file).st_mode != before: breach()"),
    _simple("set an attribute of its tree", "os.setxattr(os.open('file', os.O_RDONLY), 'user.x', b'y'); breach()"),
    _simple("write its own tree", "open('planted', 'w').write('x'); breach()"),
    _simple("write the worker's code", "import glob",
            "places = ['/case/code/inside/*', os.path.dirname(os.getcwd()) + '/code/inside/*']",
            "for p in sum(map(glob.glob, places), []):",
            "    open(p, 'a').write('#'); breach(p)"),
    _simple("leave a file for the next row", "for place in ('/tmp', '/var/tmp', '/dev/shm', os.environ['HOME'], '/'):",
            "    try: open(place + '/' + token, 'w').close()", "    except OSError: pass"),
    _simple("find a file of an earlier row", "for place in ('/tmp', '/var/tmp', '/dev/shm', os.environ['HOME'], '/'):",
            "    if os.path.exists(place + '/' + token): breach(place)"),
)  # fmt: skip
