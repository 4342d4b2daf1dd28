"""The paper's tables as data: what to train, what to evaluate on, and the figures to compare with.

Figures are those of Schutz, Darvariu et al., *Tackling GNARLy Problems*; training times are its
Table of training times.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gnarl_runtime.checkpoints.recipe_files import load_recipe


@dataclass(frozen=True)
class Trial:
    """Fresh graphs to evaluate on."""

    nodes: int
    graphs: int
    options: tuple[str, ...] = ()  # further arguments of gnarl-eval
    label: str = ""  # what is special about them
    one_seed: bool = False  # beyond the paper: the first seed only
    paper: str = ""  # its figure, if it is not the one of the row for so many nodes
    against: str = ""  # other players, on the graphs of the first seed

    @property
    def name(self) -> str:
        plain = re.sub(r"[^\w.]+", "_", self.label).strip("_")
        return f"{plain or 'test'}-{self.nodes}"

    @property
    def file(self) -> str:
        """The name of its results on disk: another one for other options."""
        told = hashlib.sha256("\0".join(self.options).encode()).hexdigest()[:8]
        return f"eval-{self.name}-{told}.json" if self.options else f"eval-{self.name}.json"


@dataclass(frozen=True)
class Row:
    """One method: a spec, a recipe and what it is judged by."""

    name: str
    label: str
    spec: str
    recipe: str
    figure: str  # of a result of gnarl-eval: success, ratio, or the name of a metric
    trials: tuple[Trial, ...]
    seeds: int = 3
    options: tuple[str, ...] = ()  # further arguments of gnarl-train
    paper: Mapping[int, str] = field(default_factory=dict)  # by number of nodes
    paper_steps: Mapping[int, str] = field(default_factory=dict)
    paper_seconds: Mapping[int, str] = field(default_factory=dict)  # per graph
    faithful: bool = False  # follows the paper's protocol


@dataclass(frozen=True)
class Table:
    """Rows that belong together."""

    name: str
    title: str
    note: str
    rows: tuple[Row, ...]
    figure: Literal["", "temperatures", "curves"] = ""  # drawn beside the table


def trials(*sizes: tuple[int, int], options: tuple[str, ...] = ()) -> tuple[Trial, ...]:
    """Test graphs by size and number."""
    return tuple(Trial(nodes, graphs, options) for nodes, graphs in sizes)


def faithful(row: Row, recipe: str, sizes: Sequence[int], share: float = 1.0) -> Row:
    """The paper's way: a share of the updates that a recipe of its protocol asks for."""
    whole = load_recipe(recipe)
    updates = {
        part: round(getattr(whole, part).updates * share) for part in whole.trainer.split("+")
    }
    told = "" if share == 1 else f", {100 * share:g} % of it"
    # The paper validates every 100 updates of imitation and each of PPO: longer than they take.
    fewer = [f"{part}.updates={count}" for part, count in updates.items()]
    settings = (*fewer, f"validation.every={min(updates.values()) // 10}")
    less = tuple(word for setting in settings for word in ("--set", setting))
    return replace(
        row,
        name=f"{row.name}_paper",
        label=f"{row.label}, the paper's recipe{told}",
        recipe=recipe,
        trials=tuple(trial for trial in row.trials if not trial.label and trial.nodes in sizes),
        seeds=1,
        options=row.options if share == 1 else (*row.options, *less),
        faithful=True,
    )


# CLRS

_BEYOND = tuple(
    replace(trial, label="larger", one_seed=True) for trial in trials((128, 100), (256, 100))
)
_DRAWN = ("--temperature", "0.3")
_DRAWN_BEYOND = tuple(replace(trial, options=_DRAWN) for trial in _BEYOND)
# A graph that MST-Prim fails on takes all n² rounds of two picks: 131,072 picks at 256 nodes.
_SOON_BEYOND = tuple(
    replace(
        trial,
        label="larger, 20 n rounds",
        options=("--temperature", "0.1", "--max-rounds", str(20 * trial.nodes)),
    )
    for trial in _BEYOND
)
_BEST_PICK = Trial(64, 300, ("--temperature", "0"), label="best pick")


