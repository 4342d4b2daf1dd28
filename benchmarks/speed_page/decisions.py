"""Tours by best picks, and decisions learned from per second, beside RL4CO's attention model.

    python -m benchmarks.speed_page.decisions                             20 and 100 nodes
    python -m benchmarks.speed_page.decisions --sizes 20x64 100x8 1000x1 --weights build/peers/am.pt

Both play the same points. Ours are the shipped weights, on whole graphs (`tsp`) and through the
window of what is not done (`tsp_window`). RL4CO ships no weights: `--weights` are those of
benchmarks/foreign/train_attention.py; without them its model is untrained, which costs the same
time, and its gap is left out. Training is one pass over TSP-20 from rewards, counted alike:
decisions that were learned from per second of CPU time, playing included.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.foreign.environment import interpreter, versions
from benchmarks.foreign.talk import Contestant
from benchmarks.frame import aligned, heading, say, show, speed_parser
from benchmarks.machine import ROOT, load_average, pin_to_one_core, provenance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gnarl_dsl.model import Problem

    Places = NDArray[np.float32]  # (graphs, nodes, 2)

SEED = 90_411  # of points that no choice was made by
WHOLE = 400  # nodes up to which a network is asked about whole graphs here
UPDATES = 3  # of training per figure
ONE_PASS = ("trainer=ppo", "data.pool=256", "data.nodes=20", "ppo.steps=20", "ppo.epochs=1")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, write the JSON."""
    options = parse_options(arguments)
    python = interpreter(options.others)
    core, before = pin_to_one_core(), load_average()
    with Contestant(python, "side_rl4co") as theirs:
        tours = [row for size in options.sizes for row in tour_rows(size, theirs, options.weights)]
        training = training_rows(theirs, options.repetitions)
    record = {
        "provenance": provenance(core=core, load=[before, load_average()]),
        "others": versions(python),
        "weights": str(options.weights) if options.weights else None,
        "tours": tours,
        "training": training,
    }
    show(options.output, record, report_text(record))
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "decisions")
    folder = ROOT / "build" / "peers" / "env"
    parser.add_argument("--others", type=Path, default=folder, help="environment of the others")
    parser.add_argument("--sizes", nargs="+", default=["20x64", "100x8"], metavar="NODESxGRAPHS")
    parser.add_argument("--weights", type=Path, help="of RL4CO's attention model")
    parser.add_argument("--repetitions", type=int, default=3, help="figures per median (3)")
    return parser.parse_args(arguments)


# Tours


def tour_rows(size: str, theirs: Contestant, weights: Path | None) -> list[dict[str, Any]]:
    """What each makes of the same points: mean per cent above the best known, CPU ms per tour."""
    import numpy as np

    from gnarl_compiler.algorithms.tours.tours import shortest_tour

    nodes, graphs = map(int, size.split("x"))
    places = np.random.default_rng((SEED, nodes)).random((graphs, nodes, 2)).astype(np.float32)
    best = [length(shortest_tour(distances(own)), own) for own in places]
    rows = []
    for who in ("RL4CO", *(["tsp"] if nodes <= WHOLE else []), "tsp_window"):
        known = who != "RL4CO" or weights is not None
        found, ms = (
            their_tours(places, theirs, weights) if who == "RL4CO" else our_tours(places, who)
        )
        gaps = [
            100 * (length(np.array(tour), own) / least - 1)
            for tour, own, least in zip(found, places, best, strict=True)
        ]
        gap = float(np.mean(gaps)) if known else None
        say(f"  {size} {who}: {'' if gap is None else f'{gap:.1f} %, '}{ms:.1f} ms per tour")
        rows.append({"nodes": nodes, "graphs": graphs, "who": who, "gap": gap, "ms": ms})
    return rows


def distances(places: Places) -> NDArray[np.float64]:
    """Between all points of a graph."""
    import numpy as np

    gaps = places[:, None].astype(np.float64) - places
    return np.asarray(np.hypot(gaps[..., 0], gaps[..., 1]))


def length(tour: Any, places: Places) -> float:
    import numpy as np

    return float(distances(places)[tour, np.roll(tour, -1)].sum())


