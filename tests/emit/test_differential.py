"""The interpreter is the definition; generated kernels must equal it, bit by bit.

`python tests/emit/test_differential.py --count 5000 --seed 0` tries that many random specs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import numpy as np
import pytest
from duel import Duel, play, rewards_of
from episodes import dyadic
from house import TESTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_specs.generator import instances_for, random_instance, seeded_spec, specs
from random_specs.updates import HOSTILE
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.support.endings import SpecFault
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.kernels import Kernels

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

BY_DEFAULT = [(name, {}) for name in SHIPPED]
WITH_PARAMS = [
    ("bellman_ford", {"stop": "settled"}),
    ("rgc", {"removal": "targeted", "tau": "0.4"}),
]


def long(*cases: Any) -> list[ParameterSet]:
    """Cases that take machine code of their own: the first of their kind stand for them."""
    return [pytest.param(case, marks=pytest.mark.long) for case in cases]


def label(variant: tuple[str, dict[str, str]]) -> str:
    return " ".join([variant[0], *(f"{k}={v}" for k, v in variant[1].items())])


def sizes_of_every_kind(problem: Problem, seed: int) -> list[Instance]:
    """Graphs of 1 to 7 nodes, some on a coarse grid, where ties abound."""
    rng = np.random.default_rng(seed)
    drawn = [random_instance(problem, nodes, rng) for nodes in (1, 2, 3, 5, 7, 4, 6)]
    return [*drawn, *(dyadic(problem, instance, seed) for instance in drawn[2:5])]


# Shipped specs


@pytest.mark.parametrize("variant", [*BY_DEFAULT, *long(*WITH_PARAMS)], ids=label)
def test_compiled_kernels_equal_the_interpreter(variant: tuple[str, dict[str, str]]) -> None:
    problem = shipped(variant[0], **variant[1])
    duel = Duel(problem, sizes_of_every_kind(problem, 1), jit=True)
    rng = np.random.default_rng(2)
    for seed in (3, 4):
        play(duel, rng, 40)
        duel.reset(sizes_of_every_kind(problem, seed))
    assert duel.checks > 100


@pytest.mark.parametrize("variant", [*BY_DEFAULT, *WITH_PARAMS], ids=label)
def test_every_reward_of_the_shipped_specs(variant: tuple[str, dict[str, str]]) -> None:
    problem = shipped(variant[0], **variant[1])
    for reward in rewards_of(problem):
        duel = Duel(problem, sizes_of_every_kind(problem, 5)[:6], reward)
        play(duel, np.random.default_rng(6), 10)


@pytest.mark.parametrize("name", ["dfs", "bfs"])
def test_graphs_of_more_than_one_word(name: str) -> None:
    """Adjacency is stored in words of 64 bits."""
    problem = shipped(name)
    rng = np.random.default_rng(7)
    duel = Duel(problem, [random_instance(problem, nodes, rng) for nodes in (70, 64, 65)])
    for _ in range(4):
        duel.step(rng)


REWIRE = """gnarl 1
problem rewire
graph {graph} mutable
features
  w    input    pair        scalar  ~ given
  len  derived  edge(x, y)  scalar  = w[x, y] + w[y, x]
phase one(u)
phase two(v)
  allow u != v
  update
    edge(u, v) := not edge(u, v)