def _clrs(
    name: str,
    label: str,
    published: tuple[str, str, str],
    beyond: tuple[Trial, ...],
    options: tuple[str, ...] = (),
    share: float = 1.0,
    paper_graphs: int = 300,
) -> tuple[Row, Row]:
    """Ours and the paper's way; published are success, steps and seconds per graph."""
    own = (*trials((64, 300), options=options), *beyond)
    success, steps, seconds = ({64: figure} for figure in published)
    ours = Row(name, label, name, name, "success", own, 5, (), success, steps, seconds)
    best_pick = replace(ours, trials=trials((64, paper_graphs)))
    return ours, faithful(best_pick, f"{name}_paper", (64,), share)


def _deep(row: Row) -> Row:
    """More rounds of messages, for deeper graphs than those of training."""
    return replace(
        row,
        name=f"{row.name}_deep",
        label=f"{row.label}, eight rounds",
        recipe=f"{row.name}_deep",
        trials=trials((64, 300)),
        seeds=1,
    )


def _less_beyond(row: Row, graphs: Mapping[int, int]) -> tuple[Trial, ...]:
    """For a recipe from before: so many graphs of the sizes beyond the paper's, by size."""
    here = tuple(trial for trial in row.trials if not trial.one_seed)
    beyond = (trial for trial in row.trials if trial.one_seed and trial.nodes in graphs)
    return (*here, *(replace(trial, graphs=graphs[trial.nodes]) for trial in beyond))


_BFS, _BFS_PAPER = _clrs("bfs", "BFS", ("100.0 ± 0.0", "128", "1.10"), _BEYOND)
_DFS, _DFS_PAPER = _clrs("dfs", "DFS", ("100.0 ± 0.0", "128", "1.64"), _BEYOND)

_BELLMAN_FORD, _BELLMAN_FORD_PAPER = _clrs(
    "bellman_ford",
    "Bellman-Ford",
    ("93.6 ± 5.1", "475", "8.30"),
    (_BEST_PICK, *_DRAWN_BEYOND),
    _DRAWN,
    share=0.2,
)
_UNSCALED = replace(
    _BELLMAN_FORD,
    name="bellman_ford_unscaled",
    label="Bellman-Ford, weights not scaled",
    recipe="bellman_ford_unscaled",
    trials=_less_beyond(_BELLMAN_FORD, {128: 30}),
    seeds=3,
)

_MST_PRIM, _MST_PRIM_PAPER = _clrs(
    "mst_prim",
    "MST-Prim",
    ("59.0 ± 10.8", "3630", "110"),
    (_BEST_PICK, *_SOON_BEYOND),
    ("--temperature", "0.1"),
    share=0.05,
    paper_graphs=100,  # nine of ten fail, and take 8 s each
)
_EXTRACT_MIN = replace(
    _MST_PRIM,
    name="mst_prim_extract_min",
    label="MST-Prim, expert that looks once",
    recipe="mst_prim_extract_min",
    trials=_less_beyond(_MST_PRIM, {128: 100, 256: 10}),
    seeds=3,
)

CLRS = Table(
    "clrs",
    "CLRS algorithms, share of 64-node graphs solved",
    "Success is judged by the spec's `correct` at the end of an episode; Bellman-Ford and "
    "MST-Prim end when the reference solution is reached, as in the paper. Published training "
    "times on one core: BFS 0.04 h, DFS 0.02 h, Bellman-Ford 116 h, MST-Prim 197 h. Our "
    "Bellman-Ford is trained on weights times 0.1 to 3; *not scaled* is the recipe from before. "
    "Our MST-Prim imitates `thorough`, which tries the closest call before it leaves a node; "
    "*looks once* is `extract_min`, the recipe from before. "
    "The paper takes the best pick; Bellman-Ford is drawn at temperature 0.3 here and MST-Prim at "
    "0.1, and the best pick stands below each. An episode of MST-Prim may take n² rounds of two "
    "picks, and one that fails does; above 64 nodes it is given 20 n (`--max-rounds`).",
    (
        _BFS,
        _deep(_BFS),
        _BFS_PAPER,
        _DFS,
        _deep(_DFS),
        _DFS_PAPER,
        _BELLMAN_FORD,
        _UNSCALED,
        _BELLMAN_FORD_PAPER,
        _MST_PRIM,
        _EXTRACT_MIN,
        _MST_PRIM_PAPER,
    ),
)

