"""The registered reference algorithms: graph and features in, exact or estimated answers out."""

from gnarl_compiler.algorithms.registry import ALGORITHMS, Algorithm

__all__ = ["ALGORITHMS", "Algorithm"]
