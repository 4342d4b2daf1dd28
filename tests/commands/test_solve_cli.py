"""`gnarl-solve`: solutions in the user's own names, checked by hand, and messages for mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from checkpoints import untrained_run
from shipped_specs import shipped

from gnarl_compiler.graphs.instance import Instance
from gnarl_runtime.commands.eval import main as evaluate
from gnarl_runtime.commands.solve import main
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.evaluation.scales import rescaled, unusual_scales, usual_scales
from gnarl_runtime.evaluation.solution_text import cycle_of, in_order_of_picks
from gnarl_runtime.evaluation.solving import without_judges
from gnarl_runtime.readers.read import read_graphs

Capture = pytest.CaptureFixture[str]
PLACES = [(0, 0), (100, 0), (200, 50), (300, 300), (10, 200), (50, 90), (250, 20)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("mvc", "tsp", "bellman_ford"):
        untrained_run(folder, name)
    return folder


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    lines = [f"{k + 1} {x} {y}" for k, (x, y) in enumerate(PLACES)]
    head = f"NAME: towns\nTYPE: TSP\nDIMENSION: {len(PLACES)}\nEDGE_WEIGHT_TYPE: EUC_2D\n"
    path = tmp_path / "towns.tsp"
    path.write_text(head + "NODE_COORD_SECTION\n" + "\n".join(lines) + "\nEOF\n", "utf-8")
    return path


@pytest.fixture
def streets(tmp_path: Path) -> Path:
    """A ring of named nodes with a chord, as networkx writes it."""
    graph = nx.cycle_graph(["ant", "bee", "cat", "dog", "eel"])
    graph.add_edge("ant", "cat")
    for k, node in enumerate(graph):
        graph.nodes[node]["w"] = 0.1 * (k + 1)
    path = tmp_path / "streets.json"
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")), "utf-8")
    return path


def run(*args: object, capsys: Capture) -> tuple[int, str, str]:
    code = main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def solved(run_: Path, data: Path, *flags: str, capsys: Capture) -> dict[str, Any]:
    out = data.parent / "solution.json"
    code, _, _ = run(run_, "--data", data, "--out", out, *flags, capsys=capsys)
    assert code == 0
    (solution,) = json.loads(out.read_text("utf-8"))["solutions"]
    found: dict[str, Any] = solution
    return found


def test_a_cover_in_the_users_words(runs: Path, streets: Path, capsys: Capture) -> None:
    graph = nx.node_link_graph(json.loads(streets.read_text("utf-8")), edges="links")
    found = solved(runs / "mvc", streets, capsys=capsys)
    cover = found["state"]["in_cover"]
    assert all(u in cover or v in cover for u, v in graph.edges)
    assert found["objective"] == pytest.approx(-sum(graph.nodes[v]["w"] for v in cover))
    assert found["valid"] is True
    assert sorted(pick for (pick,) in found["picks"]) == sorted(cover)


def test_the_terminal_names_nodes_and_value(runs: Path, streets: Path, capsys: Capture) -> None:
    found = solved(runs / "mvc", streets, capsys=capsys)
    _, out, _ = run(runs / "mvc", "--data", streets, capsys=capsys)
    picked = [node for pick in found["picks"] for node in pick]
    assert sorted(picked) == sorted(found["state"]["in_cover"])
    assert ", ".join(picked) in out  # in the order of the picks
    assert f"{found['objective']:.6g}" in out
    assert "5 nodes, 6 edges" in out


def tour_length(after: dict[str, str]) -> float:
    at = {str(k + 1): np.array(place) for k, place in enumerate(PLACES)}
    return float(sum(np.linalg.norm(at[u] - at[v]) for u, v in after.items()))


@pytest.mark.parametrize("flags", [[], ["--rescale"]])
def test_a_tour_visits_every_town_and_is_as_long_as_said(
    runs: Path, towns: Path, flags: list[str], capsys: Capture
) -> None:
    found = solved(runs / "tsp", towns, *flags, capsys=capsys)
    after = found["state"]["next"]
    walk = ["1"]
    while len(walk) <= len(after):
        walk.append(after[walk[-1]])
    assert walk[-1] == "1"
    assert len(set(walk)) == len(PLACES)
    assert -found["objective"] == pytest.approx(tour_length(after), rel=1e-6)
    assert found["correct"] is None


def test_nothing_is_not_less_than_nothing(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    data = tmp_path / "free.json"
    nodes = [{"id": name, "w": 0.0} for name in "ab"]
    data.write_text(json.dumps({"nodes": nodes, "links": [{"source": "a", "target": "b"}]}))
    code, out, _ = run(runs / "mvc", "--data", data, capsys=capsys)
    assert code == 0
    assert ["cover", "0"] in [line.split() for line in out.splitlines()]


def test_samples_is_short_for_a_search(runs: Path, towns: Path, capsys: Capture) -> None:
    short = solved(runs / "tsp", towns, "--samples", "4", capsys=capsys)
    long = solved(runs / "tsp", towns, "--search", "sample:4", capsys=capsys)
    assert short["objective"] == long["objective"]
    assert short["search"] == long["search"]


def test_more_attempts_are_never_worse(runs: Path, towns: Path, capsys: Capture) -> None:
    lengths = [
        -solved(runs / "tsp", towns, "--temperature", "1", "--samples", str(k), capsys=capsys)[
            "objective"
        ]
        for k in (1, 4, 30)
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]


def test_numbers_far_from_training_are_noted(runs: Path, towns: Path, capsys: Capture) -> None:
    _, _, err = run(runs / "tsp", "--data", towns, capsys=capsys)
    assert "`A` is up to 424.3 here" in err
    assert "--rescale" in err
    _, _, err = run(runs / "tsp", "--data", towns, "--rescale", capsys=capsys)
    assert "--rescale" not in err


def test_an_evaluation_notes_the_same(runs: Path, towns: Path, capsys: Capture) -> None:
    assert evaluate([str(runs / "tsp"), "--data", str(towns), "--no-reference"]) == 0
    err = capsys.readouterr().err
    assert "note: `A` is up to 424.3 here" in err
    assert "gnarl-solve --rescale" in err
    assert evaluate([str(runs / "tsp"), "--sizes", "6", "--graphs", "2", "--no-reference"]) == 0
    assert "note: " not in capsys.readouterr().err


def test_rescaled_graphs_are_as_large_as_in_training(towns: Path) -> None:
    tsp = shipped("tsp")
    given: list[Instance] = [*read_graphs(towns, tsp)]
    (scaled,) = rescaled(tsp, given)
    assert np.abs(scaled.inputs["A"]).max() == pytest.approx(usual_scales(tsp)["A"], rel=1e-6)
    shares = scaled.inputs["A"][0, 1:] / given[0].inputs["A"][0, 1:]
    assert shares == pytest.approx(shares[0], rel=1e-5)
    assert unusual_scales(tsp, given)
    assert not unusual_scales(tsp, [scaled])


def test_only_an_end_that_compares_needs_the_reference() -> None:
    """Solving must not solve first: no oracle is read unless an episode's end depends on it."""
    for name, params, oracles in (
        ("tsp", {}, ()),
        ("mvc", {}, ()),
        ("rgc", {}, ()),
        ("bellman_ford", {"stop": "settled"}, ()),
        ("bellman_ford", {"stop": "reference"}, ("dist", "work")),
    ):
        trimmed = without_judges(shipped(name, **params))
        assert compile_for(trimmed, metrics=True).oracles == oracles