# Boundary instances on and off


_OFF = ("--set", "data.boundary=0", "--set", "data.boundary_starts=0")
_DIJKSTRA = Row(
    "dijkstra_on",
    "Dijkstra, on",
    "dijkstra",
    "bellman_ford_unscaled",
    "success",
    (*trials((64, 300), options=_DRAWN), _BEST_PICK),
    1,
    options=("--set", "bc.updates=7000", "--set", "data.boundary_pool=4000"),
)


_ON = (
    *("--set", "data.boundary=0.5", "--set", "data.boundary_starts=0.35"),
    *("--set", "data.boundary_pool=8000", "--set", "data.boundary_margin=[3e-5,1e-1]"),
)


def _weights_of(name: str) -> Row:
    """The runs of the first table, on their graphs of 64 nodes."""
    (row,) = (row for row in CLRS.rows if row.name == name)
    here = tuple(trial for trial in row.trials if trial.nodes == 64)
    return replace(row, trials=here, seeds=3)


def _switched(row: Row, name: str, label: str, options: tuple[str, ...]) -> Row:
    """The same recipe with boundary instances switched on or off."""
    more = row.options + options
    return replace(row, name=name, label=label, seeds=1, options=more, paper={})


_WITH, _WITHOUT = _weights_of("bellman_ford_unscaled"), _weights_of("mst_prim_extract_min")

BOUNDARY = Table(
    "boundary",
    "Boundary instances on and off, share of 64-node graphs solved",
    "The same recipe with and without boundary instances. Nothing about them was designed with "
    "`dijkstra`, a spec of the gallery, in mind; it uses Bellman-Ford's recipe, with half of the "
    "updates and of the boundary instances. Bellman-Ford (weights not scaled) gains; Dijkstra has "
    "nothing to gain; MST-Prim, since it imitates `extract_min`, shows no gain beyond what seeds "
    "differ by.",
    (
        replace(_WITH, label="Bellman-Ford, on"),
        _switched(_WITH, "bellman_ford_off", "Bellman-Ford, off", _OFF),
        _switched(_WITHOUT, "mst_prim_boundary", "MST-Prim, on", _ON),
        replace(_WITHOUT, label="MST-Prim, off"),
        _DIJKSTRA,
        _switched(_DIJKSTRA, "dijkstra_off", "Dijkstra, off", _OFF),
    ),
)

# MVC

_MVC_SIZES = ((16, 300), (32, 300), (64, 300), (128, 100), (256, 100), (512, 50), (1024, 20))
_MVC_BC = {
    16: ".9398", 32: ".9420", 64: ".9478", 128: ".9463", 256: ".9500", 512: ".9496", 1024: ".9497"
}  # fmt: skip
_MVC_PPO = {
    16: ".9391", 32: ".9413", 64: ".9448", 128: ".9428", 256: ".9462", 512: ".9449", 1024: ".9453"
}  # fmt: skip
# Only the approximation is asked for above 64 nodes: proofs of optimality take too long there.
_MVC = (
    *(Trial(n, g, ("-p", "eps=0", "--reference", "optimal")) for n, g in _MVC_SIZES[:3]),
    *(Trial(n, g, ("-p", "eps=0")) for n, g in _MVC_SIZES[3:]),
)
_MVC_EPS = tuple(
    Trial(n, g, ("-p", "eps=0.1"), label="eps 0.1", one_seed=True) for n, g in _MVC_SIZES[:3]
)
_MVC_BESIDE = (*(replace(trial, against="optimal") for trial in _MVC[:3]), *_MVC[3:], *_MVC_EPS)
_MVC_BY_PPO = Row("mvc_ppo", "PPO, no expert", "mvc", "mvc", "ratio", _MVC_BESIDE, paper=_MVC_PPO)
_MVC_BY_BC = Row("mvc_bc", "imitation", "mvc", "mvc_bc", "ratio", _MVC + _MVC_EPS, paper=_MVC_BC)
_MVC_LESS = (16, 64, 256)

