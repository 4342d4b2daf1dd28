"""`gnarl-trace`: what a person sees, and what happens when they slip."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from episodes import make_graph, make_instance, random_instance
from house import ROOT
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.explain import why_illegal
from gnarl_compiler.interpret.trace import describe_changes, summarise_changes
from gnarl_runtime.commands.trace import main


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("policy", ["expert", "random"])
def test_every_shipped_spec_can_be_traced(
    name: str, policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--policy", policy, "--nodes", "5", "--why"]) == 0
    out = capsys.readouterr().out
    assert "what changed" in out
    assert "ended: t" in out


def test_the_table_tells_phase_legal_pick_and_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bfs", "--nodes", "2", "--seed", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    start = next(i for i, row in enumerate(rows) if row[:2] == ["step", "round"])
    first, second = rows[start + 1 : start + 3]
    assert first[:3] == ["1", "1", "from"]
    assert second[:3] == ["2", "1", "to"]
    assert "reach[" in " ".join(second)
    assert "(line " in " ".join(second)


def test_same_seed_same_trace(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for seed in ("3", "3", "4"):
        main(["mvc", "--policy", "random", "--seed", seed])
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bellman_ford", "-p", "stop=settled", "--format", "json", "--why"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert document["problem"] == "bellman_ford"
    assert document["ending"]["correct"] is True
    step = document["steps"][1]
    assert step["phase"] == "target"
    assert step["pick"] in step["legal"]
    assert {entry["node"] for entry in step["why"]} == set(range(6)) - set(step["legal"])


def test_why_points_at_the_clause_inside_a_let() -> None:
    text = (
        "gnarl 1\nproblem t\ngraph undirected\nfeatures\n  hit state node mask = false\n"
        "let fresh(x) = not hit[x]\nlet good(x) = fresh(x) and degree(x) > 1\n"
        "phase pick(v)\n  allow good(v)\n  update\n    hit[v] := true\nhorizon n rounds\n"
        "objective it = count(x in nodes where hit[x])\n"
    )
    game = Interpreter(gnarl.loads(text))
    state = game.reset(make_instance(make_graph(3, [(0, 1), (1, 2)])))
    (reason,) = why_illegal(game, state, 0)
    assert reason.describe(game.problem) == "line 7 in `good`: `degree(x) > 1` is false with x = 0"
    assert why_illegal(game, state, 1) == []
    state = game.step(state, 1).state
    (reason,) = why_illegal(game, state, 1)
    assert reason.describe(game.problem) == "line 6 in `fresh`: `not hit[x]` is false with x = 1"


def test_why_goes_into_or_and_into_derived_features() -> None:
    text = (
        "gnarl 1\nproblem t\ngraph undirected\nfeatures\n  hit state node mask = false\n"
        "  far derived node(x) mask = degree(x) > 5 and hit[x]\n"
        "  good derived node(x) mask = not (hit[x] or degree(x) < 2)\n"
        "phase pick(v)\n  allow far[v] or good[v]\n  update\n    hit[v] := true\n"
        "horizon n rounds\nobjective it = count(x in nodes where hit[x])\n"
    )
    game = Interpreter(gnarl.loads(text))
    state = game.reset(make_instance(make_graph(3, [(0, 1), (1, 2)])))
    assert [reason.describe(game.problem) for reason in why_illegal(game, state, 0)] == [
        "line 6 in `far`: `degree(x) > 5` is false with x = 0 (way 1 of 2)",
        "line 6 in `far`: `hit[x]` is false with x = 0 (way 1 of 2)",
        "line 7 in `good`: `degree(x) < 2` is true with x = 0 (way 2 of 2)",
    ]
    assert why_illegal(game, state, 1) == []
    state = game.step(state, 1).state
    assert [reason.describe(game.problem) for reason in why_illegal(game, state, 1)] == [
        "line 6 in `far`: `degree(x) > 5` is false with x = 1 (way 1 of 2)",
        "line 7 in `good`: `hit[x]` is true with x = 1 (way 2 of 2)",
    ]


def test_many_cells_of_one_line_are_summed_up() -> None:
    text = (
        "gnarl 1\nproblem t\ngraph undirected\nfeatures\n  on state node mask = false\n"
        "  near state pair mask = false\nphase pick(v)\n  allow not on[v]\n  update\n"
        "    on[v] := true\n    for x in nodes, y in nodes\n      near[x, y] := true\n"
        "horizon n rounds\nobjective it = count(x in nodes where on[x] and near[x, x])\n"
    )
    game = Interpreter(gnarl.loads(text))
    moved = game.step(game.reset(make_instance(make_graph(4, []))), 2)
    assert summarise_changes(game.problem, moved.changes) == (
        "on[2] false → true (line 10); near[0, 0] false → true, near[0, 1] false → true, "
        "near[0, 2] false → true, near[0, 3] false → true and 12 more of near (line 12)"
    )
    assert len(describe_changes(game.problem, moved.changes)) == 17


def test_every_illegal_node_has_a_reason() -> None:
    problem = shipped("mst_prim")
    game = Interpreter(problem)
    state = game.reset(random_instance(problem, 0, 0, 6))
    mask = game.mask(state)
    assert [bool(why_illegal(game, state, v)) for v in range(6)] == (~mask).tolist()


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["nowhere.gnarl"], 2, ["no file nowhere.gnarl"]),
        (["bsf"], 2, ["no file bsf", "Did you mean bfs?"]),
        (["specs"], 2, ["folder"]),
        (["bfs", "--nodes", "0"], 2, ["--nodes 0", "from 1 to"]),
        (["bfs", "--nodes", "1"], 1, ["1000 draws", "not over at its start"]),
        (["bfs", "--seed", "-1"], 2, ["--seed -1"]),
        (["mvc", "--expert", "optimum"], 2, ["optimal, approximation", "Did you mean `optimal`?"]),
        (["mvc", "--reward", "cost"], 2, ["the spec has: cover"]),
        (["rgc", "--instances", "ws"], 2, ["er, ba"]),
        (["rgc", "-p", "removal"], 2, ["NAME=VALUE"]),
        (["rgc", "-p", "removal=sideways"], 1, ["GN114", "random | targeted"]),
        (["rgc", "-p", "tua=1"], 1, ["GN127", "Did you mean `tau`?"]),
    ],
)
def test_mistakes_get_a_message(
    argv: list[str],
    code: int,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(argv) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    for word in words:
        assert word in shown.err


def test_a_spec_with_mistakes_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.gnarl"
    path.write_text("gnarl 1\nproblem bad\n")
    assert main([str(path)]) == 1
    assert "GN102" in capsys.readouterr().err


def test_a_failing_update_names_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "grow.gnarl"
    path.write_text(
        "gnarl 1\nproblem grow\ngraph undirected\nfeatures\n"
        "  level state graph categorical(2) = 0\nphase pick(v)\n  allow degree(v) > 0\n  update\n"
        "    level := level + 1\nhorizon 5 rounds\nobjective it = level\n"
        "instances er\n  train 1 er(n = 4, p = 1)\n  valid 1 er(n = 4, p = 1)\n"
        "  test 1 er(n = 4, p = 1)\n"
    )
    assert main([str(path)]) == 1
    assert ":9: `level` would become 2" in capsys.readouterr().err