horizon 30 rounds
objective total = sum((x, y) in edges: len[x, y])
expert best = greedy total
"""


@pytest.mark.parametrize("graph", ["undirected", "directed"])
def test_edges_come_and_go(graph: str) -> None:
    """Edge ids stay 0..m-1, so derived features of edges find their cells."""
    problem = gnarl.loads(REWIRE.format(graph=graph))
    rng = np.random.default_rng(8)
    duel = Duel(problem, [random_instance(problem, nodes, rng) for nodes in (2, 4, 5)])
    for _ in range(40):
        duel.step(rng)
        for slot in duel.slots:
            ids = np.unique(duel.batch.edge_id[slot])
            assert ids[ids >= 0].tolist() == list(range(duel.batch.m[slot]))


def test_a_batch_without_room_for_an_edge_says_so() -> None:
    problem = gnarl.loads(REWIRE.format(graph="undirected"))
    empty = Instance(Graph(False, np.zeros((3, 3), bool)), {"w": np.ones((3, 3))}, np.arange(3))
    kernels = kernels_on(problem, empty, edges=1)
    for pick in (0, 1, 1):
        kernels.step(np.array([pick]), np.zeros(1))
    with pytest.raises(IndexError, match="no room for another edge"):
        kernels.step(np.array([2]), np.zeros(1))


@pytest.mark.parametrize("removal", ["random", "targeted"])
def test_removal_orders_of_large_graphs(removal: str) -> None:
    rng = np.random.default_rng(9)
    problem = shipped("rgc", removal=removal)
    drawn = random_instance(problem, 60, rng)
    adjacency = np.array(drawn.graph.adjacency)
    adjacency[np.arange(59), np.arange(1, 60)] = adjacency[np.arange(1, 60), np.arange(59)] = True
    instance = Instance(Graph(False, adjacency), {}, drawn.tags)
    kernels = kernels_on(problem, instance, jit=True)
    out = np.zeros(1)
    kernels.run("objective_robustness", np.array([0]), out)
    game = Interpreter(problem)
    assert out[0] == game.objective(game.reset(instance)) > 0


# Random specs


def try_spec(text: str, seed: int, jit: bool = False) -> int:
    """Play a spec on random instances with each of its rewards; how many states were compared."""
    problem = gnarl.loads(text)
    rng = np.random.default_rng(seed)
    rewards = [None] if jit else rewards_of(problem)[: 1 + seed % 3]
    checks = 0
    for reward in rewards:
        duel = Duel(problem, instances_for(problem, rng), reward, jit)
        play(duel, rng, 6)
        checks += duel.checks
    return checks


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(specs(), st.integers(0, 10**6))
def test_random_specs(text: str, seed: int) -> None:
    try_spec(text, seed)


@pytest.mark.parametrize("seed", [3, *long(19, 27)])
def test_random_specs_compiled(seed: int) -> None:
    try_spec(seeded_spec(seed), seed, jit=True)


# Faults


FAULTS = """gnarl 1
problem faults
graph {graph}
features
  w      input  node   scalar          ~ given
  far    state  graph  scalar          = 0
  level  state  node   categorical(3)  = 0
  {edge}
phase one(u)
  allow w[u] >= 0
phase two(v)
  allow {allow}
  update
    {statement}
