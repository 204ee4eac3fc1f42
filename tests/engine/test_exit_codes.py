"""Each exit code through the command line, with the packet and the lines that belong to it."""

from __future__ import annotations

import json

from support.gate import Gate

FMT = "src/replay_demo/fmt.py"


def rules(packet: dict[str, object]) -> set[str]:
    reasons = packet["reasons"]
    assert isinstance(reasons, list)
    return {reason["rule"] for reason in reasons}


def test_0_self_check_of_a_clean_tree(gate: Gate) -> None:
    done = gate.run("judge", check=0)
    packet = gate.packet()
    assert (packet["mode"], packet["verdict"], packet["merge_ok"]) == ("self-check", "none", False)
    assert (packet["reasons"], packet["changes"], packet["intake"]) == ([], [], [])
    assert {row["status"] for row in packet["replay"]} == {"match"}
    assert packet["counts"]["match"] == packet["counts"]["pins"] == packet["counts"]["rows"] >= 12
    assert (packet["trust"], packet["base_from"]) == ("local", "merge base with refs/heads/main")
    assert done.stdout.splitlines()[-1].startswith("verdict none (")
    assert done.stderr == ""


def test_0_an_honest_refactor(gate: Gate) -> None:
    gate.edit(FMT, "_block(", "_bracketed(")
    gate.write("src/replay_demo/extra.py", '"""New."""\n')
    done = gate.run("judge", "--json", check=0)
    packet = gate.packet()
    assert json.loads(done.stdout) == {
        "verdict": "eligible", "packet": str(gate.root / ".gate/merge_packet.json"),
    }  # fmt: skip
    assert (packet["verdict"], packet["merge_ok"], packet["mode"]) == ("eligible", True, "work-tree")
    assert [(change["path"], change["status"]) for change in packet["changes"]] == [
        ("src/replay_demo/extra.py", "A"), (FMT, "M"),
    ]  # fmt: skip
    for name in ("fixtures", "properties", "freezes"):
        assert json.loads((gate.root / f".gate/results/{name}.json").read_bytes())[name] == packet[name]
    public = json.loads((gate.root / ".gate/packet.public.json").read_bytes())
    assert public == {"schema": "merge-packet-public-v1", "verdict": "eligible", "unverified": True}


def test_1_another_behaviour(gate: Gate) -> None:
    gate.edit(FMT, "ensure_ascii=False", "ensure_ascii=True")
    done = gate.run("judge", check=1)
    packet = gate.packet()
    assert (packet["verdict"], packet["merge_ok"]) == ("block", False)
    assert "replay.drift" in rules(packet)
    drifted = {row["id"]: row["diff"] for row in packet["replay"] if row["status"] == "drift"}
    assert set(drifted) == {"fmt-escapes", "fmt-in-place", "fmt-nested"}
    assert [line for line in drifted["fmt-nested"] if line[0] in "+-"][2:] == [
        '-  "name": "caf\u00e9",', '+  "name": "caf\\u00e9",',
    ]  # fmt: skip
    assert "replay.drift x3" in done.stdout
    assert "fmt-escapes" in done.stdout
    # A log that a generator may read names no row.
    quiet = gate.run("judge", check=1, env={"CI": "true"}).stdout
    assert "replay.drift x3" in quiet
    assert "fmt-" not in quiet
    assert "caf" not in quiet


def test_2_no_verdict_without_an_environment(gate: Gate) -> None:
    (gate.root / ".gate/env").rename(gate.root / ".gate/gone")
    gate.edit(FMT, "_block(", "_bracketed(")
    done = gate.run("judge", check=2)
    assert "environment is not built; run `python3 tools/gate.py env`" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (gate.root / ".gate/merge_packet.json").exists()


def test_4_a_patch_that_changes_nothing(quick: Gate) -> None:
    packet = quick.judge_patch(b"", check=4)
    assert (packet["verdict"], packet["merge_ok"], rules(packet)) == ("hold", False, {"intake.empty"})


def test_5_a_new_conftest(quick: Gate) -> None:
    quick.write("conftest.py", "")
    packet = quick.judge(check=5)
    assert (packet["verdict"], packet["merge_ok"], rules(packet)) == (
        "inspect",
        True,
        {"test_config.changed"},
    )


def test_a_debugging_run_is_never_eligible(quick: Gate) -> None:
    quick.edit("src/prog.sh", "esac", "esac # as before")
    packet = quick.judge("--sandbox", "none", check=4)
    assert (packet["verdict"], rules(packet), packet["sandbox"]["mode"]) == (
        "hold",
        {"sandbox.insufficient"},
        "none",
    )
