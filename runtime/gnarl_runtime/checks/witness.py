"""Counterexamples: does a failure still show, what is its smallest form, how does it read."""

from gnarl_runtime.checks.witness_replay import holds
from gnarl_runtime.checks.witness_shrink import minimise
from gnarl_runtime.checks.witness_text import render

__all__ = ["holds", "minimise", "render"]
