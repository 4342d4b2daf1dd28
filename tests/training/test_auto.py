"""Recipes that nobody gave: who is imitated, which setting wins, what is said in the end."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_runtime.api import larger_graphs, train_policy
from gnarl_runtime.api import verdict as verdicts
from gnarl_runtime.api.larger_graphs import Larger
from gnarl_runtime.api.train_policy import Request
from gnarl_runtime.api.training_texts import standings_table
from gnarl_runtime.api.verdict import (
    Placing,
    Verdict,
    judge,
    read_verdict,
    verdict_text,
    write_verdict,
)
from gnarl_runtime.checkpoints.recipe import Recipe, Validation
from gnarl_runtime.checkpoints.recipe_files import set_keys
from gnarl_runtime.commands.solve import main as solve_main
from gnarl_runtime.commands.train import main
from gnarl_runtime.evaluation.evaluate import FRESH
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.network.policy_config import PolicyConfig
from gnarl_runtime.search.strategy import OPENING, PICKS
from gnarl_runtime.training.auto import auto, standings
from gnarl_runtime.training.auto.auto import Wish, decide
from gnarl_runtime.training.auto.choice import RANDOM, Choice, Heat, Standing
from gnarl_runtime.training.auto.race import endless, run_race
from gnarl_runtime.training.auto.standings import find_standings
from gnarl_runtime.training.fresh import fresh_policy
from gnarl_runtime.training.validate import Scores


def standing(name: str, success: float, reward: float, reads_oracle: bool = False) -> Standing:
    value = reward if success else None
    return Standing(
        name=name,
        success=success,
        reward=reward,
        steps=5.0,
        objective=value,
        reads_oracle=reads_oracle,
    )


# Who is imitated


def test_the_best_expert_is_imitated_whatever_its_place() -> None:
    mvc = shipped("mvc")
    chance = standing(RANDOM, 1.0, -7.0)
    expert, why = decide(mvc, [chance, standing("first", 1.0, -6.0), standing("second", 1.0, -4.0)])
    assert expert == "second"
    assert "starting from second" in why
    assert "-4 against -7" in why


def test_an_expert_that_is_no_better_than_chance_is_not() -> None:
    expert, why = decide(shipped("mvc"), [standing(RANDOM, 1.0, -5.0), standing("e", 1.0, -6.0)])
    assert expert is None
    assert "no expert is better than random picks" in why


def test_where_an_answer_is_right_the_one_who_is_right_most_often_is() -> None:
    players = [standing(RANDOM, 0.1, 0.0), standing("a", 0.6, 9.0), standing("b", 0.9, 0.0)]
    expert, why = decide(shipped("bfs"), players)
    assert expert == "b"
    assert "90 % right" in why


def test_without_experts_there_is_nobody_to_imitate() -> None:
    assert decide(shipped("mvc"), [standing(RANDOM, 1.0, -5.0)])[0] is None


def test_those_to_be_beaten_read_no_oracle() -> None:
    players = (standing(RANDOM, 1, 0), standing("knows", 1, 9, True), standing("plain", 1, 3))
    choice = Choice(standings=players, why="")
    assert choice.free is not None
    assert choice.free.name == "plain"


def test_everybody_plays_the_validation_graphs() -> None:
    recipe = Recipe(validation=Validation(graphs=10, nodes=6))
    found = find_standings(shipped("tsp"), recipe, 0, lambda *_: None)
    by_name = {entry.name: entry for entry in found}
    assert list(by_name) == [RANDOM, "optimal", "christofides", "nearest", "weak"]
    assert by_name["optimal"].reads_oracle
    assert not by_name["nearest"].reads_oracle
    best = max(entry.objective or -np.inf for entry in found)
    assert by_name["optimal"].objective == pytest.approx(best)
    assert {entry.graphs for entry in found} == {10}


def test_slow_experts_play_a_few_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "SECONDS", -1.0)
    mvc, recipe = shipped("mvc"), Recipe(validation=Validation(graphs=30, nodes=(5, 6)))
    found = find_standings(mvc, recipe, 0, tell)
    assert {entry.graphs for entry in found} == {2 * standings.FEW}
    assert "on 20 validation graphs" in standings_table(mvc, found)


# Time


def test_instances_are_as_many_as_can_be_drawn_in_a_share_of_the_time() -> None:
    for name, pool in (("rgc", 1_000), ("mvc", None)):  # 10,000 and 1,000 by their specs
        wish = Wish(shipped(name), Recipe(), 0, minutes=0.1)
        assert auto._affordable(wish, wish.base, each=0.1).data.pool == pool
        assert auto._affordable(wish, wish.base, each=1e-6).data.pool is None


def test_the_time_of_an_update_is_measured_on_few_instances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow(Learner):
        def update(self) -> dict[str, float]:
            time.sleep(0.02)
            return super().update()

    made: list[tuple[Recipe, Slow]] = []

    def make(problem: gnarl.Problem, recipe: Recipe, seed: int) -> Slow:
        made.append((recipe, Slow(0.5)))
        return made[-1][1]

    monkeypatch.setattr(train_policy, "make_trainer", make)
    monkeypatch.setattr(train_policy, "CALIBRATION", 0.01)
    request = Request(shipped("rgc"), Recipe(trainer="bc+improve"), "auto")
    assert train_policy.seconds_per_update(request, "improve", 0.1) > 0.01
    [(recipe, trainer)] = made
    assert recipe.data.pool == 1_000
    assert recipe.parts == ("improve",)
    assert trainer.done == 2  # one that may compile, one that is measured: no time for a third


# The race


class Learner:
    """Its weights are a number that grows by what its setting says."""

    updates = 1_000_000

    def __init__(self, rate: float) -> None:
        self.rate, self.done = rate, 0
        self.policy = Policy(shipped("mvc"), PolicyConfig(width=2, rounds=1))

    def update(self) -> dict[str, float]:
        self.done += 1
        return {"loss": float("nan") if self.rate < 0 else 1.0}

    def best_policy(self) -> float:
        return self.rate


class Judge:
    def scores(self, policy: float) -> Scores:
        return Scores(1.0, policy, 3.0)


@pytest.mark.parametrize("rates", [[0.1, 0.5, 0.3], [0.5], [-1.0, 0.2], [0.4, 0.1, 0.4, 0.2]])
def test_the_best_setting_wins_and_those_that_come_apart_are_out(rates: list[float]) -> None:
    settings = [({"bc.lr": abs(rate)}, Recipe(doc=str(rate))) for rate in rates]
    winner, heats = run_race(
        shipped("mvc"),
        settings,
        lambda problem, recipe: Learner(float(recipe.doc)),  # type: ignore[arg-type,return-value]
        Judge(),  # type: ignore[arg-type]
        0.02,
        lambda *_: None,
    )
    assert winner == rates.index(max(rates))
    assert len(heats) >= len([rate for rate in rates if rate >= 0])
    assert all(heat.reward >= 0 for heat in heats)


def test_where_one_update_takes_all_the_time_nobody_else_runs() -> None:
    class Slow(Learner):
        def update(self) -> dict[str, float]:
            began = time.process_time()
            while time.process_time() - began < 0.02:
                pass
            return super().update()

    trainers: list[Slow] = []

    def make(problem: gnarl.Problem, recipe: Recipe) -> Slow:
        trainers.append(Slow(float(recipe.doc)))
        return trainers[-1]

    settings = [({"bc.lr": rate}, Recipe(doc=str(rate))) for rate in (0.1, 0.5, 0.3)]
    own = make, Judge(), 0.01, tell
    winner, heats = run_race(shipped("mvc"), settings, *own)  # type: ignore[arg-type]
    assert winner == 0
    assert len(heats) == 1
    assert [trainer.done for trainer in trainers] == [2, 0, 0]


def heat(reward: float, **setting: str | int | float | bool) -> Heat:
    return Heat(setting=setting, seconds=1.0, updates=9, success=1.0, reward=reward, steps=5.0)


def raced(*heats: Heat) -> auto._Raced:
    return auto._Raced(Recipe(), heats, heats[-1] if heats else None)


def test_who_taught_best_is_imitated_first_unless_rewards_taught_more() -> None:
    rule, oracle = standing("rule", 1.0, -4.0), standing("optimal", 1.0, -3.0, reads_oracle=True)
    players = [standing(RANDOM, 1.0, -9.0), oracle, rule]
    starts = [(heat(-5.4), oracle), (heat(-4.6), rule)]
    assert auto._best_start(heat(-4.9), starts, players) == "rule"
    assert auto._best_start(heat(-4.0), starts, players) is None
    assert auto._best_start(None, starts, players) == "rule"  # all settings came apart
    assert auto._best_start(heat(-4.9), [], players) is None
    # As good as equal: imitation is for a fifth of the time, but for most of it with an oracle.
    assert auto._best_start(heat(-4.5), starts, players) == "rule"
    assert auto._best_start(heat(-5.3), starts[:1], players) is None


@pytest.mark.parametrize(
    ("taught", "place", "start", "trainer", "ppo"),
    [
        ({"optimal": -6.0, "cheapest": -3.0}, 0, "cheapest", "bc+ppo+improve", 0.8 * 0.65),
        ({"optimal": -2.0, "cheapest": -3.0}, 0, "optimal", "bc+ppo+improve", 0.4 * 0.65),
        ({"optimal": -6.0, "cheapest": -7.0}, 0, None, "ppo+improve", 0.65),
        ({"optimal": -6.0, "cheapest": -7.0}, -1, None, "ppo+improve", 0.5),  # improve won
    ],
)
def test_the_recipe_follows_from_both_races(
    taught: dict[str, float],
    place: int,
    start: str | None,
    trainer: str,
    ppo: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def race(wish: Wish, recipe: Recipe, settings: list[auto.Setting], *rest: object) -> object:
        name = settings[0].get("bc.expert")
        found = set_keys(recipe, settings[place])
        return replace(raced(heat(taught[str(name)] if name else -4.0)), recipe=found)

    monkeypatch.setattr(auto, "_race", race)
    problem = shipped("min_dominating_set")
    free = [expert.name for expert in problem.experts if expert.name != "optimal"]
    players = [standing(RANDOM, 1.0, -9.0), standing("optimal", 1.0, -1.0, reads_oracle=True)]
    players += [standing(name, 1.0, -2.0 - (name != "cheapest")) for name in free]
    base = Recipe(validation=Validation(nodes=8))
    chosen = auto.choose_recipe_for(Wish(problem, base, 0, 1.0), players, tell)
    assert chosen.choice.expert == start
    assert chosen.recipe.trainer == trainer
    assert sum(chosen.shares) == pytest.approx(1.0)
    assert chosen.shares[chosen.recipe.parts.index("ppo")] == pytest.approx(ppo)
    if start is not None:
        assert chosen.recipe.bc.expert == start
        assert chosen.recipe.bc.expert_share == (1.0 if start == "optimal" else 0.25)


def test_a_race_knows_no_end() -> None:
    assert endless(Recipe(trainer="bc+improve")).improve.updates > 100_000


# What is said


def placing(name: str, value: float, success: float = 1.0) -> Placing:
    return Placing(name=name, success=success, steps=4.0, value=value)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("ahead", "ahead of the expert greedy"),
        ("level", "cannot be told apart"),
        ("behind", "BEHIND the expert greedy"),
    ],
)
def test_a_verdict_in_words(word: str, said: str) -> None:
    players = (placing("policy", -3.0), placing("greedy", -2.0), placing(RANDOM, -2.5))
    verdict = Verdict(graphs=100, placings=players, rival="greedy", word=word)  # type: ignore[arg-type]
    text = verdict_text(verdict, shipped("mvc"))
    assert said in text
    assert ("worse than random picks" in text) == (word != "ahead")
    assert verdict.behind == ("greedy" if word == "behind" else None)


def test_an_untrained_policy_is_behind_the_expert() -> None:
    problem = shipped("max_independent_set")
    recipe = Recipe(
        policy=PolicyConfig(width=4, rounds=1), validation=Validation(graphs=60, nodes=12)
    )
    policy = fresh_policy(problem, recipe, 0)
    verdict = judge(policy, problem, recipe, 0)
    assert verdict.word == "behind"
    assert verdict.interval[1] < 0
    assert verdict.optimum is not None
    assert verdict.optimum.policy <= verdict.optimum.best
    optimal = find_standings(
        problem, Recipe(validation=Validation(graphs=20, nodes=8)), FRESH, tell
    )
    [reference] = [entry.objective for entry in optimal if entry.name == "optimal"]
    assert verdict.optimum.graphs == 20
    assert verdict.optimum.best == pytest.approx(reference)
    text = verdict_text(verdict, problem)
    assert "proven on 20 of 20" in text
    assert [own.nodes for own in verdict.larger] == [24, 48]
    assert verdict.larger[1].word == "behind"
    assert "also BEHIND" in text
    assert "48 nodes" in text.splitlines()[-1]


def test_a_verdict_takes_its_time_where_experts_are_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = shipped("max_independent_set")
    recipe = Recipe(
        policy=PolicyConfig(width=4, rounds=1), validation=Validation(graphs=60, nodes=12)
    )
    policy = fresh_policy(problem, recipe, 0)
    monkeypatch.setattr(verdicts, "SECONDS", -1.0)
    assert judge(policy, problem, recipe, 0).graphs == verdicts.FEW
    monkeypatch.setattr(larger_graphs, "_GROWTH", 0.0)  # a guess that is far off
    monkeypatch.setattr(larger_graphs, "_SECONDS", -1.0)
    assert judge(policy, problem, recipe, 0).larger
    assert not judge(policy, problem, recipe, 0, trained=-1.0).larger


def larger(nodes: int, word: str) -> Larger:
    return Larger(
        nodes=nodes,
        graphs=30,
        rival="greedy",
        policy=-3.0,
        expert=-2.0,
        word=word,  # type: ignore[arg-type]
        difference=-1.0,
        interval=(-1.5, -0.5),
    )


def test_a_verdict_speaks_of_the_size_that_is_nearest() -> None:
    players = (placing("policy", -2.0), placing("greedy", -2.5), placing(RANDOM, -4.0))
    sizes = (larger(32, "level"), larger(64, "behind"))
    verdict = Verdict(
        graphs=100, placings=players, rival="greedy", word="ahead", nodes=16, larger=sizes
    )
    found = {n: verdict.behind_at(n) for n in (1, 16, 40, 50, 64, 1000)}
    assert found == {1: None, 16: None, 40: None, 50: "greedy", 64: "greedy", 1000: "greedy"}
    assert "ahead of the expert greedy" in verdict_text(verdict, shipped("mvc"))
    assert "but BEHIND greedy on graphs of 64 nodes" in verdict_text(verdict, shipped("mvc"))


def tell(what: str, done: int, total: int) -> None:
    """Nobody listens."""


def test_an_objective_that_is_no_number_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = gnarl.load("mvc").sources[0].text
    large = " * 1e30" * 11
    lines = [line + large if line.startswith("objective") else line for line in text.splitlines()]
    spec = tmp_path / "large.gnarl"
    spec.write_text("\n".join(lines).replace("problem mvc", "problem large") + "\n")
    assert main(["--spec", str(spec), "--minutes", "0.05", "--out", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().err
    number = 1 + next(k for k, line in enumerate(lines) if line.startswith("objective"))
    assert f"large.gnarl:{number}: cover: its value is -inf" in told
    assert not (tmp_path / "run").exists()


# All of it


@pytest.mark.long  # the tutorial trains in this way, too
def test_a_spec_without_a_recipe_is_trained_and_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = gnarl.load("max_cut").sources[0].text.replace("problem max_cut", "problem own_cut")
    Path("own.gnarl").write_text(text.replace("{8..16}", "{5..6}").replace("n = 16", "n = 6"))
    small = ["policy.width=8", "data.pool=64", "validation.graphs=20", "improve.graphs=8"]
    sets = [part for entry in small for part in ("--set", entry)]
    assert main(["--spec", "own.gnarl", "--minutes", "0.05", *sets]) == 0
    out = capsys.readouterr().out
    assert "random picks" in out
    assert "starting from" in out
    assert "chosen by a race" in out
    assert "fresh graphs" in out
    run = Path("runs/own_cut-seed0")
    config = json.loads((run / "config.json").read_text())
    assert config["recipe"]["policy"]["width"] == 8  # what was set stays
    assert config["choice"]["heats"]
    assert read_verdict(run) is not None
    assert main(["--spec", "own.gnarl", "--minutes", "0.05", *sets]) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_policy_that_is_behind_does_not_solve_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    small = {"data.pool": 8, "policy.width": 4, "improve.updates": 1, "improve.graphs": 4}
    overrides = {"trainer": "improve", **small, "validation.graphs": 60, "improve.experts": False}
    gnarl.train("max_independent_set", recipe="auto", overrides=overrides, out=run)
    verdict = read_verdict(run)
    assert verdict is not None
    assert verdict.behind
    graph = tmp_path / "graph.json"
    path = [{"source": k, "target": k + 1} for k in range(11)]
    nodes = [{"id": k, "w": (k * 7 % 5) + 1.0} for k in range(12)]
    graph.write_text(json.dumps({"nodes": nodes, "links": path}))
    values = {}
    for name, more in {"both": [], "alone": ["--search", "picks"]}.items():
        assert solve_main([str(run), "--data", str(graph), *more]) == 0
        printed = capsys.readouterr()
        assert (f"behind the expert {verdict.behind}" in printed.err) == (name == "both")
        [line] = [row for row in printed.out.splitlines() if row.split()[0] == "weight"]
        values[name] = float(line.split()[1])
    assert values["both"] >= values["alone"]
    # The same policy, had it been behind on larger graphs only.
    sizes = {"word": "ahead", "larger": (larger(48, "behind"),)}
    write_verdict(run, verdict.model_copy(update=sizes))
    large = nx.path_graph(50)
    for k in large:
        large.nodes[k]["w"] = 1.0
    small_one = nx.path_graph(10)
    for k in small_one:
        small_one.nodes[k]["w"] = 1.0
    alone, helped = gnarl.solve(run, [small_one, large])
    assert alone.episode.search == PICKS
    assert helped.episode.search == OPENING
    assert "(50 nodes)" in helped.notes[0]
    assert [own.episode.search for own in gnarl.solve(run, [large, small_one], search="picks")] == [
        PICKS,
        PICKS,
    ]
    told = str(gnarl.evaluate(run, sizes=[10, 50], graphs=2, metrics=False))
    assert "behind `greedy` on graphs of about 50 nodes" in told
    assert "about 10 nodes" not in told