def test_a_reference_that_is_needed_is_mentioned(
    runs: Path, tmp_path: Path, capsys: Capture
) -> None:
    data = tmp_path / "roads.edges"
    data.write_text("0 1 0.5\n1 2 0.25\n0 2 0.9\n", "utf-8")
    _, out, err = run(runs / "bellman_ford", "--data", data, capsys=capsys)
    assert "-p stop=settled does without" in err
    assert "correct" in out
    _, out, err = run(runs / "bellman_ford", "--data", data, "-p", "stop=settled", capsys=capsys)
    assert "does without" not in err
    assert "correct" not in out


def test_an_episode_without_an_end_in_sight_can_be_cut_off(
    runs: Path, tmp_path: Path, capsys: Capture
) -> None:
    data = tmp_path / "roads.edges"
    data.write_text("".join(f"{k} {k + 1} 0.5\n" for k in range(9)), "utf-8")
    flags = ("--data", data, "-p", "stop=settled", "--max-rounds", "3")
    _, out, _ = run(runs / "bellman_ford", *flags, capsys=capsys)
    assert "cut off" in out
    code, _, err = run(runs / "bellman_ford", *flags[:-1], "0", capsys=capsys)
    assert code == 2
    assert "--max-rounds 0: expected 1 or more" in err


