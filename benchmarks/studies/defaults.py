"""What does training without a recipe come to? Specs in; policy, experts and optimum out.

    python -m benchmarks.studies.defaults [SPEC ...] [--runs DIR] [--minutes 5] [--seed 0]

Each spec is trained by `gnarl-train --recipe auto --minutes 5`, unless its run is in DIR already,
and plays fresh graphs of its training size and of four times as many nodes beside the best expert
that reads no oracle and random picks. The optimum is proven by exact search where that ends;
elsewhere it is the best that anybody found, a search of 2,000 decisions included, and counted as
such. Without SPEC: all shipped ones, the gallery, and five that no setting was tuned on
(benchmarks/studies/unseen). The table and its JSON go to docs/results/defaults; specs that are not
asked for keep their rows. A size that takes longer than --limit is played on a tenth of the graphs;
if that takes longer, too, the page says so instead. Only --searched graphs of training size are
searched for two seconds each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import ROOT, load_average, provenance, short
from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy, load_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation.evaluate import FRESH, without_metrics
from gnarl_runtime.instances.pools import Pool, draw_pool
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.limits import TookTooLong, within
from gnarl_runtime.search.outcomes import Outcomes
from gnarl_runtime.search.players import ExpertPlayer, Player, PolicyPlayer, RandomPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Drivers, Progress

NAME = "defaults"
UNSEEN = ROOT / "benchmarks" / "studies" / "unseen"
GRAPHS = {1: 100, 4: 30}  # by how many times the nodes of training
SEARCHED = 20  # graphs of training size that are searched for two seconds each
LIMIT = 900.0  # CPU seconds that playing and searching all graphs of a size may take
FEWER = 10  # times fewer graphs where that is not enough
PROOF = Strategy("exact", 60_000)
KNOWN = Strategy("work", 2_000)
SHORT = Strategy("time", 2.0)
Values = NDArray[np.float64]


def main(arguments: list[str] | None = None) -> int:
    """Train what is not trained, play, write after every spec."""
    options = parse_options(arguments)
    prepare_torch(1)
    rows = {row["spec"]: row for row in kept_rows(options.output)}
    for spec in options.specs or all_specs():
        say(spec.stem)
        run = trained_run(spec, options)
        row = row_of(load_checkpoint(run / "best.safetensors"), run, options)
        row |= {
            "unseen": spec.resolve().parent == UNSEEN,
            "minutes": options.minutes,
            "seed": options.seed,
        }
        rows[row["spec"]] = row | {"written": provenance(load=load_average())}
        publish(options.output, NAME, lines_of([*rows.values()]), {"rows": [*rows.values()]})
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("specs", nargs="*", type=Path, metavar="SPEC")
    parser.add_argument("--runs", type=Path, default=ROOT / "build" / "defaults", metavar="DIR")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--searched", type=int, default=SEARCHED, metavar="GRAPHS")
    told = f"CPU seconds for playing the graphs of a size (default {LIMIT:g})"
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="S", help=told)
    return parser.parse_args(arguments)


def all_specs() -> list[Path]:
    folders = (ROOT / "specs", ROOT / "specs" / "gallery", UNSEEN)
    return [path for folder in folders for path in sorted(folder.glob("*.gnarl"))]


def kept_rows(folder: Path) -> list[dict[str, Any]]:
    file = folder / f"{NAME}.json"
    return list(json.loads(file.read_text("utf-8"))["rows"]) if file.is_file() else []


def trained_run(spec: Path, options: argparse.Namespace) -> Path:
    """The run folder of a spec, trained now unless it is there."""
    run = Path(options.runs) / spec.stem
    if not (run / "last.safetensors").is_file():
        how = ["--recipe", "auto", "--minutes", str(options.minutes), "--seed", str(options.seed)]
        command = [sys.executable, "-m", "gnarl_runtime.commands.train", "--spec", str(spec)]
        subprocess.run([*command, *how, "--out", str(run)], check=True)
    return run


# One spec


def row_of(trained: TrainedPolicy, run: Path, options: argparse.Namespace) -> dict[str, Any]:
    problem, config = trained.problem, json.loads((run / "config.json").read_text("utf-8"))
    recipe = Recipe.model_validate(config["recipe"])
    compiled = compile_for(without_metrics(problem), None, free_experts(problem), metrics=True)
    nodes = training_size(compiled, options.seed)
    sizes = {
        nodes * times: in_time(trained, compiled, recipe, Asked(nodes * times, count, options))
        for times, count in GRAPHS.items()
    }
    return {
        "spec": problem.name,
        "trainer": recipe.trainer,
        "keys": config["choice"].get("keys", []),
        "commit": config["provenance"].get("commit", ""),
        "cpu_minutes": round(cpu_seconds(run) / 60, 1),
        "sizes": [found for found in sizes.values() if found is not None],
        "broken_off": [nodes for nodes, found in sizes.items() if found is None],
        "limit": options.limit,
    }


def cpu_seconds(run: Path) -> float:
    """What training took of the processor, the race and drawing instances included."""
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    return float(json.loads(lines[-1])["cpu_seconds"])


def training_size(compiled: Compiled, seed: int) -> int:
    """The nodes of the largest validation graphs."""
    return int(draw_pool(compiled.problem, count=20, seed=seed, split="valid").batch.n.max())


@dataclass(frozen=True)
class Asked:
    """Fresh graphs of one size."""

    nodes: int
    count: int
    options: argparse.Namespace

    @property
    def searched(self) -> int:
        """How many of them are searched for seconds: those of training size."""
        return self.options.searched if self.count in (GRAPHS[1], GRAPHS[1] // FEWER) else 0


def in_time(
    trained: TrainedPolicy, compiled: Compiled, recipe: Recipe, asked: Asked
) -> dict[str, Any] | None:
    """What was measured on all of the graphs, or on a tenth; None if both took too long."""
    for graphs in (asked, replace(asked, count=asked.count // FEWER)):
        try:
            return measured(trained, compiled, recipe, graphs)
        except TookTooLong:
            say(f"{graphs.count} graphs of {graphs.nodes} nodes: over {asked.options.limit:g} s")
    return None


def measured(
    trained: TrainedPolicy, compiled: Compiled, recipe: Recipe, asked: Asked
) -> dict[str, Any]:
    """Everybody on the same fresh graphs of one size; `TookTooLong` if that is what happens."""
    problem, seed = compiled.problem, asked.options.seed
    pool, limit = fresh_pool(compiled, asked.nodes, asked.count, seed), within(asked.options.limit)
    drawn = recipe.temperature or None
    players: dict[str, Player] = {
        "policy": PolicyPlayer(trained.policy, drawn, seed),
        **{name: ExpertPlayer(name, seed) for name in compiled.experts},
        "random": RandomPlayer(seed),
    }
    outcomes = {
        name: play_with(player, compiled, pool, progress=limit) for name, player in players.items()
    }
    scores = {name: scores_of(problem, own) for name, own in outcomes.items()}
    rival = max(compiled.experts, key=lambda name: float(scores[name].mean()), default=None)
    found = {
        "nodes": asked.nodes,
        "graphs": asked.count,
        "policy": float(scores["policy"].mean()),
        "success": float(outcomes["policy"].success.mean()),
        "random": float(scores["random"].mean()),
        "rival": rival,
        "expert": float(scores[rival].mean()) if rival else None,
        "difference": paired(scores["policy"], scores[rival]) if rival else None,
    }
    if problem.objectives:
        found |= optimum_of(trained, compiled, pool, scores, asked, limit)
    return found


def fresh_pool(compiled: Compiled, nodes: int, count: int, seed: int) -> Pool:
    return draw_pool(
        compiled.problem,
        count=count,
        nodes=nodes,
        seed=FRESH + 7_000 + seed,  # neither of the graphs of a verdict
        split="test",
        oracles=compiled.oracles,
    )


def scores_of(problem: Problem, outcomes: Outcomes) -> Values:
    """The objective, or whether the answer is right; an end that is not valid counts as none."""
    if not problem.objectives:
        return outcomes.success.astype(np.float64)
    return np.where(outcomes.success, outcomes.objective, np.nan)


def paired(own: Values, other: Values) -> list[float]:
    """The mean difference graph by graph with its 95 % interval, where both ends are valid."""
    differences = own - other
    differences = differences[np.isfinite(differences)]
    mean = float(differences.mean())
    margin = 1.96 * float(differences.std(ddof=1)) / np.sqrt(len(differences))
    return [mean, mean - margin, mean + margin]


def optimum_of(
    trained: TrainedPolicy,
    compiled: Compiled,
    pool: Pool,
    scores: dict[str, Values],
    asked: Asked,
    limit: Progress,
) -> dict[str, Any]:
    """How far the policy is from the best, proven or only known."""
    drivers, seed = Drivers(trained.policy, compiled.experts), asked.options.seed
    known = search(KNOWN, drivers, compiled, pool, seed=seed, progress=limit)
    best = np.fmax.reduce([*scores.values(), scores_of(compiled.problem, known.outcomes)])
    proven, told = np.zeros(len(pool), np.bool_), {}
    if asked.searched:
        exact = search(PROOF, drivers, compiled, pool, seed=seed, progress=limit)
        best, proven = np.fmax(best, scores_of(compiled.problem, exact.outcomes)), exact.proven
        few = min(asked.searched, len(pool))
        some = fresh_pool(compiled, asked.nodes, few, seed)
        short = search(SHORT, drivers, compiled, some, seed=seed)
        found = scores_of(compiled.problem, short.outcomes)
        best[:few] = np.fmax(best[:few], found)
        told = {"gap_search": gap(found, best[:few]), "searched": few}
    return {
        "best": float(np.nanmean(best)),
        "proven": int(proven.sum()),
        "gap": gap(scores["policy"], best),
        "gap_expert": gap(best_expert(scores), best) if compiled.experts else None,
        **told,
    }


def best_expert(scores: dict[str, Values]) -> Values:
    experts = [own for name, own in scores.items() if name not in ("policy", "random")]
    return max(experts, key=lambda own: float(np.nanmean(own)))


def gap(own: Values, best: Values) -> float | None:
    """Per cent of the mean of the best that is missing; None where that mean is 0."""
    right = np.isfinite(own) & np.isfinite(best)
    if not right.any() or not best[right].mean():
        return None
    return float(100 * (best[right].mean() - own[right].mean()) / abs(best[right].mean()))


# The page


PREAMBLE = (
    "`gnarl-train --spec SPEC --recipe auto`, five minutes unless a row says otherwise, one seed, "
    "one core of a shared machine, in brackets the CPU minutes that were left of it, the race "
    "included; made by `python -m benchmarks.studies.defaults`. Nothing was "
    "tuned on the specs marked *unseen*. The expert is the best one that reads no oracle; a gap is "
    "what is missing to the best end, per cent of it, as the mean over fresh graphs: proven by "
    "exact search on so many of them, else the best that anybody found. Ahead or behind: whether "
    "the 95 % interval of the difference to the expert, graph by graph, leaves 0 out. *time:2* is "
    "the gap of a search of two seconds, over as many graphs as are named. *Keys*: the network "
    "reads what experts compare; rows without are of specs whose experts compare nothing that "
    "features do not show, or from before networks could."
)


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    """A table for the specs with an objective, and one for those with a right answer."""
    rows = sorted(rows, key=lambda row: (not row["unseen"], row["spec"]))
    with_objective = [row for row in rows if any("best" in size for size in row["sizes"])]
    others = [row for row in rows if row not in with_objective]
    out = [
        "# Training without a recipe",
        "",
        PREAMBLE,
        "",
    ]
    if with_objective:
        out += [*_sums(with_objective), ""]
        heads = ["spec", "trained by", "nodes", "policy", "expert", "random", "best", "proven"]
        heads += ["policy's gap", "expert's gap", "gap, time:2", "policy and expert"]
        out += [_line(heads), _line(["---"] * len(heads))]
        out += [
            _line(_objective_cells(row, size)) for row in with_objective for size in row["sizes"]
        ]
        out.append("")
    if others:
        heads = ["spec", "trained by", "nodes", "right, %", "expert, %", "random, %"]
        out += [_line(heads), _line(["---"] * len(heads))]
        out += [_line(_right_cells(row, size)) for row in others for size in row["sizes"]]
        out.append("")
    commits = sorted({short(row["written"]["commit"]) for row in rows})
    missing = sorted({path.stem for path in all_specs()} - {row["spec"] for row in rows})
    without = f" Without a row: {', '.join(missing)}." if missing else ""
    return [*out, f"Measured at commit {', '.join(commits)}.{without}{_broken_off(rows)}"]


def _broken_off(rows: list[dict[str, Any]]) -> str:
    found = [
        f"{row['spec']} with {nodes} nodes ({row['limit']:g} s)"
        for row in rows
        for nodes in row.get("broken_off", ())
    ]
    return f" Playing took too long and was broken off: {', '.join(found)}." if found else ""


NEAR, SEARCHED_NEAR = 2.0, 0.5  # what is aimed at: per cent of the best


def _sums(rows: list[dict[str, Any]]) -> list[str]:
    """How many specs with an objective are where all of them should be."""
    small = [row["sizes"][0] for row in rows]
    near = sum(_within(own["gap"], NEAR) for own in small)
    searched = sum(_within(own.get("gap_search"), SEARCHED_NEAR) for own in small)
    behind = [row["spec"] for row in rows if any(_is_behind(size) for size in row["sizes"])]
    return [
        f"Of {len(rows)} specs with an objective, best picks are within {NEAR:g} % of the best at "
        f"training size on {near}, and search of two seconds within {SEARCHED_NEAR:g} % on "
        f"{searched}. Behind the expert at either size: {', '.join(behind) or 'none'}."
    ]


def _within(gap: float | None, most: float) -> bool:
    return gap is not None and gap <= most


def _is_behind(size: dict[str, Any]) -> bool:
    return size["difference"] is not None and size["difference"][2] < 0


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _label(row: dict[str, Any]) -> list[str]:
    name = row["spec"] + (" (*unseen*)" if row["unseen"] else "")
    minutes = "" if row["minutes"] == 5 else f", {row['minutes']:g} min"
    spent = f" ({row['cpu_minutes']:.1f})" if "cpu_minutes" in row else ""
    keys = ", keys" if row.get("keys") else ""
    return [name, f"{row['trainer']}{minutes}{spent}{keys}"]


def _objective_cells(row: dict[str, Any], size: dict[str, Any]) -> list[str]:
    return [
        *_label(row),
        str(size["nodes"]),
        _number(size["policy"]),
        _number(size["expert"]),
        _number(size["random"]),
        _number(size["best"]),
        f"{size['proven']} of {size['graphs']}",
        _percent(size["gap"]),
        _percent(size["gap_expert"]),
        _searched_cell(size),
        _word(size["difference"]),
    ]


def _searched_cell(size: dict[str, Any]) -> str:
    """On how many graphs, too; records of before did not say that it was twenty."""
    if "gap_search" not in size:
        return "–"
    return f"{_percent(size['gap_search'])} ({size.get('searched', 20)})"


def _right_cells(row: dict[str, Any], size: dict[str, Any]) -> list[str]:
    own = (size["policy"], size["expert"], size["random"])
    return [
        *_label(row),
        str(size["nodes"]),
        *(_percent(None if v is None else 100 * v) for v in own),
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _word(difference: list[float] | None) -> str:
    if difference is None:
        return "no expert"
    mean, low, high = difference
    word = "ahead" if low > 0 else "**behind**" if high < 0 else "level"
    return f"{word} ({mean:+.3g})"


if __name__ == "__main__":
    raise SystemExit(main())
