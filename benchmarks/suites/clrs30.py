"""All of CLRS-30: are the specs sound, and what do policies trained on 16 nodes solve on more?

    python -m benchmarks.suites.clrs30 --check [SPEC ...]
    python -m benchmarks.suites.clrs30 [SPEC ...] [--runs DIR] [--recipe NAME] [--seed 0]

`--check` compiles, formats and checks the specs as `gnarl-check --fast` does; exit code 1 if one is
not sound. Otherwise each spec is trained by the recipe of its name, or `clrs30` if there is none,
unless it has weights in DIR or shipped ones, and plays fresh graphs of 64, 128 and 256 nodes.
Graph accuracy is the share of graphs whose end is `correct`: any right answer; of a spec with an
objective instead, whose end is as good as the expert's. Node accuracy is micro-F1 against a right
answer: the policy's own where it is right, else the expert's. The table and its JSON go to
docs/results/clrs30; what stands there is not measured again, so the study goes on where it was
stopped (`--again` measures anew). A size whose graphs take more than `--longest` CPU minutes is cut
to those that were played by then. A training that was stopped begins anew.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gnarl_dsl as gnarl
from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import ROOT, load_average, provenance, short
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.language.operators import RELATIVE
from gnarl_dsl.loading import check_file
from gnarl_dsl.model import Feature
from gnarl_dsl.specs import clrs30_specs
from gnarl_runtime.api.check_spec import check
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy, load_checkpoint
from gnarl_runtime.checkpoints.pretrained import find_pretrained, pretrained_names
from gnarl_runtime.checkpoints.recipe_files import shipped_recipes
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation.evaluate import FRESH, without_metrics
from gnarl_runtime.evaluation.summary import wilson
from gnarl_runtime.instances.pools import Pool, draw_pool
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.search.outcomes import Keep, Outcomes
from gnarl_runtime.search.players import ExpertPlayer, PolicyPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.trajectories.probes import output_features

NAME = "clrs30"
GRAPHS = {64: 300, 128: 50, 256: 20}
ON_GRAPHS = (
    *("articulation_points", "bellman_ford", "bfs", "bridges", "dag_shortest_paths", "dfs"),
    *("dijkstra", "floyd_warshall", "mst_kruskal", "mst_prim", "strongly_connected_components"),
    "topological_sort",
)
_PART = 10  # graphs between two looks at the clock
State = Mapping[str, NDArray[Any]]


def main(arguments: list[str] | None = None) -> int:
    options = parse_options(arguments)
    if options.check:
        return check_all(options.specs or names())
    prepare_torch(1)
    file = options.output / f"{NAME}.json"
    rows = (
        {row["spec"]: row for row in json.loads(file.read_text("utf-8"))["rows"]}
        if (file.is_file())
        else {}
    )
    for name in options.specs or names():
        for row in measured(name, options, {} if options.again else rows.get(name, {})):
            rows[name] = row
            ordered = [rows[key] for key in sorted(rows)]
            publish(options.output, NAME, lines_of(ordered), {"rows": ordered})
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    add = parser.add_argument
    add("specs", nargs="*", metavar="SPEC", choices=[*names(), []], help="default: all thirty")
    add("--check", action="store_true", help="only check the specs")
    add("--runs", type=Path, default=ROOT / "build" / NAME, metavar="DIR")
    add("--recipe", help="auto, or one of specs/recipes")
    add("--minutes", type=float, default=2.0, help="of training, with --recipe auto")
    add("--longest", type=float, default=10.0, metavar="MINUTES", help="per size")
    add("--sizes", type=int, nargs="*", default=list(GRAPHS), metavar="N")
    add("--seed", type=int, default=0)
    add("--again", action="store_true")
    return parser.parse_args(arguments)


def names() -> list[str]:
    return [path.stem for path in clrs30_specs()]


# Are they sound?


def check_all(wanted: Sequence[str]) -> int:
    """Say of every spec what is wrong with it; 1 if anything is."""
    wrong = 0
    for path in clrs30_specs():
        if path.stem in wanted:
            found = list(faults(path))
            wrong += bool(found)
            say(f"{path.stem}: {'; '.join(found) or 'sound'}")
    say(f"{len(wanted) - wrong} of {len(wanted)} are sound")
    return 1 if wrong else 0


def faults(path: Path) -> Iterator[str]:
    """What compiling, formatting and a fast check have against a spec."""
    text = path.read_text("utf-8")
    if format_text(text) != text:
        yield "not in house style (gnarl-fmt)"
    checked = check_file(path)
    yield from (f"{finding.code} {finding.message}" for finding in checked.diagnostics)
    if checked.problem is not None:
        report = check(checked.problem, fast=True)
        yield from (failure.property for failure in report.failures)


# What do policies solve?


def measured(
    name: str, options: argparse.Namespace, known: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The row of a spec, after every size that it lacked."""
    done = dict(known.get("sizes", {}))
    missing = [n for n in options.sizes if str(n) not in done]
    if not missing:
        return
    say(name)
    trained, minutes = trained_policy(name, options)
    row = {
        "spec": name,
        "cpu_minutes": known.get("cpu_minutes") if minutes is None else minutes,
        "recipe": known.get("recipe") if minutes is None else recipe_for(name, options),
        "seed": options.seed,
        "sizes": done,
        "written": provenance(load=load_average()),
    }
    yield row
    problem = without_metrics(trained.problem)
    has_goal = problem.correct is None  # then objectives are worked out
    compiled = compile_for(problem, None, (problem.experts[0].name,), metrics=has_goal)
    for nodes in missing:
        done[str(nodes)] = accuracy(trained, compiled, nodes, options)
        yield row | {"written": provenance(load=load_average())}


