"""`gnarl-new`: every answer gives a spec that is in order, and nothing is ever overwritten."""

from __future__ import annotations

import io
import itertools
import sys
from pathlib import Path

import pytest

import gnarl_dsl as gnarl
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_text
from gnarl_runtime.commands.train import main as train
from gnarl_runtime.starters.choices import QUESTIONS, Goal, Graphs, Picked
from gnarl_runtime.starters.first_spec import first_spec
from gnarl_runtime.starters.new import main

ALL = list(itertools.product(Picked, Goal, Graphs))
# One of each kind of graph, of each thing that is picked, of both goals.
FEW = [
    (Picked.NODES, Goal.BEST, Graphs.COMPLETE),
    (Picked.EDGES, Goal.RIGHT, Graphs.DIRECTED),
    (Picked.ORDER, Goal.BEST, Graphs.HUBS),
]
REST = [chosen for chosen in ALL if chosen not in FEW]
Capture = pytest.CaptureFixture[str]


def ids(chosen: object) -> str | None:
    return chosen.value if isinstance(chosen, Picked | Goal | Graphs) else None


@pytest.mark.parametrize(("picked", "goal", "graphs"), ALL, ids=ids)
def test_it_compiles_and_is_in_house_style(picked: Picked, goal: Goal, graphs: Graphs) -> None:
    text = first_spec("first", picked, goal, graphs)
    checked = check_text(text)
    assert checked.problem is not None
    assert checked.diagnostics == ()
    assert bool(checked.problem.objectives) == (goal is Goal.BEST)
    assert format_text(text) == text
    assert text.count("#") >= 5
    assert len(text.splitlines()) <= 50


def _passes(picked: Picked, goal: Goal, graphs: Graphs) -> None:
    report = gnarl.check(check_problem(picked, goal, graphs), fast=True)
    assert report.ok, report


def check_problem(picked: Picked, goal: Goal, graphs: Graphs) -> gnarl.Problem:
    return gnarl.loads(first_spec("first", picked, goal, graphs))


@pytest.mark.parametrize(("picked", "goal", "graphs"), FEW[:2], ids=ids)
def test_it_passes_its_check(picked: Picked, goal: Goal, graphs: Graphs) -> None:
    _passes(picked, goal, graphs)


@pytest.mark.long
@pytest.mark.parametrize(("picked", "goal", "graphs"), [FEW[2], *REST], ids=ids)
def test_the_others_pass_as_well(picked: Picked, goal: Goal, graphs: Graphs) -> None:
    _passes(picked, goal, graphs)


@pytest.mark.long
@pytest.mark.parametrize(("picked", "goal", "graphs"), ALL, ids=ids)
def test_it_can_be_trained(picked: Picked, goal: Goal, graphs: Graphs, tmp_path: Path) -> None:
    path = tmp_path / "first.gnarl"
    path.write_text(first_spec("first", picked, goal, graphs), "utf-8")
    budget = ["--minutes", "0.02", "--set", "pool=20", "--out", str(tmp_path / "run")]
    assert train(["--spec", str(path), *budget]) == 0
    assert (tmp_path / "run" / "best.safetensors").is_file()


# The command


def answer(monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))


def test_three_answers_write_a_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    answer(monkeypatch, "1\nbe\nnothing of this\nhubs\n")
    assert main(["guards"]) == 0
    assert Path("guards.gnarl").read_text("utf-8") == first_spec(
        "guards", Picked.NODES, Goal.BEST, Graphs.HUBS
    )
    shown = capsys.readouterr()
    assert all(question.asks in shown.err for question in QUESTIONS)
    assert "Expected one of random, hubs," in shown.err
    assert "gnarl-train --spec guards.gnarl" in shown.out


def test_flags_answer_and_print_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    answer(monkeypatch, "")
    chosen = ["--picks", "order", "--goal", "right", "--graphs", "directed"]
    assert main(["plan", *chosen, "--print"]) == 0
    assert capsys.readouterr().out == first_spec("plan", Picked.ORDER, Goal.RIGHT, Graphs.DIRECTED)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("there", "is there already"),
        ("there.gnarl", "is there already"),
        ("my-guards", "Did you mean my_guards?"),
        ("graph", "a word of the language"),
        ("a" * 101, "Shorten it"),
        ("no/such/folder", "there is no folder no/such"),
        ("", "expected a name"),
        ("fresh", "say --picks {nodes,edges,order}"),
    ],
)
def test_what_cannot_be_written_is_left(
    name: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    answer(monkeypatch, "")
    Path("there.gnarl").write_text("mine", "utf-8")
    assert main([name]) == 2
    assert told in capsys.readouterr().err
    assert Path("there.gnarl").read_text("utf-8") == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["there.gnarl"]
