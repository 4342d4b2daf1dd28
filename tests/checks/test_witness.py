"""Counterexamples: shown again, made smaller, drawn, written to files and read back."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from episodes import make_graph, make_instance, random_instance
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.loading import loads
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import find_spec
from gnarl_runtime.checks.findings.findings import Failure, Property, Report
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.report.report_text import report_text
from gnarl_runtime.checks.witness import pictures as witness_pictures
from gnarl_runtime.checks.witness import witness_files
from gnarl_runtime.checks.witness.ascii_drawing import draw_graph
from gnarl_runtime.checks.witness.candidates import smaller_instances
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.checks.witness.shrink import minimise
from gnarl_runtime.checks.witness.telling import render
from gnarl_runtime.checks.witness.witness_files import WitnessError
from gnarl_runtime.checks.witness.witness_play import expert_ends


def broken(name: str, *changes: tuple[str, str]) -> Problem:
    """A shipped spec with some words exchanged."""
    path = find_spec(name)
    assert path is not None
    text = path.read_text("utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return loads(text)


COVERED = "forall (x, y) in edges: in_cover[x] or in_cover[y]"
ALMOST = "count((x, y) in edges where not (in_cover[x] or in_cover[y])) <= 1"
EARLY = (f"terminate when {COVERED}", f"terminate when {ALMOST}")
LEAST = "min(x in nodes where in_cover[x] and x != v: w[x])"
NO_SELF = ("allow edge(u, v) or v == u", "allow edge(u, v)")


def early_cover() -> tuple[Problem, Failure]:
    """A cover that ends one edge early, on a graph far larger than needed."""
    problem = broken("mvc", EARLY)
    instance = random_instance(problem, 1, 1, 12)
    game = Interpreter(problem)
    state = game.reset(instance)
    picks: list[int] = []
    rng = np.random.default_rng(0)
    while state.ended is None or game.valid(state):
        if state.ended is not None:
            state, picks = game.reset(instance), []
        picks.append(int(rng.choice(np.flatnonzero(game.mask(state)))))
        state = game.step(state, picks[-1]).state
    span = problem.valid.span if problem.valid else None
    return problem, Failure(
        "invalid-end", "the episode ends without a cover", instance, tuple(picks), span
    )


def dead_search(n: int) -> tuple[Problem, Failure]:
    problem = broken("dfs", NO_SELF)
    graph = make_graph(n, [(k, k + 1) for k in range(n - 1)], directed=True)
    picks = (0, 1, n - 1)
    span = problem.phases[1].span
    return problem, Failure("dead-end", "no successor", make_instance(graph), picks, span)


# Showing and shrinking


def test_a_late_failure_shrinks_to_one_edge_and_no_pick() -> None:
    problem, failure = early_cover()
    assert holds(problem, failure)
    small = minimise(problem, failure)
    assert holds(problem, small)
    assert (small.instance.graph.n, small.instance.graph.m, small.picks) == (2, 1, ())
    assert small.instance.inputs["w"].tolist() == [1.0, 1.0]


def test_a_dead_end_shrinks_to_a_single_node() -> None:
    problem, failure = dead_search(6)
    small = minimise(problem, failure)
    assert (small.instance.graph.n, small.picks) == (1, (0,))


def test_expert_play_is_found_again_on_the_smaller_graph() -> None:
    """The old picks make no sense on fewer nodes; the expert's own are looked for."""
    problem = broken("mst_prim", ("A[x, y] < key[y]", "A[x, y] <= key[y]"))
    instance = random_instance(problem, 2, 0, 4)
    game = Interpreter(problem)
    late = next(p for s, p in expert_ends(game, instance, "prim", 2000) if not game.correct(s))
    failure = Failure("expert-late", "never done", instance, late, None, "prim")
    assert holds(problem, failure)
    small = minimise(problem, failure)
    assert holds(problem, small)
    assert (small.instance.graph.n, small.instance.graph.m) == (3, 2)


def test_shrinking_stops_in_time() -> None:
    problem, failure = early_cover()
    began = time.process_time()
    minimise(problem, failure, seconds=0.2)
    assert time.process_time() - began < 2.0
    assert not minimise(problem, failure, seconds=0.0).smallest


