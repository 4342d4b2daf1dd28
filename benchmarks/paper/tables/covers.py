"""Minimum vertex cover: PPO and imitation against the 2/(1-ε) approximation."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.rows import Row, Table, Trial, faithful

_SIZES = ((16, 300), (32, 300), (64, 300), (128, 100), (256, 100), (512, 50), (1024, 20))
_PUBLISHED_BC = {
    16: ".9398", 32: ".9420", 64: ".9478", 128: ".9463", 256: ".9500", 512: ".9496", 1024: ".9497"
}  # fmt: skip
_PUBLISHED_PPO = {
    16: ".9391", 32: ".9413", 64: ".9448", 128: ".9428", 256: ".9462", 512: ".9449", 1024: ".9453"
}  # fmt: skip
# Only the approximation is asked for above 64 nodes: proofs of optimality take too long there.
_TRIALS = (
    *(Trial(n, g, ("-p", "eps=0", "--reference", "optimal")) for n, g in _SIZES[:3]),
    *(Trial(n, g, ("-p", "eps=0")) for n, g in _SIZES[3:]),
)
_EPS = tuple(Trial(n, g, ("-p", "eps=0.1"), label="eps 0.1", one_seed=True) for n, g in _SIZES[:3])
_BESIDE = (*(replace(trial, against="optimal") for trial in _TRIALS[:3]), *_TRIALS[3:], *_EPS)
_BY_PPO = Row("mvc_ppo", "PPO, no expert", "mvc", "mvc", "ratio", _BESIDE, paper=_PUBLISHED_PPO)
_BY_BC = Row("mvc_bc", "imitation", "mvc", "mvc_bc", "ratio", _TRIALS + _EPS, paper=_PUBLISHED_BC)
_LESS = (16, 64, 256)

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
        _BY_PPO,
        _BY_BC,
        faithful(_BY_PPO, "mvc_paper", _LESS, 0.01),
        faithful(_BY_BC, "mvc_bc_paper", _LESS, 0.5),
    ),
)