horizon 20 rounds
objective it = far
"""
EDGE = "f  state  edge  scalar  = 0"


@pytest.mark.parametrize(
    ("statement", "picks"),
    [
        ("far := min(x in nodes where level[x] > 0: 1)", [0, 1]),
        ("far := far * 1e20 + 1e20 * w[v]", [2, 2] * 16),
        ("level[v] := level[v] + 2", [0, 1, 0, 1]),
        ("for x in nodes where x == v\n      level[x] := level[x] - 1", [0, 1]),
        ("f[u, v] := 1", [0, 1, 0, 2]),
        ("for x in nodes\n      f[x, v] := w[x]", [1, 1]),
    ],
)
def test_faults_name_the_same_line(statement: str, picks: list[int]) -> None:
    text = FAULTS.format(graph="undirected", edge=EDGE, allow="true", statement=statement)
    assert fault_lines(text, picks) == 2 * [text[: text.index(":=")].count("\n") + 1]


def test_joining_a_node_to_itself() -> None:
    words = {"graph": "undirected mutable", "edge": "", "allow": "true"}
    text = FAULTS.format(statement="edge(u, v) := true", **words)
    assert fault_lines(text, [0, 1, 1, 1]) == 2 * [text[: text.index(":=")].count("\n") + 1]


def test_an_initial_value_that_no_policy_can_read() -> None:
    text = FAULTS.format(graph="undirected", edge=EDGE, allow="true", statement="far := 1")
    text = text.replace(
        "far    state  graph  scalar          = 0", "far state graph scalar = 1 / w0"
    )
    text = text.replace("horizon", "let w0 = min(x in nodes: 1e-320 * w[x])\nhorizon")
    assert fault_lines(text, []) == [6, 6]


def fault_lines(text: str, picks: list[int]) -> list[int]:
    """The lines that the interpreter and the kernels name."""
    problem = gnarl.loads(text)
    path = path_instance(problem)
    lines: list[int] = []
    try:
        game = Interpreter(problem)
        state = game.reset(path)
        for pick in picks:
            state = game.step(state, pick).state
    except SpecRunError as error:
        lines.append(error.line)
    try:
        kernels = kernels_on(problem, path)
        for pick in picks:
            kernels.step(np.array([pick]), np.zeros(1))
    except SpecRunError as error:
        lines.append(error.line)
    return lines


def path_instance(problem: Problem) -> Instance:
    instance = random_instance(problem, 3, np.random.default_rng(0))
    inputs = {"w": np.array([1.0, 2.0, 3.0])}
    adjacency = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    return Instance(Graph(False, adjacency), inputs, instance.tags)


def kernels_on(
    problem: Problem, instance: Instance, edges: int | None = None, jit: bool = False
) -> Kernels:
    """Kernels after a reset on one instance."""
    duel = Duel.__new__(Duel)
    duel.prepare(problem, [instance], jit=jit, edges=edges)
    duel.load(0, instance)
    duel.kernels.reset(np.array([0]))
    return duel.kernels


def test_a_dead_end_names_the_line_of_allow() -> None:
    text = FAULTS.format(graph="undirected", edge="", allow="w[v] > 5", statement="far := 1")
    problem = gnarl.loads(text)
    game = Interpreter(problem)
    path = path_instance(problem)
    assert game.is_dead_end(game.step(game.reset(path), 0).state)
    with pytest.raises(SpecRunError, match="no node can be picked in phase two") as error:
        kernels_on(problem, path).step(np.array([0]), np.zeros(1))
    assert error.value.line == text[: text.index("allow w[v]")].count("\n") + 1


def test_a_greedy_expert_that_tries_a_forbidden_write() -> None:
    text = FAULTS.format(
        graph="undirected", edge="", allow="true", statement="level[v] := floor(2 * w[v])"
    )
    problem = gnarl.loads(text + "expert eager = greedy it\n")
    path = path_instance(problem)
    game = Interpreter(problem)
    with pytest.raises(SpecRunError, match="level") as error:
        game.expert(game.reset(path))
    kernels = kernels_on(problem, path)
    with pytest.raises(SpecFault, match=f"line {error.value.line}: `level`"):
        kernels.run("expert_eager", np.array([0]), np.zeros(kernels.batch.legal.shape))


@pytest.fixture
def variant(tmp_path: Path) -> Problem:
    """A short spec that inherits everything, also an update that fails at run time."""
    text = FAULTS.format(
        graph="undirected", edge="", allow="true", statement="level[v] := floor(2 * w[v])"
    )
    base = text.replace("problem faults", "problem other") + "expert eager = greedy it\n"
    (tmp_path / "other.gnarl").write_text(base)
    (tmp_path / "mine.gnarl").write_text("gnarl 1\nproblem mine extends other\n")
    return gnarl.load(tmp_path / "mine.gnarl")


def test_a_fault_in_an_inherited_clause_names_its_file_and_line(variant: Problem) -> None:
    path, game = path_instance(variant), Interpreter(variant)
    with pytest.raises(SpecRunError) as told:
        game.step(game.step(game.reset(path), 0).state, 2)
    kernels = kernels_on(variant, path)
    kernels.step(np.array([0]), np.zeros(1))
    with pytest.raises(SpecRunError, match=r"other\.gnarl:\d+: `level`") as found:
        kernels.step(np.array([2]), np.zeros(1))
    assert found.value.line == told.value.line


def test_a_greedy_expert_names_the_file_of_an_inherited_clause(variant: Problem) -> None:
    kernels = kernels_on(variant, path_instance(variant))
    with pytest.raises(SpecFault, match=r"other\.gnarl, line \d+: `level`"):
        kernels.run("expert_eager", np.array([0]), np.zeros(kernels.batch.legal.shape))


# Names and bytes


NAMES = """gnarl 1
problem names
graph undirected
features
  {0}  input  node  scalar  ~ given
  {1}  state  node  scalar  = 0
  {2}  state  pair  mask    = false
  {3}  derived  node({4})  scalar  = {1}[{4}] + count({5} in neighbors({4}) where {2}[{4}, {5}])