def test_only_what_was_made_as_small_as_can_be_is_called_the_smallest() -> None:
    problem, failure = early_cover()
    large = replace(failure, count=3)
    report = Report(problem, (), (), 0, (large,), (), 0.0)
    assert "3 times; one case:" in report_text(report, Options())
    small = replace(minimise(problem, failure), count=3)
    assert small.smallest
    told = report_text(replace(report, failures=(small,)), Options())
    assert "3 times; the smallest case:" in told


METRIC = """
gnarl 1
problem apart
graph undirected complete
features
  far   input  {place}  scalar  ~ euclidean
  step  input  node     scalar  ~ integers(2, 6)
  on    state  node     mask    = false
phase pick(v)
  allow not on[v]
  update
    on[v] := true
horizon n rounds
objective o = sum(x in nodes, y in nodes where on[x] and x != y: far[x, y] + step[x])
instances complete
  train 1  complete(n = 4)
  valid 1  complete(n = 4)
  test  1  complete(n = 4)
"""


@pytest.mark.parametrize("place", ["edge", "pair"])
def test_plainer_values_are_ones_that_the_source_can_draw(place: str) -> None:
    problem = loads(METRIC.format(place=place))
    instance = random_instance(problem, 0, 0, 4)
    tried = [one.inputs for one, _ in smaller_instances(problem, instance)]
    plain = [inputs for inputs in tried if (inputs["far"] == 1).any()]
    assert plain
    for inputs in tried:
        assert not inputs["far"].diagonal().any()
        assert (inputs["far"] == inputs["far"].T).all()
        assert set(inputs["step"]) <= {2.0, 3.0, 4.0, 5.0, 6.0}


@pytest.mark.parametrize("kind", ["dead-end", "invalid-end", "run-error", "relabelling"])
def test_nothing_is_shown_where_nothing_is_wrong(kind: Property) -> None:
    problem = shipped("bfs")
    instance = random_instance(problem, 0, 0, 4)
    failure = Failure(kind, "", instance, (), None)
    assert not holds(problem, failure)
    assert minimise(problem, failure) is failure


def test_illegal_picks_show_nothing() -> None:
    problem, failure = dead_search(3)
    assert not holds(problem, replace(failure, picks=(0, 2, 2)))


# Text


def test_the_text_has_the_line_the_graph_the_play_and_the_state() -> None:
    problem, failure = dead_search(3)
    text = render(problem, failure)
    line = problem.line_of(problem.phases[1].span)
    assert f":{line} | phase to(v)" in text
    assert "(0)----->(1)----->(2)" in text
    assert "reach[1] false → true" in text
    assert f"not 0: line {line + 1}: `edge(u, v)` is false with u = 2, v = 0" in text


def test_a_stopped_spec_is_shown_up_to_the_error() -> None:
    problem = broken(
        "mvc",
        ("in_cover[v] := true", f"in_cover[v] := true\n    total := {LEAST}"),
        ("  best      oracle", "  total     state   graph scalar = 0\n  best      oracle"),
    )
    instance = make_instance(make_graph(2, [(0, 1)]), w=np.ones(2))
    failure = Failure("run-error", "infinite", instance, (0,), None)
    assert holds(problem, failure)
    assert "which a policy cannot read" in render(problem, failure)


