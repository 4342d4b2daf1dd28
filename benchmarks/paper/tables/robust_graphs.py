"""Robust graph construction: PPO and a weak expert, on two kinds of graphs and of removals."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.rows import Row, Table, Trial, faithful, family

_SIZES = (
    *((nodes, 300) for nodes in (20, 30, 40, 50, 60)),
    *((nodes, 100) for nodes in (70, 80, 90, 100)),
)
_METHODS = {"ppo": "PPO", "weak": "weak expert", "weak_ppo": "weak expert, then PPO"}
_PUBLISHED = {
    ("ba random", "ppo"): "0.207 0.268 0.318 0.373 0.419 0.445 0.460 0.487 0.518",
    ("ba random", "weak"): "0.210 0.280 0.341 0.426 0.475 0.498 0.522 0.569 0.602",
    ("ba random", "weak_ppo"): "0.209 0.275 0.330 0.398 0.452 0.478 0.497 0.535 0.569",
    ("ba random", "RNet-DQN"): "0.213 0.272 0.325 0.396 0.447 0.467 0.487 0.526 0.561",
    ("ba targeted", "ppo"): "0.331 0.447 0.505 0.534 0.538 0.547 0.553 0.553 0.558",
    ("ba targeted", "weak"): "0.111 0.051 0.031 0.021 0.015 0.013 0.017 0.017 0.016",
    ("ba targeted", "weak_ppo"): "0.330 0.443 0.488 0.491 0.481 0.474 0.470 0.466 0.458",
    ("ba targeted", "RNet-DQN"): "0.272 0.334 0.309 0.283 0.261 0.259 0.259 0.270 0.278",
    ("er random", "ppo"): "0.254 0.221 0.152 0.124 0.091 0.078 0.067 0.057 0.051",
    ("er random", "weak"): "0.254 0.224 0.161 0.135 0.100 0.085 0.072 0.061 0.054",
    ("er random", "weak_ppo"): "0.256 0.221 0.153 0.126 0.093 0.081 0.069 0.059 0.053",
    ("er random", "RNet-DQN"): "0.239 0.209 0.148 0.119 0.099 0.080 0.068 0.060 0.054",
    ("er targeted", "ppo"): "0.600 0.650 0.368 0.287 0.228 0.206 0.171 0.135 0.114",
    ("er targeted", "weak"): "0.468 0.497 0.242 0.139 0.092 0.065 0.053 0.035 0.026",
    ("er targeted", "weak_ppo"): "0.601 0.623 0.279 0.165 0.097 0.065 0.057 0.048 0.045",
    ("er targeted", "RNet-DQN"): "0.455 0.351 0.264 0.240 0.213 0.186 0.158 0.147 0.132",
}
_SETTINGS = ("er random", "er targeted", "ba random", "ba targeted")


def _published_gains(setting: str, method: str) -> dict[int, str]:
    figures = _PUBLISHED[setting, method].split()
    return {nodes: figure for (nodes, _), figure in zip(_SIZES, figures, strict=True)}


# Which instances of the spec; the published ER graphs all have a fifth of the pairs as edges.
_INSTANCES = {"er": "gnm", "ba": "ba"}


def _asked(setting: str) -> tuple[str, ...]:
    graphs, removal = setting.split()
    return "--instances", _INSTANCES[graphs], "-p", f"removal={removal}"


def _rgc(setting: str, method: str) -> Row:
    graphs, removal = setting.split()
    own, dqn = _published_gains(setting, method), _published_gains(setting, "RNet-DQN")
    return Row(
        f"rgc_{graphs}_{removal}_{method}",
        f"{_METHODS[method]}, {graphs.upper()}, {removal}",
        family("rgc_connected"),
        f"rgc_{method}",
        "reward",
        tuple(
            Trial(nodes, count, _asked(setting), against=_beside(nodes) if method == "ppo" else "")
            for nodes, count in _SIZES
        ),
        3 if method == "ppo" else 1,
        options=("-p", f"removal={removal}", "--set", f"data.instances={_INSTANCES[graphs]}"),
        paper={nodes: f"{own[nodes]}; {dqn[nodes]}" for nodes in own},
    )


def _beside(nodes: int) -> str:
    # The greedy expert looks at all pairs before every edge: too slow for large graphs.
    return "random,lowest,weak" if nodes < 30 else "random,lowest"


def _on_20_nodes(setting: str) -> Row:
    """The paper's size of training graphs, and of those by which it chooses weights."""
    row = _alone(setting, tuple(nodes for nodes, _ in _SIZES))
    return replace(
        row,
        name=f"{row.name}_20",
        label=f"{row.label}, trained on 20 nodes",
        options=(*row.options, "--set", "data.nodes=20", "--set", "validation.nodes=20"),
    )


