"""Article A's command line: `replay_gate.py BASE_DIR PATCHED_DIR`, or any options of `gate.py judge`."""

import sys

if not sys.flags.isolated:
    import os  # loaded by the interpreter itself, before this folder was importable

    gate = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate.py")
    words = sys.argv[1:]
    if len(words) == 2 and not any(word.startswith("-") for word in words):
        words = ["--repo", words[0], "--base", "HEAD", "--tree", words[1]]
    elif not words or words[0] in ("-h", "--help"):
        usage = "usage: replay_gate.py BASE_DIR PATCHED_DIR | replay_gate.py JUDGE_OPTIONS"
        print(usage if words else f"gate: {usage}", file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words else 2)
    os.execv(sys.executable, [sys.executable, "-I", gate, "judge", *words])
