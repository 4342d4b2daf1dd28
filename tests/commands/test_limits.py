"""Numbers beyond reason are refused before anything is built; files say everything once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import gnarl_dsl as gnarl
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.commands import check, export, solve, trace, train, view
from gnarl_runtime.commands import eval as eval_
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.readers.read import read_graphs

Capture = pytest.CaptureFixture[str]
HUGE = "9" * 20


@pytest.mark.parametrize(
    ("main", "arguments"),
    [
        (trace.main, ["mvc", "--seed", HUGE]),
        (view.main, ["mvc", "--seed", HUGE]),
        (check.main, ["mvc", "--seed", HUGE]),
        (check.main, ["mvc", "--examples", HUGE]),
        (export.main, ["bfs", "--clrs", "--seed", HUGE]),
        (export.main, ["bfs", "--clrs", "--count", HUGE]),
        (export.main, ["bfs", "--clrs", "--nodes", HUGE]),
        (eval_.main, ["--pretrained", "mvc", "--seed", HUGE]),
        (eval_.main, ["--pretrained", "mvc", "--threads", HUGE]),
        (eval_.main, ["--pretrained", "mvc", "--graphs", "999999999999"]),
        (eval_.main, ["--pretrained", "mvc", "--samples", HUGE, "--temperature", "1"]),
        (solve.main, ["--pretrained", "mvc", "--data", "x", "--threads", "99999"]),
        (train.main, ["--spec", "mvc", "--seed", HUGE]),
        (train.main, ["--spec", "mvc", "--threads", HUGE]),
        (train.main, ["--spec", "mvc", "--set", "policy.width=100000000"]),
        (train.main, ["--spec", "mvc", "--set", "policy.rounds=100000000"]),
        (train.main, ["--spec", "mvc", "--set", "data.pool=100000000000"]),
        (train.main, ["--spec", "mvc", "--set", "ppo.graphs=100000000000"]),
    ],
)
def test_numbers_beyond_reason(
    main: Callable[[list[str]], int], arguments: list[str], capsys: Capture, tmp_path: Path
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert "expected" in told or "less than or equal to" in told


@pytest.mark.parametrize(
    "make",
    [
        lambda: gnarl.make("mvc", nodes=10**9),
        lambda: gnarl.make("mvc", nodes=(4, 10**9)),
        lambda: gnarl.make_vec("mvc", num_envs=10**12, nodes=4),
        lambda: gnarl.draw("mvc", count=10**12),
        lambda: gnarl.draw("mvc", count=10_000_000, nodes=5_000),
    ],
)
def test_the_same_in_python(make: Callable[[], object]) -> None:
    with pytest.raises(GnarlError, match="expected"):
        make()


NODES = '"nodes": [{"id": 0, "w": 1}, {"id": 1, "w": 1}]'
EDGE = '[{"source": 0, "target": 1}]'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'{{{NODES}, {NODES}, "edges": {EDGE}}}', "`nodes` is given twice"),
        ('{"nodes": [{"id": 0, "w": 1, "w": 2}], "edges": []}', "`w` is given twice"),
        (f'{{{NODES}, "edges": [], "links": {EDGE}}}', "found `edges` and `links`"),
        ('{"nodes": [{"id": 0, "w": ' + "9" * 4000 + '}], "edges": []}', "must hold numbers"),
        ('{"nodes": [{"id": 0, "w": ' + "9" * 5000 + '}], "edges": []}', "digits"),
    ],
)
def test_json_says_everything_once(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "graph.json"
    file.write_text(text, "utf-8")
    with pytest.raises(InstanceError, match=told) as found:
        read_graphs(file, gnarl.load("mvc"))
    assert len(str(found.value)) < 500


def test_a_comma_for_a_point(tmp_path: Path) -> None:
    file = tmp_path / "graph.csv"
    file.write_text("a;b;1,5\nb;c;2,5\n", "utf-8")
    with pytest.raises(InstanceError, match="`1,5` is not a number"):
        read_graphs(file, gnarl.load("bellman_ford"))


def test_no_graphs_at_all(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "graph.json"
    file.write_text(json.dumps([]), "utf-8")
    for main in (view.main, solve.main):
        spec = ["--spec", "mvc"] if main is solve.main else ["mvc"]
        assert main([*spec, "--data", str(file)]) in (1, 2)
        assert "found no graphs; expected at least one" in capsys.readouterr().err