MVC = Table(
    "mvc",
    "Minimum vertex cover, weight relative to the 2/(1-ε) approximation (lower is better)",
    "The approximation stops raising duals at a node when at most ε of its weight is left. With "
    "the ε = 0.1 that the paper names, a proven optimum has 0.88 of the approximation's weight, "
    "far below every published figure; with ε = 0 it has 0.932 ± 0.004 at 16 nodes and 0.945 ± "
    "0.002 at 64, and the approximation's own nodes in random order come out as published "
    "([all sizes](paper_termination.md)). So the published figures are compared with ε = 0, and "
    "ε = 0.1 stands beside it. The ± just given are standard errors of 300 graphs: differences of "
    "a few thousandths between sets of graphs say nothing about methods. `to best`, the weight "
    "relative to the proven optimum of the same graph, does not depend on them. The optimum itself "
    "has 0.9385, 0.9424 and 0.9419 on the first seed's graphs of 16, 32 and 64 nodes, so that on "
    "these graphs nobody can have the published .9413 at 32. The paper's PPO "
    "has a learning rate of 1e-5: a hundredth of its steps hardly moves a policy from where it "
    "began, which takes nearly every node.",
    (
        _MVC_BY_PPO,
        _MVC_BY_BC,
        faithful(_MVC_BY_PPO, "mvc_paper", _MVC_LESS, 0.01),
        faithful(_MVC_BY_BC, "mvc_bc_paper", _MVC_LESS, 0.5),
    ),
)

# TSP

_TSP_SIZES = ((20, 300), (40, 300), (60, 300), (80, 100), (100, 100), (200, 100), (1000, 10))


def _tours(*options: str, against: str = "") -> tuple[Trial, ...]:
    """All sizes; graphs of 1,000 nodes take minutes each, so one seed has to do."""
    *most, largest = (
        replace(trial, against=against) for trial in trials(*_TSP_SIZES, options=options)
    )
    return (*most, replace(largest, one_seed=True))


_TSP = _tours()
_TSP_BC = {40: "2.2", 60: "3.6", 80: "3.9", 100: "4.4", 200: "6.4", 1000: "11.8"}
_TSP_SECONDS = {40: "0.798", 60: "2.58", 80: "5.99", 100: "12.5", 200: "98.1", 1000: "15000"}
_TSP_PPO = {40: "3.0", 60: "4.9", 80: "7.1", 100: "8.6", 200: "16.7", 1000: "45.2"}
_TSP_WEAK = {40: "16.3", 60: "18.6", 80: "19.3", 100: "20.3", 200: "22.7", 1000: "26.7"}
_TSP_WEAK_PPO = {40: "5.3", 60: "9.3", 80: "12.0", 100: "14.0", 200: "24.7", 1000: "63.7"}
_TSP_WEAK_PPO_VALID = {40: "4.8", 60: "8.0", 80: "10.4", 100: "12.1", 200: "20.2", 1000: "41.1"}
_TSP_INSERTION = {40: "5.3", 60: "8.3", 80: "9.8", 100: "11.3", 200: "15.4", 1000: "20.7"}

_TSP_DRAWN = tuple(
    replace(trial, label="temperature 2", paper=_TSP_INSERTION.get(trial.nodes, ""))
    for trial in _tours("--temperature", "2")
)
_AUGMENTED = ("--set", "validation.nodes=[20,40,60,80]")
_TSP_BY_BC = Row(
    "tsp_bc", "imitation", "tsp", "tsp_bc",
    "excess", _TSP, 3, paper=_TSP_BC, paper_seconds=_TSP_SECONDS,
)  # fmt: skip
_TSP_BY_PPO = Row("tsp_ppo", "PPO", "tsp", "tsp_ppo", "excess", _TSP, 3, paper=_TSP_PPO)
_TSP_BY_WEAK_PPO = Row(
    "tsp_weak_ppo", "weak expert, then PPO", "tsp", "tsp_weak_ppo",
    "excess", _TSP, 3, paper=_TSP_WEAK_PPO,
)  # fmt: skip
_TSP_LESS = (40, 100)

