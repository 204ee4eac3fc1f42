"""Active probes: what a program in the sandbox tries, and what counts as open (design, section 13).

A layer is believed only after a program started through it has failed at each of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Name -> what it would mean if it were open. All are required for `isolated`.
PROBES: Mapping[str, str] = {
    "read_outside": "reads a file of the gate",
    "list_hidden": "lists a folder with hidden files",
    "write_outside": "writes a file of the gate",
    "connect": "connects to a service of this machine",
    "unix_socket": "connects to a socket file of this machine",
    "signal": "signals a process outside",
    "ptrace": "attaches to a process outside",
    "daemon": "leaves a process behind",
}

#: Prints the name of each probe that it finds open. Arguments: folder with `secret` and `socket`, port, pid.
SCRIPT = """
import ctypes, os, socket, sys
folder, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def attempt(name, action):
    try:
        action()
    except BaseException:
        return
    os.write(1, name.encode() + b"\\n")
def read(): open(folder + "/secret").read()
def write(): open(folder + "/written", "w").write("x")
def connect(): socket.create_connection(("127.0.0.1", port), 2).close()
def unix():
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(2)
    peer.connect(folder + "/socket")
def trace():
    if ctypes.CDLL(None).ptrace(0x4206, pid, 0, 0) != 0: raise OSError
    ctypes.CDLL(None).ptrace(17, pid, 0, 0)
attempt("read_outside", read)
attempt("list_hidden", lambda: os.listdir(folder))
attempt("write_outside", write)
attempt("connect", connect)
attempt("unix_socket", unix)
attempt("ptrace", trace)
attempt("signal", lambda: os.kill(pid, 9))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        time.sleep(30)
    os._exit(0)
"""


def states(opened: Iterable[str]) -> dict[str, str]:
    """Each probe as `blocked` or `open`."""
    found = set(opened)
    return {name: "open" if name in found else "blocked" for name in PROBES}