def trained_policy(name: str, options: argparse.Namespace) -> tuple[TrainedPolicy, float | None]:
    """The weights in DIR, or the shipped ones, or new ones and what training took in all."""
    file = options.runs / f"{name}.safetensors"
    if not file.is_file():
        if name in pretrained_names() and options.recipe is None:
            return load_checkpoint(find_pretrained(name)), None
        began, recipe = time.process_time(), recipe_for(name, options)
        minutes = options.minutes if recipe == "auto" else None
        trained = gnarl.train(name, recipe=recipe, seed=options.seed, minutes=minutes)
        file.parent.mkdir(parents=True, exist_ok=True)
        trained.save(file)
        return trained, (time.process_time() - began) / 60
    return load_checkpoint(file), None


def recipe_for(name: str, options: argparse.Namespace) -> str:
    """What is asked for, else the recipe of a spec's name, else that of all."""
    own: str = options.recipe or (name if name in shipped_recipes() else NAME)
    return own


def accuracy(
    trained: TrainedPolicy, compiled: Compiled, nodes: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Graph and node accuracy on fresh graphs of one size."""
    began, rights, shares, steps = time.process_time(), [], [], []
    keep = Keep(states=True)
    for first in range(0, GRAPHS[nodes], _PART):
        pool = fresh_pool(compiled, nodes, first, options.seed)
        players = PolicyPlayer(trained.policy), ExpertPlayer(compiled.experts[0])
        own, expert = (play_with(player, compiled, pool, keep=keep) for player in players)
        right = right_answers(compiled, own, expert)
        rights += right.tolist()
        steps += own.steps.tolist()
        shares += node_shares(compiled, right, own, expert)
        if time.process_time() - began > 60 * options.longest:
            break
    return {
        "graphs": len(rights),
        "right": sum(rights),
        "node_f1": float(np.mean(shares)),
        "steps": float(np.mean(steps)),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def fresh_pool(compiled: Compiled, nodes: int, first: int, seed: int) -> Pool:
    return draw_pool(
        compiled.problem,
        count=_PART,
        first=first,
        nodes=nodes,
        seed=FRESH + 11_000 + seed,  # neither of the graphs of a verdict
        split="test",
        oracles=compiled.oracles,
        artifact=compiled.artifact,
    )


def right_answers(compiled: Compiled, own: Outcomes, expert: Outcomes) -> NDArray[np.bool_]:
    """Which ends are right; without `correct`, those that are worth what the expert's are."""
    if compiled.problem.correct is not None:
        return own.correct
    return own.correct & np.isclose(own.objective, expert.objective, rtol=RELATIVE)


def node_shares(
    compiled: Compiled, right: NDArray[np.bool_], own: Outcomes, expert: Outcomes
) -> list[float]:
    """Node accuracy of every graph."""
    features = output_features(compiled.problem)
    return [
        1.0 if sure else agreement(features, mine, other)
        for sure, mine, other in zip(right, own.states or (), expert.states or (), strict=True)
    ]


def agreement(features: Sequence[Feature], own: State, right: State) -> float:
    """Micro-F1 of masks, the share of equal cells of everything else; the mean over outputs."""
    return float(np.mean([_agreement(f, own[f.name], right[f.name]) for f in features]))


def _agreement(feature: Feature, own: NDArray[Any], right: NDArray[Any]) -> float:
    if feature.is_number:
        return float(np.isclose(own, right, rtol=1e-6, atol=1e-9).mean())
    if not feature.is_truth:
        return float((own == right).mean())
    both, either = (own & right).sum(), own.sum() + right.sum()
    return float(2 * both / either) if either else 1.0


# The page

PREAMBLE = (
    "Policies trained on at most 16 nodes by a recipe of `specs/recipes` or by `auto`, one seed, "
    "one core of a shared machine, or those of `--pretrained` that were there before (`shipped`);"
    " made by `python -m benchmarks.suites.clrs30`. Graphs are fresh ones of the spec's test law."
    " *right* is the share of graphs with any right answer, with its 95 % interval; *nodes* is "
    "micro-F1 against a right answer, the policy's own where it is right, else the expert's. "
    "Fewer than 300 graphs of 64 nodes: playing them took longer than was given. The best "
    "published means over all thirty are 88.4 % of nodes at 64 nodes (about 3 % of graphs if "
    "mistakes were independent)."
)


def lines_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = ["algorithm", "nodes", "right, %", "nodes, %", "graphs", "steps", "recipe", "CPU min"]
    table = [_line(heads), _line(["---"] * len(heads))]
    table += [
        _line(_cells(row, nodes, row["sizes"][str(nodes)]))
        for row in rows
        for nodes in GRAPHS
        if str(nodes) in row["sizes"]
    ]
    commits = sorted({short(row["written"]["commit"]) for row in rows})
    told = f"Measured at commit {', '.join(commits)}." if commits else ""
    return ["# CLRS-30", "", PREAMBLE, "", *table, "", *_reached(rows), *_means(rows), told]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Mapping[str, Any], nodes: int, size: Mapping[str, Any]) -> list[str]:
    low, high = wilson(size["right"], size["graphs"])
    spent = row["cpu_minutes"]
    return [
        f"`{row['spec']}`",
        str(nodes),
        f"{100 * size['right'] / size['graphs']:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
        f"{100 * size['node_f1']:.1f}",
        str(size["graphs"]),
        f"{size['steps']:.0f}",
        "shipped" if spent is None else row.get("recipe", "auto"),
        "-" if spent is None else f"{spent:.1f}",
    ]