def _longer(setting: str) -> Row:
    """For settings in which validations still get better when the recipe ends."""
    row = _on_20_nodes(setting)
    return replace(
        row,
        name=f"{row.name}_longer",
        label=f"{row.label}, three times as long",
        options=(*row.options, "--set", "ppo.updates=720", "--set", "validation.every=30"),
    )


def _widened(setting: str) -> Row:
    """What was learned on 20 nodes for long, and then on sizes around them."""
    start, row = _longer(setting), _on_20_nodes(setting)
    settings = (
        *("data.nodes=[18,30]", "validation.every=15"),
        *("ppo.updates=150", "ppo.lr=5e-4", "ppo.entropy=0.01"),
    )
    return replace(
        row,
        name=f"{row.name}_widened",
        label=f"{start.label}, then on 18 to 30",
        options=(
            *_alone(setting, ()).options,
            *("--from", f"benchmarks/weights/{start.name}-seed0"),
            *(word for change in settings for word in ("--set", change)),
        ),
    )


def _wide(setting: str) -> Row:
    """Larger graphs in training."""
    row = _alone(setting, tuple(nodes for nodes, _ in _SIZES))
    return replace(
        row,
        name=f"{row.name}_wide",
        label=f"{row.label}, trained on 15 to 30 nodes",
        options=(*row.options, "--set", "data.nodes=[15,30]"),
    )


def _as_published(setting: str, method: str) -> Row:
    warm = "" if method == "ppo" else f"_{method}"
    recipe = f"rgc_{setting.replace(' ', '_')}{warm}_paper"
    return faithful(_alone(setting, (20, 60, 100), method), recipe, (20, 60, 100), 0.0025)


def _alone(setting: str, sizes: tuple[int, ...], method: str = "ppo") -> Row:
    """Some of the sizes, without the baselines, which stand in the table already."""
    few = tuple(Trial(n, graphs, _asked(setting)) for n, graphs in _SIZES if n in sizes)
    return replace(_rgc(setting, method), trials=few, seeds=1)


_SPARSE = replace(
    _rgc("ba random", "ppo"),
    name="rgc_sparse_random_ppo",
    label="PPO, trees and BA, random",
    trials=tuple(
        Trial(nodes, 100, ("--instances", "sparse"), "sparse", against=_beside(nodes))
        for nodes in (20, 60, 100)
    ),
    seeds=1,
    options=("--set", "data.instances=sparse"),
    paper={},
)


RGC = Table(
    "rgc",
    "Robust graph construction, gain in robustness (higher is better)",
    "The gain in the critical fraction, estimated with 2n random orders of removal, by spending a "
    "budget of 5 % of all pairs of nodes. Ours are trained on 10 to 20 nodes unless a row says "
    "otherwise, the published on 20. "
    "Published figures: the paper's GNARL with the same method, then RNet-DQN (Darvariu et al., "
    "2021). The published graphs are connected from the start, those called ER with edges between "
    "exactly a fifth of all pairs (`gnm`), and so are these (`benchmarks/paper/families/"
    "rgc_connected.gnarl`). It matters: a policy that gains 0.254 on such graphs of 20 nodes gains "
    "0.244 on those that have a fifth on average (`er`) and happen to be connected (`gnarl-eval "
    "benchmarks/weights/rgc_er_random_ppo_20-seed0 --instances er --sizes 20 --graphs 1000 --seed "
    "7`, and with `gnm`; standard errors of 0.002). For comparison: `weak` is the greedy expert "
    "itself, `lowest` joins two nodes of the lowest degree. `weak` looks at the very orders of "
    "removal that it is judged by, which no policy can see, and so has more than its edges are "
    "worth; the published greedy has 0.206, 0.463, 0.133 and 0.117 on 20 nodes, in the order "
    "below. *Trees and BA* is not in the paper; it is for [real networks](networks.md). On ER, "
    "targeted, what is learned for longer on 20 nodes alone is worth more there and less on 30; "
    "on BA, targeted, more on 20 and 30 and less from 40 to 90. *Then on 18 to 30* goes on from "
    "there (its cost includes what came before): a little less on 20 nodes, on ER far more on 30 "
    "and 40, on BA more from 30 on. On ER, random, 30 nodes, all that we have tried gains 0.211 to "
    "0.217, while most of it is at or above the published figures elsewhere; those are means over "
    "100 graphs, with a standard error of about 0.006 if they differ as ours do. On BA, random, 15 "
    "to 30 nodes, validations stay where they are after 20 of 240 updates, far below those of "
    "the other two ranges: one run, of one seed, that got stuck.",
    (
        *(_rgc(setting, method) for setting in _SETTINGS for method in _METHODS),
        _SPARSE,
        *map(_wide, _SETTINGS),
        *map(_on_20_nodes, _SETTINGS),
        *map(_longer, ("er targeted", "ba targeted")),
        *map(_widened, ("er targeted", "ba targeted")),
        *(_as_published(s, method) for method in ("ppo", "weak_ppo") for s in _SETTINGS),
    ),
)