@pytest.mark.parametrize(
    ("after", "cycle"),
    [
        ([1, 2, 0], [0, 1, 2, 0]),
        ([2, 0, 1], [0, 2, 1, 0]),
        ([1, 0, 2], []),
        ([0, 1, 2], []),
        ([1, 2, 1], []),
    ],
)
def test_one_cycle_through_all_nodes_is_told_from_other_pointers(
    after: list[int], cycle: list[int]
) -> None:
    assert cycle_of(np.array(after), shipped("tsp"), "next") == cycle


@pytest.mark.parametrize(
    ("name", "data", "flags", "code", "said"),
    [
        ("tsp", "streets", [], 1, "expected all of them (a complete graph)"),
        ("mvc", "streets", ["--out", "nowhere/a.json"], 2, "there is no folder nowhere"),
        ("mvc", "streets", ["--samples", "0"], 2, "expected 1 or more"),
        ("mvc", "streets", ["--samples", "2", "--search", "exact"], 2, "--samples is sample:K"),
        ("mvc", "streets", ["--search", "sampel:4"], 2, "Did you mean `sample`?"),
        ("mvc", "streets", ["--search", "beam"], 2, "expected beam:W"),
        ("mvc", "streets", ["--search", "beam:2", "--temperature", "1"], 2, "says nothing to beam"),
        ("mvc", "streets", ["--search", "sample:2", "--temperature", "0"], 2, "above 0"),
        (
            *("mvc", "streets", ["--search", "picks", "--samples", "2", "--temperature", "1"]),
            *(2, "expected one of them"),
        ),
        ("mvc", "streets", ["--spec", "tsp"], 1, "is only in the second"),
        ("mvc", "streets", ["-p", "eps=high"], 2, "eps"),
        ("mvc", "missing", [], 2, "there is no such file"),
        ("mvc", "odd", [], 1, "unknown kind of file"),
        ("nothing", "streets", [], 2, "expected a run folder"),
    ],
)
def test_mistakes_are_explained(
    runs: Path,
    streets: Path,
    name: str,
    data: str,
    flags: list[str],
    code: int,
    said: str,
    capsys: Capture,
) -> None:
    odd = streets.with_name("a.odd")
    odd.write_text("?", "utf-8")
    files = {"streets": streets, "missing": streets.with_name("b.json"), "odd": odd}
    found, out, err = run(runs / name, "--data", files[data], *flags, capsys=capsys)
    assert (found, out) == (code, "")
    assert said in err


def test_improvements_are_shown_and_the_search_is_told(
    runs: Path, towns: Path, capsys: Capture
) -> None:
    flags = ("--search", "work:400")
    code, out, err = run(runs / "tsp", "--data", towns, *flags, capsys=capsys)
    assert code == 0
    shown = [line for line in err.splitlines() if "decisions" in line]
    values = [float(line.partition("tour ")[2].partition(",")[0]) for line in shown]
    assert values == sorted(values)
    assert f"tour     {values[-1]:.6g}" in out.replace("tour        ", "tour     ")
    assert "work:400" in out
    found = solved(runs / "tsp", towns, *flags, capsys=capsys)
    assert found["search"] == "work:400"
    assert 0 < found["decisions"] <= 400
    assert found["proven"] is False
    best = solved(runs / "tsp", towns, capsys=capsys)
    assert found["objective"] >= best["objective"]
    scaled = solved(runs / "tsp", towns, *flags, "--rescale", capsys=capsys)
    assert scaled["objective"] == pytest.approx(found["objective"], rel=0.2)


def test_a_spec_is_solved_without_a_policy(towns: Path, capsys: Capture) -> None:
    code, out, _ = run("--spec", "tsp", "--data", towns, capsys=capsys)
    assert code == 0
    assert "work:2000" in out
    code, _, err = run("--spec", "tsp", "--data", towns, "--search", "beam:2", capsys=capsys)
    assert code == 2
    assert "asks a trained policy" in err
    code, _, err = run("--spec", "tsp", "--data", towns, "--temperature", "1", capsys=capsys)
    assert code == 2
    assert "there is none" in err
    code, _, err = run("--data", towns, capsys=capsys)
    assert code == 2
    assert "--pretrained" in err


def test_nodes_are_listed_as_they_were_picked() -> None:
    assert in_order_of_picks([0, 2, 3, 5], [5, 2, 0, 5]) == [3, 5, 2, 0]
