"""Self-improvement or PPO at equal CPU time? Specs in, what each learns on the same graphs out.

    python -m benchmarks.studies.improve [SPEC ...] [--minutes 2] [--seed 0] [--runs DIR]

Both train the policy of the spec's PPO recipe from nothing, for as many updates as fit into the CPU
minutes, the last ones at a learning rate near 0; the weights that do best on the validation graphs
play fresh graphs of the validation size. Neither is shown an expert's picks but for those that
self-improvement counts among its candidates. The table and its JSON go to docs/results/improve;
specs that are not asked for keep their rows.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gnarl_dsl as gnarl
from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import ROOT, load_average, provenance, short
from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy, load_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import load_recipe, set_keys
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.evaluation.evaluate import FRESH, without_metrics
from gnarl_runtime.evaluation.paired import judged, paired
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.players import ExpertPlayer, Player, PolicyPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.training.trainers import make_trainer

NAME = "improve"
TRAINERS = ("ppo", "improve")
GRAPHS = 300
CALIBRATED = 6.0  # CPU seconds of updates from which the time of one is known
POOL = 2_000  # instances to learn from
RECIPES: Mapping[str, str] = {"mvc": "mvc", "tsp": "tsp_ppo", "rgc": "rgc_ppo"}
OTHERS = "gallery_ppo"
SPECS = (
    *("mvc", "tsp", "rgc", "max_cut", "min_dominating_set", "orienteering"),
    *("graph_colouring", "steiner_tree"),
)


def main(arguments: list[str] | None = None) -> int:
    """Train both ways, play, write after every spec."""
    options = parse_options(arguments)
    prepare_torch(1)
    rows = {row["spec"]: row for row in kept_rows(options.output)}
    for spec in options.specs or SPECS:
        rows[spec] = row_of(spec, options)
        publish(options.output, NAME, lines_of([*rows.values()]), {"rows": [*rows.values()]})
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("specs", nargs="*", metavar="SPEC")
    parser.add_argument("--runs", type=Path, default=ROOT / "build" / "improve", metavar="DIR")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def kept_rows(folder: Path) -> list[dict[str, Any]]:
    file = folder / f"{NAME}.json"
    return list(json.loads(file.read_text("utf-8"))["rows"]) if file.is_file() else []


def row_of(spec: str, options: argparse.Namespace) -> dict[str, Any]:
    """Both trainers on one spec."""
    recipe = load_recipe(RECIPES.get(spec, OTHERS))
    problem = gnarl.load(spec, **recipe.params)
    runs = {name: trained_run(spec, problem, recipe, name, options) for name in TRAINERS}
    policies = {name: load_checkpoint(run / "best.safetensors") for name, run in runs.items()}
    return {
        "spec": spec,
        "recipe": RECIPES.get(spec, OTHERS),
        "minutes": options.minutes,
        "seed": options.seed,
        "updates": {name: updates_of(own) for name, own in policies.items()},
        **measured(problem, policies, options.seed),
        "written": provenance(load=load_average()),
    }


def updates_of(trained: TrainedPolicy) -> int:
    recipe = trained.meta.recipe
    return int(getattr(recipe, recipe.parts[-1]).updates)


def trained_run(
    spec: str, problem: Problem, recipe: Recipe, trainer: str, options: argparse.Namespace
) -> Path:
    """The run folder, trained now unless it is there."""
    run = Path(options.runs) / f"{spec}-{trainer}"
    if not (run / "last.safetensors").is_file():
        own = set_keys(recipe, {"trainer": trainer, "data.pool": POOL})
        own = set_keys(own, {"validation.graphs": 100, "validation.nodes": None})
        count = max(8, int(60 * options.minutes / cpu_seconds(problem, own, options.seed)))
        say(f"{spec}, {trainer}: {count:,} updates")
        own = set_keys(own, {f"{trainer}.updates": count, "validation.every": max(1, count // 10)})
        gnarl.train(problem, recipe=own, seed=options.seed, out=run)
    return run


def cpu_seconds(problem: Problem, recipe: Recipe, seed: int) -> float:
    """Of an update, measured on a trainer that is thrown away."""
    trainer = make_trainer(problem, recipe, seed)
    trainer.update()
    began, count = time.process_time(), 0
    while time.process_time() - began < CALIBRATED or count < 2:
        trainer.update()
        count += 1
    return (time.process_time() - began) / count


def measured(problem: Problem, policies: Mapping[str, TrainedPolicy], seed: int) -> dict[str, Any]:
    """Both policies and the experts that read no oracle, on the same fresh graphs."""
    experts = free_experts(problem)
    compiled = compile_for(without_metrics(problem), None, experts, metrics=True)
    pool = draw_pool(
        compiled.problem,
        count=GRAPHS,
        seed=FRESH + 9_000 + seed,
        split="valid",
        oracles=compiled.oracles,
    )
    players: dict[str, Player] = {
        **{name: PolicyPlayer(own.policy, None, seed) for name, own in policies.items()},
        **{name: ExpertPlayer(name, seed) for name in experts},
    }
    outcomes = [play_with(player, compiled, pool) for player in players.values()]
    scores = dict(zip(players, judged(outcomes, bool(problem.objectives)), strict=True))
    rival = max(experts, key=lambda name: float(scores[name].mean()), default=None)
    found = paired(scores["improve"], scores["ppo"])
    return {
        "nodes": int(pool.batch.n.max()),
        **{name: float(scores[name].mean()) for name in TRAINERS},
        "rival": rival,
        "expert": float(scores[rival].mean()) if rival else None,
        "difference": [found.mean, found.low, found.high],
        "standing": found.standing,
    }


# The page


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    """One line per spec."""
    heads = ["spec", "nodes", "CPU min", "`ppo`", "`improve`", "best expert"]
    heads += ["`improve` minus `ppo`, 95 % interval", "better"]
    out = [
        "# Self-improvement beside PPO",
        "",
        "    python -m benchmarks.studies.improve [SPEC ...] [--minutes 2]",
        "",
        "Both from nothing, the same network, as many updates as fit into the CPU minutes, one "
        f"seed; mean objective of best picks on {GRAPHS} fresh graphs, higher is better. The "
        "interval is that of the difference graph by graph: it does not know how much seeds "
        "differ, and two minutes say nothing of longer runs.",
        "",
        _line(heads),
        _line(["---"] * len(heads)),
        *(_line(_cells(row)) for row in rows),
        "",
    ]
    commits = sorted({short(row["written"]["commit"]) for row in rows})
    return [*out, f"Made at commit {', '.join(commits)}."]


def _cells(row: Mapping[str, Any]) -> list[str]:
    mean, low, high = row["difference"]
    word = {"ahead": "`improve`", "behind": "`ppo`", "level": "cannot be told"}[row["standing"]]
    expert = "–" if row["expert"] is None else f"{row['expert']:.4g} ({row['rival']})"
    return [
        row["spec"],
        str(row["nodes"]),
        f"{row['minutes']:g}",
        f"{row['ppo']:.4g}",
        f"{row['improve']:.4g}",
        expert,
        f"{mean:+.3g} ({low:+.3g} to {high:+.3g})",
        word,
    ]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
