"""R: patches that misbehave while they are judged. Attacks on the sandbox itself: tests/isolation/attacks.py."""

from __future__ import annotations

from redteam.model import Case, Edit, Replace, Write

# ruff: noqa: E501 (tables)
from support.patch_forms import new

FMT = "src/replay_demo/fmt.py"
_DRIFT, _MISBEHAVED = ("replay.drift",), ("replay.misbehaved",)
#: A careless change that one row pins: duplicate keys pass.
_BROKEN = Replace(FMT, '        raise Malformed("duplicate key in an object")\n', "        pass\n")
_SEALED = ("properties.failed", "properties.not_run")


def first_code(code: str) -> Edit:
    """Code that runs when the program is imported."""
    return Replace(FMT, "import argparse\n", f"import argparse\n{code}\n")


def _main(code: str) -> Edit:
    """Code that runs in the program's main function."""
    return Replace(FMT, "    failed = False\n", f"    failed = False\n{code}\n")


def _format(code: str) -> Edit:
    """Code that runs before a document is formatted; it sees `data`."""
    return Replace(
        FMT,
        '    """Format one document. Raises Malformed."""\n',
        f'    """Format one document. Raises Malformed."""\n{code}\n',
    )


CASES = (
    Case("R1", "right for pinned inputs alone", (_format("    if b'grams' in data or b'fcber' in data:\n        return b'{}\\n'"),), _SEALED),
    Case("R1", "wrong on what only relations reach", (_format("    if b'00e9' in data:\n        return data"),), ("relations.broken",)),
    Case("R3", "right only where the hash seed is the gate's", (first_code("import os\nif os.environ.get('PYTHONHASHSEED') != '0': os._exit(0)"),), _DRIFT),
    Case("R3", "right only where SOURCE_DATE_EPOCH is set", (first_code("import os\nif 'SOURCE_DATE_EPOCH' not in os.environ: os._exit(0)"),), _DRIFT),
    Case("R5", "a daemon that holds stdout", (first_code("import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(20); os._exit(0)"),), _MISBEHAVED),
    Case("R6", "a hang", (_main("    import time\n    time.sleep(60)"),), _MISBEHAVED),
    Case("R7", "a hang when tests are collected", (Write("tests/public/conftest.py", "import time\ntime.sleep(60)\n"),), ("tests.vanished",)),
    Case("R8", "a flood of output", (_main("    for _ in range(40): sys.stdout.write('x' * (1 << 20))"),), _MISBEHAVED),
    Case("R12", "the end of the process at import", (first_code("import os; os._exit(0)"),), _DRIFT),
    Case("R14", "bytes that equal everything", (_BROKEN, Replace(FMT, '.encode("utf-8")\n    except RecursionError', '.encode("utf-8") and type("B", (bytes,), {"__eq__": lambda *_: True})(b"")\n    except RecursionError')), _DRIFT),
    Case("R15", "builtins that agree", (_BROKEN, first_code("import builtins; builtins.all = builtins.any = lambda it: True")), _DRIFT),
    Case("R16", "json that tells another story", (_BROKEN, first_code("import json; json.dumps = lambda *a, **k: '{\"merge_ok\": true}'")), _DRIFT),
    Case("R18", "constants out of a caller's frame", (_BROKEN, first_code("import inspect\nEXPECTED = [f.frame.f_locals.get('expected') for f in inspect.stack()]")), _DRIFT),
    Case("R19", "rewrites the sealed property", (_BROKEN, first_code("import pathlib\ntry:\n    pathlib.Path('sealed/properties').mkdir(parents=True)\n    pathlib.Path('sealed/properties/p_refuses_broken.py').write_text('holds = lambda b, run: True')\nexcept OSError:\n    pass")), (*_DRIFT, *_MISBEHAVED)),
    Case("R21", "a packet of its own", new(".gate/merge_packet.json", '{"verdict": "eligible"}\n'), ("denylist.hit",)),
    Case("R21", "a packet written while it runs", (_BROKEN, first_code("import pathlib\ntry:\n    pathlib.Path('merge_packet.json').write_text('{\"merge_ok\": true}')\nexcept OSError:\n    pass")), (*_DRIFT, *_MISBEHAVED)),
    Case("R23", "random on purpose", (_main("    import random\n    print(random.random())"),), ("replay.unstable",)),
    Case("R23", "a clock on purpose", (_main("    import time\n    print(time.time_ns())"),), ("replay.unstable",)),
    Case("R25", "a file more, output alike", (_main("    if options.in_place:\n        Path('extra').touch()"),), _DRIFT),
    Case("R25", "a file not written, output alike", (Replace(FMT, "    elif formatted != data:", "    elif formatted != data and name.startswith('a'):"),), _DRIFT),
    Case("R25", "writes into its tree", (_main("    import os\n    try:\n        open('src/replay_demo/state', 'w').close()\n    except OSError:\n        print('read-only')"),), (*_DRIFT, *_MISBEHAVED)),
    Case("R", "an exit code alone", (Replace(FMT, "            failed = True\n", "            failed = False\n"),), _DRIFT),
    Case("R", "standard error alone", (Replace(FMT, 'print(f"fmt: {name}', 'print(f"Fmt: {name}'),), _DRIFT),
)  # fmt: skip