def _reached(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How many algorithms are solved on 64 nodes; what counts as that is the goal of each kind."""
    shares = {
        row["spec"]: row["sizes"]["64"]["right"] / row["sizes"]["64"]["graphs"]
        for row in rows
        if "64" in row["sizes"]
    }
    others = [name for name in names() if name not in ON_GRAPHS]
    for kind, of_kind, goal in (("graph", ON_GRAPHS, 0.99), ("other", others, 0.95)):
        known = [name for name in of_kind if name in shares]
        good = sum(shares[name] >= goal for name in known)
        yield (
            f"Of the {len(of_kind)} {kind} algorithms {len(known)} were played on 64 nodes, and "
            f"{good} of them solve at least {100 * goal:.0f} % of the graphs."
        )
        yield ""


def _means(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for nodes in GRAPHS:
        sizes = [row["sizes"][str(nodes)] for row in rows if str(nodes) in row["sizes"]]
        if sizes:
            right = np.mean([size["right"] / size["graphs"] for size in sizes])
            f1 = np.mean([size["node_f1"] for size in sizes])
            yield (
                f"Mean of {len(sizes)} algorithms at {nodes} nodes: {100 * right:.1f} % of graphs, "
                f"{100 * f1:.1f} % of nodes."
            )
            yield ""


if __name__ == "__main__":
    sys.exit(main())
