"""Hand-written Gymnasium environments, one graph each: what our compiled ones are measured against.

They are what a competent user writes today without GNARL: NumPy, a Dict observation,
`action_masks()` for sb3-contrib, a fresh random graph at every reset. They follow the shipped
specs (same masks, transitions, rewards and endings; tests/envs/test_peers.py plays both) and use
the usual tricks that keep such code fast: counters instead of recounting, no copies of what does
not change, no work that cannot change the outcome. They know nothing of the package.
"""

from benchmarks.peers.bellman_ford import BellmanFordEnv, bellman_ford_expert
from benchmarks.peers.mst_prim import MstPrimEnv
from benchmarks.peers.mvc import MvcEnv, mvc_expert
from benchmarks.peers.rgc import RgcEnv
from benchmarks.peers.tsp import TspEnv, tsp_expert

__all__ = [
    "BellmanFordEnv",
    "MstPrimEnv",
    "MvcEnv",
    "RgcEnv",
    "TspEnv",
    "bellman_ford_expert",
    "mvc_expert",
    "tsp_expert",
]