let {6}({7}) = sum({8} in nodes where {2}[{7}, {8}]: {0}[{8}] - {1}[{7}])
phase {9}({10})
phase {0}({11})
  update
    let {12} = {6}({11}) + {1}[{10}]
    {1}[{11}] := {12} + {0}[{11}]
    for {13} in nodes
      {2}[{13}, {10}] := {1}[{13}] > {12}
horizon 3 rounds
objective {14} = sum({15} in nodes: {3}[{15}] + {6}({15}))
metric {0} = {14}
expert {1}
  {9}: uniform {10} minimising {6}({10})
  {0}: uniform {11} maximising {3}[{11}]
expert {2} = greedy {14}
expert {14}_{2} = greedy {14}
"""


@pytest.mark.parametrize("shift", range(0, len(HOSTILE), 5))
def test_awkward_names_work(shift: int) -> None:
    names = [*HOSTILE[shift:], *HOSTILE[:shift]]
    text = NAMES.format(*names)
    assert try_spec(text, 0) > 0


def test_names_cannot_collide_with_generated_ones() -> None:
    """Arrays, axes, local lets and temporary variables live in name spaces of their own."""
    names = ("x_0", "x_1", "s_x", "v_x_0", "s_x_1", "x", "l_x_1", "i_x_0", "s", "tmp1", "pick")
    names += ("b", "x_let1", "s_x_0", "at_0", "to_1")
    assert try_spec(NAMES.format(*names), 0) > 0


def test_the_same_bytes_in_every_process() -> None:
    """Nothing depends on the order of a set or a dict of strings."""
    script = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1])\n"
        "import gnarl_dsl as gnarl\n"
        "from shipped_specs import SHIPPED\n"
        "from random_specs.generator import seeded_spec\n"
        "from gnarl_compiler.build.generate import generate\n"
        "problems = [gnarl.load(name) for name in SHIPPED]\n"
        "problems += [gnarl.loads(seeded_spec(seed)) for seed in range(25)]\n"
        "made = [generate(problem) for problem in problems]\n"
        "text = ''.join(m.python + m.ir for m in made)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    folder = str(TESTS / "helpers")
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script, folder],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1


# Many random specs


def try_many(count: int, seed: int) -> int:
    """Seeds that failed are listed; their number is the result."""
    started, states, failures = time.monotonic(), 0, 0
    shown = started
    for number in range(count):
        try:
            states += try_spec(seeded_spec(seed + number), seed + number)
        except Exception as error:
            failures += 1
            where = traceback.extract_tb(error.__traceback__)[-1].name
            print(f"\nseed {seed + number}: {type(error).__name__} in {where}: {error}"[:600])
        now = time.monotonic()
        if now - shown > 2 or number + 1 == count:
            shown = now
            left = (now - started) / (number + 1) * (count - number - 1)
            done = f"{number + 1}/{count} specs, {states} states, {failures} failures"
            print(f"\r{done}, {now - started:.0f} s, {left:.0f} s left  ", end="", flush=True)
    print()
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare kernels and interpreter on random specs.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.exit(try_many(options.count, options.seed) > 0)
