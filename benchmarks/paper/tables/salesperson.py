"""The travelling salesperson: imitation, PPO, weak experts, and tours by insertion."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.rows import Row, Table, Trial, faithful, trials

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
