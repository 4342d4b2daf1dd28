"""The registered algorithms: graph and features in, exact or estimated answers out."""

from gnarl_compiler.algorithms.registration import Algorithm
from gnarl_compiler.algorithms.registry import ALGORITHMS

__all__ = ["ALGORITHMS", "Algorithm"]
