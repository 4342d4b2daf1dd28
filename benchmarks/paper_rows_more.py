"""More tables as data: other graphs, several solutions, rewards instead of experts, RGC."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.machine import ROOT
from benchmarks.paper_rows import CLRS, Row, Table, Trial

# Other graphs than those of training

_FOLDER = ROOT / "benchmarks" / "families"
_KINDS = {"ba": "BA, m = 4", "ws": "WS, k = 4", "tree": "trees", "dense": "ER, p = 0.9"}


def _variant(spec: str, variant: str, label: str, *more: str) -> Trial:
    path = str((_FOLDER / f"{spec}_{variant}.gnarl").relative_to(ROOT))
    return Trial(64, 300, ("--spec", path, *more), label=label)


def _elsewhere(name: str, *further: Trial) -> Row:
    """The weights of the first table, on graphs of other kinds."""
    (row,) = (row for row in CLRS.rows if row.name == name)
    kinds = [
        _variant(name, "families", label, "--instances", kind) for kind, label in _KINDS.items()
    ]
    return replace(row, trials=(*kinds, *further), seeds=1, paper={})


def _fewer(row: Row) -> Row:
    """Episodes of MST-Prim that fail take thousands of steps."""
    return replace(row, trials=tuple(replace(trial, graphs=100) for trial in row.trials))


def _weights(name: str) -> Trial:
    return _variant(name, "uniform", "weights U(0, 1)")


_BELLMAN_FORD = _elsewhere(
    "bellman_ford",
    _weights("bellman_ford"),
    Trial(64, 300, ("-p", "stop=settled"), label="settled"),
)
FAMILIES = Table(
    "families",
    "CLRS algorithms on other graphs than those of training, share of 64-node graphs solved",
    "The weights of the [first table](paper_clrs.md), one seed each. Training saw Erdős–Rényi "
    "graphs of at most 16 nodes, with the weights of the CLRS-30 sampler where there are weights. "
    "`settled` ends an episode by a rule on the state alone, without a reference solution "
    "(`-p stop=settled`, `benchmarks/families/mst_prim_settled.gnarl`), and judges what is there "
    "then; BFS and DFS end by themselves anyway. `Bellman-Ford, scaled` is trained on weights "
    "times 0.1 to 3 (`data.scale`), all else as before.",
    (
        _elsewhere("bfs"),
        _elsewhere("dfs"),
        _BELLMAN_FORD,
        replace(
            _BELLMAN_FORD,
            name="bellman_ford_scaled",
            label="Bellman-Ford, scaled",
            recipe="bellman_ford_scaled",
            trials=(Trial(64, 300), *_BELLMAN_FORD.trials),
        ),
        _fewer(
            _elsewhere("mst_prim", _weights("mst_prim"), _variant("mst_prim", "settled", "settled"))
        ),
    ),
)

# Several solutions

TEMPERATURES = (0.01, 0.05, 0.2, 0.5, 1.0)
_PUBLISHED_UNIQUE = {"bfs": "100", "dfs": "96.9"}  # at temperature 0.05


def _drawn(name: str, temperature: float) -> Trial:
    return Trial(
        64,
        1,
        ("--temperature", f"{temperature:g}", "--samples", "100"),
        label=f"temperature {temperature:g}",
        paper=_PUBLISHED_UNIQUE[name] if temperature == 0.05 else "",
    )


def _several(name: str) -> Row:
    (row,) = (row for row in CLRS.rows if row.name == name)
    trials = tuple(_drawn(name, temperature) for temperature in TEMPERATURES)
    return replace(row, figure="unique", trials=trials, seeds=10, paper={})


SOLUTIONS = Table(
    "solutions",
    "Several solutions: different correct ones among 100 episodes on one graph of 64 nodes",
    "Picks are drawn with chances to the power 1/temperature. Every seed has weights and a graph "
    "of its own.",
    (_several("bfs"), _several("dfs")),
    figure="temperatures",
)

# Rewards instead of experts

_RL_SHORT = ("--set", "ppo.updates=100", "--set", "validation.every=5")


def _rewarded(spec: str, label: str, reward: str) -> Row:
    return Row(
        f"{spec}_ppo_{reward}",
        f"{label}, {reward}",
        spec,
        f"{spec}_ppo",
        "success",
        (Trial(16, 300), Trial(64, 300)),
        1,
        options=(*_RL_SHORT, "--set", f"ppo.reward={reward}"),
    )


RL = Table(
    "rl",
    "Rewards instead of experts: PPO on BFS and Bellman-Ford, share of graphs solved",
    "PPO for 100 updates of 256 graphs side by side: 32 picks each for BFS (8 % of the published "
    "10⁷ picks), 64 for Bellman-Ford (16 %). The paper shows curves and no figures.",
    (
        *(_rewarded("bfs", "BFS", r) for r in ("matches", "terminal", "step")),
        *(
            _rewarded("bellman_ford", "Bellman-Ford", r)
            for r in ("matches", "gap", "terminal", "step")
        ),
    ),
    figure="curves",
)

# Robust graph construction

_RGC_SIZES = ((20, 100), (40, 100), (60, 100), (100, 50))
_RGC_PPO = {
    "ba random": {20: "0.207", 40: "0.318", 60: "0.419", 100: "0.518"},
    "ba targeted": {20: "0.331", 40: "0.505", 60: "0.538", 100: "0.558"},
    "er random": {20: "0.254", 40: "0.152", 60: "0.091", 100: "0.051"},
    "er targeted": {20: "0.600", 40: "0.368", 60: "0.228", 100: "0.114"},
}


def _rgc(setting: str) -> Row:
    graphs, removal = setting.split()
    asked = ("--instances", graphs, "-p", f"removal={removal}", "--against")
    # The greedy expert looks at all pairs before every edge: too slow for large graphs.
    trials = tuple(
        Trial(nodes, count, (*asked, "random,weak" if nodes < 30 else "random"))
        for nodes, count in _RGC_SIZES
    )
    return Row(
        f"rgc_{graphs}_{removal}",
        f"PPO, {graphs.upper()}, {removal}",
        "rgc",
        "rgc_ppo",
        "reward",
        trials,
        1,
        options=("-p", f"removal={removal}", "--set", f"data.instances={graphs}"),
        paper=_RGC_PPO[setting],
    )


RGC = Table(
    "rgc",
    "Robust graph construction, gain in robustness (higher is better)",
    "The gain in the critical fraction, estimated with 2n random orders of removal, by spending a "
    "budget of 5 % of all pairs of nodes. Trained on 20 nodes; published figures are those of the "
    "paper's GNARL with PPO.",
    tuple(_rgc(setting) for setting in _RGC_PPO),
)