TSP = Table(
    "tsp",
    "Travelling salesperson, per cent above the optimal tour (lower is better)",
    "Compared with proven optimal tours up to 40 nodes and most of 60, with those of fast-tsp "
    "above. All training graphs have 10 to 20 nodes, as in the paper, but for the row that says "
    "otherwise. Published: 10⁷ steps of PPO, and 10⁵ episodes of the weak expert with 10⁶ steps of "
    "PPO after it. With 10⁶ steps of PPO alone, the paper has 5.0, 7.9, 10.8, 11.8, 19.2 from 40 "
    "to 200 nodes. The paper's weak expert takes the next node greedily by the "
    "objective. Ours does that with the way back to the start counted, as the objective has it, "
    "which by itself is 39 % above the optimum on 40 nodes; going to the nearest node is 22 % "
    "above (`gnarl-eval --pretrained tsp --sizes 40 --graphs 100 --seed 7 --against "
    "nearest,weak`). Neither is near the published 16.3. The same expert in the environment with "
    "insertion is: 14.7, 16.9, 18.0, 18.8, 19.5 and 20.4 on 40 to 1,000 nodes, and *weak expert "
    "with insertion*, which imitates it, is 0.3 to 3.8 below the published figures. Imitation of "
    "optimal tours on 10 to 20 nodes differs from seed to seed the more, the larger the graphs; "
    "on 10 to 50 nodes there is one seed. With insertion, the environment puts a "
    "node where it costs least, and picks at random beat both the published policy and ours by PPO "
    "from 80 nodes on; *temperature 2* draws picks from ours, part of the way to random ones (2 "
    "was chosen on graphs of seed 7). Imitation with insertion is of `farthest`, the node farthest "
    "from the tour.",
    (
        Row(
            "tsp_bc_wide", "imitation, 10 to 50 nodes", "tsp", "tsp_bc_wide",
            "excess", _tours(against="christofides"), 1,
            paper=_TSP_BC, paper_seconds=_TSP_SECONDS,
        ),
        _TSP_BY_BC,
        _TSP_BY_PPO,
        Row(
            "tsp_insertion", "PPO with insertion", "tsp_insertion", "tsp_insertion_ppo",
            "excess", (*_TSP[:-1], *_TSP_DRAWN), 1, paper=_TSP_INSERTION,
        ),
        Row(
            "tsp_insertion_bc", "imitation with insertion", "tsp_insertion", "tsp_insertion",
            "excess", _tours(against="random,farthest"), 3, paper=_TSP_INSERTION,
        ),
        Row("tsp_weak", "weak expert", "tsp", "tsp_weak", "excess", _TSP, 1, paper=_TSP_WEAK),
        Row(
            "tsp_nearest", "weak expert, nearest node", "tsp", "tsp_weak",
            "excess", _TSP, 1, ("--set", "bc.expert=nearest"), paper=_TSP_WEAK,
        ),
        Row(
            "tsp_insertion_weak", "weak expert with insertion", "tsp_insertion", "tsp_weak",
            "excess", _tours(against="weak"), 1, paper=_TSP_WEAK,
        ),
        _TSP_BY_WEAK_PPO,
        Row(
            "tsp_weak_ppo_valid", "weak expert, then PPO, augmented validation",
            "tsp", "tsp_weak_ppo", "excess", _TSP, 1, _AUGMENTED, paper=_TSP_WEAK_PPO_VALID,
        ),
        faithful(_TSP_BY_BC, "tsp_bc_paper", _TSP_LESS, 0.02),
        faithful(_TSP_BY_PPO, "tsp_ppo_paper", _TSP_LESS, 0.005),
        faithful(_TSP_BY_WEAK_PPO, "tsp_weak_ppo_paper", _TSP_LESS, 0.05),
    ),
)  # fmt: skip
