"""`import gnarl_dsl as gnarl`: what Python users call does what the commands do, in types."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from checkpoints import untrained_run
from shipped_specs import shipped
from training_runs import same, weights

import gnarl_dsl as gnarl
from gnarl_runtime.commands import check as check_cli
from gnarl_runtime.commands import eval as eval_cli
from gnarl_runtime.commands import solve as solve_cli
from gnarl_runtime.commands import train as train_cli
from gnarl_runtime.network.policy import Policy, PolicyConfig

Capture = pytest.CaptureFixture[str]
FUNCTIONS = ("load", "loads", "make", "make_vec", "train", "evaluate", "solve", "check")
SMALL: dict[str, Any] = {
    "bc.updates": 12,
    "bc.graphs": 8,
    "data.pool": 24,
    "data.nodes": 5,
    "policy.width": 8,
    "validation.every": 5,
    "validation.graphs": 4,
    "validation.nodes": 5,
}


@pytest.fixture(scope="module")
def trained() -> gnarl.TrainedPolicy:
    return gnarl.train("bfs", overrides=SMALL)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_run(tmp_path_factory.mktemp("runs"), "mvc")


# The door itself


def test_the_names_are_listed_and_there() -> None:
    assert set(FUNCTIONS) <= set(dir(gnarl))
    assert set(gnarl.__all__) <= set(dir(gnarl))
    for name in gnarl.__all__:
        found = getattr(gnarl, name)
        assert (found.__doc__ or "").strip(), name
        assert found.__name__ == name


def test_type_checkers_see_every_name() -> None:
    text = Path(gnarl.__file__ or "").read_text("utf-8")
    imports = text.partition("if TYPE_CHECKING:")[2].partition("__version__")[0]
    for name, home in gnarl._HOMES.items():
        assert re.search(rf"from {re.escape(home)} import [^=]*?\b{name}\b", imports), name
    assert set(gnarl._HOMES) == set(gnarl.__all__)
    assert Path(gnarl.__file__ or "").with_name("py.typed").is_file()


def test_importing_it_is_light() -> None:
    code = "import sys, gnarl_dsl as g; dir(g); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy", "pydantic", "rich", "gymnasium"} & set(ran.stdout.split())


def test_check_stays_a_function_beside_the_room_of_that_name() -> None:
    import gnarl_dsl.check.spec  # noqa: F401

    assert callable(gnarl.check)
    assert gnarl.check.__module__ == "gnarl_runtime.api.check_spec"


def test_torch_is_left_as_it_was(trained: gnarl.TrainedPolicy) -> None:
    torch.set_num_threads(2)
    gnarl.evaluate(trained, sizes=5, graphs=1)
    assert torch.get_num_threads() == 2
    assert float(torch.full((1,), 1e-39) * 1.0) != 0.0


# Mistakes


MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: gnarl.load("bfz"), "there is no file bfz\nDid you mean bfs?"),
    (lambda: gnarl.load("specs"), "specs is a folder"),
    (lambda: gnarl.make("bfs", num=3), "There is no param `num`"),
    (lambda: gnarl.make("bfs", instances="no.json"), "there is no such file"),
    (lambda: gnarl.make("bfs", nodes="8"), "expected a number"),  # type: ignore[arg-type]
    (lambda: gnarl.make("bfs", nodes=(5, 2)), "1 <= low <= high"),
    (lambda: gnarl.make("bfs", reward="x"), "has no reward or objective `x`"),
    (lambda: gnarl.make("bfs", split="x"), "have no split `x`"),
    (lambda: gnarl.make_vec("bfs", num_envs=0), "num_envs must be 1 or more"),
    (lambda: gnarl.draw("bfs", 0), "count=0: expected 1 or more"),
    (lambda: gnarl.check("bfs", max_nodes=9), "max_nodes=9: expected a number from 1 to 6"),
    (lambda: gnarl.check("bfs", only="dead-ends"), "Did you mean `dead-end`?"),
    (lambda: gnarl.check("dfs", max_nodes=6), "max_nodes=6: dfs is about directed graphs"),
    (lambda: gnarl.train("bfs", recipe="bfz"), "there is no recipe bfz; did you mean bfs?"),
    (lambda: gnarl.train("bfs", overrides={"lrr": 1}), "overrides: a recipe has no key lrr"),
    (lambda: gnarl.train("bfs", overrides={"lr": "x"}), "overrides: bc.lr: Input should be"),
    (lambda: gnarl.train("bfs", minutes=-1), "minutes=-1: expected a positive number"),
    (lambda: gnarl.train("bfs", seed=-1), "seed=-1: expected 0 or more"),
    (lambda: gnarl.train("bfs", device="abacus"), "device='abacus' cannot be used"),
    (lambda: gnarl.train("bfs", out="specs"), "specs is there already"),
    (lambda: gnarl.train("bfs", start="mvc"), "trained for another problem than bfs"),
    (lambda: gnarl.evaluate("bfz"), "no such run folder or checkpoint is there\nDid you mean"),
    (lambda: gnarl.evaluate("no/such"), "there is no file no/such; expected a run folder"),
    (lambda: gnarl.evaluate(7), "found int; expected a trained policy"),  # type: ignore[arg-type]
    (lambda: gnarl.evaluate("bfs", sizes=[0]), "sizes: found 0; expected numbers of nodes"),
    (lambda: gnarl.evaluate("bfs", samples=3), "samples=3 without temperature would play"),
    (lambda: gnarl.evaluate("bfs", graphs=0), "graphs=0: expected 1 or more"),
    (lambda: gnarl.evaluate("bfs", baselines="x"), "bfs has no baseline `x`"),
    (lambda: gnarl.evaluate("bfs", instances="x"), "problem bfs has no instances `x`"),
    (lambda: gnarl.evaluate("bfs", instances="x.json"), "x.json: there is no such file"),
    (lambda: gnarl.evaluate("bfs", problem="mvc"), "trained for another problem than mvc"),
    (lambda: gnarl.evaluate("bfs", params={"x": 1}), "There is no param `x`"),
    (lambda: gnarl.evaluate("bfs", instances=[nx.path_graph(3)], sizes=4), "leave them out"),
    (lambda: gnarl.solve("bfs", 3), "cannot read a graph from int"),
    (lambda: gnarl.solve("bfs", []), "found no graphs"),
    (lambda: gnarl.solve("bfs", "x.json"), "x.json: there is no such file"),
    (lambda: gnarl.solve("bfs", nx.DiGraph([(0, 1)])), "goes one way only"),
]


@pytest.mark.parametrize(("ask", "said"), MISTAKES)
def test_mistakes_are_one_family_with_the_words_of_the_commands(
    ask: Callable[[], object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    with pytest.raises(gnarl.GnarlError, match=re.escape(said)):
        ask()


def test_mistakes_in_a_spec_are_told_by_everyone() -> None:
    broken = Path(__file__).parents[1] / "bad"
    spec = next(path for path in sorted(broken.rglob("*.gnarl")) if "GN4" in path.name)
    for ask in (gnarl.load, gnarl.make, gnarl.check, gnarl.train):
        with pytest.raises(gnarl.SpecError) as told:
            ask(spec)
        assert told.value.diagnostics
        assert told.value.diagnostics[0].message


# Checking


def test_check_is_what_the_command_prints(capsys: Capture) -> None:
    report = gnarl.check("bfs", fast=True)
    assert report.ok
    assert report.failures == ()
    assert check_cli.main(["bfs", "--fast"]) == 0
    without_time = re.compile(r"[\d.]+ s\)")
    assert without_time.sub("", str(report)) == without_time.sub("", capsys.readouterr().out)
    assert json.loads(report.to_json())["specs"][0]["name"] == "bfs"


def test_check_finds_what_is_broken() -> None:
    right = "terminate when forall (x, y) in edges: in_cover[x] or in_cover[y]"
    wrong = "terminate when count((x, y) in edges where not in_cover[x] and not in_cover[y]) <= 1"
    text = shipped("mvc").sources[0].text
    assert right in text
    report = gnarl.check(gnarl.loads(text.replace(right, wrong)), fast=True)
    assert not report.ok
    assert report.failures[0].message in " ".join(str(report).split())


# Training


def test_training_is_what_the_command_does(tmp_path: Path) -> None:
    own, command = tmp_path / "own", tmp_path / "command"
    told: list[tuple[str, int, int]] = []
    policy = gnarl.train(
        "bfs", overrides=SMALL, seed=3, out=own, progress=lambda *a: told.append(a)
    )
    changes = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    flags = ["--spec", "bfs", "--seed", "3", "--out", str(command), *changes]
    assert train_cli.main(flags) == 0
    for name in ("best.safetensors", "last.safetensors"):
        assert same(weights(own / name), weights(command / name))
    assert policy.path == own / "best.safetensors"
    assert (own / "curves.png").is_file()
    assert told[0] == ("compiling, drawing instances", 0, 1)
    assert (12, 12) in [entry[1:] for entry in told]
    assert told[-1][0].endswith("plays fresh graphs")


def test_training_in_memory_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: gnarl.TrainedPolicy
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    again = gnarl.train("bfs", overrides=SMALL)
    assert list(tmp_path.iterdir()) == []
    assert again.path is None
    assert again.problem.hash == trained.problem.hash
    assert again.scores == trained.scores
    pairs = zip(again.policy.parameters(), trained.policy.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_a_policy_is_saved_and_goes_on(trained: gnarl.TrainedPolicy, tmp_path: Path) -> None:
    file = trained.save(tmp_path / "bfs.safetensors")
    for start in (trained, file):
        further = gnarl.train("bfs", overrides={**SMALL, "bc.updates": 1}, start=start)
        assert further.meta.provenance["start"]["updates"] == trained.meta.updates
    with pytest.raises(gnarl.UsageError, match=r"ends in \.safetensors"):
        trained.save(tmp_path / "bfs.pt")


# Evaluating


def test_evaluation_is_what_the_command_prints(run: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "mvc.json"
    flags = ["--sizes", "5,6", "--graphs", "3", "--against", "random,approx", "--json", str(file)]
    assert eval_cli.main([str(run), *flags]) == 0
    printed = capsys.readouterr().out
    found = gnarl.evaluate(run, sizes=[5, 6], graphs=3, baselines=["random", "approx"])
    assert _timeless(str(found)) == _timeless(printed)
    wanted, document = json.loads(file.read_text("utf-8")), json.loads(found.to_json())
    assert document.keys() == wanted.keys()
    for rows in (*wanted["baselines"].values(), *document["baselines"].values()):
        for row in rows:
            row.pop("seconds_per_graph")
    assert document["baselines"] == wanted["baselines"]
    row = found.rows[0]
    assert (row.nodes, row.graphs) == (5, 3)
    assert row.ci95[0] <= row.success <= row.ci95[1]


def _timeless(table: str) -> list[list[str]]:
    """The cells of a table but for the last, which is seconds."""
    return [line.split()[:-1] for line in table.splitlines() if "─" not in line]


def test_a_network_of_ones_own_is_evaluated_with_its_problem() -> None:
    problem = shipped("mvc")
    policy = Policy(problem, PolicyConfig(width=8))
    with pytest.raises(gnarl.UsageError, match="expected problem=SPEC"):
        gnarl.evaluate(policy)
    found = gnarl.evaluate(policy, problem=problem, sizes=5, graphs=2)
    assert found.heading == "mvc: test graphs, seed 0"


def test_graphs_of_ones_own_are_evaluated() -> None:
    graphs = gnarl.draw("bfs", 3, nodes=6, split="test")
    found = gnarl.evaluate("bfs", instances=graphs)
    assert [(row.nodes, row.graphs) for row in found.rows] == [(6, 3)]
    assert found.heading.endswith("given graphs")


# Solving


def test_solutions_speak_of_nodes_as_the_user_does() -> None:
    graph = nx.Graph([("a", ("b", 1)), (("b", 1), "c")], s="a")
    [solution] = gnarl.solve("bfs", graph)
    assert solution.valid is True
    assert solution.state["pred"] == {"a": "a", ("b", 1): "a", "c": ("b", 1)}
    assert solution.picks == [("a", ("b", 1)), (("b", 1), "c")]
    assert not solution.wrong
    assert solution.notes == ()
    assert json.loads(solution.to_json())["state"]["pred"]["('b', 1)"] == "a"


def test_without_a_policy_no_scale_is_unusual() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", A=5000.0)
    (found,) = gnarl.solve(None, graph, problem="mst_prim")
    assert not any("rescale" in note for note in found.notes)


def test_all_kinds_of_graphs_are_solved(tmp_path: Path) -> None:
    (tmp_path / "path.edges").write_text("x y\ny z\n", "utf-8")
    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.bool_)
    given = [nx.path_graph(3), matrix, tmp_path / "path.edges", *gnarl.draw("bfs", 2, nodes=4)]
    solutions = gnarl.solve("bfs", given)
    assert [solution.instance.graph.n for solution in solutions] == [3, 3, 3, 4, 4]
    assert all(solution.valid for solution in solutions)
    assert [str(solution).splitlines()[0][:8] for solution in solutions][1] == "graph 1:"
    (note,) = solutions[0].notes
    assert note.startswith(
        "`s` was drawn from any_node with seed 0; to give it: gnarl.instance_from"
    )


def test_solving_is_what_the_command_prints(run: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "graph.json"
    graph = nx.cycle_graph(5)
    nx.set_node_attributes(graph, {k: 0.2 + 0.1 * k for k in graph}, "w")
    file.write_text(json.dumps(nx.node_link_data(graph, edges="links")), "utf-8")
    solve_cli.main([str(run), "--data", str(file)])
    printed = capsys.readouterr().out
    [solution] = gnarl.solve(run, str(file))
    without_time = re.compile(r"in [\d.]+ s")
    assert without_time.sub("", str(solution)) == without_time.sub("", printed)