def their_tours(places: Places, theirs: Contestant, weights: Path | None) -> tuple[Any, float]:
    """The attention model's best picks; the first call loads what it needs."""
    path = None if weights is None else str(weights.resolve())
    theirs.ask("tours", weights=path, places=places[:1].tolist())
    told = theirs.ask("tours", weights=path, places=places.tolist())
    return told["tours"], float(told["ms"])


def our_tours(places: Places, spec: str) -> tuple[Any, float]:
    """Best picks of the shipped policy."""
    import gnarl_dsl as gnarl
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
    from gnarl_runtime.checkpoints.pretrained import find_pretrained
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.instances.pools import draw_pool, pool_of
    from gnarl_runtime.network.policy import prepare_torch
    from gnarl_runtime.search.outcomes import Keep
    from gnarl_runtime.search.rollout import play

    prepare_torch(1)
    problem, trained = gnarl.load(spec), load_checkpoint(find_pretrained("tsp"))
    compiled = compile_for(problem)
    play(trained.policy, compiled, draw_pool(problem, count=1, nodes=8, seed=0))
    pool = pool_of(problem, [instance_at(problem, own) for own in places])
    start = process_time()
    outcomes = play(trained.policy, compiled, pool, slots=len(places), keep=Keep(picks=True))
    spent = process_time() - start
    assert outcomes.picks is not None
    return outcomes.picks, 1e3 * spent / len(places)


def instance_at(problem: Problem, places: Places) -> Any:
    """Our instance of these points, which starts at the first of them."""
    import numpy as np

    from gnarl_compiler.graphs.graph import Graph
    from gnarl_compiler.graphs.instance import Instance

    n = len(places)
    inputs = {"A": distances(places), "s": np.array(0)}
    return Instance(Graph(False, ~np.eye(n, dtype=np.bool_)), inputs, np.arange(n, dtype=np.uint64))


# Training


def training_rows(theirs: Contestant, repetitions: int) -> list[dict[str, Any]]:
    """Decisions per CPU second, by turns."""
    from benchmarks.speed.training import Case
    from benchmarks.speed.training_runs import SEED as OURS
    from benchmarks.speed.training_runs import rate, recipe_of, trainer_for
    from gnarl_dsl.loading import load
    from gnarl_runtime.network.policy import prepare_torch
    from gnarl_runtime.training.fresh import fresh_policy

    prepare_torch(1)
    trainers = {}
    for spec in ("tsp", "tsp_window"):
        recipe = recipe_of(Case(spec, spec, spec, None, ONE_PASS, UPDATES, 1, 1))
        problem = load(spec)
        trainers[spec] = trainer_for(problem, recipe, fresh_policy(problem, recipe, OURS))
        trainers[spec].update()  # code is loaded or compiled
    theirs.ask("learn", nodes=20, updates=1)
    rates: dict[str, list[float]] = {"RL4CO": [], **{spec: [] for spec in trainers}}
    for _ in range(repetitions):
        rates["RL4CO"].append(theirs.ask("learn", nodes=20, updates=4)["rate"])
        for spec, trainer in trainers.items():
            rates[spec].append(rate(trainer, UPDATES))
    return [{"who": who, "rates": own} for who, own in rates.items()]


NAMES = {
    "RL4CO": "RL4CO's attention model",
    "tsp": "ours, whole graphs",
    "tsp_window": "ours, what is not done",
}


def report_text(record: dict[str, Any]) -> str:
    """The tables of a run."""
    from statistics import median

    weights = record["weights"] or "none: its gap is left out"
    told = f"CPU time; RL4CO {record['others']['rl4co']}, its weights: {weights}"
    tours = [
        [
            NAMES[row["who"]],
            f"{row['nodes']:,}",
            str(row["graphs"]),
            f"{row['ms']:,.1f}",
            "-" if row["gap"] is None else f"{row['gap']:.1f}",
        ]
        for row in record["tours"]
    ]
    training = [[NAMES[row["who"]], f"{median(row['rates']):,.0f}"] for row in record["training"]]
    head = ["best picks", "n", "side by side", "ms per tour", "% above the best known"]
    return "\n\n".join(
        [
            heading(record["provenance"]) + told,
            aligned([head, *tours]),
            aligned([["one pass from rewards, TSP-20", "decisions a second"], *training]),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