@given(st.integers(1, 8), st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_drawings_show_every_node_once(n: int, directed: bool, rng: object) -> None:
    chance = np.random.default_rng(rng.getrandbits(32))  # type: ignore[attr-defined]
    pairs = [pair for pair in combinations(range(n), 2) if chance.random() < 0.5]
    lines = draw_graph(make_graph(n, pairs, directed), marked={0})
    text = "\n".join(lines)
    assert "[0]" in text
    assert all(text.count(f"({node})") == 1 for node in range(1, n))
    assert max(map(len, lines)) < 80
    assert len(lines) < 24


def test_arrows_point_along_the_edges() -> None:
    assert draw_graph(make_graph(3, [(0, 1), (2, 1)], directed=True)) == ["(0)----->(1)<-----(2)"]


# Files


def test_a_failure_survives_its_file(tmp_path: Path) -> None:
    problem, failure = early_cover()
    path = tmp_path / "w.json"
    witness_files.write(path, problem, failure)
    again, found = witness_files.read(path)
    assert again.hash == problem.hash
    assert (found.property, found.picks, found.span) == ("invalid-end", failure.picks, failure.span)
    assert np.array_equal(found.instance.graph.adjacency, failure.instance.graph.adjacency)
    assert np.array_equal(found.instance.tags, failure.instance.tags)
    assert np.array_equal(found.instance.inputs["w"], failure.instance.inputs["w"])
    assert witness_files.replay(path).happens
    assert not witness_files.replay(path, shipped("mvc")).happens


def test_a_variant_travels_with_what_it_extends(tmp_path: Path) -> None:
    (tmp_path / "mine.gnarl").write_text('gnarl 1\nproblem mine extends other\n  "A variant."\n')
    base = find_spec("bfs")
    assert base is not None
    text = base.read_text("utf-8").replace("problem bfs", "problem other")
    (tmp_path / "other.gnarl").write_text(text.replace("n - 1 rounds", "n - 2 rounds"))
    from gnarl_dsl.loading import load

    problem = load(tmp_path / "mine.gnarl")
    instance = make_instance(make_graph(2, [(0, 1)]), s=0)
    failure = Failure("expert-late", "too short", instance, (), None, "shallowest")
    assert holds(problem, failure)
    witness_files.write(tmp_path / "w.json", problem, failure)
    (tmp_path / "mine.gnarl").unlink()
    (tmp_path / "other.gnarl").unlink()
    assert witness_files.replay(tmp_path / "w.json").happens


def test_params_are_kept(tmp_path: Path) -> None:
    problem = shipped("rgc", tau="0.7", removal="targeted")
    failure = Failure("dead-end", "", make_instance(make_graph(3, [])), (), None)
    witness_files.write(tmp_path / "w.json", problem, failure)
    assert witness_files.read(tmp_path / "w.json")[0].hash == problem.hash


DAMAGE = [
    (lambda d: d.pop("picks"), "picks"),
    (lambda d: d.update(version=9), "version 9"),
    (lambda d: d.update(property="sad"), "sad"),
    (lambda d: d.update(expert="nobody"), "nobody"),
    (lambda d: d["instance"]["edges"].append([0, 99]), "edge"),
    (lambda d: d["instance"]["edges"].reverse(), "sorted"),
    (lambda d: d["instance"].update(nodes=0), "nodes"),
    (lambda d: d["instance"]["inputs"]["w"].pop(), "`w` has"),
    (lambda d: d["instance"]["inputs"].pop("w"), "`w` is missing"),
    (lambda d: d["instance"]["tags"].__setitem__(0, "x"), "tags"),
    (lambda d: d["spec"][0].update(text="gnarl 1\nproblem"), "spec in the file"),
    (lambda d: d["spec"].append({"name": "../../evil name", "text": ""}), "evil"),
    (lambda d: d.update(spec=[]), "spec"),
    (lambda d: d.update(extra=1), "extra"),
]


@pytest.mark.parametrize("number", range(len(DAMAGE)))
def test_a_damaged_file_says_where(number: int, tmp_path: Path) -> None:
    problem, failure = early_cover()
    path = tmp_path / "w.json"
    witness_files.write(path, problem, failure)
    document = json.loads(path.read_text("utf-8"))
    change, word = DAMAGE[number]
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(WitnessError, match=word):
        witness_files.read(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"null"])
def test_what_is_no_witness_file_says_so(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "w.json").write_bytes(content)
    with pytest.raises(WitnessError, match=r"w\.json"):
        witness_files.read(tmp_path / "w.json")


def test_a_witness_of_another_problem_is_refused(tmp_path: Path) -> None:
    problem, failure = early_cover()
    witness_files.write(tmp_path / "w.json", problem, failure)
    with pytest.raises(WitnessError, match="mvc"):
        witness_files.replay(tmp_path / "w.json", shipped("dfs"))


# Pictures


def test_pictures_can_be_opened(tmp_path: Path) -> None:
    from PIL import Image

    problem, failure = early_cover()
    witness_pictures.write_png(tmp_path / "w.png", problem, failure)
    with Image.open(tmp_path / "w.png") as image:
        assert image.size == (480, 480)
    witness_pictures.write_dot(tmp_path / "w.dot", problem, failure)
    text = (tmp_path / "w.dot").read_text("utf-8")
    assert text.startswith("graph mvc {")
    assert text.count(" -- ") == failure.instance.graph.m
